//! Control of a run from outside: stop it, and change its load.

use loadline_plan::Level;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The order for the rest of a run. Workers check it every tick, so that nothing is shared on a
/// request's path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Continue.
    Run,
    /// Begin nothing new; end when everything in flight has ended.
    Stop,
    /// End at once.
    Abort,
}

/// A change of a run's load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// The instant from which it applies, in nanoseconds from the begin of the load (of the
    /// warm-up, if there is one).
    pub at_ns: u64,
    /// The level of the load from then on.
    pub level: Level,
    /// The scenario whose load it is; `None` for all of them.
    pub scenario: Option<usize>,
}

/// A change of the workers that share the load. What lost workers would have sent is taken over by
/// others, each of which has an equal part: of the arrivals of an open load, of the users of a
/// closed one, who are new users there. With workers that join, all have equal parts of the
/// arrivals or users.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakeOver {
    /// The instant from which it applies, like that of a [`Change`].
    pub at_ns: u64,
    /// The workers that are lost.
    pub lost: Range<u32>,
    /// The workers that join.
    #[serde(default)]
    pub joined: Range<u32>,
    /// The workers that take it over, rising, those that join included.
    pub heirs: Vec<u32>,
    /// For each scenario the number of starts of a closed load that the lost workers had left;
    /// `None`, or nothing, if it is not limited.
    #[serde(default)]
    pub left: Vec<Option<u64>>,
}

/// The time from a command to the change of the load. Each worker checks for changes every tenth of
/// a second, and so receives the change in time.
pub const CHANGE_LEAD_NS: u64 = 150_000_000;

/// Stops a run or changes its load, from any thread.
#[derive(Clone, Debug)]
pub struct Handle(Arc<Control>);

#[derive(Debug)]
struct Control {
    order: AtomicU8,
    /// The changes, in the order of their instants.
    changes: Mutex<Vec<Change>>,
    /// The number of changes, which workers check without a lock.
    change_count: AtomicUsize,
    /// The same of the takeovers.
    takeovers: Mutex<Vec<TakeOver>>,
    takeover_count: AtomicUsize,
    /// The begin and end of the load, on the machine's monotonic clock; `u64::MAX` before the load
    /// has begun.
    begin_ns: AtomicU64,
    end_ns: AtomicU64,
    /// The number of checks of each worker.
    beats: Vec<AtomicU64>,
    /// The number of workers whose load has begun, and by how much the last of them was late.
    begun: AtomicUsize,
    late_ns: AtomicU64,
}

impl Handle {
    /// Creates the handle of a run whose workers need not report their presence.
    #[cfg(test)]
    pub(crate) fn new() -> Self {
        Handle::of_workers(0)
    }

    pub(crate) fn of_workers(workers: u32) -> Self {
        Handle(Arc::new(Control {
            order: AtomicU8::new(Order::Run as u8),
            changes: Mutex::default(),
            change_count: AtomicUsize::new(0),
            takeovers: Mutex::default(),
            takeover_count: AtomicUsize::new(0),
            begin_ns: AtomicU64::new(u64::MAX),
            end_ns: AtomicU64::new(u64::MAX),
            beats: (0..workers).map(|_| AtomicU64::new(0)).collect(),
            begun: AtomicUsize::new(0),
            late_ns: AtomicU64::new(0),
        }))
    }

    /// Notes that the load of a worker begins, and by how much that is late.
    pub(crate) fn note_begin(&self, late_ns: u64) {
        self.0.late_ns.fetch_max(late_ns, Ordering::Relaxed);
        self.0.begun.fetch_add(1, Ordering::Release);
    }

    /// Returns by how much the begin of the last worker was late, in nanoseconds, once the load of
    /// so many has begun.
    pub(crate) fn begin_late_ns(&self, workers: usize) -> Option<u64> {
        let have_begun = self.0.begun.load(Ordering::Acquire) >= workers;
        have_begun.then(|| self.0.late_ns.load(Ordering::Relaxed))
    }

