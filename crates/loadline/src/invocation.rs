//! A run as the command was asked for it.

use crate::flags::run::baseline::BaselineFlags;
use crate::flags::run::judgement::Trust;
use crate::publish::Reports;
use crate::session::Session;
use loadline_plan::Plan;

/// A run as the command was asked for it, everything read and checked. Each part is for one step
/// of the command.
#[derive(Debug)]
pub(crate) struct Invocation {
    /// What is run.
    pub(crate) plan: Plan,
    /// How many times it is run, at least once; `None` where nothing was said.
    pub(crate) repeat: Option<u32>,
    /// What is kept, shown and watched while it runs.
    pub(crate) session: Session,
    /// The reports of the result.
    pub(crate) reports: Reports,
    /// What it is compared with, and where it is kept.
    pub(crate) regressions: BaselineFlags,
    /// Which results the exit code accepts.
    pub(crate) trust: Trust,
}
