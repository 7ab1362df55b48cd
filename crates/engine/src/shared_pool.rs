//! Connections that all users of a worker share.
//!
//! There is a place for each connection. A request waits for a place before it starts: it is
//! blocked for that time, as with a user that is busy. Places are granted in the order of the
//! requests for them.

use crate::pool::Pool;
use loadline_reactor::Host;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

/// The connections that the users of a worker share.
pub(crate) struct SharedPool<H: Host> {
    pub(crate) idle: Pool<H>,
    /// The most connections.
    most: u32,
    /// The number of free places.
    free: Cell<u32>,
    /// The tasks that wait for a place, the first in front.
    waiting: RefCell<VecDeque<Rc<Waiting>>>,
}

/// The right to use one connection; dropping it passes it on.
pub(crate) struct Permit<'a, H: Host>(&'a SharedPool<H>);

#[derive(Default)]
struct Waiting {
    state: Cell<State>,
    waker: RefCell<Option<Waker>>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum State {
    #[default]
    Waits,
    /// It has a place, and its task has not run since.
    Granted,
    Gone,
}

impl<H: Host> SharedPool<H> {
    /// Creates a pool of at most this many connections.
    pub(crate) fn new(most: u32) -> Self {
        SharedPool {
            idle: Pool::new(),
            most,
            free: Cell::new(most),
            waiting: RefCell::default(),
        }
    }

    /// Returns a place, if one is free at once.
    pub(crate) fn try_place(&self) -> Option<Permit<'_, H>> {
        let left = self.free.get().checked_sub(1)?;
        self.free.set(left);
        Some(Permit(self))
    }

    /// Waits for a place.
    pub(crate) async fn place(&self) -> Permit<'_, H> {
        let waiting = Rc::new(Waiting::default());
        self.waiting.borrow_mut().push_back(Rc::clone(&waiting));
        let queued = QueuedRequest {
            pool: self,
            waiting: &waiting,
        };
        poll_fn(|cx| {
            if waiting.state.get() == State::Granted {
                return Poll::Ready(());
            }
            waiting.waker.replace(Some(cx.waker().clone()));
            Poll::Pending
        })
        .await;
        // From here on, dropping the `Permit` gives the place back.
        waiting.state.set(State::Waits);
        drop(queued);
        Permit(self)
    }

    /// Closes an idle connection if one more would exceed the limit.
    pub(crate) fn make_room(&self) {
        let used = self.most - self.free.get();
        let idle = (self.most - used) as usize;
        self.idle.make_room(idle + 1);
    }

    fn pass_on(&self) {
        let mut waiting = self.waiting.borrow_mut();
        while let Some(next) = waiting.pop_front() {
            if next.state.get() == State::Gone {
                continue;
            }
            next.state.set(State::Granted);
            next.waker.take().inspect(Waker::wake_by_ref);
            return;
        }
        self.free.set(self.free.get() + 1);
    }
}

impl<H: Host> Drop for Permit<'_, H> {
    fn drop(&mut self) {
        self.0.pass_on();
    }
}

/// A waiting request for a place. Dropping it while it waits removes it from the queue.
struct QueuedRequest<'a, H: Host> {
    pool: &'a SharedPool<H>,
    waiting: &'a Waiting,
}

impl<H: Host> Drop for QueuedRequest<'_, H> {
    fn drop(&mut self) {
        let was = self.waiting.state.replace(State::Gone);
        if was == State::Granted {
            self.pool.pass_on();
        }
    }
}
