//! What a virtual user has begun and not ended: timers, requests of `asyncRequest`.
//!
//! Operations go on whenever the user waits, for whatever; what they lead to in the script runs
//! only in its event loop, one after the other, as k6 does. An iteration lasts until there are
//! none left.

use crate::vu::Vu;
use rquickjs::{Ctx, Promise, Result};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::future::poll_fn;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};

/// What an operation leads to, when it has ended: run in the user's event loop.
pub(crate) type Completion = Box<dyn for<'js> FnOnce(&Ctx<'js>) -> Result<()>>;

/// An operation that goes on.
type Running = Pin<Box<dyn Future<Output = Completion>>>;

/// The operations of a virtual user.
#[derive(Default)]
pub(crate) struct Operations {
    running: RefCell<Vec<(u64, Running)>>,
    /// Those of them that are timers, with the functions that began them.
    timers: RefCell<BTreeMap<u64, &'static str>>,
    ended: RefCell<VecDeque<(u64, Completion)>>,
    begun: Cell<u64>,
    /// The one whose completion runs.
    completing: Cell<u64>,
}

impl Operations {
    /// Begins one; its number.
    pub(crate) fn begin(&self, operation: impl Future<Output = Completion> + 'static) -> u64 {
        self.begun.set(self.begun.get() + 1);
        let number = self.begun.get();
        let operation: Running = Box::pin(operation);
        self.running.borrow_mut().push((number, operation));
        number
    }

    /// One is a timer, which this function began.
    pub(crate) fn name(&self, number: u64, function: &'static str) {
        self.timers.borrow_mut().insert(number, function);
    }

    /// The timers that have not ended; they are forgotten.
    pub(crate) fn take_timers(&self) -> BTreeMap<u64, &'static str> {
        let mut timers = mem::take(&mut *self.timers.borrow_mut());
        let (running, ended) = (self.running.borrow(), self.ended.borrow());
        timers.retain(|timer, _| {
            let is_running = running.iter().any(|(number, _)| number == timer);
            is_running || ended.iter().any(|(number, _)| number == timer)
        });
        timers
    }

    /// Begins one in place of the one whose completion runs, under its number.
    pub(crate) fn begin_again(&self, operation: impl Future<Output = Completion> + 'static) {
        let operation: Running = Box::pin(operation);
        let number = self.completing.get();
        self.running.borrow_mut().push((number, operation));
    }

    /// Gives one up, and what it would lead to.
    pub(crate) fn give_up(&self, number: u64) {
        self.running.borrow_mut().retain(|(one, _)| *one != number);
        self.ended.borrow_mut().retain(|(one, _)| *one != number);
    }

    /// Gives all of them up; their number.
    pub(crate) fn clear(&self) -> usize {
        let running = mem::take(&mut *self.running.borrow_mut());
        let ended = mem::take(&mut *self.ended.borrow_mut());
        running.len() + ended.len()
    }

    /// Lets all go on.
    pub(crate) fn poll(&self, cx: &mut Context<'_>) {
        if self.running.borrow().is_empty() {
            return;
        }
        // They are away meanwhile: one may begin another.
        let mut running = mem::take(&mut *self.running.borrow_mut());
        running.retain_mut(|(number, operation)| match operation.as_mut().poll(cx) {
            Poll::Pending => true,
            Poll::Ready(completion) => {
                self.ended.borrow_mut().push_back((*number, completion));
                false
            }
        });
        self.running.borrow_mut().splice(0..0, running);
    }

    fn next(&self) -> Option<Completion> {
        let (number, completion) = self.ended.borrow_mut().pop_front()?;
        self.completing.set(number);
        Some(completion)
    }

    fn is_idle(&self) -> bool {
        self.running.borrow().is_empty() && self.ended.borrow().is_empty()
    }
}

/// Runs what a call has led to: its promise's continuations, timers, requests, until nothing is
/// left. Ends early if the iteration has to.
///
/// # Errors
/// What the script throws behind a wait.
pub(crate) fn drain(ctx: &Ctx<'_>, vu: &Vu) -> Result<()> {
    loop {
        run_jobs(ctx, vu);
        // What nobody catches ends the iteration where it is.
        if vu.control.is_cancelled() || vu.has_rejection() {
            return Ok(());
        }
        if let Some(completion) = vu.operations.next() {
            completion(ctx)?;
            continue;
        }
        if vu.operations.is_idle() {
            return Ok(());
        }
        let waited = vu.wait(poll_fn(|_| match vu.operations.ended.borrow().is_empty() {
            true => Poll::Pending,
            false => Poll::Ready(()),
        }));
        if waited.is_err() {
            return Ok(());
        }
    }
}

/// Runs the continuations of promises.
fn run_jobs(ctx: &Ctx<'_>, vu: &Vu) {
    while !vu.control.is_cancelled() && ctx.execute_pending_job() {}
}

/// Runs the event loop, and gives what a promise became; `None` if it never will be anything.
///
/// # Errors
/// What it was rejected with, or what the script threw meanwhile.
pub(crate) fn settle<'js>(
    ctx: &Ctx<'js>,
    vu: &Vu,
    promise: &Promise<'js>,
) -> Result<Option<rquickjs::Value<'js>>> {
    drain(ctx, vu)?;
    promise.result().transpose()
}

impl std::fmt::Debug for Operations {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Operations")
            .field("running", &self.running.borrow().len())
            .finish_non_exhaustive()
    }
}
