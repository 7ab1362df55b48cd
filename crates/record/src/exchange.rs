//! One request and its response.
//!
//! # Times
//!
//! - All instants are nanoseconds of the host's monotonic clock. Deadlines are absolute, so one
//!   late start delays no other.
//! - The intended start comes from the schedule. The start is read from the clock just before the
//!   send, or before dialling. `response = delay + service` and `delay = blocked + lateness` hold
//!   to the nanosecond for every exchange.
//! - With the kernel's clock an exchange ends when its last packet was received. The time from then
//!   to the read by Loadline is the wake-up delay, which is recorded separately. Unix sockets have
//!   no such timestamps; their exchanges end when the response is read.
//! - The kernel's timestamps are those of the wall clock. They are mapped to the monotonic clock by
//!   reading one clock between two readings of the other, every 10 ms. A reading in which the
//!   thread was preempted is repeated.
//! - A mapped timestamp is clamped to the time between the exchange's start and the read, so that
//!   setting the wall clock during a run does no harm. The instant at which a user was free is
//!   clamped to the time between intended start and start. Times above an hour count as an hour.
//! - *Zero* is the end of warm-up. An exchange belongs to the measured part if its intended start
//!   does.

use serde::{Deserialize, Serialize};

/// A request and its response after its end. All times are nanoseconds from the run's start.
///
/// `response = delay + service` holds exactly: response is `end - intended`, service `end - start`,
/// delay `start - intended`, and delay is *blocked* (until `ready`) plus *lateness* (from `ready`
/// to `start`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// The start according to the schedule; in a closed load equal to `start_ns`.
    pub intended_ns: u64,
    /// The instant at which a connection was free for it; at most `start_ns`.
    pub ready_ns: u64,
    /// The instant at which the worker began it: just before the send, or before dialling if it had
    /// to dial.
    pub start_ns: u64,
    /// The duration of dialling within the exchange (name, connect and TLS); 0 on an open
    /// connection.
    pub dial_ns: u64,
    /// The part of `dial_ns` for resolving the name; 0 if that failed or was done before.
    pub resolve_ns: u64,
    /// The part of `dial_ns` for the TLS handshake; 0 if that failed.
    pub tls_ns: u64,
    /// The instant at which the last byte of the request was handed to the kernel, if a behaviour
    /// needs it; otherwise the first byte.
    pub sent_ns: u64,
    /// The instant at which the first byte of the response was received; `end_ns` if there was
    /// none.
    pub first_byte_ns: u64,
    /// The instant at which the last byte was received (by the kernel's clock if it gives one), or
    /// of the failure.
    pub end_ns: u64,
    /// The duration from the kernel's receive to the read by Loadline; 0 with the user clock.
    pub wakeup_ns: u64,
    /// The bytes of the response: head and body as transferred (inside TLS); if the received data
    /// was not HTTP, all of it.
    pub bytes_in: u64,
    /// The bytes of the request, for each time it was sent completely: 0 if there was no
    /// connection, twice its length if it was sent again.
    pub bytes_out: u64,
    /// The outcome.
    pub outcome: Outcome,
    /// The index of the request among those of all scenarios of the plan. `None` for a request that
    /// a script composed.
    pub request: Option<u32>,
}

impl Exchange {
    /// Returns the time from the intended start to the end, in nanoseconds: delay and service
    /// together.
    pub fn response_ns(&self) -> u64 {
        self.delay_ns() + self.service_ns()
    }

