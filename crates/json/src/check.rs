//! The conditions of `--check`.

use crate::Number;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A condition and its result in this run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Check {
    /// The condition as typed.
    pub text: String,
    /// The result of the condition.
    pub outcome: CheckOutcome,
    /// The reason why the run cannot decide the condition, as a sentence that says what to do; null
    /// if it is decided.
    pub why: Option<String>,
    /// The measured figure; null without a sample.
    pub actual: Option<Number>,
    /// True if `actual` is a lower bound.
    pub at_least: bool,
    /// The bound of the condition, which `actual` was compared with.
    pub bound: Number,
    /// The unit of `actual` and `bound`.
    pub unit: Unit,
    /// The number of times, or of requests that ended, from which `actual` was computed.
    pub samples: u64,
}

/// The outcome of a check. In JSON *passed* is `kept`, *failed* `broken` and *undecided*
/// `not_known`: existing programs rely on these names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum CheckOutcome {
    /// The condition is true.
    #[serde(rename = "kept")]
    Passed,
    /// The condition is false, or there was not a single sample.
    #[serde(rename = "broken")]
    Failed,
    /// The run cannot decide the condition.
    #[serde(rename = "not_known")]
    Undecided,
}

/// A unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Microseconds.
    Us,
    /// A share: 1 is all.
    Share,
    /// A count.
    Count,
    /// A rate per second.
    PerSecond,
    /// No unit, or the unit of a custom metric.
    Number,
}
