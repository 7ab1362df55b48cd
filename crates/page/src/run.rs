//! What the page of one run shows.

use crate::{AddedTables, RunPlots, added, number};
use serde::Serialize;

/// The page of one run. Its sentences and formatted figures are those of the text report.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RunPage {
    /// The version of the program that ran it.
    pub version: String,
    /// When it started, in RFC 3339.
    pub started_at: String,
    /// What was sent: `GET http://127.0.0.1:8080/`.
    pub title: String,
    /// How much, in which model: `open loop: 2 000/s constant, 50 connections, …`.
    pub load: String,
    /// The figures that a reader looks for first.
    pub headlines: Vec<Headline>,
    /// What was counted.
    pub facts: Vec<Fact>,
    /// The generator's machine.
    pub machine: Vec<Fact>,
    /// Whether the result can be believed.
    pub validity: ValidityText,
    /// What to know before believing a figure.
    pub warnings: Vec<String>,
    /// The checks, and their results.
    pub checks: Vec<CheckRow>,
    /// What the response times count from.
    pub timed_from: String,
    /// The percentiles of the response time.
    pub percentiles: Vec<PercentileRow>,
    /// The names of the columns of numbers by name, in the order of each row's cells.
    pub name_columns: Vec<String>,
    /// The requests by name, the most frequent name first; none where all have one name.
    pub names: Vec<NameRow>,
    /// What explains these rows.
    pub name_notes: Vec<String>,
    /// The metrics that a script counted by itself.
    pub metrics: Vec<MetricRow>,
    /// What explains these rows.
    pub metric_notes: Vec<String>,
    /// Responses by status.
    pub statuses: Vec<StatusRow>,
    /// Failures by kind.
    pub errors: Vec<ErrorRow>,
    /// The names of the columns of times, in the order of each row's cells.
    pub time_columns: Vec<String>,
    /// Where the time went.
    pub times: Vec<TimeRow>,
    /// What explains these rows.
    pub time_notes: Vec<String>,
    /// The processes and the machine that were watched.
    pub resources: Vec<Resource>,
    /// The tables that another program added.
    pub added: Option<AddedTables>,
    /// The plots.
    pub plots: RunPlots,
}

impl RunPage {
    /// The same with what another program adds, if it adds anything. Where that judges the test
    /// itself, its verdict and its failures take their place at the head, and what is without a
    /// response is called so: a failure is what that program calls one. Advice that names options
    /// of ours is left out, as that program has others.
    #[must_use]
    pub fn with_added(mut self, tables: Option<AddedTables>) -> RunPage {
        if let Some(tables) = &tables
            && !tables.verdicts.is_empty()
        {
            added::put_first(&mut self, &tables.verdicts);
        }
        self.added = tables;
        self
    }
}

/// A figure that is shown large.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Headline {
    /// What it is of.
    pub name: String,
    /// The figure, formatted.
    pub figure: String,
    /// What stands below it; empty if nothing does.
    pub note: String,
    /// Whether it is good or bad; plain if it is neither.
    pub tone: Tone,
}

/// A name with a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Fact {
    /// Its name; empty if it goes on from the one before.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// A metric that a script counted by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MetricRow {
    /// Its name, with its tags.
    pub name: String,
    /// What is made of its values: `trend`, `counter`, `rate` or `gauge`.
    pub kind: String,
    /// Its figures by name; none without a value.
    pub figures: Vec<Fact>,
}

/// Whether a result can be believed, as sentences.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ValidityText {
    /// The colour and the sign of its box.
    pub tone: Tone,
    /// How far the result can be believed, as a sentence.
    pub claim: String,
    /// Why not, each a sentence that ends in what to do.
    pub findings: Vec<String>,
}

/// The colour and the sign of a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Tone {
    /// There is no reason against it.
    #[default]
    Good,
    /// As good, without the colour: no reason against the measurement, but the responses are in
    /// doubt.
    Plain,
    /// There are reasons against it.
    Doubtful,
    /// It does not hold.
    Bad,
}

/// A check, and its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CheckRow {
    /// The condition as typed.
    pub text: String,
    /// What the run says of it.
    pub outcome: Outcome,
    /// What was measured.
    pub actual: String,
    /// Why the run can't decide it, where it can't.
    pub why: Option<String>,
}

/// What a run says of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It passed.
    Passed,
    /// It failed.
    Failed,
    /// The run can't decide it.
    Undecided,
}

/// A percentile of the response and the service time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PercentileRow {
    /// Its name, `p99.9`, or that of a moment: `mean`, `max`.
    pub name: String,
    /// That of the response time.
    pub response: TimedFigure,
    /// That of the service time.
    pub service: TimedFigure,
}

/// A formatted time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TimedFigure {
    /// The time in microseconds; `None` if there are too few samples for it.
    #[serde(serialize_with = "number::maybe")]
    pub us: Option<f64>,
    /// Whether the time is a lower bound.
    pub at_least: bool,
    /// The formatted time, or how many samples it needs.
    pub text: String,
    /// Its formatted 95 % interval, if there is one.
    pub interval: Option<String>,
}

/// The requests of one name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct NameRow {
    /// The name.
    pub name: String,
    /// Its numbers, in the order of the columns.
    pub cells: Vec<String>,
    /// Whether requests failed, or responses had a status of 400 or above.
    pub is_bad: bool,
}

/// Responses of one status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StatusRow {
    /// The status.
    pub status: u16,
    /// How many.
    pub count: u64,
}

/// Failures of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ErrorRow {
    /// The kind.
    pub kind: String,
    /// How many.
    pub count: u64,
    /// The message of the first of them; empty if it had none.
    pub example: String,
    /// What to do.
    pub advice: String,
}

/// One part of the time that exchanges took.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TimeRow {
    /// Which part.
    pub name: String,
    /// Whether it is a part of the service time.
    pub within_service: bool,
    /// How many samples there are.
    pub count: u64,
    /// Its formatted times, one for each of the page's `time_columns`.
    pub cells: Vec<String>,
    /// The mean in microseconds.
    #[serde(serialize_with = "number::one")]
    pub mean_us: f64,
}

/// A process tree or the machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Resource {
    /// Its name: `generator`, `:8080 nginx`, `host`.
    pub name: String,
    /// What is known of it, and what could not be read.
    pub notes: Vec<String>,
}
