//! The validity of a result.

use crate::{Check, ConfidenceIntervals};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The validity of the result, with the reasons.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Validity {
    /// The worst grade of the findings.
    pub grade: Grade,
    /// The findings, the most severe first.
    #[serde(default)]
    pub findings: Vec<Finding>,
}

/// A degree of validity, as a reader of the JSON needs it. The judging code has a type of its own,
/// so that a reader does not depend on that code.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// No reason for doubt was found.
    #[default]
    Valid,
    /// Something may have distorted the result.
    Suspect,
    /// The result is not a measurement of what the plan requires.
    Invalid,
}

impl Grade {
    /// Returns the grade's name in the JSON.
    pub fn name(self) -> &'static str {
        match self {
            Grade::Valid => "valid",
            Grade::Suspect => "suspect",
            Grade::Invalid => "invalid",
        }
    }
}

/// The kinds of findings of this version.
const FINDINGS: [&str; 23] = [
    "decisive",
    "late",
    "plan_limit",
    "unstamped",
    "busy",
    "busy_at_times",
    "bunched",
    "stood_still",
    "crowded",
    "unsent",
    "dropped",
    "missed",
    "descriptors",
    "ports",
    "unreachable",
    "stolen",
    "lost",
    "uneven_begin",
    "broken_off",
    "unsettled",
    "too_short",
    "own_queue",
    "limit",
];

/// A finding: one reason for a grade.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Finding {
    /// The kind of finding; see docs/guide/validity.md.
    #[schemars(extend("enum" = FINDINGS))]
    pub kind: String,
    /// The grade that this finding alone leads to.
    pub grade: Grade,
    /// A sentence that ends in advice.
    pub text: String,
}

/// The judgement of a run, as the last line of its saved run holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Judgement {
    /// The validity of the run.
    pub validity: Validity,
    /// The results of the conditions of `--check`.
    pub checks: Vec<Check>,
    /// The confidence intervals of its percentiles.
    pub confidence_intervals: JudgedIntervals,
}

/// The confidence intervals of the percentiles of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct JudgedIntervals {
    /// The intervals of the response time.
    pub response_time_us: ConfidenceIntervals,
    /// The intervals of the service time.
    pub service_time_us: ConfidenceIntervals,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_judgement_of_an_earlier_version_is_read() {
        let saved = include_str!("../../record/src/saved/tests/version-1.run");
        let last = saved.lines().last().unwrap();
        let line: serde_json::Value = serde_json::from_str(last).unwrap();
        let judgement: Judgement = serde_json::from_value(line["judgement"].clone()).unwrap();
        assert_eq!(judgement.validity.grade, Grade::Valid);
        let interval = judgement
            .confidence_intervals
            .response_time_us
            .percentiles
            .p50;
        assert_eq!((interval.independent, interval.at_least), (19, Vec::new()));
    }
}
