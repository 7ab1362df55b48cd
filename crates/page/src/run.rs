//! The data of the page of one run.

use crate::{AddedTables, Against, RunPlots, added, number};
use serde::Serialize;

/// The page of one run. Its sentences and formatted figures are those of the text report.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RunPage {
    /// The version of the program that ran it.
    pub version: String,
    /// The start of the run, in RFC 3339.
    pub started_at: String,
    /// The request: `GET http://127.0.0.1:8080/`.
    pub title: String,
    /// The load and its model: `open loop: 2 000/s constant, 50 connections, …`.
    pub load: String,
    /// The most important figures.
    pub headlines: Vec<Headline>,
    /// The counts.
    pub facts: Vec<Fact>,
    /// The generator's machine.
    pub machine: Vec<Fact>,
    /// The validity of the result.
    pub validity: ValidityText,
    /// Warnings about the figures.
    pub warnings: Vec<String>,
    /// The checks and their results.
    pub checks: Vec<CheckRow>,
    /// The notes on its course, in chronological order.
    pub notes: Vec<NoteRow>,
    /// The run beside its baseline, if it was compared while it went on.
    pub against: Option<Against>,
    /// The event that response times start from, in words.
    pub timed_from: String,
    /// The percentiles of the response time.
    pub percentiles: Vec<PercentileRow>,
    /// The names of the columns of numbers by name, in the order of each row's cells.
    pub name_columns: Vec<String>,
    /// The requests by name, the most frequent name first; empty if all have one name.
    pub names: Vec<NameRow>,
    /// The groups of names that begin alike; empty if there are few names, or none that do.
    pub name_groups: Vec<NameGroup>,
    /// Explanations of the rows by name.
    pub name_notes: Vec<String>,
    /// The metrics that a script counted by itself.
    pub metrics: Vec<MetricRow>,
    /// Explanations of the metrics.
    pub metric_notes: Vec<String>,
    /// Responses by status.
    pub statuses: Vec<StatusRow>,
    /// Failures by kind.
    pub errors: Vec<ErrorRow>,
    /// Responses that report errors, each as an example of its status; empty if they were not kept.
    pub error_responses: Vec<ErrorResponseRow>,
    /// Exceptions that nothing in a script handled.
    pub exceptions: Vec<ExceptionRow>,
    /// The sentence about exceptions that have no row; empty if there are none.
    pub exceptions_left_out: String,
    /// The names of the columns of times, in the order of each row's cells.
    pub time_columns: Vec<String>,
    /// The times of the parts of an exchange.
    pub times: Vec<TimeRow>,
    /// Explanations of the times.
    pub time_notes: Vec<String>,
    /// The processes and the machine that were watched.
    pub resources: Vec<Resource>,
    /// The tables that another program added.
    pub added: Option<AddedTables>,
    /// The plots.
    pub plots: RunPlots,
}

impl RunPage {
    /// Adds another program's tables to the page, if there are any. If that program judges the test
    /// itself, its verdicts come first, Loadline's failures are called requests without a response
    /// (that program defines failures in its own way), and advice that names Loadline's options is
    /// removed, because the program has other options.
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

/// A figure in large type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Headline {
    /// The name of the figure.
    pub name: String,
    /// The figure, formatted.
    pub figure: String,
    /// The text below the figure; may be empty.
    pub note: String,
    /// The rating of the figure; plain if it is neither good nor bad.
    pub tone: Tone,
}

/// A name with a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Fact {
    /// The name; empty if the text continues the fact before.
    pub name: String,
    /// The text.
    pub text: String,
}

/// A metric that a script counted by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MetricRow {
    /// The name of the metric, with its tags.
    pub name: String,
    /// The kind of the metric: `trend`, `counter`, `rate` or `gauge`.
    pub kind: String,
    /// The figures of the metric by name; empty without a value.
    pub figures: Vec<Fact>,
}

/// The validity of a result, as sentences.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ValidityText {
    /// The colour and the sign of the box.
    pub tone: Tone,
    /// The conclusion, as a sentence.
    pub claim: String,
    /// The findings, each a sentence that ends in advice.
    pub findings: Vec<String>,
}

/// The colour and the sign of a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Tone {
    /// Nothing speaks against it.
    #[default]
    Good,
    /// As good, without the colour: the measurement is sound, but the responses are in doubt.
    Plain,
    /// Something may have distorted it.
    Doubtful,
    /// It is invalid, or it failed.
    Bad,
}