    /// Counts a check of a worker, which shows that it is alive.
    pub(crate) fn beat(&self, worker: usize) {
        if let Some(beats) = self.0.beats.get(worker) {
            beats.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns the number of checks of a worker.
    pub(crate) fn beats(&self, worker: usize) -> u64 {
        let beats = self.0.beats.get(worker);
        beats.map_or(0, |beats| beats.load(Ordering::Relaxed))
    }

    /// Stops the run: it begins no new exchange, and ends when those in flight have ended.
    pub fn stop(&self) {
        self.0.order.fetch_max(Order::Stop as u8, Ordering::Relaxed);
    }

    /// Ends the run at once; exchanges in flight remain in flight.
    pub fn abort(&self) {
        self.0
            .order
            .fetch_max(Order::Abort as u8, Ordering::Relaxed);
    }

    /// Stores the begin of the load and its end, this much later.
    pub(crate) fn begin(&self, begin_ns: u64, length_ns: u64) {
        let end_ns = begin_ns.saturating_add(length_ns);
        self.0.end_ns.store(end_ns, Ordering::Relaxed);
        self.0.begin_ns.store(begin_ns, Ordering::Relaxed);
    }

    /// Changes the load of all workers at one instant, 150 ms from now, and not before the last
    /// change. The level must be accepted by [`Level::check`]. Returns `None` if the load is over
    /// by then, or has not begun.
    pub fn change(&self, level: Level) -> Option<Change> {
        self.change_soon(level, None)
    }

    /// Changes the load of one of several scenarios, like [`change`](Self::change).
    pub fn change_scenario(&self, scenario: usize, level: Level) -> Option<Change> {
        self.change_soon(level, Some(scenario))
    }

    fn change_soon(&self, level: Level, scenario: Option<usize>) -> Option<Change> {
        let begin_ns = self.0.begin_ns.load(Ordering::Relaxed);
        let end_ns = self.0.end_ns.load(Ordering::Relaxed);
        let at_ns = loadline_reactor::monotonic_ns() + CHANGE_LEAD_NS;
        let lasts = begin_ns < u64::MAX && at_ns < end_ns;
        let change = |at_ns| Change {
            at_ns,
            level,
            scenario,
        };
        lasts.then(|| self.carry_out(change(at_ns.saturating_sub(begin_ns))))?
    }

    /// Changes the load like [`change`](Self::change), at this instant from the begin of the load.
    #[cfg(test)]
    pub(crate) fn change_at(&self, at_ns: u64, level: Level) -> Option<Change> {
        self.carry_out(Change {
            at_ns,
            level,
            scenario: None,
        })
    }

    /// Changes the load like [`change`](Self::change), at the instant of the change. A worker that
    /// receives it later applies it on receipt.
    pub fn carry_out(&self, change: Change) -> Option<Change> {
        if self.order() != Order::Run {
            return None;
        }
        let mut changes = self.changes();
        let last_ns = changes.last().map_or(0, |last| last.at_ns);
        let change = Change {
            at_ns: change.at_ns.max(last_ns),
            ..change
        };
        changes.push(change);
        self.0.change_count.store(changes.len(), Ordering::Release);
        Some(change)
    }

    /// Returns the changes of the load after the first `known` ones.
    #[inline]
    pub fn changes_since(&self, known: usize) -> Vec<Change> {
        match self.0.change_count.load(Ordering::Acquire) {
            count if count == known => Vec::new(),
            _ => self.changes()[known..].to_vec(),
        }
    }

    /// Has workers take over the arrivals of others that are lost. All takeovers of a run must come
    /// to all of its workers in the same order. A worker that receives one later than its instant
    /// begins on receipt.
    pub fn take_over(&self, takeover: TakeOver) {
        let mut takeovers = self.takeovers();
        takeovers.push(takeover);
        let count = takeovers.len();
        self.0.takeover_count.store(count, Ordering::Release);
    }

    /// Returns the takeovers after the first `known` ones.
    #[inline]
    pub fn takeovers_since(&self, known: usize) -> Vec<TakeOver> {
        match self.0.takeover_count.load(Ordering::Acquire) {
            count if count == known => Vec::new(),
            _ => self.takeovers()[known..].to_vec(),
        }
    }

    fn takeovers(&self) -> MutexGuard<'_, Vec<TakeOver>> {
        let takeovers = self.0.takeovers.lock();
        takeovers.unwrap_or_else(PoisonError::into_inner)
    }

    fn changes(&self) -> MutexGuard<'_, Vec<Change>> {
        let changes = self.0.changes.lock();
        changes.unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the current order.
    pub fn order(&self) -> Order {
        match self.0.order.load(Ordering::Relaxed) {
            0 => Order::Run,
            1 => Order::Stop,
            _ => Order::Abort,
        }
    }
}
