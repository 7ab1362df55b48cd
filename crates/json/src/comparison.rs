//! Two sides, compared.

use crate::{Check, CheckOutcome, MetricKind, Share, Unit, Validity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The document that `loadline compare -o json` prints. Described in docs/guide/json.md.
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
    /// True if both sides took turns, and runs were compared in pairs.
    pub paired: bool,
    /// The figures that were compared, the rate last.
    pub figures: Vec<ComparedFigure>,
    /// Percentiles that are not compared, because unfinished requests make them lower bounds in at
    /// least one run.
    pub bounds: Vec<String>,
    /// The result over all figures: slower if any figure is, else faster if any is, else
    /// cannot_tell.
    pub standing: Standing,
    /// The same comparison for the requests of each name that both sides have, the name with the
    /// most requests first; absent if there is no such name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub names: Option<ComparedNames>,
    /// The metrics that the scripts of both sides counted by themselves, those that both have;
    /// absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<Vec<ComparedMetric>>"))]
    pub metrics: Vec<ComparedMetric>,
    /// The tolerances of `--fail-on` and their results; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub tolerances: Option<Vec<ToleranceResult>>,
    /// Other differences between the runs; only if saved runs are compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub warnings: Option<Vec<Difference>>,
}

/// The allowed change of a figure, and the result in these runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ToleranceResult {
    /// The tolerance as typed.
    pub rule: String,
    /// The result: passed if the figure stays within the tolerance. Decided only if the whole
    /// interval lies on one side of the limit.
    pub outcome: CheckOutcome,
    /// The largest allowed B / A; of a tolerance downwards the smallest.
    pub limit: f64,
    /// B / A; null if the figure could not be compared.
    pub ratio: Option<f64>,
    /// The interval of the ratio; null if the figure could not be compared.
    pub interval: Option<RatioInterval>,
}

/// A metric that the scripts of both sides counted, without an interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ComparedMetric {
    /// The name of the metric.
    pub name: String,
    /// The tags of the metric.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<BTreeMap<String, String>>"))]
    pub tags: BTreeMap<String, String>,
    /// The kind of the metric, which decides the figures that it has.
    pub kind: MetricKind,
    /// The figures of A: `sum`, `share`, `p95` and so on, in the metric's unit.
    pub a: BTreeMap<String, f64>,
    /// The figures of B.
    pub b: BTreeMap<String, f64>,
}

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Side {
    /// The target of the load.
    pub target: String,
    /// The number of runs.
    pub runs: usize,
    /// The share of the requests of these runs that failed.
    pub failed: Share,
    /// The conditions of `--check` for all runs of this side together; only if two targets took
    /// turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub checks: Option<Vec<Check>>,
    /// The runs of this side; only if saved runs are compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub files: Option<Vec<ComparedFile>>,
}

/// The names of both sides, compared. The intervals of all names hold together at 95 %,
/// independently of the intervals of the whole sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ComparedNames {
    /// The names that both sides have; at most 50.
    pub common: Vec<ComparedName>,
    /// The number of further common names, with fewer requests, that are not compared.
    pub more: usize,
    /// The number of percentiles that are left out, because requests without a response at the end
    /// of a run could move them.
    pub open_percentiles: usize,
    /// The names that only A has, with their tags in braces.
    pub only_a: Vec<String>,
    /// The names that only B has, with their tags in braces.
    pub only_b: Vec<String>,
}

/// A name that both sides have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ComparedName {
    /// The name; where the names of a side are URLs of one host, without scheme and host.
    pub name: String,
    /// The tags of the name.
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
    /// The path of the file.
    pub file: String,
    /// The number of the run in its file, from 1; null if the file has a single run.
    pub run: Option<usize>,
    /// The validity of the run.
    pub validity: Validity,
}

/// A figure of both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ComparedFigure {
    /// The name of the figure: p99, mean, max, rate.
    pub figure: String,
    /// The unit of `a` and `b`.
    pub unit: Unit,
    /// The value of A; of several runs their geometric mean.
    pub a: f64,
    /// The value of B; of several runs their geometric mean.
    pub b: f64,
    /// B / A.
    pub ratio: f64,
    /// The confidence interval of the ratio.
    pub interval: RatioInterval,
    /// The conclusion from the interval.
    pub standing: Standing,
    /// The approximate number of further runs of each side that would show a difference of this
    /// size: 0 if it is shown already, null if a thousand would not suffice.
    pub more_runs: Option<u64>,
}

/// The confidence interval of a ratio.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RatioInterval {
    /// The lower end.
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
    /// The confidence level.
    pub level: Share,
}

/// The result of a comparison: B relative to A.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// B is faster.
    Faster,
    /// B is slower.
    Slower,
    /// The runs do not decide it.
    CannotTell,
}

/// A difference between the runs of a comparison, other than in their figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Difference {
    /// The kind of difference.
    #[schemars(extend("enum" = ["clock", "counting", "threads", "machine"]))]
    pub kind: String,
    /// The meaning of the difference, and what to do.
    pub text: String,
}
