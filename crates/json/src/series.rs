//! Several runs of one file.

use crate::{Check, Comparison, Run, Share, Unit};
use loadline_record::Role;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What `loadline -o json` prints of several runs: repeats, two targets that took turns, or a saved
/// file with several runs. Described in docs/guide/json.md.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[schemars(title = "Results of several Loadline runs")]
pub struct Series {
    /// The version of this schema.
    #[schemars(extend("const" = crate::SCHEMA))]
    pub schema: u64,
    /// Of repeats: what differs from run to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub spread: Option<Spread>,
    /// Of two targets that took turns: how they compare.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub comparison: Option<Comparison>,
    /// The runs, in the order in which they were made.
    pub runs: Vec<SeriesRun>,
}

/// A run of a series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SeriesRun {
    /// The run.
    #[serde(flatten)]
    pub run: Run,
    /// Its role in the series; null if that is not known.
    pub role: Option<Role>,
}

/// What differs from run to run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Spread {
    /// How many runs there are, without those that were cut short if any is whole.
    pub runs: usize,
    /// The figures, the rate last.
    pub figures: Vec<FigureSpread>,
    /// The conditions of `--check` for the requests of all these runs together.
    pub checks: Vec<Check>,
}

/// A figure in all runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FigureSpread {
    /// Its name: p99, rate.
    pub figure: String,
    /// The unit of its values.
    pub unit: Unit,
    /// That of each run.
    pub values: Vec<f64>,
    /// Their median.
    pub median: f64,
    /// The least of them.
    pub least: f64,
    /// The greatest of them.
    pub most: f64,
    /// Between which bounds the median of such runs lies; null of fewer than six.
    pub median_interval: Option<MedianInterval>,
}

/// Between which bounds a median lies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MedianInterval {
    /// Its lower end.
    pub lower: f64,
    /// Its upper end.
    pub upper: f64,
    /// Its confidence.
    pub level: Share,
}
