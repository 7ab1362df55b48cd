//! Text, JSON and CSV from a recorded run.
//!
//! Everything here is a pure function of a [`Summary`](loadline_record::Summary) and the results of
//! its checks: [`text`] is the report for people, [`json`] and [`csv`] are for programs,
//! [`demonstration`] shows what a closed-loop tool would have hidden, [`Progress`] is one line
//! about a run that is still going on, and [`LiveReport`] a screen about it.
//!
//! The words are those of the glossary: *response time* is counted from the intended start,
//! *service time* from the send, *delay* lies between and is either *blocked* or *lateness*.
//!
//! ## To change
//!
//! - the text report: its order `text.rs`, a section in `text/`; the first report `text/first.rs`,
//!   the short one `text/short.rs`
//! - a column of the text report: `COLUMNS` in `text/parts.rs`, `text/names.rs` and
//!   `comparison.rs`; of response times `text/response.rs`, of repeats `text/repeats.rs`, of a
//!   search `capacity.rs`; alignment `table.rs`
//! - a column of the CSV: `COLUMNS` and `fields` in `csv.rs`
//! - a key of the JSON: filled in `json/`; its type is in the crate `json`
//! - the data of a page: `page.rs`, `page/`, `capacity/page.rs`; its plots over time
//!   `page/timeline.rs`
//! - a percentile, or another statistic: `PERCENTILES` in `percentiles.rs`; `text/response.rs`,
//!   `affected.rs`, `page/tables.rs`, `json/distribution.rs`
//! - an error kind, as reports count it: `text/response.rs`, `text/outcome.rs`, `page/tables.rs`
//! - the reports for continuous integration: the cases `job/cases.rs`; the formats `job/junit.rs`,
//!   `job/markdown.rs`, `job/github.rs`
//! - the live view and the progress line: `live_report.rs`, `progress.rs`
//! - sentences about a plan, a check, an exit code: `wording.rs`, `undecided.rs`, `closing.rs`
//! - a new format: a file here; who prints it is in the crate `loadline`
//! - what several forms share: of metrics `metrics.rs`, names `names.rs`, `prefixes.rs`, errors
//!   `error_responses.rs`, exceptions `exceptions.rs`, times split by the kernel `split.rs`,
//!   quantities `quantity.rs`, as numbers `measured_quantity.rs`, confidence `confidence.rs`, what
//!   a closed-loop tool would show `closed_loop.rs`
//! - several runs: `series.rs`; the history of a test: `history.rs`; a job of continuous
//!   integration: `job.rs`; a machine: `machine.rs`; the watched usage: `watch.rs`
//! - the form of text: widths and columns `layout.rs`, colour `style.rs`
//! - made-up runs for tests: `samples.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod affected;
mod capacity;
mod closed_loop;
mod closing;
mod comparison;
mod confidence;
mod csv;
mod error_responses;
mod exceptions;
mod history;
mod job;
mod json;
mod layout;
mod live_report;
mod machine;
mod measured_quantity;
mod metrics;
mod names;
mod page;
mod percentiles;
mod prefixes;
mod progress;
mod quantity;
mod series;
mod split;
mod style;
mod table;
mod text;
mod undecided;
mod watch;
mod wording;

#[cfg(test)]
mod samples;

pub use capacity::{CapacityReport, Origin, capacity, search_page, search_page_so_far, trial_line};
pub use closing::{checks_that_are, grade_and_reason};
pub use comparison::{
    ComparedFiles, FileRun, comparison, name as figure_name, tolerance_sentence, visible_sentence,
};
pub use csv::csv;
pub use history::{HistoryRun, TestHistory, history_text};
pub use job::{JobReport, Threshold, annotations, job_outputs, junit, markdown, step_summary};
pub use json::{
    capacity_json, comparison_json, comparison_of_files_json, document, json, judgement,
    series_json, watch_json,
};
pub use layout::{ascii, cut, left, right, width};
pub use live_report::{
    CheckRow, HistogramRow, LiveHead, LiveReport, NameRow, OutcomeRow, PercentileRow, UsedRow,
};
pub use machine::{Machine, machine_json, machine_text};
pub use page::{
    RunSoFar, against, heat_interval, heat_of, name_plots, never_against, not_yet_against,
    page_of_runs, run_page, series_page,
};
pub use percentiles::PERCENTILES;
pub use progress::{Progress, planned_length};
pub use series::{series_csv, series_text};
pub use text::{Extent, TextOptions, bar, comparison_of_files, demonstration, text};
pub use undecided::undecided;
pub use watch::{watch_csv_header, watch_csv_row, watch_line, watch_line_header, watch_notes};
pub use wording::{level_text, test_name};
