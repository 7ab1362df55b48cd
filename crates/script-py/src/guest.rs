//! The user of the load who does nothing but let others in: each client is a guest of its.

use loadline_engine::{Behaviour, Iteration, Requester, Scenario};
use loadline_reactor::Kernel;
use std::cell::RefCell;
use std::future::pending;
use std::rc::Rc;

/// Where the user leaves what it sends with.
pub(crate) type Door = Rc<RefCell<Option<Requester<Kernel>>>>;

thread_local! {
    /// A scenario is made by the engine, of something that can go to other threads; this one is
    /// made on the thread that asks for it.
    static DOOR: Door = Door::default();
}

/// The load of a process of Python's: one user who waits for its end.
pub(crate) struct Hosting;

/// Its user.
pub(crate) struct Landlord;

/// What the user that was begun on this thread sends with, once it has begun.
pub(crate) fn take_requester() -> Option<Requester<Kernel>> {
    DOOR.with(|door| door.borrow_mut().take())
}

impl Scenario<Kernel> for Hosting {
    const COMPOSES: bool = true;
    type Behaviour = Landlord;

    fn user(&mut self) -> Landlord {
        Landlord
    }

    fn names_requests(&self) -> bool {
        true
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
