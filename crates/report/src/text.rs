//! The report as text, for people, in 80 columns.
//!
//! A run prints the most important results first (`first.rs`). The full report has sections from
//! the question to the result: the target and the counts, response times with their histogram, the
//! figures that a closed-loop tool would have shown (if they differ), the time spent, the watched
//! usage, errors, exceptions, checks,
//! warnings. An empty section is left out.

mod exceptions;
mod files;
mod first;
mod floor;
mod head;
mod histogram;
mod metrics;
mod names;
mod omission;
mod outcome;
mod parts;
mod repeats;
mod response;
mod short;
mod sides;
mod split;
mod traces;
mod uncompared;
mod validity_summary;
mod watch;

pub use files::comparison_of_files;
pub use histogram::bar;

pub(crate) use floor::floor_text;
pub(crate) use names::{
    COLUMNS as NAME_COLUMNS, numbers as name_cells, overflow_of as overflow_of_names,
    too_few as too_few_of_names,
};

pub(crate) use repeats::{repeats, spread_cells, spread_note};
pub(crate) use sides::sides;
pub(crate) use uncompared::uncompared;
pub(crate) use validity_summary::{label, validity_sentences};

pub(crate) use head::{NOTES, facts};
pub(crate) use histogram::bins;
pub(crate) use parts::{COLUMNS as PART_COLUMNS, cells as part_cells};
pub(crate) use parts::{explanations as part_notes, rows as parts};
pub(crate) use watch::{host as host_notes, title as tree_title, unread};

use crate::layout;
use crate::percentiles::PERCENTILES;
use crate::style::Style;
use loadline_verdict::RunResult;

/// The narrowest report; less is taken as this.
const NARROWEST: usize = 80;
/// The widest report: longer lines are hard to read.
const WIDEST: usize = 120;

/// The appearance of the text.
#[derive(Clone, Debug, PartialEq)]
pub struct TextOptions {
    /// Paint with terminal colours.
    pub color: bool,
    /// Keep to ASCII, for terminals that have nothing else.
    pub ascii: bool,
    /// The percentiles of response time to show, each above 0 and at most 100, in this order.
    pub percentiles: Vec<f64>,
    /// Columns there are; 80 to 120 are used.
    pub width: usize,
    /// The extent of the text.
    pub extent: Extent,
    /// True if a terminal shows it. Elsewhere each line of the first report is one line, however
    /// long, so that a program that searches for a line finds the whole sentence.
    pub terminal: bool,
    /// The file that the run was saved into, as typed.
    pub saved: Option<String>,
}

/// The extent of the text about a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// A run in five lines, and several runs in little more than a line each.
    Short,
    /// The most important results: of a run on at most 20 lines, of several runs all.
    First,
    /// All.
    Full,
}

impl Default for TextOptions {
    fn default() -> TextOptions {
        TextOptions {
            color: false,
            ascii: false,
            percentiles: PERCENTILES.to_vec(),
            width: NARROWEST,
            extent: Extent::Full,
            terminal: false,
            saved: None,
        }
    }
}

/// The medium of sections.
#[derive(Clone, Copy, Debug)]
struct Canvas {
    style: Style,
    width: usize,
}

impl Canvas {
    fn new(options: &TextOptions) -> Canvas {
        Canvas {
            style: Style::new(options.color),
            width: options.width.clamp(NARROWEST, WIDEST),
        }
    }

    /// A heading, with what explains it.
    fn heading(self, title: &str, explanation: &str) -> String {
        format!(
            "{}{}",
            self.style.strong(title),
            self.style.faint(explanation)
        )
    }

    /// A paragraph of a section.
    fn paragraph(self, text: &str) -> Vec<String> {
        layout::hanging("  ", text, self.width)
    }
}

/// The report of a run as text, ending in a line feed.
pub fn text(run: &RunResult, options: &TextOptions) -> String {
    let summary = &run.summary;
    let canvas = Canvas::new(options);
    if options.extent == Extent::Short {
        return assemble(&[short::lines(run, canvas)], options);
    }
    if summary.lacks_figures() {
        let warnings = outcome::warnings(run, &options.percentiles, canvas);
        return assemble(&[head::lines(summary, canvas), warnings], options);
    }
    if options.extent == Extent::First {
        return assemble(&first::sections(run, options, canvas), options);
    }
    let sections = [
        head::lines(summary, canvas),
        outcome::alarm(summary, canvas),
        outcome::plan_limit(&run.findings, canvas),
        response::lines(run, &options.percentiles, canvas),
        names::lines(summary, canvas),
        metrics::lines(summary, canvas),
        omission::lines_after_stall(summary, canvas),
        parts::lines(summary, canvas),
        split::lines(summary, canvas),
        traces::lines(summary, canvas),
        watch::lines(summary, canvas),
        floor::lines(summary, canvas),
        outcome::errors(summary, canvas),
        exceptions::lines(summary, canvas),
        outcome::checks_of_run(run, canvas),
        outcome::validity(run, canvas),
        outcome::warnings(run, &options.percentiles, canvas),
    ];
    assemble(&sections, options)
}

/// The first report, with what a closed-loop tool would have shown below it, for a demonstration.
pub fn demonstration(run: &RunResult, options: &TextOptions) -> String {
    let canvas = Canvas::new(options);
    assemble(&first::beside_closed_loop(run, options, canvas), options)
}

/// Sections with an empty line between, no blanks at a line's end.
pub(crate) fn assemble(sections: &[Vec<String>], options: &TextOptions) -> String {
    let mut text = String::new();
    for section in sections.iter().filter(|section| !section.is_empty()) {
        if !text.is_empty() {
            text.push('\n');
        }
        for line in section {
            text.push_str(line.trim_end());
            text.push('\n');
        }
    }
    if options.ascii {
        layout::ascii(&text)
    } else {
        text
    }
}

#[cfg(test)]
mod tests;
