//! The users of another scenario, with a tally that they do not count themselves: the errors of
//! their script, the rate of their thread.

use loadline_engine::{AnyTally, Scenario, Tick};
use loadline_reactor::Host;
use loadline_record::SharedMetrics;
use std::net::SocketAddr;

/// Counts the tally of the users of one worker.
pub trait TallySource: 'static {
    /// Receives a tick of the worker that has ended: [`Scenario::ticked`].
    fn ticked(&mut self, tick: Tick) {
        let _ = tick;
    }

    /// Returns the counts since the last call, if there are any: [`Scenario::take_tally`].
    fn take_tally(&mut self) -> Option<AnyTally>;

    /// Returns the part that can't wait for the end of the interval, if there is any. It is taken
    /// about every 100 ms, so that an error of a script ends the load of all processes at once:
    /// [`Scenario::take_early_tally`].
    fn take_early_tally(&mut self) -> Option<AnyTally>;
}

/// The users of a scenario, in all but its tally, which `counts` has.
#[derive(Debug)]
pub struct WithTally<S, C> {
    /// The scenario of the users.
    pub users: S,
    /// The counts of the tally.
    pub counts: C,
}

impl<H: Host, S: Scenario<H>, C: TallySource> Scenario<H> for WithTally<S, C> {
    const COMPOSES: bool = S::COMPOSES;
    const COUNTS: bool = true;
    const IS_LIVE: bool = true;
    const FINISHES_ITERATIONS: bool = S::FINISHES_ITERATIONS;

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

    fn take_tally(&mut self) -> Option<AnyTally> {
        self.counts.take_tally()
    }

    fn take_early_tally(&mut self) -> Option<AnyTally> {
        self.counts.take_early_tally()
    }

    fn ticked(&mut self, tick: Tick) {
        self.counts.ticked(tick);
    }

    fn dropped(&mut self, count: u64, grows: bool) {
        self.users.dropped(count, grows);
    }

    fn backs_off(&self) -> bool {
        self.users.backs_off()
    }
}
