//! The conditions of `--check`.

use crate::Number;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A condition, and what the run says of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Check {
    /// The condition as typed.
    pub text: String,
    /// What the run says of it.
    pub outcome: CheckOutcome,
    /// Why the run can't decide it, in a sentence that says what to do; null if it can.
    pub why: Option<String>,
    /// What was measured; null without a sample.
    pub actual: Option<Number>,
    /// Whether `actual` is a lower bound.
    pub at_least: bool,
    /// What it was compared with.
    pub bound: Number,
    /// The unit of `actual` and `bound`.
    pub unit: Unit,
    /// How many times, or requests that ended, were looked at.
    pub samples: u64,
}

/// The outcome of a check. In JSON *passed* is `kept`, *failed* `broken` and *undecided*
/// `not_known`: programs rely on these names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum CheckOutcome {
    /// It passed.
    #[serde(rename = "kept")]
    Passed,
    /// It failed, or there was not a single sample.
    #[serde(rename = "broken")]
    Failed,
    /// The run can't decide it.
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
    /// How many a second.
    PerSecond,
    /// None, or that of a custom metric.
    Number,
}
