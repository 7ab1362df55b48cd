//! What the server counts, exactly.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What a server has done so far. Final, and exact, when [`crate::Server::stop`] returns it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Connections accepted.
    pub connections: u64,
    /// TLS sessions that were resumed, among the connections.
    pub tls_resumed: u64,
    /// Connections that ended in the TLS handshake.
    pub tls_failed: u64,
    /// Requests received whole, with their bodies.
    pub requests: u64,
    /// Bytes of those requests' bodies, after any chunking.
    pub body_bytes: u64,
    /// Connections ended because what came was no HTTP request.
    pub malformed: u64,
    /// Responses sent whole: their last byte was taken by the kernel. Interim responses are not
    /// counted; responses with a fault only where the fault comes after them.
    pub answers: u64,
    /// Faults played.
    pub faults: u64,
    /// Times the whole server stalled.
    pub freezes: u64,
}

/// The counters behind [`Counts`]. Single events only: no order between them is promised.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) connections: Counter,
    pub(crate) tls_resumed: Counter,
    pub(crate) tls_failed: Counter,
    pub(crate) requests: Counter,
    pub(crate) body_bytes: Counter,
    pub(crate) malformed: Counter,
    pub(crate) answers: Counter,
    pub(crate) faults: Counter,
    pub(crate) freezes: Counter,
}

impl Tally {
    pub(crate) fn counts(&self) -> Counts {
        Counts {
            connections: self.connections.value(),
            tls_resumed: self.tls_resumed.value(),
            tls_failed: self.tls_failed.value(),
            requests: self.requests.value(),
            body_bytes: self.body_bytes.value(),
            malformed: self.malformed.value(),
            answers: self.answers.value(),
            faults: self.faults.value(),
            freezes: self.freezes.value(),
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, amount: u64) {
        self.0.fetch_add(amount, Relaxed);
    }

    /// Adds one and says how many there were before.
    pub(crate) fn next(&self) -> u64 {
        self.0.fetch_add(1, Relaxed)
    }

    fn value(&self) -> u64 {
        self.0.load(Relaxed)
    }
}
