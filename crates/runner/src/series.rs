//! Several runs, one after the other: repeats of one plan, or sides that take turns.
//!
//! Each is a separate run, with its own connections; the observers are the same. A command ends the
//! current run and the series with it; the measurements until then are the result.

use crate::commands::Commands;
use crate::error::{RunError, Trouble};
use crate::observer::Observer;
use crate::run::{Conducted, Setup, conduct};
use crate::watching::Watch;
use crate::workload::{Prints, workload};
use loadline_plan::Plan;
use loadline_record::{Ended, Floor, Role, RoleKind, Summary};
use loadline_verdict::RunResult;

/// A run to be made.
#[derive(Debug)]
pub struct Planned {
    /// The plan of the run.
    pub plan: Plan,
    /// Its role in the series.
    pub role: Role,
}

/// The settings that all runs of a series, or of a search, have in common.
#[derive(Clone, Copy, Debug)]
pub struct Common<'a> {
    /// The processes to watch during each run; `None` for nothing, not even the generator.
    pub watch: Option<&'a Watch>,
    /// The best results of the machine, if they were measured.
    pub floor: Option<Floor>,
    /// The destination of a script's output.
    pub prints: Prints,
}

/// A series that has ended.
#[derive(Debug, Default)]
pub struct SeriesResult {
    /// All runs that measured anything, in order.
    pub runs: Vec<RunResult>,
    /// True if a command ended the series.
    pub interrupted: bool,
    /// The error because of which a run could not be made, or not be recorded completely.
    pub trouble: Option<Trouble>,
}

/// Returns the repeats of a plan. Each has its own seed, counted on from the plan's, so that random
/// values also differ from run to run, and the same seed makes the same series.
pub fn repeats(plan: &Plan, count: u32) -> Vec<Planned> {
    let repeat = |index: u32| Planned {
        plan: Plan {
            seed: plan.seed.wrapping_add(index.into()),
            ..plan.clone()
        },
        role: Role {
            kind: RoleKind::Repeat,
            number: index + 1,
            of: Some(count),
            name: None,
            search: None,
            spent_s: None,
        },
    };
    (0..count).map(repeat).collect()
}

/// Makes the runs of a series in this order.
///
/// # Errors
/// If the first run can't be made. The error of a later one is the trouble that ends the series.
pub fn conduct_series(
    series: Vec<Planned>,
    common: &Common<'_>,
    commands: &Commands,
    observers: &mut [&mut dyn Observer],
) -> Result<SeriesResult, RunError> {
    commands.expect_runs(series.len());
    let conducted = conduct_each(series, common, commands, observers);
    commands.expect_runs(0);
    conducted
}

fn conduct_each(
    series: Vec<Planned>,
    common: &Common<'_>,
    commands: &Commands,
    observers: &mut [&mut dyn Observer],
) -> Result<SeriesResult, RunError> {
    let mut result = SeriesResult::default();
    for (index, planned) in series.into_iter().enumerate() {
        match common.conduct(planned, commands, observers) {
            Err(error) if index == 0 => return Err(error),
            Err(error) => {
                result.trouble.get_or_insert(Trouble::of(error));
            }
            Ok(conducted) => result.take(conducted),
        }
        if commands.is_ending() || result.is_over() {
            break;
        }
    }
    result.interrupted = commands.is_ending();
    Ok(result)
}

/// True if a run has results: a run that was interrupted before its first request does not.
pub fn has_measured(summary: &Summary) -> bool {
    summary.total.counts.sent > 0 || summary.ended != Ended::Interrupted
}

impl Common<'_> {
    /// Makes one of the runs.
    fn conduct(
        &self,
        planned: Planned,
        commands: &Commands,
        observers: &mut [&mut dyn Observer],
    ) -> Result<Conducted, RunError> {
        let Planned { plan, role } = planned;
        let setup = Setup {
            plan: &plan,
            role: Some(role),
            watch: self.watch,
            floor: self.floor,
        };
        let workload = workload(&plan, self.prints)?;
        let mut conducted = conduct(&setup, workload.as_ref(), commands, observers)?;
        if let Err(error) = workload.conclude(&conducted.result.summary) {
            conducted.trouble.get_or_insert(Trouble::of(error));
        }
        Ok(conducted)
    }
}

impl SeriesResult {
    fn take(&mut self, conducted: Conducted) {
        let Conducted { result, trouble } = conducted;
        if let Some(trouble) = trouble {
            self.trouble.get_or_insert(trouble);
        }
        if has_measured(&result.summary) {
            self.runs.push(result);
        }
    }

    /// True if nothing more should be run: there was trouble, or a run ended before its time.
    fn is_over(&self) -> bool {
        let early = |run: &RunResult| {
            matches!(
                run.summary.ended,
                Ended::Interrupted | Ended::Aborted(_) | Ended::Failed(_) | Ended::Unknown
            )
        };
        self.trouble.is_some() || self.runs.last().is_some_and(early)
    }
}
