//! The data of the page of several runs: the figures of all together, a line for each run, and the
//! page of each run.

use crate::{CheckRow, RunPage, Tone, number};
use serde::Serialize;

/// The page of repeats, of two sides that took turns, or of other runs of one file.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SeriesPage {
    /// The version of the program that made the first run.
    pub version: String,
    /// The start of the first run, in RFC 3339.
    pub started_at: String,
    /// The request.
    pub title: String,
    /// The load, its model, and the number of runs.
    pub load: String,
    /// The comparison of both sides, if there are two.
    pub verdict: Option<SeriesVerdict>,
    /// The figures of all runs together, if the runs belong together.
    pub together: Option<Table>,
    /// Conclusions from these figures, and warnings about them.
    pub notes: Vec<String>,
    /// The checks, evaluated on all runs of each side together.
    pub checks: Vec<CheckRow>,
    /// The runs with doubtful validity, and the reasons.
    pub validity_findings: Vec<String>,
    /// The names of the cells of each run.
    pub columns: Vec<String>,
    /// Every run, in order.
    pub runs: Vec<SeriesRun>,
}

/// The result of a comparison of two sides.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SeriesVerdict {
    /// The rating of B relative to A; plain if it is unknown.
    pub tone: Tone,
    /// The result as a sentence.
    pub text: String,
    /// The ratio of B to A for each figure.
    pub ratios: Vec<RatioBar>,
}

/// The ratio of B to A for one figure, as it is drawn.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RatioBar {
    /// The name of the figure.
    pub name: String,
    /// B / A.
    #[serde(serialize_with = "number::one")]
    pub ratio: f64,
    /// The lower end of the ratio's interval; `None` if unknown.
    #[serde(serialize_with = "number::maybe")]
    pub lower: Option<f64>,
    /// The upper end of the ratio's interval; `None` if unknown.
    #[serde(serialize_with = "number::maybe")]
    pub upper: Option<f64>,
    /// The rating of B in this figure; plain if it is unknown.
    pub tone: Tone,
    /// The ratio with its interval, formatted.
    pub text: String,
}

/// A table of formatted figures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Table {
    /// The title of the table.
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
    /// The name of the figure.
    pub name: String,
    /// The values, one for each column.
    pub cells: Vec<String>,
}

/// One run of several.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SeriesRun {
    /// The name of the run: `Run 3`, or `Run 3 (A)`.
    pub name: String,
    /// The figures of the run, one for each column.
    pub cells: Vec<String>,
    /// The page of the run.
    pub page: RunPage,
}
