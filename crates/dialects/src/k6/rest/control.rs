//! What the REST API asks of a running test, and tells it.

use serde_json::Value;
use std::collections::BTreeMap;

/// A running test. Its methods are called from several threads, and may take their time.
pub trait Control: Send + Sync {
    /// How the test stands.
    fn status(&self) -> Status;

    /// The metrics that have samples, and the submetrics of thresholds, in any order.
    fn metrics(&self) -> Vec<Metric>;

    /// The root group, with all others in it.
    fn groups(&self) -> Group;

    /// What `setup()` returned or the API was given; none before that.
    fn setup_data(&self) -> Option<Value>;

    /// Takes the place of what `setup()` returns.
    fn keep_setup_data(&self, data: Option<Value>);

    /// Calls the script's `setup()` and keeps what it returns.
    ///
    /// # Errors
    /// What `setup()` threw.
    fn run_setup(&self) -> Result<(), String>;

    /// Calls the script's `teardown()`.
    ///
    /// # Errors
    /// What `teardown()` threw.
    fn run_teardown(&self) -> Result<(), String>;

    /// Pauses the test, or lets it go on.
    ///
    /// # Errors
    /// Why it can't, in k6's words, such as `test execution was already paused`.
    fn pause(&self, is_paused: bool) -> Result<(), String>;

    /// Ends the test, with exit code 103.
    fn stop(&self);

    /// Changes the numbers of virtual users.
    ///
    /// # Errors
    /// If no executor is externally controlled, or the numbers are wrong.
    fn scale(&self, scale: Scale) -> Result<(), ScaleError>;
}

/// How a test stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Status {
    /// The stage, as k6 counts: 0 created, 1 users begin, 2 executors begin, 3 all begun,
    /// 4 paused before the start, 5 started, 6 setup, 7 running, 8 teardown, 9 ended,
    /// 10 interrupted, 11 failed.
    pub stage: u8,
    /// Whether it is paused.
    pub is_paused: bool,
    /// Virtual users that are active.
    pub vus: i64,
    /// Virtual users that there are.
    pub vus_max: i64,
    /// Whether it was told to stop.
    pub is_stopped: bool,
    /// Whether it has begun and not ended.
    pub is_running: bool,
    /// Whether a threshold was crossed.
    pub is_tainted: bool,
}

/// A metric with its figures so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metric {
    /// Its name; that of a submetric has its tags in braces.
    pub name: String,
    /// `counter`, `gauge`, `rate` or `trend`.
    pub kind: &'static str,
    /// `default`, `time` or `data`.
    pub contains: &'static str,
    /// Whether its thresholds were crossed; none before they were evaluated.
    pub is_tainted: Option<bool>,
    /// The figures by name: `count` and `rate`, `value`, `rate`, or `avg`, `p(95)` and so on.
    pub sample: BTreeMap<String, f64>,
}

/// A group of a script, with those in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// The MD5 of its path in hexadecimal digits.
    pub id: String,
    /// Its name and its parents', each behind `::`; empty for the root.
    pub path: String,
    /// Its name.
    pub name: String,
    /// Its checks.
    pub checks: Vec<Check>,
    /// The groups in it.
    pub groups: Vec<Group>,
}

/// What became of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Check {
    /// The MD5 of its path in hexadecimal digits.
    pub id: String,
    /// The path of its group, `::`, and its name.
    pub path: String,
    /// Its name.
    pub name: String,
    /// How often it passed.
    pub passes: u64,
    /// How often it failed.
    pub fails: u64,
}

/// The numbers of virtual users that are wanted; none leaves one as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scale {
    /// Users that are active.
    pub vus: Option<i64>,
    /// The most that may be.
    pub vus_max: Option<i64>,
}

/// Why a test can't be scaled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScaleError {
    /// No executor takes numbers from outside.
    #[error(
        "an externally-controlled executor needs to be configured for live configuration updates"
    )]
    NoExecutor,
    /// The numbers contradict each other or the test; why, in k6's words.
    #[error("{0}")]
    Invalid(String),
}
