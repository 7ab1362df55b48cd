//! A scenario that samples the rate of its thread, whatever its users do.

use super::Tool;
use super::rates::{Rates, Sampler};
use loadline_engine::{AnyTally, Scenario, Tally, Tick};
use loadline_reactor::Host;
use loadline_record::SharedMetrics;
use loadline_script_lua::ScriptError;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

/// Returns an error that the users' script has raised since the last call.
pub(super) type TakeRaised = Arc<dyn Fn() -> Option<ScriptError> + Send + Sync>;

/// The users of another scenario; its tally is the [`Rates`](super::Rates) of its worker.
#[derive(Clone)]
pub struct Sampled<S> {
    users: S,
    sampler: Sampler,
    /// Set if another process has to receive the errors of the users' script.
    raised: Option<TakeRaised>,
}

impl<S> Sampled<S> {
    /// Creates the users of one worker, whose rate is sampled as in this tool.
    pub fn new(tool: Tool, users: S) -> Self {
        Sampled {
            users,
            sampler: Sampler::new(tool),
            raised: None,
        }
    }

    /// Creates the same users for a run that another process reports, which receives the errors of
    /// their script as well.
    pub(super) fn raising(tool: Tool, users: S, raised: TakeRaised) -> Self {
        Sampled {
            raised: Some(raised),
            ..Sampled::new(tool, users)
        }
    }

    /// Returns an error of the users' script, if it is news for another process.
    fn take_raised(&self) -> Option<Rates> {
        let error = self.raised.as_ref()?()?;
        Some(Rates::raising(error))
    }
}

impl<S: fmt::Debug> fmt::Debug for Sampled<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sampled")
            .field("users", &self.users)
            .field("sampler", &self.sampler)
            .finish_non_exhaustive()
    }
}

impl<H: Host, S: Scenario<H>> Scenario<H> for Sampled<S> {
    const COMPOSES: bool = S::COMPOSES;
    const COUNTS: bool = true;
    // Errors of a script end the load of all processes at once; rates wait for the interval.
    const IS_LIVE: bool = true;

    type Behaviour = S::Behaviour;

    fn user(&mut self) -> S::Behaviour {
        self.users.user()
    }

    fn address(&self) -> Option<SocketAddr> {
        self.users.address()
    }

    fn names_requests(&self) -> bool {
        self.users.names_requests()
    }

    fn metrics(&self) -> Option<SharedMetrics> {
        self.users.metrics()
    }

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

    fn take_early_tally(&mut self) -> Option<AnyTally> {
        self.take_raised().map(AnyTally::new)
    }

    fn dropped(&mut self, count: u64) {
        self.users.dropped(count);
    }

    fn backs_off(&self) -> bool {
        self.users.backs_off()
    }
}
