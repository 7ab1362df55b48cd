//! A run beside its baseline, while it goes on.

use crate::Tone;
use serde::Serialize;

/// What is known of a run beside its baseline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Against {
    /// The name of the baseline.
    pub baseline: String,
    /// The colour of the conclusion.
    pub tone: Tone,
    /// The conclusion, as a sentence.
    pub claim: String,
    /// All requests, then each name; empty before the first look.
    pub rows: Vec<AgainstRow>,
    /// What the figures apply to, and what is left out.
    pub notes: Vec<String>,
}

/// Requests of both runs, compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct AgainstRow {
    /// The name of the requests.
    pub name: String,
    /// The conclusion from all figures.
    pub relation: Relation,
    /// The figures.
    pub figures: Vec<AgainstFigure>,
}

/// A figure of both runs, formatted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct AgainstFigure {
    /// The name of the figure: `p99`, `rate`.
    pub figure: String,
    /// The figure of the baseline.
    pub base: String,
    /// The figure of this run.
    pub with: String,
    /// This run over the baseline.
    pub ratio: String,
    /// The interval of the ratio.
    pub interval: String,
    /// The conclusion from the interval.
    pub relation: Relation,
}

/// The relation of this run to its baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// Shorter times, or a higher rate.
    Faster,
    /// Longer times, or a lower rate.
    Slower,
    /// A difference, if there is one, is lost in the noise so far.
    Open,
}
