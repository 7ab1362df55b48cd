//! The connections of HTTP/2 of one user, whose servers choose the version.
//!
//! Until the version of a server is known the requests of a user wait for one dial, its *gate*.

use super::pool::{Http2Pool, http2_config};
use crate::failure::Failure;
use loadline_plan::Connection as Settings;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// The HTTP/2 state of one user.
pub(crate) struct Negotiation {
    /// The user's connections.
    pub(crate) pool: Rc<Http2Pool>,
    /// The dials in progress to endpoints whose version is unknown, or which use HTTP/2.
    gates: RefCell<Vec<Rc<Gate>>>,
}

/// A dial for which other requests wait.
pub(crate) struct Gate {
    endpoint: usize,
    is_open: Cell<bool>,
    /// The failure of the dial, if it failed.
    failure: RefCell<Option<Failure>>,
    waiting: RefCell<Vec<Waker>>,
}

/// Opens a gate when its dial has ended, or was cancelled.
pub(crate) struct Dialling<'a> {
    negotiation: &'a Negotiation,
    pub(crate) gate: Rc<Gate>,
}

impl Negotiation {
    /// Creates the state of a user without connections.
    pub(crate) fn new(settings: &Settings) -> Self {
        // No limit of our own: as many streams as the server allows.
        let pool = Http2Pool::new(http2_config(settings), u32::MAX);
        Negotiation {
            pool: Rc::new(pool),
            gates: RefCell::default(),
        }
    }

    /// Returns the dial to an endpoint that is in progress.
    pub(crate) fn gate(&self, endpoint: usize) -> Option<Rc<Gate>> {
        let gates = self.gates.borrow();
        let found = gates.iter().find(|gate| gate.endpoint == endpoint);
        found.map(Rc::clone)
    }

    /// Creates a gate, so that others wait for a dial to an endpoint.
    pub(crate) fn dialling(&self, endpoint: usize) -> Dialling<'_> {
        let gate = Rc::new(Gate {
            endpoint,
            is_open: Cell::new(false),
            failure: RefCell::new(None),
            waiting: RefCell::default(),
        });
        self.gates.borrow_mut().push(Rc::clone(&gate));
        Dialling {
            negotiation: self,
            gate,
        }
    }
}

impl Drop for Dialling<'_> {
    fn drop(&mut self) {
        let mut gates = self.negotiation.gates.borrow_mut();
        gates.retain(|gate| !Rc::ptr_eq(gate, &self.gate));
        self.gate.is_open.set(true);
        let waiting = self.gate.waiting.take();
        waiting.into_iter().for_each(Waker::wake);
    }
}

impl Gate {
    /// Polls for the end of the dial; fails if the dial failed.
    pub(crate) fn poll_pass(&self, cx: &Context<'_>) -> Poll<Result<(), Failure>> {
        if self.is_open.get() {
            let failure = self.failure.borrow().clone();
            return Poll::Ready(failure.map_or(Ok(()), Err));
        }
        self.waiting.borrow_mut().push(cx.waker().clone());
        Poll::Pending
    }

    /// Has the waiting requests fail with this failure.
    pub(crate) fn fail(&self, failure: &Failure) {
        self.failure.replace(Some(failure.clone()));
    }
}
