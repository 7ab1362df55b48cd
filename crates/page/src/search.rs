//! What the page of a search for the load line shows: the answer, the ladder around it, and every
//! trial.

use crate::{Fact, SearchPlots, number};
use serde::Serialize;

/// The page of a search. Its sentences and formatted figures are those of the text report.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SearchPage {
    /// The version of the program that searched.
    pub version: String,
    /// When the first trial started, in RFC 3339.
    pub started_at: String,
    /// What was sent: `GET http://127.0.0.1:8080/`.
    pub title: String,
    /// What was searched, in how many trials, by which checks.
    pub course: String,
    /// What was found.
    pub answer: SearchAnswer,
    /// The headings of the trials' cells.
    pub columns: Vec<String>,
    /// What the target does around its load line, a trial for each part of it.
    pub ladder: Vec<TrialRow>,
    /// What there is to say of the ladder: whether the target recovered, and what excuses it.
    pub ladder_notes: Vec<String>,
    /// Every trial, in the order in which they were made.
    pub trials: Vec<TrialRow>,
    /// The plots of the trials.
    pub plots: SearchPlots,
    /// What the generator's machine does at best, in a sentence, if it was measured.
    pub floor: Option<String>,
    /// The generator's machine.
    pub machine: Vec<Fact>,
}

/// What was found, as a sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SearchAnswer {
    /// What kind of answer it is.
    pub kind: AnswerKind,
    /// The answer, in few words: `load line: 4900 req/s (4880 … 4961)`.
    pub text: String,
    /// What else there is to say of it: why it is no more, and what to do.
    pub detail: String,
    /// What to know before believing it, each a sentence.
    pub notes: Vec<String>,
}

/// What kind of answer a search has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum AnswerKind {
    /// There is a load line.
    Found,
    /// A level holds, and what lies above it is not known.
    AtLeast,
    /// Not even the lowest level holds.
    NothingHolds,
    /// The search ended before it knew, or its machine kept it from knowing.
    #[default]
    NotKnown,
}

/// Where a load line is, as plots point it out.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadLine {
    /// The level.
    pub level: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Its words in a plot: `load line: 4900 req/s`.
    pub text: String,
}

/// A trial, in a table and in plots.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TrialRow {
    /// Its number, from 1.
    pub number: u32,
    /// What it was for: `search`, `90 %`.
    pub purpose: String,
    /// The part of the search that it belongs to: `warm-up`, `search`, `confirmation` or `ladder`.
    pub stretch: String,
    /// The rate per second, or the number of users, that was asked for. All digits: a search may be
    /// more precise than four.
    pub level: f64,
    /// The median of the response time in microseconds; `None` if nothing was answered.
    #[serde(serialize_with = "number::maybe")]
    pub p50_us: Option<f64>,
    /// Whether that is a lower bound.
    pub p50_at_least: bool,
    /// The 99th percentile of the response time in microseconds; `None` if nothing was answered.
    #[serde(serialize_with = "number::maybe")]
    pub p99_us: Option<f64>,
    /// Whether that is a lower bound.
    pub p99_at_least: bool,
    /// The level and what was measured, formatted.
    pub cells: Vec<String>,
    /// Its result, as plots show it.
    pub ended: TrialEnd,
    /// Its result, as text.
    pub text: String,
}

/// The result of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum TrialEnd {
    /// All checks passed, and the target kept up.
    Passed,
    /// A check failed, or the target did not keep up.
    Failed,
    /// It was repeated, because the machine lost time.
    Discarded,
    /// It only warmed the target up.
    WarmUp,
}
