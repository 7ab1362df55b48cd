//! Messages to a worker, and their queue.

use crate::socket::Accepted;
use std::time::Instant;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// A message to a worker.
#[derive(Debug)]
pub(crate) enum Work {
    /// Freeze until this instant.
    Freeze(Instant),
    /// Serve this connection.
    Serve(Accepted),
    /// Drop all connections and end.
    Stop,
}

/// The queue of a worker's messages.
#[derive(Clone, Debug)]
pub(crate) struct Inbox(UnboundedSender<Work>);

impl Inbox {
    /// Creates an inbox, and the end that the worker reads.
    pub(crate) fn new() -> (Self, UnboundedReceiver<Work>) {
        let (sender, receiver) = unbounded_channel();
        (Self(sender), receiver)
    }

    /// Sends a message to the worker, unless it has ended.
    pub(crate) fn put(&self, work: Work) {
        let _ = self.0.send(work);
    }
}
