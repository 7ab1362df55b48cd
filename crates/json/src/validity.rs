//! Whether a result may be believed.

use crate::{Check, ConfidenceIntervals};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether the result may be believed, and why not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Validity {
    /// The worst grade of the findings.
    pub grade: Grade,
    /// What was found, the gravest first.
    #[serde(default)]
    pub findings: Vec<Finding>,
}

/// How far a result may be believed, as a reader of the JSON sees it: what judges has a type of its
/// own, so that a reader needs none of the judging.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// There is no reason against it.
    #[default]
    Valid,
    /// Something may have distorted it.
    Suspect,
    /// It is not a measurement of what was asked for.
    Invalid,
}

impl Grade {
    /// Its name, as in the JSON.
    pub fn name(self) -> &'static str {
        match self {
            Grade::Valid => "valid",
            Grade::Suspect => "suspect",
            Grade::Invalid => "invalid",
        }
    }
}

/// The kinds of findings that this version knows.
const FINDINGS: [&str; 21] = [
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
    "stolen",
    "lost",
    "broken_off",
    "unsettled",
    "too_short",
    "own_queue",
    "limit",
];

/// One thing that was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Finding {
    /// What it is; see docs/guide/validity.md.
    #[schemars(extend("enum" = FINDINGS))]
    pub kind: String,
    /// How far the result may still be believed.
    pub grade: Grade,
    /// A sentence that ends in what to do.
    pub text: String,
}

/// How a run was judged, as the last line of its saved run says it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Judgement {
    /// Whether it may be believed.
    pub validity: Validity,
    /// What it says of the conditions of `--check`.
    pub checks: Vec<Check>,
    /// How sure its percentiles are.
    pub confidence_intervals: JudgedIntervals,
}

/// How sure the percentiles of a run are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct JudgedIntervals {
    /// Those of the response time.
    pub response_time_us: ConfidenceIntervals,
    /// Those of the service time.
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
