//! A worker that another loop drives: on that loop's thread, through one descriptor.
//!
//! Python's gevent has a loop of its own, on whose thread the users' code runs. A worker for such
//! users has no thread: the other loop waits until the worker's descriptor is readable and calls
//! [`DrivenWorker::turn`], which does all pending work and returns. The worker's reports go to a
//! run that is [elsewhere](crate::Run::elsewhere), on any thread.

use crate::StartError;
use crate::event::Detail;
use crate::launch::{Group, Launch, run_groups};
use crate::local_workers::{Readiness, set_up};
use crate::prepare::Prepared;
use crate::report::MemberReport;
use crate::run::Inlet;
use loadline_plan::Plan;
use loadline_reactor::{Host, Kernel, Task};
use loadline_schedule::Stripe;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::mpsc::{Receiver, channel};

/// A worker that another loop drives.
///
/// Its descriptor ([`AsFd`]) is readable when a [`turn`](Self::turn) has work to do, including
/// deadlines that have passed.
#[derive(Debug)]
pub struct DrivenWorker {
    kernel: Kernel,
    reports: Receiver<MemberReport>,
    ready: Readiness,
    stage: Stage,
}

enum Stage {
    /// The connections are open.
    Prepared(Vec<Box<dyn Group>>),
    /// The load is running, and reports to this run.
    Running { load: Task, inlet: Inlet },
    /// The load has ended, and everything is reported.
    Over,
}

impl DrivenWorker {
    /// Prepares worker `index` of a plan's run, and opens its connections. There is one launch per
    /// scenario of the plan; one if it has no scenarios. Blocks until they have dialled.
    ///
    /// # Errors
    /// If the plan can't be run here, or connections were dialled and none could be opened.
    ///
    /// # Panics
    /// If there are fewer launches than scenarios, or no such worker.
    pub fn prepare(
        plan: &Plan,
        detail: Detail,
        launches: &[Launch],
        index: u32,
    ) -> Result<Self, StartError> {
        assert!(index < plan.threads, "worker {index} of {}", plan.threads);
        let composes = |index: usize| launches[index].composes;
        let scenarios = Prepared::all(plan, detail, composes, 1)?;
        let kernel = Kernel::new()?;
        let (send, reports) = channel();
        let parts = scenarios.iter().cloned().zip(launches.iter().cloned());
        let parts: Vec<_> = parts.collect();
        let stripe = Stripe {
            index,
            of: plan.threads,
        };
        let setting_up = set_up(kernel.clone(), &parts, stripe, &send);
        let mut groups = kernel.block_on(setting_up)?;
        let connected = groups.iter().map(|group| group.connected()).sum();
        let first_error = groups.iter_mut().find_map(|group| group.take_error());
        let ready = Readiness::of(&scenarios, connected, first_error.as_ref());
        match first_error {
            Some(error) if connected == 0 => Err(StartError::Unreachable { error }),
            _ => Ok(DrivenWorker {
                kernel,
                reports,
                ready,
                stage: Stage::Prepared(groups),
            }),
        }
    }

    /// Returns the state of the worker after it has opened its connections.
    pub fn ready(&self) -> &Readiness {
        &self.ready
    }

    /// Begins the load at this instant (nanoseconds of `CLOCK_MONOTONIC`), for the run of this
    /// inlet. Turns are due from now on. Does nothing if the load has begun already.
    pub fn begin(&mut self, begin_ns: u64, inlet: Inlet) {
        let Stage::Prepared(groups) = &mut self.stage else {
            return;
        };
        let (groups, handle) = (std::mem::take(groups), inlet.handle().clone());
        let load = async move { run_groups(groups, begin_ns, &handle).await };
        self.stage = Stage::Running {
            load: self.kernel.spawn(load),
            inlet,
        };
    }

    /// Does all pending work, without waiting. Returns true while the load continues: the next turn
    /// is then due when the descriptor is readable.
    ///
    /// # Errors
    /// If a system call of the loop fails.
    pub fn turn(&mut self) -> io::Result<bool> {
        self.kernel.turn()?;
        let Stage::Running { load, inlet } = &self.stage else {
            return Ok(!matches!(self.stage, Stage::Over));
        };
        // Check for the end first: the last report is sent before the load's task ends.
        let is_over = load.is_finished();
        self.reports
            .try_iter()
            .for_each(|report| inlet.send_report(report));
        if is_over {
            self.stage = Stage::Over;
        }
        Ok(!is_over)
    }
}

impl AsFd for DrivenWorker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.kernel.as_fd()
    }
}

impl std::fmt::Debug for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Stage::Prepared(_) => "Prepared",
            Stage::Running { .. } => "Running",
            Stage::Over => "Over",
        })
    }
}

#[cfg(test)]
mod tests;
