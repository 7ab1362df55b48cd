//! What the page of several runs shows: what they say together, a line for each, and its own page.

use crate::{CheckRow, RunPage, Tone, number};
use serde::Serialize;

/// The page of repeats, of two sides that took turns, or of other runs of one file.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SeriesPage {
    /// The version of the program that ran the first.
    pub version: String,
    /// When the first started, in RFC 3339.
    pub started_at: String,
    /// What was sent.
    pub title: String,
    /// How much, in which model, and how many runs.
    pub load: String,
    /// How the sides stand to each other, if there are two: what is to be read first.
    pub verdict: Option<SeriesVerdict>,
    /// The figures of all runs together, if they belong together.
    pub together: Option<Table>,
    /// What these figures say, and what to know about them.
    pub notes: Vec<String>,
    /// The checks, evaluated on all runs of each side together.
    pub checks: Vec<CheckRow>,
    /// The runs that may not be believed, and why.
    pub validity_findings: Vec<String>,
    /// The names of the cells of each run.
    pub columns: Vec<String>,
    /// Every run, in order.
    pub runs: Vec<SeriesRun>,
}

/// How two sides stand to each other.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SeriesVerdict {
    /// Whether B is better or worse; plain if that is not known.
    pub tone: Tone,
    /// The same as a sentence.
    pub text: String,
    /// The ratio of B to A in each figure.
    pub ratios: Vec<RatioBar>,
}

/// The ratio of B to A in a figure, as it is drawn.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RatioBar {
    /// The figure's name.
    pub name: String,
    /// B / A.
    #[serde(serialize_with = "number::one")]
    pub ratio: f64,
    /// The lower end of its interval; `None` if that is not known.
    #[serde(serialize_with = "number::maybe")]
    pub lower: Option<f64>,
    /// The upper end of its interval; `None` if that is not known.
    #[serde(serialize_with = "number::maybe")]
    pub upper: Option<f64>,
    /// Whether B is better or worse in it; plain if that is not known.
    pub tone: Tone,
    /// The ratio with its interval, formatted.
    pub text: String,
}

/// A table of formatted figures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Table {
    /// What it is of.
    pub caption: String,
    /// The names of the cells.
    pub columns: Vec<String>,
    /// A line for each figure.
    pub rows: Vec<TableRow>,
}

/// A line of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TableRow {
    /// The figure's name.
    pub name: String,
    /// Its values, one for each column.
    pub cells: Vec<String>,
}

/// One run of several.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SeriesRun {
    /// Which one: `Run 3`, or `Run 3 (A)`.
    pub name: String,
    /// Its figures, one for each column.
    pub cells: Vec<String>,
    /// Its own page.
    pub page: RunPage,
}
