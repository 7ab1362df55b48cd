//! The data of the HTML report of a search: the sentences and figures of the text report, and its
//! charts.

use super::words::{answer_parts, goal, load_line, outwards, trial_outcome, verdict};
use super::{CapacityReport, cells, course, headings, ladder_notes, notes};
use crate::layout;
use crate::page::machine_facts;
use crate::text::floor_text;
use crate::wording;
use loadline_capacity::{Conclusion, Purpose, Rung, Trial};
use loadline_page::{
    AnswerKind, LoadLine, SearchAnswer, SearchPage, SearchPlots, TrialEnd, TrialRow,
};
use loadline_plan::Check;

/// Returns the data of the HTML report of a search.
pub fn search_page(report: &CapacityReport<'_>) -> SearchPage {
    let (origin, outcome) = (report.origin, report.outcome);
    let checks = &report.plan.checks;
    let trials = outcome.trials.iter().map(|trial| trial_row(trial, checks));
    let trials: Vec<TrialRow> = trials.collect();
    let answer = answer_parts(report);
    SearchPage {
        version: origin.version.clone(),
        started_at: humantime::format_rfc3339_seconds(origin.started_at).to_string(),
        title: layout::harmless(&wording::target(report.plan)),
        course: course(report),
        answer: SearchAnswer {
            kind: kind(&outcome.conclusion),
            text: answer.0,
            detail: capitalised(answer.1.trim_start_matches([';', ',', ' '])),
            notes: notes(report).into_iter().chain([goal(report)]).collect(),
        },
        columns: headings(report.users).to_vec(),
        ladder: outcome
            .ladder
            .rungs
            .iter()
            .map(|rung| rung_row(rung, checks))
            .collect(),
        ladder_notes: ladder_notes(report),
        plots: SearchPlots::new(&trials, found(report).as_ref(), report.users),
        trials,
        floor: report.floor().map(|floor| floor_text(&floor)),
        machine: machine_facts(&origin.environment),
    }
}

/// As a sentence, but for the name of a percentile.
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    if letters
        .clone()
        .nth(1)
        .is_some_and(|letter| letter.is_ascii_digit())
    {
        return text.to_owned();
    }
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

/// Returns the kind of the result. A check that the generator broke is no evidence about the
/// target, as in the line of the result.
fn kind(answer: &Conclusion) -> AnswerKind {
    match answer {
        Conclusion::Found(_) => AnswerKind::Found,
        Conclusion::AtLeast { .. } => AnswerKind::AtLeast,
        Conclusion::NothingHolds {
            own_limit: None, ..
        } => AnswerKind::NothingHolds,
        Conclusion::NothingHolds { .. } | Conclusion::Inconclusive(_) => AnswerKind::NotKnown,
    }
}

fn found(report: &CapacityReport<'_>) -> Option<LoadLine> {
    let Conclusion::Found(line) = &report.outcome.conclusion else {
        return None;
    };
    let (low, high) = outwards(line.low, line.high);
    Some(LoadLine {
        level: line.carried,
        low,
        high,
        text: load_line(line.carried, report.users),
    })
}

/// Returns the row of a rung. Other causes that may have broken a check there are noted below the
/// ladder.
fn rung_row(rung: &Rung, checks: &[Check]) -> TrialRow {
    let trial = &rung.trial;
    TrialRow {
        text: verdict(&trial.seen, trial.held(), checks),
        ..trial_row(trial, checks)
    }
}

fn trial_row(trial: &Trial, checks: &[Check]) -> TrialRow {
    let us = |ns: u64| (trial.seen.p50_ns > 0).then(|| ns as f64 / 1e3);
    TrialRow {
        number: trial.number,
        purpose: trial.purpose.name().to_owned(),
        stretch: stretch(trial.purpose).to_owned(),
        level: trial.level,
        p50_us: us(trial.seen.p50_ns),
        p50_at_least: trial.seen.p50_at_least,
        p99_us: us(trial.seen.p99_ns),
        p99_at_least: trial.seen.p99_at_least,
        cells: cells(trial).map(|cell| cell.trim().to_owned()).to_vec(),
        ended: ended(trial),
        text: trial_outcome(trial, checks),
    }
}

fn ended(trial: &Trial) -> TrialEnd {
    match trial.purpose {
        Purpose::WarmUp => TrialEnd::WarmUp,
        Purpose::Search | Purpose::Confirmation | Purpose::Ladder(_) => {
            match (trial.discarded, trial.held()) {
                (true, _) => TrialEnd::Discarded,
                (false, true) => TrialEnd::Passed,
                (false, false) => TrialEnd::Failed,
            }
        }
    }
}

fn stretch(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Ladder(_) => "ladder",
        Purpose::WarmUp | Purpose::Search | Purpose::Confirmation => purpose.name(),
    }
}
