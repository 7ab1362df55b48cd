//! The interface between the REST API and a running test.

use serde_json::Value;
use std::collections::BTreeMap;

/// A running test. The methods are called from several threads, and may block.
pub trait Control: Send + Sync {
    /// Returns the status of the test.
    fn status(&self) -> Status;

    /// Returns the metrics that have samples, and the submetrics of thresholds, in any order.
    fn metrics(&self) -> Vec<Metric>;

    /// Returns the root group, with all other groups in it.
    fn groups(&self) -> Group;

    /// Returns the data that `setup()` returned or the API has set; `None` before that.
    fn setup_data(&self) -> Option<Value>;

    /// Sets the setup data, instead of the result of `setup()`.
    fn keep_setup_data(&self, data: Option<Value>);

    /// Calls the script's `setup()` and stores its result.
    ///
    /// # Errors
    /// The exception of `setup()`.
    fn run_setup(&self) -> Result<(), String>;

    /// Calls the script's `teardown()`.
    ///
    /// # Errors
    /// The exception of `teardown()`.
    fn run_teardown(&self) -> Result<(), String>;

    /// Pauses or resumes the test.
    ///
    /// # Errors
    /// The reason why it can't, in k6's words, such as `test execution was already paused`.
    fn pause(&self, is_paused: bool) -> Result<(), String>;

    /// Ends the test, with exit code 103.
    fn stop(&self);

    /// Changes the numbers of virtual users.
    ///
    /// # Errors
    /// If no executor is externally controlled, or the numbers are invalid.
    fn scale(&self, scale: Scale) -> Result<(), ScaleError>;
}

/// The status of a test.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// The stage, with k6's numbers: 0 created, 1 users begin, 2 executors begin, 3 all begun, 4
    /// paused before the start, 5 started, 6 setup, 7 running, 8 teardown, 9 ended, 10 interrupted,
    /// 11 failed.
    pub stage: u8,
    /// True if the test is paused.
    pub is_paused: bool,
    /// The active virtual users.
    pub vus: i64,
    /// The existing virtual users.
    pub vus_max: i64,
    /// True if the test was stopped.
    pub is_stopped: bool,
    /// True if the test has begun and not ended.
    pub is_running: bool,
    /// True if a threshold was crossed.
    pub is_tainted: bool,
}

/// A metric with its figures so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metric {
    /// The name; the name of a submetric has its tags in braces.
    pub name: String,
    /// The kind: `counter`, `gauge`, `rate` or `trend`.
    pub kind: &'static str,
    /// The unit: `default`, `time` or `data`.
    pub contains: &'static str,
    /// True if a threshold of the metric was crossed; `None` before thresholds were evaluated.
    pub is_tainted: Option<bool>,
    /// The figures by name: `count` and `rate`, `value`, `rate`, or `avg`, `p(95)` and so on.
    pub sample: BTreeMap<String, f64>,
}

/// A group of a script, with the groups in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// The MD5 of the path in hexadecimal digits.
    pub id: String,
    /// The names of all parents and of the group, each after `::`; empty for the root.
    pub path: String,
    /// The name.
    pub name: String,
    /// The checks.
    pub checks: Vec<Check>,
    /// The groups in this group.
    pub groups: Vec<Group>,
}

/// The results of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Check {
    /// The MD5 of the path in hexadecimal digits.
    pub id: String,
    /// The path of the group, `::`, and the check's name.
    pub path: String,
    /// The name.
    pub name: String,
    /// The number of passes.
    pub passes: u64,
    /// The number of failures.
    pub fails: u64,
}

/// The requested numbers of virtual users; `None` leaves a number unchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scale {
    /// The active users.
    pub vus: Option<i64>,
    /// The maximum number of users.
    pub vus_max: Option<i64>,
}

/// The reason why a test can't be scaled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScaleError {
    /// No executor is externally controlled.
    #[error(
        "an externally-controlled executor needs to be configured for live configuration updates"
    )]
    NoExecutor,
    /// The numbers contradict each other or the test; the reason, in k6's words.
    #[error("{0}")]
    Invalid(String),
}
