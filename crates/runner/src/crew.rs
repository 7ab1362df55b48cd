//! Crews: the processes of runs that are not children of this one.

use loadline_cluster::Line;
use loadline_plan::Plan;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// Provides a process for each part of a run.
pub trait Crew: Send + Sync {
    /// Returns a line to a process for each of so many parts of a new run.
    ///
    /// # Errors
    /// The sentence about too few of them.
    fn lines(&self, parts: u32) -> Result<Vec<Line>, String>;
}

/// The crew of all runs of this process.
static CREW: OnceLock<Box<dyn Crew>> = OnceLock::new();

/// Has all later runs of this process made by a crew, whose processes are as many as those of the
/// plan. The first crew stays.
pub fn hire(crew: Box<dyn Crew>) {
    let _ = CREW.set(crew);
}

/// Returns the crew, if there is one.
pub(crate) fn crew() -> Option<&'static dyn Crew> {
    CREW.get().map(|crew| &**crew)
}

/// True if all workers of a plan's run are in other processes.
pub fn runs_elsewhere(plan: &Plan) -> bool {
    plan.processes > 1 || crew().is_some()
}

/// The argument with which this program is started as one of the processes of a run.
pub const WORKER_WORD: &str = "worker-process";

/// Returns the command of a process that has a part of a run, from the path of this program.
pub fn worker_command(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.arg(WORKER_WORD);
    command
}