    /// Returns the time from the start to the end, in nanoseconds; 0 if the kernel's clock puts the
    /// end before the start.
    pub fn service_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns)
    }

    /// Returns the time from the intended start to the start, in nanoseconds: blocked and lateness
    /// together.
    pub fn delay_ns(&self) -> u64 {
        self.start_ns.saturating_sub(self.intended_ns)
    }

    /// Returns the part of the delay until a connection was free, in nanoseconds.
    pub fn blocked_ns(&self) -> u64 {
        let ready_ns = self.ready_ns.min(self.start_ns);
        ready_ns.saturating_sub(self.intended_ns)
    }

    /// Returns the part of the delay that Loadline added, in nanoseconds.
    pub fn lateness_ns(&self) -> u64 {
        self.delay_ns() - self.blocked_ns()
    }

    /// Returns the part of dialling in which the connection was opened, including a proxy's tunnel,
    /// in nanoseconds: all except the name and TLS.
    pub fn connect_ns(&self) -> u64 {
        let others_ns = self.resolve_ns + self.tls_ns;
        self.dial_ns.saturating_sub(others_ns)
    }

    /// Returns the time from the end of dialling until the request was sent, in nanoseconds; 0 if
    /// that instant was not recorded.
    pub fn send_ns(&self) -> u64 {
        self.sent_ns
            .saturating_sub(self.start_ns)
            .saturating_sub(self.dial_ns)
    }

    /// Returns the time from the send (after dialling, if it dialled) to the first byte of the
    /// response, in nanoseconds.
    pub fn wait_ns(&self) -> u64 {
        self.first_byte_ns
            .saturating_sub(self.start_ns)
            .saturating_sub(self.dial_ns)
    }

    /// Returns the same time as [`wait_ns`](Self::wait_ns); `None` for a failure before any byte of
    /// a response, since its first byte is recorded as its end.
    pub fn first_byte_after_ns(&self) -> Option<u64> {
        let has_one = match self.outcome {
            Outcome::Answered { .. } => true,
            Outcome::Failed(_) => self.first_byte_ns < self.end_ns,
        };
        has_one.then(|| self.wait_ns())
    }

    /// Returns the time from the first byte of the response to the last, in nanoseconds.
    pub fn rest_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.first_byte_ns)
    }
}

/// An exchange in five parts, with the kernel's clock at both ends: durations in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// The time from the intended start to the start: blocked and lateness.
    pub wait_ns: u64,
    /// The time from the start until the last byte of the request left for the network device.
    pub send_ns: u64,
    /// The time from that instant until the last packet of the response was received.
    pub wire_ns: u64,
    /// The time from that receive to the read by Loadline.
    pub wakeup_ns: u64,
    /// The time from the read until the response was known to be complete.
    pub parse_ns: u64,
}

impl Split {
    /// Returns the time that a clock in user space would measure for the network and the server:
    /// from before the send until the response is parsed.
    pub fn user_ns(&self) -> u64 {
        self.send_ns + self.wire_ns + self.wakeup_ns + self.parse_ns
    }
}

/// The outcome of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// The whole response was received, with this status.
    Answered {
        /// The status code, 100 to 999.
        status: u16,
    },
    /// No whole response was received.
    Failed(ErrorKind),
}

/// The reason why an exchange failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The name had no usable address. Names in the plan are resolved before a run, and end it;
    /// this is about names that occur during the run.
    Resolve,
    /// This process had no file descriptor left for a connection: a limit of the generator.
    Descriptors,
    /// This machine had no local port left for a connection: a limit of the generator.
    Ports,
    /// No connection could be opened.
    Connect,
    /// The TLS handshake failed.
    Tls,
    /// The request could not be sent completely.
    Write,
    /// The connection ended or broke before the response was complete.
    Read,
    /// The response was not HTTP.
    Protocol,
    /// The server reset the request's stream (HTTP/2).
    StreamReset,
    /// The server closed the connection, and rejected the request with it (HTTP/2).
    GoAway,
    /// A redirect had no usable target, or exceeded its user's limit.
    Redirect,
    /// The server's authentication challenge could not be answered.
    Challenge,
    /// The body was not valid in its encoding, or too long when decoded.
    Content,
    /// The response was not complete before the timeout.
    Timeout,
    /// The user cancelled it. Exchanges cut off at the end of the run are not among these: they
    /// stay in flight.
    Aborted,
    /// A kind of a later version, read from a file. It is never recorded.
    #[serde(other)]
    Other,
}

