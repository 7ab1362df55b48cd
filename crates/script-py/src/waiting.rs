//! Greenlets that wait for something of the engine's.
//!
//! A wait has a place of its own and a number that no other has: a greenlet that is killed leaves
//! its place at once, and what comes for it later finds nobody.

use crate::fetched::Fetched;
use loadline_reactor::Task;
use pyo3::prelude::*;
use slab::Slab;
use std::cell::{Cell, RefCell};

/// What a wait is for.
pub(crate) enum Arrival {
    /// The response to a request, or its failure.
    Fetched(Box<Fetched>),
    /// The end of a pause.
    Over,
}

/// A wait: its place, and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket {
    place: usize,
    number: u64,
}

struct Waiter {
    number: u64,
    greenlet: Py<PyAny>,
    /// Since when it waits for a response, if it does.
    since_ns: Option<u64>,
    /// Dropping it gives up what is waited for.
    task: Option<Task>,
    arrival: Option<Arrival>,
}

/// All that wait.
#[derive(Default)]
pub(crate) struct Waiting {
    waiters: RefCell<Slab<Waiter>>,
    /// What has come and was not delivered yet.
    arrived: RefCell<Vec<Ticket>>,
    last_number: Cell<u64>,
}

impl Waiting {
    /// A place for a greenlet that is about to wait: for a response since this instant, or for
    /// something else.
    pub(crate) fn enter(&self, greenlet: Py<PyAny>, since_ns: Option<u64>) -> Ticket {
        let number = self.last_number.get() + 1;
        self.last_number.set(number);
        let waiter = Waiter {
            number,
            greenlet,
            since_ns,
            task: None,
            arrival: None,
        };
        let place = self.waiters.borrow_mut().insert(waiter);
        Ticket { place, number }
    }

    /// What the greenlet waits for.
    pub(crate) fn keep(&self, ticket: Ticket, task: Task) {
        self.with(ticket, |waiter| waiter.task = Some(task));
    }

    /// What was waited for has come.
    pub(crate) fn arrive(&self, ticket: Ticket, arrival: Arrival) {
        if self
            .with(ticket, |waiter| waiter.arrival = Some(arrival))
            .is_some()
        {
            self.arrived.borrow_mut().push(ticket);
        }
    }

    /// What has come, if it has; the place is free then.
    pub(crate) fn take(&self, ticket: Ticket) -> Option<Arrival> {
        let arrival = self.with(ticket, |waiter| waiter.arrival.take())??;
        drop(self.leave(ticket));
        Some(arrival)
    }

    /// Whether what this ticket stands for has come.
    pub(crate) fn has_arrival(&self, ticket: Ticket) -> bool {
        self.with(ticket, |waiter| waiter.arrival.is_some()) == Some(true)
    }

    /// The greenlet does not wait any more. Who drops what it waited for gives it up.
    pub(crate) fn leave(&self, ticket: Ticket) -> Option<Task> {
        let mut waiters = self.waiters.borrow_mut();
        let is_ours = |waiter: &Waiter| waiter.number == ticket.number;
        if !waiters.get(ticket.place).is_some_and(is_ours) {
            return None;
        }
        let left = waiters.remove(ticket.place);
        // What is dropped with it may run code of Python's.
        drop(waiters);
        left.task
    }

    /// Tickets of what has come since the last call, the first first.
    pub(crate) fn take_arrived(&self, into: &mut Vec<Ticket>) {
        into.append(&mut self.arrived.borrow_mut());
    }

    /// Whether something has come that was not delivered.
    pub(crate) fn has_arrived(&self) -> bool {
        !self.arrived.borrow().is_empty()
    }

    /// The greenlet that waits with this ticket.
    pub(crate) fn greenlet(&self, py: Python<'_>, ticket: Ticket) -> Option<Py<PyAny>> {
        self.with(ticket, |waiter| waiter.greenlet.clone_ref(py))
    }

    /// Whether nobody waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiters.borrow().is_empty()
    }

    /// Since when those wait who wait for a response that has not come.
    pub(crate) fn in_flight_since_ns(&self) -> Vec<u64> {
        let waiters = self.waiters.borrow();
        let unanswered = waiters
            .iter()
            .filter(|(_, waiter)| waiter.arrival.is_none());
        unanswered
            .filter_map(|(_, waiter)| waiter.since_ns)
            .collect()
    }

    fn with<T>(&self, ticket: Ticket, act: impl FnOnce(&mut Waiter) -> T) -> Option<T> {
        let mut waiters = self.waiters.borrow_mut();
        let waiter = waiters.get_mut(ticket.place)?;
        (waiter.number == ticket.number).then(|| act(waiter))
    }
}
