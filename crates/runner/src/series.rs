//! Several runs, one behind the other: repeats of one plan, or sides that take turns.
//!
//! Each is a run of its own, with connections of its own; the observers are the same. A command
//! ends the run that goes on and the series with it; what was measured until then is the result.

use crate::commands::Commands;
use crate::error::{RunError, Trouble};
use crate::observer::Observer;
use crate::run::{Conducted, Setup, conduct};
use crate::watching::Watch;
use crate::workload::{Prints, workload};
use loadline_plan::Plan;
use loadline_record::{Ended, Floor, Role, RoleKind, Summary};
use loadline_verdict::RunResult;

/// A run that is to be made.
#[derive(Debug)]
pub struct Planned {
    /// What is run.
    pub plan: Plan,
    /// Its role in the series.
    pub role: Role,
}

/// What all runs of a series, or of a search, have in common.
#[derive(Clone, Copy, Debug)]
pub struct Common<'a> {
    /// What is watched while each run lasts; `None` is nothing, not even the generator.
    pub watch: Option<&'a Watch>,
    /// What the machine does at best, if it was measured.
    pub floor: Option<Floor>,
    /// Where a script prints.
    pub prints: Prints,
}

/// A series that has ended.
#[derive(Debug, Default)]
pub struct SeriesResult {
    /// Every run that measured anything, in order.
    pub runs: Vec<RunResult>,
    /// Whether a command ended the series.
    pub interrupted: bool,
    /// Why a run could not be made, or something could not be kept.
    pub trouble: Option<Trouble>,
}

/// The repeats of a plan. Each has a seed of its own, counted on from the plan's, so that what is
/// random differs from run to run as well, and the same seed makes the same series.
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
/// If the first run can't be made. Of a later one it is the trouble that ends the series.
pub fn conduct_series(
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

/// Whether a run says anything: one that was interrupted before its first request does not.
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

    /// Whether nothing more should be run: something is amiss, or a run ended before its time.
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
