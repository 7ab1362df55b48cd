//! Fleets: the processes of runs that are not children of this one.

use loadline_cluster::{Line, OnLoss, Recruiter, Scout};
use loadline_plan::Plan;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// Provides a process for each part of a run.
pub trait Fleet: Send + Sync {
    /// Returns a line to a process for each of so many parts of a new run.
    ///
    /// # Errors
    /// The sentence about too few of them.
    fn lines(&self, parts: u32) -> Result<Vec<Line>, String>;

    /// Returns how many processes are free for parts of a run now, at most this many.
    fn available(&self, most: u32) -> u32;

    /// Returns what looks for processes that may join a run while it lasts; `None` if none may.
    fn recruiter(&self) -> Option<Recruiter>;

    /// Returns what looks for lost processes that are back.
    fn scout(&self) -> Scout;

    /// Returns what becomes of the load of a part that is lost.
    fn on_loss(&self) -> OnLoss;
}

/// The fleet of all runs of this process.
static FLEET: OnceLock<Box<dyn Fleet>> = OnceLock::new();

/// Has all later runs of this process made by a fleet, whose processes are as many as those of the
/// plan. The first fleet stays.
pub fn hire(fleet: Box<dyn Fleet>) {
    let _ = FLEET.set(fleet);
}

/// Returns the fleet, if there is one.
pub(crate) fn fleet() -> Option<&'static dyn Fleet> {
    FLEET.get().map(|fleet| &**fleet)
}

/// True if the processes of runs are on other machines.
pub fn has_fleet() -> bool {
    fleet().is_some()
}

/// True if further processes may join the runs of this one.
pub fn is_elastic() -> bool {
    fleet().is_some_and(|fleet| fleet.recruiter().is_some())
}

/// True if all workers of a plan's run are in other processes.
pub fn runs_elsewhere(plan: &Plan) -> bool {
    plan.processes > 1 || fleet().is_some()
}

/// The argument with which this program is started as one of the processes of a run.
pub const WORKER_WORD: &str = "worker-process";

/// Returns the command of a process that has a part of a run, from the path of this program.
pub fn worker_command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.arg(WORKER_WORD);
    command
}
