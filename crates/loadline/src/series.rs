//! Several runs, one behind the other: repeats of one plan, or sides that take turns.
//!
//! Each is a run of its own, with connections of its own, and all are saved in one file. An interrupt
//! ends the run that goes on and the series with it; what was measured until then is reported.

use crate::commands::run::{grounds_of_series, has_page};
use crate::conduct::{Conducted, Keep, Save, conduct_one};
use crate::exit::Exit;
use crate::flags::run::judgement::Trust;
use crate::floor;
use crate::interrupt::{Interrupts, Manner};
use crate::invocation::Invocation;
use crate::live::Live;
use crate::scripting;
use anyhow::{Context, Result};
use loadline_page::Heat;
use loadline_plan::Plan;
use loadline_record::{Ended, Floor, Role, RoleKind, Summary};
use loadline_script_lua::Figures;
use loadline_verdict::RunResult;

/// A run that is to be made.
#[derive(Debug)]
pub(crate) struct Planned {
    /// What is run.
    pub(crate) plan: Plan,
    /// What it is among the others.
    pub(crate) role: Role,
}

/// What was made of a series.
#[derive(Debug, Default)]
pub(crate) struct Made {
    /// Every run that measured anything, in order, with its checks.
    pub(crate) runs: Vec<RunResult>,
    /// The response times of each over time, if a page shows them.
    pub(crate) heats: Vec<Heat>,
    /// Whether the user ended the series.
    pub(crate) interrupted: bool,
    /// Why a run could not be made, or something could not be kept.
    pub(crate) trouble: Option<anyhow::Error>,
}

/// The repeats of a plan. Each has a seed of its own, counted on from the plan's, so that what is random
/// differs from run to run as well, and the same seed makes the same series.
pub(crate) fn repeats(plan: &Plan, count: u32) -> Vec<Planned> {
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
        },
    };
    (0..count).map(repeat).collect()
}

/// Makes the runs of a series in this order. Where results go and what is watched is the invocation's;
/// so is the plan that the floor is measured with, once and for all runs, if it is asked for.
///
/// # Errors
/// If the first run can't be made. Of a later one it is the trouble that ends the series.
pub(crate) fn conduct_series(series: Vec<Planned>, invocation: &Invocation) -> Result<Made> {
    let floor = floor::of_run(invocation)?;
    let interrupts = Interrupts::watch(Manner::Gently).context("signals can't be watched")?;
    let common = Common {
        interrupts: &interrupts,
        invocation,
        floor,
    };
    let mut made = Made::default();
    let count = series.len();
    for (index, planned) in series.into_iter().enumerate() {
        let side = planned.role.name.as_ref();
        let side = side.map_or_else(String::new, |name| format!(" ({name})"));
        let title = format!("run {} of {count}{side}: ", index + 1);
        let live = Live::titled(invocation.progress, title);
        match common.make(planned, index > 0, live) {
            Err(error) if index == 0 => return Err(error),
            Err(error) => {
                made.trouble.get_or_insert(error);
            }
            Ok(conducted) => made.take(conducted),
        }
        if interrupts.happened() || made.is_over() {
            break;
        }
    }
    made.interrupted = interrupts.happened();
    Ok(made)
}

/// What all runs of a series have in common.
struct Common<'a> {
    interrupts: &'a Interrupts,
    invocation: &'a Invocation,
    floor: Option<Floor>,
}

impl Common<'_> {
    /// Makes one of the runs; `behind` is whether others are saved before it.
    fn make(&self, planned: Planned, behind: bool, live: Live) -> Result<Conducted> {
        let Planned { plan, role } = planned;
        let save = self.invocation.save.as_deref();
        let keep = Keep {
            save: save.map(if behind { Save::Behind } else { Save::Over }),
            role: Some(role),
            watch: Some(&self.invocation.watch),
            floor: self.floor,
            heat: has_page(&self.invocation.outputs),
            ..Keep::default()
        };
        let script = scripting::load(&plan, &self.invocation.outputs)?;
        let mut conducted = conduct_one(self.interrupts, &plan, script.as_ref(), keep, live)?;
        if let Some(script) = &script {
            script.flush();
            if let Err(error) = scripting::finish(script, &Figures::of(&conducted.result.summary)) {
                conducted.trouble.get_or_insert(error);
            }
        }
        Ok(conducted)
    }
}

impl Made {
    fn take(&mut self, conducted: Conducted) {
        let Conducted {
            result,
            trouble,
            heat,
        } = conducted;
        if let Some(trouble) = trouble {
            self.trouble.get_or_insert(trouble);
        }
        // A run that was interrupted before its first request says nothing.
        let summary = &result.summary;
        if summary.total.counts.sent > 0 || summary.ended != Ended::Interrupted {
            self.runs.push(result);
            self.heats.push(heat);
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

    /// How the series ends the command, if its runs by themselves would end it so.
    pub(crate) fn end(self, exit: Exit) -> Result<Exit> {
        match self.trouble {
            Some(trouble) => Err(trouble),
            None if self.interrupted => Ok(Exit::Interrupted),
            None => Ok(exit),
        }
    }

    /// As [`end`](Made::end), and says on stderr why it ends so.
    pub(crate) fn end_telling(self, exit: Exit, trust: Trust) -> Result<Exit> {
        if self.trouble.is_none() {
            let exit = if self.interrupted {
                Exit::Interrupted
            } else {
                exit
            };
            grounds_of_series(&self.runs, trust).tell(exit);
        }
        self.end(exit)
    }

    /// All runs without their checks.
    pub(crate) fn summaries(&self) -> Vec<&Summary> {
        self.runs.iter().map(|run| &run.summary).collect()
    }
}
