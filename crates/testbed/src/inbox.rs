//! What a worker is told, and the queue through which it is told.

use crate::socket::Accepted;
use std::time::Instant;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// What a worker is told to do.
#[derive(Debug)]
pub(crate) enum Work {
    /// Stand still until then.
    Freeze(Instant),
    /// Serve this connection.
    Serve(Accepted),
    /// Drop everything and end.
    Stop,
}

/// Where a worker is told what to do.
#[derive(Clone, Debug)]
pub(crate) struct Inbox(UnboundedSender<Work>);

impl Inbox {
    /// A new inbox, and the end that the worker reads.
    pub(crate) fn new() -> (Self, UnboundedReceiver<Work>) {
        let (sender, receiver) = unbounded_channel();
        (Self(sender), receiver)
    }

    /// Tells the worker, unless it has ended.
    pub(crate) fn put(&self, work: Work) {
        let _ = self.0.send(work);
    }
}
