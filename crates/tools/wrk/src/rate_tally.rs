//! The tally of wrk's users, whatever they do: the rate of their thread, and the errors of their
//! script.

use super::Tool;
use super::rates::{Rates, Sampler};
use loadline_engine::{AnyTally, Tally, Tick};
use loadline_script::{TallySource, WithTally};
use loadline_script_lua::ScriptError;
use std::fmt;
use std::sync::Arc;

/// Returns an error that the users' script has raised since the last call.
pub(super) type TakeRaised = Arc<dyn Fn() -> Option<ScriptError> + Send + Sync>;

/// Counts the [`Rates`] of one worker.
#[derive(Clone)]
pub(super) struct RateTally {
    sampler: Sampler,
    /// Set if another process has to receive the errors of the users' script.
    raised: Option<TakeRaised>,
}

impl RateTally {
    /// Returns the users of one worker, whose rate is sampled as in this tool.
    pub(super) fn users<S>(tool: Tool, users: S) -> WithTally<S, Self> {
        let sampler = Sampler::new(tool);
        let raised = None;
        WithTally {
            users,
            counts: RateTally { sampler, raised },
        }
    }

    /// Returns the same users for a run that another process reports, which receives the errors of
    /// their script as well.
    pub(super) fn raising<S>(tool: Tool, users: S, raised: TakeRaised) -> WithTally<S, Self> {
        let mut users = RateTally::users(tool, users);
        users.counts.raised = Some(raised);
        users
    }

    /// Returns an error of the users' script, if it is news for another process.
    fn take_raised(&self) -> Option<Rates> {
        let error = self.raised.as_ref()?()?;
        Some(Rates::raising(error))
    }
}

impl fmt::Debug for RateTally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateTally")
            .field("sampler", &self.sampler)
            .finish_non_exhaustive()
    }
}

impl TallySource for RateTally {
    fn ticked(&mut self, tick: Tick) {
        self.sampler.add(tick);
    }

    fn take_tally(&mut self) -> Option<AnyTally> {
        let (mut rates, raised) = (self.sampler.take(), self.take_raised());
        if let Some(raised) = raised {
            rates.get_or_insert_default().merge(raised);
        }
        rates.map(AnyTally::new)
    }

    /// Rates wait for the interval.
    fn take_early_tally(&mut self) -> Option<AnyTally> {
        self.take_raised().map(AnyTally::new)
    }
}
