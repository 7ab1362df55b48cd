//! Greenlets that wait for a result of the engine.
//!
//! A wait has a place of its own and a unique number: a greenlet that is killed leaves its place at
//! once, and a later result for it is discarded.

use crate::fetched::Fetched;
use loadline_reactor::Task;
use pyo3::prelude::*;
use slab::Slab;
use std::cell::{Cell, RefCell};

/// The result of a wait.
pub(crate) enum Arrival {
    /// The response to a request, or its failure.
    Fetched(Box<Fetched>),
    /// The end of a pause.
    Over,
}

/// The identity of a wait: its place, and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket {
    place: usize,
    number: u64,
}

struct Waiter {
    number: u64,
    greenlet: Py<PyAny>,
    /// The time since which it waits for a response, if it does.
    since_ns: Option<u64>,
    /// The task of the work. Dropping it cancels the work.
    task: Option<Task>,
    arrival: Option<Arrival>,
}

/// All waits.
#[derive(Default)]
pub(crate) struct Waiting {
    waiters: RefCell<Slab<Waiter>>,
    /// Waits whose results have arrived and were not delivered yet.
    arrived: RefCell<Vec<Ticket>>,
    last_number: Cell<u64>,
}

impl Waiting {
    /// Adds a wait for a greenlet: for a response since this instant, or for another result.
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

    /// Keeps the task for which the greenlet waits.
    pub(crate) fn keep(&self, ticket: Ticket, task: Task) {
        self.with(ticket, |waiter| waiter.task = Some(task));
    }

    /// Stores the result of a wait.
    pub(crate) fn arrive(&self, ticket: Ticket, arrival: Arrival) {
        if self
            .with(ticket, |waiter| waiter.arrival = Some(arrival))
            .is_some()
        {
            self.arrived.borrow_mut().push(ticket);
        }
    }

    /// Takes the result of a wait, if it has arrived, and frees its place.
    pub(crate) fn take(&self, ticket: Ticket) -> Option<Arrival> {
        let arrival = self.with(ticket, |waiter| waiter.arrival.take())??;
        drop(self.leave(ticket));
        Some(arrival)
    }

    /// True if the result of this wait has arrived.
    pub(crate) fn has_arrival(&self, ticket: Ticket) -> bool {
        self.with(ticket, |waiter| waiter.arrival.is_some()) == Some(true)
    }

    /// Ends a wait, and returns its task. Dropping the task cancels the work.
    pub(crate) fn leave(&self, ticket: Ticket) -> Option<Task> {
        let mut waiters = self.waiters.borrow_mut();
        let is_ours = |waiter: &Waiter| waiter.number == ticket.number;
        if !waiters.get(ticket.place).is_some_and(is_ours) {
            return None;
        }
        let left = waiters.remove(ticket.place);
        // Values that are dropped with it may run Python code.
        drop(waiters);
        left.task
    }

    /// Takes the waits whose results have arrived since the last call, the first one first.
    pub(crate) fn take_arrived(&self, into: &mut Vec<Ticket>) {
        into.append(&mut self.arrived.borrow_mut());
    }

    /// True if there are results that were not delivered.
    pub(crate) fn has_arrived(&self) -> bool {
        !self.arrived.borrow().is_empty()
    }

    /// Returns the greenlet of this wait.
    pub(crate) fn greenlet(&self, py: Python<'_>, ticket: Ticket) -> Option<Py<PyAny>> {
        self.with(ticket, |waiter| waiter.greenlet.clone_ref(py))
    }

    /// True if there are no waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiters.borrow().is_empty()
    }

    /// Returns the start times of the waits for a response that has not arrived.
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
