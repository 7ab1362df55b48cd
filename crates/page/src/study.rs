//! The data of the page of a study: a table of runs with any columns, plots of pairs of columns,
//! and the timelines of runs.

use crate::{Fact, StudyPlots, Unit, number};
use serde::Serialize;

/// The page of a study. Rows may be runs of any tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StudyPage {
    /// The version of the program that wrote it.
    pub version: String,
    /// The start of the first run, in RFC 3339.
    pub started_at: String,
    /// The title of the study.
    pub title: String,
    /// The purpose of the study in a sentence or two; may be empty.
    pub description: String,
    /// The conditions of the study: seed, order, pinning, machine.
    pub facts: Vec<Fact>,
    /// Notes for the reader: tools that were missing, runs that failed.
    pub notes: Vec<String>,
    /// The table's columns, in order.
    pub columns: Vec<Column>,
    /// The table's rows, in order.
    pub rows: Vec<StudyRow>,
    /// The plots of these rows.
    pub plots: StudyPlots,
}

/// A column of the table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Column {
    /// The name of the column, as in `results.csv`: `avg_cpu`.
    pub name: String,
    /// The heading of the column: `CPU`.
    pub title: String,
    /// The unit of the numbers.
    pub unit: Unit,
}

/// A run in the table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StudyRow {
    /// The tool that made the run, or another attribute that plots distinguish by colour.
    pub tool: String,
    /// A short name, unique in the study: `wrk 5/100/120`.
    pub name: String,
    /// A cell for each column.
    pub cells: Vec<Cell>,
    /// The reason why the run is invalid or failed, in a sentence; `None` if there is no such
    /// reason.
    pub finding: Option<String>,
}

/// The content of a cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(untagged)]
pub enum Cell {
    /// A number, in the column's unit.
    Number(#[serde(serialize_with = "number::one")] f64),
    /// A text.
    Text(String),
    /// No value: the tool does not report it.
    Absent,
}

/// A pair of columns to plot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scatter {
    /// What its files are called: `rps-by-avg_cpu`.
    pub name: String,
    /// The heading of its plots: `Requests per second and CPU`.
    pub title: String,
    /// The name of the column on the x axis.
    pub x: String,
    /// The name of the column on the y axis.
    pub y: String,
    /// Whether the axis from bottom to top is logarithmic.
    pub is_log: bool,
    /// The series of each row, `None` for one that is not drawn; without them, the series are those
    /// of the rows themselves.
    pub groups: Option<Vec<Option<String>>>,
}
