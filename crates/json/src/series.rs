//! Several runs in one file.

use crate::{Check, Comparison, Run, Share, Unit};
use loadline_record::Role;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The document that `loadline -o json` prints for several runs: repeats, two targets that took
/// turns, or a saved file with several runs. Described in docs/guide/json.md.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[schemars(title = "Results of several Loadline runs")]
pub struct Series {
    /// The version of this schema.
    #[schemars(extend("const" = crate::SCHEMA))]
    pub schema: u64,
    /// The variation from run to run; only of repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub spread: Option<Spread>,
    /// The comparison of two targets; only if two targets took turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub comparison: Option<Comparison>,
    /// The runs, in chronological order.
    pub runs: Vec<SeriesRun>,
}

/// A run of a series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SeriesRun {
    /// The run.
    #[serde(flatten)]
    pub run: Run,
    /// The role of the run in the series; null if unknown.
    pub role: Option<Role>,
}

/// The variation from run to run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Spread {
    /// The number of runs; those that were cut short do not count if at least one run is complete.
    pub runs: usize,
    /// The figures, the rate last.
    pub figures: Vec<FigureSpread>,
    /// The conditions of `--check` for the requests of all these runs together.
    pub checks: Vec<Check>,
}

/// The values of a figure in all runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FigureSpread {
    /// The name of the figure: p99, rate.
    pub figure: String,
    /// The unit of its values.
    pub unit: Unit,
    /// The value in each run.
    pub values: Vec<f64>,
    /// The median of the values.
    pub median: f64,
    /// The smallest value.
    pub least: f64,
    /// The largest value.
    pub most: f64,
    /// The confidence interval of the median; null for fewer than six runs.
    pub median_interval: Option<MedianInterval>,
}

/// The confidence interval of a median.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MedianInterval {
    /// The lower end.
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
    /// The confidence level.
    pub level: Share,
}