impl ErrorKind {
    /// Every kind, in the order of an exchange's phases.
    pub const ALL: [ErrorKind; 16] = [
        ErrorKind::Resolve,
        ErrorKind::Descriptors,
        ErrorKind::Ports,
        ErrorKind::Connect,
        ErrorKind::Tls,
        ErrorKind::Write,
        ErrorKind::Read,
        ErrorKind::Protocol,
        ErrorKind::StreamReset,
        ErrorKind::GoAway,
        ErrorKind::Redirect,
        ErrorKind::Challenge,
        ErrorKind::Content,
        ErrorKind::Timeout,
        ErrorKind::Aborted,
        ErrorKind::Other,
    ];

    /// The kinds of requests that were never sent, because no connection could be opened.
    pub const BEFORE_SENDING: [ErrorKind; 5] = [
        ErrorKind::Resolve,
        ErrorKind::Descriptors,
        ErrorKind::Ports,
        ErrorKind::Connect,
        ErrorKind::Tls,
    ];

    /// Returns the name of the kind in reports and files.
    pub fn name(self) -> &'static str {
        match self {
            ErrorKind::Resolve => "resolve",
            ErrorKind::Descriptors => "descriptors",
            ErrorKind::Ports => "ports",
            ErrorKind::Connect => "connect",
            ErrorKind::Tls => "tls",
            ErrorKind::Write => "write",
            ErrorKind::Read => "read",
            ErrorKind::Protocol => "protocol",
            ErrorKind::StreamReset => "stream_reset",
            ErrorKind::GoAway => "go_away",
            ErrorKind::Redirect => "redirect",
            ErrorKind::Challenge => "challenge",
            ErrorKind::Content => "content",
            ErrorKind::Timeout => "timeout",
            ErrorKind::Aborted => "aborted",
            ErrorKind::Other => "other",
        }
    }

    /// Returns the kind with this name; [`Other`](ErrorKind::Other) for an unknown name.
    pub fn named(name: &str) -> ErrorKind {
        let found = ErrorKind::ALL.into_iter().find(|kind| kind.name() == name);
        found.unwrap_or(ErrorKind::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{any_exchange, exchange};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn response_is_delay_and_service(exchange in any_exchange()) {
            prop_assert_eq!(exchange.response_ns(), exchange.end_ns - exchange.intended_ns);
            prop_assert_eq!(exchange.response_ns(), exchange.delay_ns() + exchange.service_ns());
            prop_assert_eq!(exchange.delay_ns(), exchange.blocked_ns() + exchange.lateness_ns());
        }

        #[test]
        fn service_is_dial_wait_and_rest(exchange in any_exchange()) {
            let parts = exchange.dial_ns + exchange.wait_ns() + exchange.rest_ns();
            prop_assert_eq!(exchange.service_ns(), parts);
        }

        #[test]
        fn the_identity_holds_whatever_the_clocks_say(times in any::<[u32; 6]>()) {
            let [intended, ready, start, dial, first_byte, end] = times.map(u64::from);
            let exchange = Exchange {
                intended_ns: intended,
                ready_ns: ready,
                start_ns: start,
                dial_ns: dial,
                first_byte_ns: first_byte,
                end_ns: end,
                ..exchange(0, 0)
            };
            let parts = exchange.blocked_ns() + exchange.lateness_ns() + exchange.service_ns();
            prop_assert_eq!(exchange.response_ns(), parts);
        }
    }

    #[test]
    fn a_connection_that_was_free_before_blocks_nothing() {
        let exchange = Exchange {
            ready_ns: 10,
            start_ns: 150,
            end_ns: 200,
            ..exchange(100, 0)
        };
        assert_eq!(exchange.blocked_ns(), 0);
        assert_eq!(exchange.lateness_ns(), 50);
    }

    #[test]
    fn kinds_are_named_as_in_files() {
        for (index, kind) in ErrorKind::ALL.into_iter().enumerate() {
            let text = serde_json::to_string(&kind).unwrap();
            assert_eq!(text, format!("\"{}\"", kind.name()));
            assert_eq!(kind as usize, index);
        }
    }
}
