//! A scenario that samples the rate of its thread, whatever its users do.

use super::Tool;
use super::rates::Sampler;
use loadline_engine::{AnyTally, Scenario, Tick};
use loadline_reactor::Host;
use loadline_record::SharedMetrics;
use std::net::SocketAddr;

/// The users of another scenario; its tally is the [`Rates`](super::Rates) of its worker.
#[derive(Clone, Debug)]
pub struct Sampled<S> {
    users: S,
    sampler: Sampler,
}

impl<S> Sampled<S> {
    /// Creates the users of one worker, whose rate is sampled as in this tool.
    pub fn new(tool: Tool, users: S) -> Self {
        Sampled {
            users,
            sampler: Sampler::new(tool),
        }
    }
}

impl<H: Host, S: Scenario<H>> Scenario<H> for Sampled<S> {
    const COMPOSES: bool = S::COMPOSES;
    const COUNTS: bool = true;

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
        self.sampler.take().map(AnyTally::new)
    }

    fn dropped(&mut self, count: u64) {
        self.users.dropped(count);
    }

    fn backs_off(&self) -> bool {
        self.users.backs_off()
    }
}
