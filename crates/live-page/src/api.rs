//! The data of the API, as it goes over the network. Doc comments are the descriptions in
//! `openapi.json`.

use crate::patch::Patch;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Everything that is known of the run so far.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct State {
    /// How the run stands.
    #[serde(flatten)]
    pub standing: Standing,
    /// What the page shows; null before the load begins. Its shape follows the page, and may
    /// change with any version: programs read `figures`.
    #[cfg_attr(test, ts(type = "unknown"))]
    pub page: Value,
}

/// What changed in a second. Sent as `interval`, and as `over` when nothing follows.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Event {
    /// How the run stands.
    #[serde(flatten)]
    pub standing: Standing,
    /// What changed in the page since the event before.
    pub page: Patch,
}

/// How a run stands.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Standing {
    /// The number of the event, or of the last one that is part of the state. The next event has
    /// the next number.
    pub number: u64,
    /// Where the run stands.
    pub phase: Phase,
    /// True if no run and no event follows.
    pub is_over: bool,
    /// The load.
    pub load: Load,
    /// The figures of the latest second, and counts so far.
    pub figures: Figures,
    /// The paths of the files that can be downloaded: the reports of the last run that has ended.
    pub files: Vec<String>,
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Its load has not begun.
    #[default]
    Preparing,
    /// It lasts.
    Running,
    /// It is ending, and waits for the responses to what it has sent.
    Ending,
    /// It has ended.
    Ended,
}

/// The load of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Load {
    /// What it was changed to last, in words; null while it is as planned.
    pub level: Option<String>,
    /// True while it is paused.
    pub is_paused: bool,
    /// The names of its scenarios, in the order of the plan; empty if there is only one.
    pub scenarios: Vec<String>,
}

/// Figures for programs and for large type. Counts are those of the measured part so far; rates
/// and times are those of the latest interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Figures {
    /// The length of the measured part so far, in seconds.
    pub elapsed_s: f64,
    /// The planned length of the measured part, in seconds, if time ends it.
    pub planned_s: Option<f64>,
    /// Arrivals that fell due; in a closed load equal to `sent`.
    pub planned: u64,
    /// Requests sent.
    pub sent: u64,
    /// Requests with a whole response.
    pub answered: u64,
    /// Requests without one.
    pub failed: u64,
    /// Requests in flight at the end of the interval.
    pub in_flight: u64,
    /// Responses per second.
    pub rate_per_s: f64,
    /// Intended arrivals per second of an open load.
    pub asked_per_s: Option<f64>,
    /// The median of the response time, in microseconds.
    pub p50_us: Option<f64>,
    /// The 95th percentile of the response time, in microseconds.
    pub p95_us: Option<f64>,
    /// The 99th percentile of the response time, in microseconds.
    pub p99_us: Option<f64>,
    /// How far the result could be believed if the run ended now: `valid`, `suspect` or `invalid`.
    pub validity: String,
    /// The checks as they stand.
    pub checks: Vec<CheckSoFar>,
}

/// A check as it stands.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CheckSoFar {
    /// Its condition, as typed.
    pub check: String,
    /// What it comes to if the run ended now: `passed`, `failed` or `undecided`.
    pub outcome: String,
}

/// A level to which the load is to be changed: one of the three.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(deny_unknown_fields)]
pub struct NewLevel {
    /// A share of the plan, in percent: 100 is the load as planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub percent: Option<f64>,
    /// A rate of arrivals, as on the command line: `500` or `30/m`. For open loads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(type = "number | string", optional))]
    pub rate: Option<Value>,
    /// A number of users. For closed loads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub users: Option<u32>,
    /// The scenario whose number of users changes, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub scenario: Option<String>,
}

/// What a command has done.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Steered {
    /// What holds now, as a sentence.
    pub message: String,
    /// From when a changed load holds, in seconds of the measured part; null for other commands.
    pub from_s: Option<f64>,
}

/// Why a request was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Problem {
    /// A sentence that says what to do.
    pub message: String,
}
