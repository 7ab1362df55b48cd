//! Stopping a run from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// How a run is to go on. Workers look every tick, so that nothing is shared on a request's path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Order {
    /// Go on.
    Run,
    /// Begin nothing new; end when what is in flight has ended.
    Stop,
    /// End at once.
    Abort,
}

/// Stops a run, from any thread.
#[derive(Clone, Debug)]
pub struct Handle(Arc<Control>);

#[derive(Debug)]
struct Control {
    order: AtomicU8,
    /// How often each worker has looked.
    beats: Vec<AtomicU64>,
}

impl Handle {
    /// The handle of a run whose workers need not say that they are there.
    #[cfg(test)]
    pub(crate) fn new() -> Self {
        Handle::of_workers(0)
    }

    pub(crate) fn of_workers(workers: u32) -> Self {
        Handle(Arc::new(Control {
            order: AtomicU8::new(Order::Run as u8),
            beats: (0..workers).map(|_| AtomicU64::new(0)).collect(),
        }))
    }

    /// A worker looks how the run is to go on, and so says that it is there.
    pub(crate) fn beat(&self, worker: usize) {
        if let Some(beats) = self.0.beats.get(worker) {
            beats.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How often a worker has looked.
    pub(crate) fn beats(&self, worker: usize) -> u64 {
        let beats = self.0.beats.get(worker);
        beats.map_or(0, |beats| beats.load(Ordering::Relaxed))
    }

    /// Begins no new exchange; the run ends when those in flight have ended.
    pub fn stop(&self) {
        self.0.order.fetch_max(Order::Stop as u8, Ordering::Relaxed);
    }

    /// Ends the run at once; exchanges in flight stay in flight for ever.
    pub fn abort(&self) {
        self.0
            .order
            .fetch_max(Order::Abort as u8, Ordering::Relaxed);
    }

    pub(crate) fn order(&self) -> Order {
        match self.0.order.load(Ordering::Relaxed) {
            0 => Order::Run,
            1 => Order::Stop,
            _ => Order::Abort,
        }
    }
}
