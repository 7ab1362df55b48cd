//! Bytes on the sockets of connections over TLS.

use std::cell::Cell;

/// The numbers of bytes that TLS sent and received on sockets, including handshakes and records.
/// Without TLS the bytes of HTTP are those of the socket.
#[derive(Debug, Default)]
pub struct Traffic {
    sent: Cell<u64>,
    received: Cell<u64>,
}

impl Traffic {
    /// Counts bytes that were sent.
    pub(crate) fn sent(&self, bytes: usize) {
        self.sent.set(self.sent.get() + bytes as u64);
    }

    /// Counts bytes that were received.
    pub(crate) fn received(&self, bytes: usize) {
        self.received.set(self.received.get() + bytes as u64);
    }

    /// Returns the bytes sent and received since the last call.
    pub fn take(&self) -> (u64, u64) {
        (self.sent.take(), self.received.take())
    }

    /// Adds the counts of another counter, which is reset.
    pub(crate) fn take_over(&self, other: &Traffic) {
        let (sent, received) = other.take();
        self.sent.set(self.sent.get() + sent);
        self.received.set(self.received.get() + received);
    }
}
