//! The data of the page of a search for the load line: the answer, the ladder around it, and every
//! trial.

use crate::{Fact, SearchPlots, number};
use serde::Serialize;

/// The page of a search. Its sentences and formatted figures are those of the text report.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SearchPage {
    /// The version of the program that searched.
    pub version: String,
    /// The start of the first trial, in RFC 3339.
    pub started_at: String,
    /// The request: `GET http://127.0.0.1:8080/`.
    pub title: String,
    /// The searched quantity, the number of trials and the checks, in a sentence.
    pub course: String,
    /// The result of the search.
    pub answer: SearchAnswer,
    /// The headings of the trials' cells.
    pub columns: Vec<String>,
    /// The trials around the load line, one for each rung of the ladder.
    pub ladder: Vec<TrialRow>,
    /// Notes on the ladder: the recovery of the target, and limits of the generator or its machine.
    pub ladder_notes: Vec<String>,
    /// Every trial, in chronological order.
    pub trials: Vec<TrialRow>,
    /// The plots of the trials.
    pub plots: SearchPlots,
    /// The best result that the generator's machine reaches, in a sentence; `None` if it was not
    /// measured.
    pub floor: Option<String>,
    /// The generator's machine.
    pub machine: Vec<Fact>,
}

/// The result of a search, as sentences.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SearchAnswer {
    /// The kind of answer.
    pub kind: AnswerKind,
    /// The answer, in few words: `load line: 4900 req/s (4880 … 4961)`.
    pub text: String,
    /// Details: the reason why the answer is no higher, and what to do.
    pub detail: String,
    /// Warnings about the answer, each a sentence.
    pub notes: Vec<String>,
}

/// The kind of a search's answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum AnswerKind {
    /// A load line was found.
    Found,
    /// A level holds, and it is unknown whether a higher one does.
    AtLeast,
    /// Not even the lowest level holds.
    NothingHolds,
    /// The search ended before it had a result, or its machine made one impossible.
    #[default]
    NotKnown,
}

/// A load line, as plots mark it.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadLine {
    /// The level.
    pub level: f64,
    /// The lower end of its 95 % interval.
    pub low: f64,
    /// The upper end of its 95 % interval.
    pub high: f64,
    /// The text in a plot: `load line: 4900 req/s`.
    pub text: String,
}

/// A trial, in a table and in plots.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TrialRow {
    /// The number of the trial, from 1.
    pub number: u32,
    /// The purpose of the trial: `search`, `90 %`.
    pub purpose: String,
    /// The part of the search: `warm-up`, `search`, `confirmation` or `ladder`.
    pub stretch: String,
    /// The planned rate per second or number of users, with all digits: a search may be more
    /// precise than four digits.
    pub level: f64,
    /// The median of the response time in microseconds; `None` without a response.
    #[serde(serialize_with = "number::maybe")]
    pub p50_us: Option<f64>,
    /// True if `p50_us` is a lower bound.
    pub p50_at_least: bool,
    /// The 99th percentile of the response time in microseconds; `None` without a response.
    #[serde(serialize_with = "number::maybe")]
    pub p99_us: Option<f64>,
    /// True if `p99_us` is a lower bound.
    pub p99_at_least: bool,
    /// The level and the measured figures, formatted.
    pub cells: Vec<String>,
    /// The result, as plots show it.
    pub ended: TrialEnd,
    /// The result, as text.
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
    /// The trial was repeated, because the machine lost CPU time or a part of its load was lost.
    Discarded,
    /// The trial only warmed the target up.
    WarmUp,
}
