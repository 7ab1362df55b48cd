//! The users of a script in one of several processes, whose tally is the error that ends the load.

use crate::failure::Failure;
use loadline_engine::{AnyTally, Scenario};
use loadline_reactor::Host;
use loadline_record::SharedMetrics;
use loadline_script::Raised;
use std::net::SocketAddr;
use std::sync::Arc;

/// The users of a script; its errors are their tally.
#[derive(Debug)]
pub(crate) struct Raising<S> {
    pub(crate) users: S,
    pub(crate) failure: Arc<Failure>,
}

impl<H: Host, S: Scenario<H>> Scenario<H> for Raising<S> {
    const COMPOSES: bool = S::COMPOSES;
    const COUNTS: bool = true;
    // The load of all processes ends with the first error, not at the end of a second.
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

    fn take_tally(&mut self) -> Option<AnyTally> {
        let raised = self.failure.take_raised()?;
        Some(AnyTally::new(Raised(raised.into())))
    }
}
