//! The exits of the command.

use crate::flags::run::judgement::Trust;
use loadline_record::Ended;
use loadline_units::visible;
use loadline_verdict::{CheckOutcome, CheckResult, RunResult, Side, sides};
use std::io::{self, Write};
use std::process::ExitCode;

/// The end of the command, as its caller sees it without reading the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done, and every check passed.
    Good,
    /// Done, and a check failed.
    CheckFailed,
    /// Bad usage, or a run that could not be made.
    Failed,
    /// The measurement can't be believed.
    Invalid,
    /// Interrupted; what was measured is printed all the same.
    Interrupted,
    /// Done, no check broken, but one that the measurement can't decide.
    NotKnown,
    /// Done, and all checks passed, but a comparison can't decide whether a rule holds.
    CannotTell,
}

impl Exit {
    /// Returns the severity of the exit, so that the worst of several can be found.
    pub(crate) fn severity(self) -> u8 {
        match self {
            // A broken check says more than an undecided one, and a check more than a comparison.
            Exit::CannotTell => 1,
            Exit::NotKnown => 2,
            Exit::CheckFailed => 3,
            Exit::Good | Exit::Failed | Exit::Invalid | Exit::Interrupted => {
                self.code().saturating_mul(3)
            }
        }
    }

    /// It in a word or two, for a history.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Exit::Good => "passed",
            Exit::CheckFailed => "failed",
            Exit::NotKnown => "undecided",
            Exit::CannotTell => "cannot tell",
            Exit::Invalid => "invalid",
            Exit::Interrupted => "interrupted",
            Exit::Failed => "error",
        }
    }

    /// The number that the caller sees.
    pub(crate) fn code(self) -> u8 {
        match self {
            Exit::Good => 0,
            Exit::CheckFailed => 1,
            Exit::Failed => 2,
            Exit::Invalid | Exit::NotKnown => 3,
            Exit::CannotTell => 4,
            Exit::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}

/// Returns the exit of the command after a series: that of the worst run, except for the checks,
/// which apply to all whole runs of one side together, or to all repeats.
pub(crate) fn exit_of_series(runs: &[RunResult], trust: Trust) -> Exit {
    let of_side = |side: Side<'_>| {
        let runs = side.runs.iter();
        worst(runs.map(|run| exit_of_run(run, &side.checks, trust)))
    };
    worst(sides(runs).into_iter().map(of_side))
}

/// The worst of these; without one nothing was measured.
fn worst(exits: impl Iterator<Item = Exit>) -> Exit {
    exits
        .max_by_key(|exit| exit.severity())
        .unwrap_or(Exit::Interrupted)
}

/// Returns the exit of the command after a run with these results of checks.
pub(crate) fn exit_of_run(run: &RunResult, checks: &[CheckResult], trust: Trust) -> Exit {
    match run.summary.ended {
        Ended::Interrupted => Exit::Interrupted,
        Ended::Aborted(_) => Exit::CheckFailed,
        Ended::Threw(_) | Ended::Failed(_) => Exit::Failed,
        Ended::Duration
        | Ended::Requests
        | Ended::Stages
        | Ended::Precise
        | Ended::Decided
        | Ended::Unknown => exit_of_measured(run, checks, trust),
    }
}

/// Returns the exit of the command for what was measured, whatever ended the run.
pub(crate) fn exit_of_measured(run: &RunResult, checks: &[CheckResult], trust: Trust) -> Exit {
    // No response: nothing was measured.
    if run.summary.total.counts.answered == 0 {
        return Exit::Failed;
    }
    match trust.believes(run.grade()) {
        true => exit_of_checks(checks),
        false => Exit::Invalid,
    }
}

/// A check that is broken fails the command, whatever is not known of the others.
fn exit_of_checks(checks: &[CheckResult]) -> Exit {
    let any = |outcome| checks.iter().any(|check| check.outcome == outcome);
    match () {
        () if any(CheckOutcome::Failed) => Exit::CheckFailed,
        () if any(CheckOutcome::Undecided) => Exit::NotKnown,
        () => Exit::Good,
    }
}

/// Returns an error with its causes, except those that it names itself. The texts of causes from
/// elsewhere have no full stop.
pub(crate) fn sentence(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text = format!("{text}: {}.", cause.trim_end_matches('.'));
        }
    }
    text
}

/// Prints the reason why nothing was done.
pub(crate) fn refuse(sentence: &str) -> Exit {
    // If even stderr is closed, nobody can be told.
    let _ = writeln!(io::stderr(), "loadline: {}", visible(sentence));
    Exit::Failed
}
