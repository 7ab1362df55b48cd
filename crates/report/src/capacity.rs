//! A search for the load line, as text for people, as JSON for programs and as the data of a page.

mod page;
mod picture;
pub(crate) mod words;

pub use page::{search_page, search_page_so_far};
pub use words::trial_line;

use crate::quantity::bounded_cell;
use crate::style::Style;
use crate::table::{Column, line};
use crate::text::{Extent, TextOptions, assemble, floor_text};
use crate::{layout, wording};
use loadline_capacity::{
    Breaking, Conclusion, Observation, Recovery, Rung, SearchOutcome, Settings, TooShort, Trial,
    Why,
};
use loadline_plan::{Check, Plan};
use loadline_record::{Environment, Floor, Summary};
use loadline_units as units;
use std::time::SystemTime;
use words::{amount, answer_line, disturbed, goal, other_cause, p50, p99, too_short, verdict};

/// A search, and the data of its report.
#[derive(Clone, Copy, Debug)]
pub struct CapacityReport<'a> {
    /// The plan of each trial, except its load.
    pub plan: &'a Plan,
    /// True if numbers of users were searched, instead of rates.
    pub users: bool,
    /// True if the check on errors was added, because none was given.
    pub errors_added: bool,
    /// The range, the time and the precision of the search.
    pub settings: &'a Settings,
    /// The result of the search.
    pub outcome: &'a SearchOutcome,
    /// True if the user ended the search.
    pub interrupted: bool,
    /// By what, when and where the search was made.
    pub origin: &'a Origin,
}

/// By what, when and where a search was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Origin {
    /// The version of the program.
    pub version: String,
    /// The start of the first trial.
    pub started_at: SystemTime,
    /// The machine that the load was made on, with what it does at best, if that was measured.
    pub environment: Environment,
}

impl Origin {
    /// Returns the origin of a search with this first trial.
    pub fn of(first: &Summary) -> Origin {
        Origin {
            version: first.version.clone(),
            started_at: first.started_at,
            environment: first.environment.clone(),
        }
    }

    /// Returns the origin of a search that begins now, on this machine.
    pub fn now(environment: Environment) -> Origin {
        Origin {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: SystemTime::now(),
            environment,
        }
    }
}

/// The sentence about an answer that was not confirmed to the end.
const CUT_SHORT: &str =
    "The search was ended before all of its trials were made, so this is less sure than it looks.";

impl CapacityReport<'_> {
    /// Returns the best performance of this machine, if it was measured.
    pub(crate) fn floor(&self) -> Option<Floor> {
        self.origin.environment.floor
    }

    /// True if the search was interrupted and its result does not mention it.
    fn is_cut_short(&self) -> bool {
        let has_reason = matches!(
            self.outcome.conclusion,
            Conclusion::Inconclusive(_)
                | Conclusion::AtLeast {
                    why: Why::TimeOver { .. },
                    ..
                }
        );
        self.interrupted && !has_reason
    }

    /// Returns the trials that were too short to show a backlog. A closed loop has no backlog, and
    /// if no level holds, none was missed.
    pub(crate) fn too_short(&self) -> Option<TooShort> {
        let nothing_missed = matches!(self.outcome.conclusion, Conclusion::NothingHolds { .. });
        let found = self.outcome.too_short();
        found.filter(|_| !self.users && !nothing_missed)
    }
}

/// The columns of the ladder's names.
const NAMES: usize = 14;

/// The search as text, ending in a line feed.
pub fn capacity(report: &CapacityReport<'_>, options: &TextOptions) -> String {
    let style = Style::new(options.color);
    let width = options.width.clamp(80, 120);
    if options.extent == Extent::Short {
        return assemble(&[head(report, style, width)], options);
    }
    let sections = [
        head(report, style, width),
        ladder(report, style, width),
        picture::lines(report, style, width),
        floor(report, width),
    ];
    assemble(&sections, options)
}

fn head(report: &CapacityReport<'_>, style: Style, width: usize) -> Vec<String> {
    let target = layout::harmless(&wording::target(report.plan));
    let mut lines = layout::wrap(&target, width);
    lines.extend(layout::wrap(&course(report), width));
    lines.push(String::new());
    let answer = layout::wrap(&answer_line(report), width);
    lines.extend(answer.iter().map(|line| style.strong(line)));
    let notes = notes(report);
    lines.extend(notes.iter().flat_map(|note| layout::wrap(note, width)));
    let goal = layout::wrap(&goal(report), width);
    lines.extend(goal.iter().map(|line| style.faint(line)));
    lines
}

/// Returns notes that a reader needs before the result.
fn notes(report: &CapacityReport<'_>) -> Vec<String> {
    let disturbed = match &report.outcome.conclusion {
        Conclusion::Found(line) => disturbed(line),
        Conclusion::AtLeast { .. }
        | Conclusion::NothingHolds { .. }
        | Conclusion::Inconclusive(_) => None,
    };
    let cut_short = report.is_cut_short().then(|| CUT_SHORT.to_owned());
    let too_short = report.too_short().map(too_short);
    let added = report.errors_added.then(|| words::ERRORS_ADDED.to_owned());
    let no_ladder = is_without_ladder(report).then(|| words::NO_LADDER.to_owned());
    let pace_lost = is_by_pace(report).then(|| words::PACE_LOST.to_owned());
    let notes = [pace_lost, disturbed, cut_short, too_short, added, no_ladder];
    notes.into_iter().flatten().collect()
}

