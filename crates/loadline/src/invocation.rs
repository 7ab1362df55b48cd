//! A run as the command line and its files describe it.

use crate::flags::run::baseline::BaselineFlags;
use crate::flags::run::judgement::Trust;
use crate::publish::Reports;
use crate::session::Session;
use loadline_plan::Plan;

/// A run as the command line and its files describe it, with everything read and checked. Each part
/// is for one step of the command.
#[derive(Debug)]
pub(crate) struct Invocation {
    /// The plan of the run.
    pub(crate) plan: Plan,
    /// The number of repeats, at least one; `None` if the flag was not given.
    pub(crate) repeat: Option<u32>,
    /// The outputs and the watching of the run.
    pub(crate) session: Session,
    /// The reports of the result.
    pub(crate) reports: Reports,
    /// The baseline of the comparison, and the file in which the run is kept as one.
    pub(crate) regressions: BaselineFlags,
    /// The grades of results that the exit code accepts.
    pub(crate) trust: Trust,
}
