//! One virtual user: its connections, the starts it has taken, and the time since which it is free.

mod account;

use crate::account::Start;
use crate::activity::{Active, Activity};
use crate::connections::Connections;
use crate::worker::Worker;
use loadline_reactor::Host;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// One virtual user: a behaviour with its own connections.
pub(crate) struct User<H: Host> {
    pub(crate) worker: Rc<Worker<H>>,
    /// The number of the user within the scenario, over all workers.
    pub(crate) number: u32,
    pub(crate) connections: Connections<H>,
    /// The starts of the iteration that no exchange has taken yet, the earliest last.
    pub(crate) starts: RefCell<Vec<Start>>,
    /// True if its behaviour sends its first request without work of its own.
    pub(crate) is_prompt: Cell<bool>,
    /// The instant since which the user is free for the next start: the arrival of its last
    /// response, on the clock that ends exchanges, so that a worker which reads it late is not
    /// mistaken for a slow target.
    pub(crate) free_ns: Cell<u64>,
    /// The time by which stalls of the loop put off the starts that it has taken.
    pub(crate) put_off_ns: Cell<u64>,
    /// Its last pause: the end of the pause, and the instant since which the user was free before.
    last_pause: Cell<(u64, u64)>,
    pub(crate) activity: Activity,
    /// The number of changes of the load when the starts were taken.
    pub(crate) changes: Cell<usize>,
}

impl<H: Host> User<H> {
    pub(crate) fn new(worker: Rc<Worker<H>>, number: u32) -> Self {
        User {
            connections: Connections::new(Rc::clone(&worker.network)),
            worker,
            number,
            starts: RefCell::default(),
            is_prompt: Cell::new(false),
            free_ns: Cell::new(0),
            put_off_ns: Cell::new(0),
            last_pause: Cell::default(),
            activity: Activity::default(),
            changes: Cell::new(0),
        }
    }

    /// Ends the user for its worker, which no longer waits for it.
    pub(crate) fn end(&self) {
        if !self.activity.has_ended.replace(true) {
            self.worker.user_ended();
        }
    }

    /// Returns the arrival of its last response, regardless of later pauses.
    pub(crate) fn answered_ns(&self) -> u64 {
        match (self.free_ns.get(), self.last_pause.get()) {
            (free_ns, (ended_ns, before_ns)) if free_ns == ended_ns => before_ns,
            (free_ns, _) => free_ns,
        }
    }
}

impl<H: Host> Active for User<H> {
    fn activity(&self) -> &Activity {
        &self.activity
    }
}
