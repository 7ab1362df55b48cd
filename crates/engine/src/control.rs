//! Stopping a run from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

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
pub struct Handle(Arc<AtomicU8>);

impl Handle {
    pub(crate) fn new() -> Self {
        Handle(Arc::new(AtomicU8::new(Order::Run as u8)))
    }

    /// Begins no new exchange; the run ends when those in flight have ended.
    pub fn stop(&self) {
        self.0.fetch_max(Order::Stop as u8, Ordering::Relaxed);
    }

    /// Ends the run at once; exchanges in flight stay in flight for ever.
    pub fn abort(&self) {
        self.0.fetch_max(Order::Abort as u8, Ordering::Relaxed);
    }

    pub(crate) fn order(&self) -> Order {
        match self.0.load(Ordering::Relaxed) {
            0 => Order::Run,
            1 => Order::Stop,
            _ => Order::Abort,
        }
    }
}