/// True if just above the load line users lost their pace first.
fn is_by_pace(report: &CapacityReport<'_>) -> bool {
    let first = match &report.outcome.conclusion {
        Conclusion::Found(line) => line.breaks.first(),
        Conclusion::NothingHolds { breaks, .. } => breaks.first(),
        Conclusion::AtLeast { .. } | Conclusion::Inconclusive(_) => None,
    };
    report.settings.users_keep_pace && first == Some(&Breaking::KeepingUp)
}

/// True if there was no time for the ladder of a load line.
fn is_without_ladder(report: &CapacityReport<'_>) -> bool {
    let found = matches!(report.outcome.conclusion, Conclusion::Found(_));
    found && !report.interrupted && report.outcome.ladder.rungs.is_empty()
}

/// Returns a summary of the search: `rates of an open loop, searched in 61 trials, by p99<50ms and
/// errors<0.1%`.
fn course(report: &CapacityReport<'_>) -> String {
    let what = match report.users {
        true => "users of a closed loop",
        false => "rates of an open loop",
    };
    let trials = units::counted(report.outcome.trials.len() as u64, "trial");
    let checks: Vec<&str> = report
        .plan
        .checks
        .iter()
        .map(|check| &*check.text)
        .collect();
    let discarded = discarded(report.outcome);
    format!(
        "{what}, searched in {trials}{discarded}, by {}",
        checks.join(" and ")
    )
}

/// Returns the number of trials that were discarded for each reason.
fn discarded(outcome: &SearchOutcome) -> String {
    let count = |is_so: &dyn Fn(&Observation) -> bool| {
        let discarded = outcome.trials.iter().filter(|trial| trial.discarded);
        discarded.filter(|trial| is_so(&trial.seen)).count()
    };
    let unreached = count(&|seen| seen.unreached);
    let counts = [
        (count(&|seen| !seen.is_void), "the machine was disturbed"),
        (
            count(&|seen| seen.is_void) - unreached,
            "a part of its load was lost",
        ),
        (unreached, "the target was not reached"),
    ];
    let reasons = counts.iter().filter(|(count, _)| *count > 0);
    let reasons: Vec<String> = reasons
        .map(|(count, reason)| format!("{count} of them discarded, because {reason}"))
        .collect();
    match reasons.is_empty() {
        true => String::new(),
        false => format!(" ({})", reasons.join(", ")),
    }
}

fn ladder(report: &CapacityReport<'_>, style: Style, width: usize) -> Vec<String> {
    let ladder = &report.outcome.ladder;
    if ladder.rungs.is_empty() {
        return Vec::new();
    }
    let title = layout::left("Ladder", NAMES);
    let columns = columns(headings(report.users));
    let mut lines = vec![format!("{}{}", style.strong(&title), style.faint(&columns))];
    let rungs = ladder.rungs.iter();
    lines.extend(rungs.map(|rung| rung_line(rung, &report.plan.checks, style)));
    let notes = ladder_notes(report);
    lines.extend(
        notes
            .iter()
            .flat_map(|note| layout::hanging("  ", note, width)),
    );
    lines
}

/// Returns notes on the recovery of the target, and on rungs that may have failed for another
/// reason than the target.
fn ladder_notes(report: &CapacityReport<'_>) -> Vec<String> {
    let ladder = &report.outcome.ladder;
    let has_other_cause = ladder.rungs.last().and_then(other_cause).is_some();
    let found = ladder
        .recovery
        .map(|found| recovery(found, has_other_cause));
    let causes = ladder.rungs.iter().filter_map(other_cause);
    found.into_iter().chain(causes).collect()
}

fn rung_line(rung: &Rung, checks: &[Check], style: Style) -> String {
    let trial = &rung.trial;
    let ended = verdict(&trial.seen, trial.held(), checks);
    let ended = if trial.held() {
        style.good(&ended)
    } else {
        style.bad(&ended)
    };
    let name = layout::left(&format!("  {}", rung.part.name()), NAMES);
    format!("{name}{}  {ended}", columns(cells(trial)))
}

/// The names of the [`cells`].
fn headings(users: bool) -> [String; 6] {
    let unit = words::unit(users);
    [unit, "responses/s", "p50", "p99", "failed", "target CPU"].map(str::to_owned)
}

/// A trial under the [`headings`].
fn cells(trial: &Trial) -> [String; 6] {
    let seen = &trial.seen;
    [
        amount(trial.level),
        amount(seen.answers_per_s),
        bounded_cell(p50(seen)),
        bounded_cell(p99(seen)),
        units::share(seen.failed_share),
        seen.target_cores.map_or("-".to_owned(), units::share),
    ]
}

/// Six cells, right-aligned.
fn columns(cells: [String; 6]) -> String {
    const WIDTHS: [usize; 6] = [8, 12, 10, 10, 9, 11];
    line(WIDTHS.map(Column::Right), cells)
}

/// Returns whether the target recovered, and advice if it did not, unless the target may not be the
/// cause.
fn recovery(recovery: Recovery, has_other_cause: bool) -> String {
    match recovery {
        Recovery::After { seconds: 0.0 } => {
            "After 110 % all checks passed again at once.".to_owned()
        }
        Recovery::After { seconds } => {
            format!("After 110 % all checks passed again from {seconds:.0} s after the step down.")
        }
        Recovery::NotWithin { seconds } if has_other_cause => {
            format!("After 110 % the checks did not pass again within {seconds:.0} s at 90 %.")
        }
        Recovery::NotWithin { seconds } => format!(
            "After 110 % the target did not recover within {seconds:.0} s at 90 %: restart it, and \
             look for what piles up."
        ),
    }
}

fn floor(report: &CapacityReport<'_>, width: usize) -> Vec<String> {
    report
        .floor()
        .map_or(Vec::new(), |floor| layout::wrap(&floor_text(&floor), width))
}

#[cfg(test)]
pub(crate) mod tests;
