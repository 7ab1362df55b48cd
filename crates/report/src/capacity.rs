//! A search for the load line, as text for people, as JSON for programs and as a figure.

mod figure;
mod json;
mod picture;
mod words;

pub use figure::capacity_figure;
pub use json::{CAPACITY_SCHEMA, capacity_json};
pub use words::trial_line;

use crate::ink::Ink;
use crate::text::{TextOptions, assemble, floor_text};
use crate::{figures, layout, wording};
use loadline_capacity::{Answer, Outcome, Recovery, Rung, TooShort};
use loadline_plan::{Check, Plan};
use loadline_record::Floor;
use words::{amount, answer_line, disturbed, excused, too_short, verdict};

/// A search, and what is needed to tell of it.
#[derive(Clone, Copy, Debug)]
pub struct CapacityReport<'a> {
    /// What each trial was, but for its load.
    pub plan: &'a Plan,
    /// Whether users were searched, instead of rates.
    pub users: bool,
    /// What was found.
    pub outcome: &'a Outcome,
    /// Whether the user ended the search.
    pub interrupted: bool,
    /// What this machine does at best, if it was measured.
    pub floor: Option<Floor>,
}

/// What is said of an answer that was not confirmed to the end.
const CUT_SHORT: &str =
    "The search was ended before all of its trials were made, so this is less sure than it looks.";

impl CapacityReport<'_> {
    /// Whether there is an answer which says nothing itself of the search's being interrupted.
    fn is_cut_short(&self) -> bool {
        self.interrupted && !matches!(self.outcome.answer, Answer::Unsettled(_))
    }

    /// Whether trials were too short for a backlog to show. In a closed loop there is none, and where
    /// nothing holds none was missed.
    fn too_short(&self) -> Option<TooShort> {
        let nothing_missed = matches!(self.outcome.answer, Answer::NothingHolds { .. });
        let found = self.outcome.too_short();
        found.filter(|_| !self.users && !nothing_missed)
    }
}

/// The columns of the ladder's names.
const NAMES: usize = 14;

/// The search as text, ending in a line feed.
pub fn capacity(report: &CapacityReport<'_>, options: &TextOptions) -> String {
    let ink = Ink::new(options.color);
    let width = options.width.clamp(80, 120);
    let sections = [
        head(report, ink, width),
        ladder(report, ink, width),
        picture::lines(report, ink, width),
        floor(report, width),
    ];
    assemble(&sections, options)
}

fn head(report: &CapacityReport<'_>, ink: Ink, width: usize) -> Vec<String> {
    let target = layout::harmless(&wording::target(report.plan));
    let mut lines = layout::wrap(&target, width);
    lines.extend(layout::wrap(&course(report), width));
    lines.push(String::new());
    let answer = layout::wrap(&answer_line(report), width);
    lines.extend(answer.iter().map(|line| ink.strong(line)));
    if let Answer::Found(line) = &report.outcome.answer
        && let Some(mind) = disturbed(line)
    {
        lines.extend(layout::wrap(&mind, width));
    }
    if report.is_cut_short() {
        lines.extend(layout::wrap(CUT_SHORT, width));
    }
    if let Some(found) = report.too_short() {
        lines.extend(layout::wrap(&too_short(found), width));
    }
    lines
}

/// What was done: `rates of an open loop, searched in 61 trials, by p99<50ms and errors<0.1%`.
fn course(report: &CapacityReport<'_>) -> String {
    let what = match report.users {
        true => "users of a closed loop",
        false => "rates of an open loop",
    };
    let trials = figures::counted(report.outcome.trials.len() as u64, "trial");
    let checks: Vec<&str> = report
        .plan
        .checks
        .iter()
        .map(|check| &*check.text)
        .collect();
    let aside = set_aside(report.outcome);
    format!(
        "{what}, searched in {trials}{aside}, by {}",
        checks.join(" and ")
    )
}

/// How many trials the machine lost time in.
fn set_aside(outcome: &Outcome) -> String {
    let trials = outcome.trials.iter();
    match trials.filter(|trial| trial.set_aside).count() {
        0 => String::new(),
        count => format!(" ({count} of them set aside, as the machine lost time)"),
    }
}

fn ladder(report: &CapacityReport<'_>, ink: Ink, width: usize) -> Vec<String> {
    let ladder = &report.outcome.ladder;
    if ladder.rungs.is_empty() {
        return Vec::new();
    }
    let unit = if report.users { "users" } else { "req/s" };
    let title = layout::left("Ladder", NAMES);
    let columns =
        columns([unit, "answers/s", "p50", "p99", "failed", "target CPU"].map(str::to_owned));
    let mut lines = vec![format!("{}{}", ink.strong(&title), ink.faint(&columns))];
    let rungs = ladder.rungs.iter();
    lines.extend(rungs.map(|rung| rung_line(rung, &report.plan.checks, ink)));
    if let Some(found) = ladder.recovery {
        let is_excused = ladder.rungs.last().and_then(excused).is_some();
        lines.extend(layout::hanging("  ", &recovery(found, is_excused), width));
    }
    let excuses = ladder.rungs.iter().filter_map(excused);
    lines.extend(excuses.flat_map(|excuse| layout::hanging("  ", &excuse, width)));
    lines
}

fn rung_line(rung: &Rung, checks: &[Check], ink: Ink) -> String {
    let (trial, seen) = (&rung.trial, &rung.trial.seen);
    let cells = columns([
        amount(trial.level),
        amount(seen.answers_per_s),
        figures::time_cell(seen.p50_ns as f64),
        figures::time_cell(seen.p99_ns as f64),
        figures::share(seen.failed_share),
        seen.target_cores.map_or("-".to_owned(), figures::share),
    ]);
    let held = verdict(seen, trial.held(), checks);
    let held = if trial.held() {
        ink.good(&held)
    } else {
        ink.bad(&held)
    };
    let name = layout::left(&format!("  {}", rung.part.name()), NAMES);
    format!("{name}{cells}  {held}")
}

/// Six cells, right-aligned.
fn columns(cells: [String; 6]) -> String {
    const WIDTHS: [usize; 6] = [8, 10, 9, 9, 9, 11];
    let cells = cells.iter().zip(WIDTHS);
    cells
        .map(|(cell, width)| layout::right(cell, width))
        .collect()
}

/// Whether the target recovered, and what to do where it did not, unless that may not be its doing.
fn recovery(recovery: Recovery, is_excused: bool) -> String {
    match recovery {
        Recovery::After { seconds: 0.0 } => "After 110 % all checks held again at once.".to_owned(),
        Recovery::After { seconds } => {
            format!("After 110 % all checks held again from {seconds:.0} s after the step down.")
        }
        Recovery::NotWithin { seconds } if is_excused => {
            format!("After 110 % the checks did not hold again within {seconds:.0} s at 90 %.")
        }
        Recovery::NotWithin { seconds } => format!(
            "After 110 % the target did not recover within {seconds:.0} s at 90 %: restart it, and \
             look for what piles up."
        ),
    }
}

fn floor(report: &CapacityReport<'_>, width: usize) -> Vec<String> {
    report
        .floor
        .map_or(Vec::new(), |floor| layout::wrap(&floor_text(&floor), width))
}

#[cfg(test)]
mod tests;
