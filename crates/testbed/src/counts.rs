//! The server's exact counts.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The counts of a server so far. Final, and exact, when [`crate::Server::stop`] returns them.
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
    /// Connections ended because the received data was not an HTTP request.
    pub malformed: u64,
    /// Responses sent completely: the kernel has accepted their last byte. Interim responses are
    /// not counted; responses with a fault only if the fault follows them.
    pub answers: u64,
    /// Faults played.
    pub faults: u64,
    /// Freezes of the whole server.
    pub freezes: u64,
}

/// The counters of [`Counts`]. They count single events: no order between them is guaranteed.
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

    /// Adds one and returns the previous value.
    pub(crate) fn next(&self) -> u64 {
        self.0.fetch_add(1, Relaxed)
    }

    fn value(&self) -> u64 {
        self.0.load(Relaxed)
    }
}
