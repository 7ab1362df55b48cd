//! What the page of a study shows: a table of runs with any columns, plots of two columns each, and
//! the timelines of runs.

use crate::{Fact, StudyPlots, Unit, number};
use serde::Serialize;

/// The page of a study. Rows may be runs of any tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StudyPage {
    /// The version of the program that wrote it.
    pub version: String,
    /// When the first run started, in RFC 3339.
    pub started_at: String,
    /// What was studied.
    pub title: String,
    /// In a sentence or two what the study is for; may be empty.
    pub description: String,
    /// How it was made: seed, order, pinning, machine.
    pub facts: Vec<Fact>,
    /// What a reader must know: tools that were missing, runs that failed.
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
    /// Its name, as in `results.csv`: `avg_cpu`.
    pub name: String,
    /// Its heading: `CPU`.
    pub title: String,
    /// The unit of its numbers.
    pub unit: Unit,
}

/// A run in the table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StudyRow {
    /// The tool that ran it, or what else plots tell apart: the colour of its dots.
    pub tool: String,
    /// A short name, unique in the study: `wrk 5/100/120`.
    pub name: String,
    /// A cell for each column.
    pub cells: Vec<Cell>,
    /// Whether it can't be believed, or failed: then why, in a sentence.
    pub finding: Option<String>,
}

/// What stands in a cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(untagged)]
pub enum Cell {
    /// A number, in the column's unit.
    Number(#[serde(serialize_with = "number::one")] f64),
    /// Words.
    Text(String),
    /// Nothing: the tool does not tell.
    Absent,
}

/// Two columns to draw against each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scatter {
    /// The heading of its plots: `Requests per second and CPU`.
    pub title: String,
    /// The name of the column from left to right.
    pub x: String,
    /// The name of the column from bottom to top.
    pub y: String,
}