/// A check and its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CheckRow {
    /// The condition as typed.
    pub text: String,
    /// The outcome of the check.
    pub outcome: Outcome,
    /// The measured figure, formatted.
    pub actual: String,
    /// The reason why the run cannot decide the check; `None` if it can.
    pub why: Option<String>,
}

/// A note on the course of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct NoteRow {
    /// The instant, in seconds from the beginning of the measured part; negative in the warm-up.
    pub at_s: f64,
    /// The formatted instant.
    pub at: String,
    /// The text.
    pub text: String,
    /// True if a person wrote it; false if it follows from the record.
    pub is_written: bool,
}

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The condition is true.
    Passed,
    /// The condition is false.
    Failed,
    /// The run cannot decide the condition.
    Undecided,
}

/// A percentile of the response time and of the service time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PercentileRow {
    /// The name of the percentile, `p99.9`, or of another statistic: `mean`, `max`.
    pub name: String,
    /// The figure of the response time.
    pub response: TimedFigure,
    /// The figure of the service time.
    pub service: TimedFigure,
}

/// A formatted time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TimedFigure {
    /// The time in microseconds; `None` if there are too few samples for it.
    #[serde(serialize_with = "number::maybe")]
    pub us: Option<f64>,
    /// True if the time is a lower bound.
    pub at_least: bool,
    /// The formatted time, or the number of samples that it needs.
    pub text: String,
    /// The formatted 95 % interval, if there is one.
    pub interval: Option<String>,
}

/// The requests of one name.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct NameRow {
    /// The name.
    pub name: String,
    /// The numbers of the name, in the order of the columns.
    pub cells: Vec<String>,
    /// True if requests failed, or responses had a status of 400 or above.
    pub is_bad: bool,
    /// Responses per second in each part of the run, all of the same length but for the last; empty
    /// if the course of the name is not kept.
    #[serde(serialize_with = "number::all")]
    pub course: Vec<f64>,
}

/// The requests of all names that begin alike, together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct NameGroup {
    /// The beginning of their names.
    pub prefix: String,
    /// The number of names.
    pub names: usize,
    /// The numbers of the group, in the order of the columns.
    pub cells: Vec<String>,
    /// True if a request failed, or a response had a status of 400 or above.
    pub is_bad: bool,
}

/// Responses of one status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StatusRow {
    /// The status.
    pub status: u16,
    /// The number of responses.
    pub count: u64,
}

/// Failures of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ErrorRow {
    /// The kind.
    pub kind: String,
    /// The number of failures.
    pub count: u64,
    /// The message of the first failure; empty if it had none.
    pub example: String,
    /// The advice: what to do.
    pub advice: String,
}

/// A response that reports an error, as an example of all with its name and status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ErrorResponseRow {
    /// The status.
    pub status: u16,
    /// True if a script rejected it, whatever its status.
    pub is_rejected: bool,
    /// The name; empty if all requests have the same.
    pub name: String,
    /// The number of responses with this name and status; of rejected ones with this name.
    pub count: u64,
    /// The formatted instant of its end.
    pub at: String,
    /// The beginning of its body as text; may be empty.
    pub body: String,
    /// True if the body was longer.
    pub is_cut: bool,
}

/// An exception that nothing in a script handled, as often as it occurred.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ExceptionRow {
    /// The name of its class; empty if it has none.
    pub kind: String,
    /// The message of the first one.
    pub message: String,
    /// The number of times that it occurred.
    pub count: u64,
    /// The formatted instant from which on it occurred.
    pub at: String,
    /// The agents or processes in which it occurred; empty if there is one process alone.
    pub parts: String,
    /// The stack; may be empty.
    pub trace: String,
}

/// The times of one part of the exchanges.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TimeRow {
    /// The name of the part.
    pub name: String,
    /// True if it is a part of the service time.
    pub within_service: bool,
    /// The number of samples.
    pub count: u64,
    /// The formatted times, one for each of the page's `time_columns`.
    pub cells: Vec<String>,
    /// The mean in microseconds.
    #[serde(serialize_with = "number::one")]
    pub mean_us: f64,
}

/// A process tree or the machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Resource {
    /// The name of the tree or of the machine: `generator`, `:8080 nginx`, `host`.
    pub name: String,
    /// Notes on it, and the figures that could not be read.
    pub notes: Vec<String>,
}
