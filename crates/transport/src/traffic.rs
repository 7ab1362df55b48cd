//! Bytes on sockets of connections over TLS.

use std::cell::Cell;

/// How many bytes of TLS went out and came in, its handshakes and records included. Without TLS
/// the bytes of the wire are those of the socket.
#[derive(Debug, Default)]
pub struct Traffic {
    sent: Cell<u64>,
    received: Cell<u64>,
}

impl Traffic {
    /// So many went out.
    pub(crate) fn sent(&self, bytes: usize) {
        self.sent.set(self.sent.get() + bytes as u64);
    }

    /// So many came in.
    pub(crate) fn received(&self, bytes: usize) {
        self.received.set(self.received.get() + bytes as u64);
    }

    /// What went out and what came in since this was asked last.
    pub fn take(&self) -> (u64, u64) {
        (self.sent.take(), self.received.take())
    }

    /// Adds what another has counted, which begins anew.
    pub(crate) fn take_over(&self, other: &Traffic) {
        let (sent, received) = other.take();
        self.sent.set(self.sent.get() + sent);
        self.received.set(self.received.get() + received);
    }
}
