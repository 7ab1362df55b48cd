//! Freezes of the server.
//!
//! A freeze blocks every serving thread, in the middle of whatever it does, like a stop signal: no
//! connection is accepted and no data read or written meanwhile, the kernel continues to accept
//! connections and bytes until its queues are full, and afterwards the server continues with the
//! backlog.

use crate::inbox::{Inbox, Work};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Freezes all threads of a server.
#[derive(Debug)]
pub(crate) struct Freezer {
    threads: Vec<Inbox>,
    /// True if the server is to stop, which ends every freeze.
    stopping: Mutex<bool>,
    thawed: Condvar,
}

impl Freezer {
    pub(crate) fn new(threads: Vec<Inbox>) -> Self {
        Self {
            threads,
            stopping: Mutex::new(false),
            thawed: Condvar::new(),
        }
    }

    /// Freezes the calling thread now and the others at their next message; all of them thaw
    /// together.
    pub(crate) fn freeze(&self, length: Duration) {
        let until = Instant::now() + length;
        for thread in &self.threads {
            thread.put(Work::Freeze(until));
        }
        self.hold(until);
    }

    /// Blocks the calling thread until an instant, or until the server stops.
    pub(crate) fn hold(&self, until: Instant) {
        let mut stopping = self.stopping.lock().unwrap_or_else(PoisonError::into_inner);
        while !*stopping {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            let (guard, _) = self
                .thawed
                .wait_timeout(stopping, left)
                .unwrap_or_else(PoisonError::into_inner);
            stopping = guard;
        }
    }

    /// Ends every freeze, for good.
    pub(crate) fn release(&self) {
        *self.stopping.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.thawed.notify_all();
    }
}
