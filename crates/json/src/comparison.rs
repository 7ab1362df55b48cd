//! Two sides, compared.

use crate::{Check, CheckOutcome, MetricKind, Share, Unit, Validity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What `loadline compare -o json` prints. Described in docs/guide/json.md.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[schemars(title = "Comparison of Loadline runs")]
pub struct Comparison {
    /// The version of this schema.
    #[schemars(extend("const" = crate::SCHEMA))]
    pub schema: u64,
    /// One side.
    pub a: Side,
    /// The other side.
    pub b: Side,
    /// Whether both took turns, and runs were compared in pairs.
    pub paired: bool,
    /// The figures that were compared, the rate last.
    pub figures: Vec<ComparedFigure>,
    /// Percentiles that are not compared, because unfinished requests make them a lower bound in a
    /// run.
    pub bounds: Vec<String>,
    /// Of all figures: slower if any is, else faster if any is, else cannot_tell.
    pub standing: Standing,
    /// The same of the requests of each name that both sides have, the one with the most requests
    /// first; left out where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub names: Option<ComparedNames>,
    /// What the scripts of both sides counted by themselves: the metrics that both have; left out
    /// where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<Vec<ComparedMetric>>"))]
    pub metrics: Vec<ComparedMetric>,
    /// The tolerances of `--fail-on`, with what came of them; left out where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub tolerances: Option<Vec<ToleranceResult>>,
    /// What else differs between the runs; of saved runs only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub warnings: Option<Vec<Difference>>,
}

/// What a figure may differ by, and what the runs say of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ToleranceResult {
    /// The tolerance as typed.
    pub rule: String,
    /// Whether the figure stays within it: decided only where the whole interval says so.
    pub outcome: CheckOutcome,
    /// The largest B / A that is allowed; of a tolerance downwards the smallest.
    pub limit: f64,
    /// B / A; null if the figure could not be compared.
    pub ratio: Option<f64>,
    /// Between which bounds the ratio lies; null as above.
    pub interval: Option<RatioInterval>,
}

/// A metric that the scripts of both sides counted, without an interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ComparedMetric {
    /// Its name.
    pub name: String,
    /// Its tags.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<BTreeMap<String, String>>"))]
    pub tags: BTreeMap<String, String>,
    /// What is made of its values.
    pub kind: MetricKind,
    /// A's figures: `sum`, `share`, `p95` and so on, in the metric's unit.
    pub a: BTreeMap<String, f64>,
    /// B's figures.
    pub b: BTreeMap<String, f64>,
}

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Side {
    /// What was loaded.
    pub target: String,
    /// How many runs it has.
    pub runs: usize,
    /// The share of their requests that failed.
    pub failed: Share,
    /// The conditions of `--check` for all its runs together; of targets that took turns only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub checks: Option<Vec<Check>>,
    /// Its runs; of saved runs only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub files: Option<Vec<ComparedFile>>,
}

/// The names of both sides, compared. The intervals of all of them hold together at 95 %, apart
/// from those of the whole sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ComparedNames {
    /// Those that both sides have; at most 50.
    pub common: Vec<ComparedName>,
    /// How many more both have, with fewer requests: they are not compared.
    pub more: usize,
    /// How many percentiles are left out, because requests that had no response at the end of a run
    /// could move them.
    pub open_percentiles: usize,
    /// Those that only A has, with their tags in braces.
    pub only_a: Vec<String>,
    /// Those that only B has, with their tags in braces.
    pub only_b: Vec<String>,
}

/// A name that both sides have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ComparedName {
    /// The name; where the names of a side are URLs of one host, without scheme and host.
    pub name: String,
    /// Its tags.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<BTreeMap<String, String>>"))]
    pub tags: BTreeMap<String, String>,
    /// The share of A's requests that failed.
    pub a_failed: Share,
    /// The share of B's requests that failed.
    pub b_failed: Share,
    /// The figures that were compared, the rate last.
    pub figures: Vec<ComparedFigure>,
}

/// A saved run that was compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ComparedFile {
    /// Its file.
    pub file: String,
    /// Its number there, from 1; null if it is alone.
    pub run: Option<usize>,
    /// Whether it may be believed.
    pub validity: Validity,
}

/// A figure of both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ComparedFigure {
    /// Its name: p99, mean, max, rate.
    pub figure: String,
    /// The unit of `a` and `b`.
    pub unit: Unit,
    /// That of A; of several runs the geometric mean.
    pub a: f64,
    /// That of B; of several runs the geometric mean.
    pub b: f64,
    /// B / A.
    pub ratio: f64,
    /// Between which bounds the ratio lies.
    pub interval: RatioInterval,
    /// What the interval says.
    pub standing: Standing,
    /// About how many more runs of each would tell a difference of this size: 0 if it is known
    /// already, null if a thousand would not suffice.
    pub more_runs: Option<u64>,
}

/// Between which bounds a ratio lies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RatioInterval {
    /// Its lower end.
    pub lower: f64,
    /// Its upper end.
    pub upper: f64,
    /// Its confidence.
    pub level: Share,
}

/// How B stands to A.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// B is faster.
    Faster,
    /// B is slower.
    Slower,
    /// The runs don't tell.
    CannotTell,
}

/// What else differs between the runs of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Difference {
    /// What it is.
    #[schemars(extend("enum" = ["clock", "counting", "threads", "machine"]))]
    pub kind: String,
    /// What it means and what to do.
    pub text: String,
}
