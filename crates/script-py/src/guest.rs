//! The single user of the load, which only provides the requester from which clients get theirs,
//! and the tally of what the users of the locustfile count.

use crate::tally::Pending;
use loadline_engine::{AnyTally, Behaviour, Iteration, Requester, Scenario};
use loadline_reactor::Kernel;
use std::cell::RefCell;
use std::future::pending;
use std::rc::Rc;
use std::sync::Arc;

/// The place where the user leaves its requester.
pub(crate) type Door = Rc<RefCell<Option<Requester<Kernel>>>>;

thread_local! {
    /// The engine creates a scenario from a value that may be sent to other threads; this one is
    /// created on the thread that requests it.
    static DOOR: Door = Door::default();
}

/// The load of a Python process: one user that waits for the end.
pub(crate) struct Hosting {
    /// What is counted, if the run is recorded.
    pub(crate) pending: Option<Arc<Pending>>,
}

/// The user of that load.
pub(crate) struct Landlord;

/// Takes the requester of the user that was begun on this thread, once it has begun.
pub(crate) fn take_requester() -> Option<Requester<Kernel>> {
    DOOR.with(|door| door.borrow_mut().take())
}

impl Scenario<Kernel> for Hosting {
    const COMPOSES: bool = true;
    const COUNTS: bool = true;
    const FINISHES_ITERATIONS: bool = true;
    type Behaviour = Landlord;

    fn user(&mut self) -> Landlord {
        Landlord
    }

    fn names_requests(&self) -> bool {
        true
    }

    fn take_tally(&mut self) -> Option<AnyTally> {
        let tally = self.pending.as_ref()?.take()?;
        Some(AnyTally::new(tally))
    }

    fn backs_off(&self) -> bool {
        false
    }
}

impl Behaviour<Kernel> for Landlord {
    async fn iterate(&mut self, iteration: Iteration<'_, Kernel>) {
        DOOR.with(|door| *door.borrow_mut() = Some(iteration.requester().clone()));
        pending().await
    }
}
