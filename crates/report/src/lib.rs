//! Text, JSON and CSV from a recorded run.
//!
//! Everything here is a pure function of a [`Summary`](loadline_record::Summary) and the results of
//! its checks: [`text`] is the report for people, [`json`] and [`csv`] are for programs,
//! [`demonstration`] shows what a closed-loop tool would have hidden, [`Progress`] is one line
//! about a run that is still going on, and [`LiveReport`] a screen about it.
//!
//! The words are those of the glossary: *response time* is counted from the intended start,
//! *service time* from the send, *delay* lies between and is either *blocked* or *lateness*.

mod affected;
mod capacity;
mod closed_loop;
mod closing;
mod comparison;
mod confidence;
mod csv;
mod history;
mod job;
mod json;
mod layout;
mod live_report;
mod machine;
mod metrics;
mod names;
mod page;
mod percentiles;
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

pub use capacity::{CapacityReport, Origin, capacity, search_page, trial_line};
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
pub use page::{RunSoFar, heat_interval, run_page, series_page};
pub use percentiles::PERCENTILES;
pub use progress::{Progress, planned_length};
pub use series::{series_csv, series_text};
pub use text::{Extent, TextOptions, bar, comparison_of_files, demonstration, text};
pub use undecided::undecided;
pub use watch::{watch_csv_header, watch_csv_row, watch_line, watch_line_header, watch_notes};
pub use wording::{level_text, test_name};
