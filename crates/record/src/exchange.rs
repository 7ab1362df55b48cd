//! One request and its response.
//!
//! # How time is kept
//!
//! - All instants are nanoseconds of the host's monotonic clock. Deadlines are absolute, so one
//!   late start delays no other.
//! - The intended start comes from the schedule. The start is read from the clock just before the
//!   send, or before dialling. `response = delay + service` and `delay = blocked + lateness` hold
//!   to the nanosecond for every exchange.
//! - With the kernel's clock an exchange ends when its last packet was received. The time from
//!   there to our read is the wake-up delay, which is kept apart. Unix sockets have no such stamps,
//!   and end when they are read.
//! - The kernel's stamps are of the wall clock. They are mapped to the monotonic clock by reading
//!   the one between two readings of the other, every 10 ms. A reading in which the thread was
//!   preempted is made again.
//! - A mapped stamp is clamped to lie between the exchange's start and our read, so that a wall
//!   clock that is set during a run can do no harm. The instant at which a user was free is clamped
//!   to lie between intended start and start. Times above an hour count as an hour.
//! - *Zero* is the end of warm-up. An exchange belongs to the measured part if its intended start
//!   does.

use serde::{Deserialize, Serialize};

/// One request and its response, ended. All times are nanoseconds from the run's start.
///
/// `response = delay + service` holds exactly: response is `end - intended`, service
/// `end - start`, delay `start - intended`, and delay is *blocked* (until `ready`) and *late*
/// (from there to `start`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// When the schedule wanted it to start; in a closed load the same as `start_ns`.
    pub intended_ns: u64,
    /// When a connection was free for it; at most `start_ns`.
    pub ready_ns: u64,
    /// When the worker began it: just before the send, or before dialling where it had to dial.
    pub start_ns: u64,
    /// Dialling within the exchange (name, connect and TLS), a duration; 0 on a standing
    /// connection.
    pub dial_ns: u64,
    /// The part of `dial_ns` in which the name was resolved; 0 if that failed or was done before.
    pub resolve_ns: u64,
    /// The part of `dial_ns` in which TLS was negotiated; 0 if that failed.
    pub tls_ns: u64,
    /// When the last byte of the request was handed to the kernel, where a behaviour asked for it;
    /// elsewhere when the first one was.
    pub sent_ns: u64,
    /// When the first byte of the response was received; `end_ns` if none was.
    pub first_byte_ns: u64,
    /// When the last byte was received (the kernel's clock where it gives one), or the failure.
    pub end_ns: u64,
    /// From the kernel's receive to our read, a duration; 0 with the user clock.
    pub wakeup_ns: u64,
    /// Bytes of the response: head and body as on the wire (inside TLS); where what came was no
    /// HTTP, all that came with it.
    pub bytes_in: u64,
    /// Bytes of the request, as often as it went out whole: none where there was no connection,
    /// twice where it was sent again.
    pub bytes_out: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// Which of the plan's requests was sent: its index among those of all scenarios. `None` for a
    /// request that a script wrote.
    pub request: Option<u32>,
}

impl Exchange {
    /// From the intended start to the end, in nanoseconds: delay and service together.
    pub fn response_ns(&self) -> u64 {
        self.delay_ns() + self.service_ns()
    }

    /// From the start to the end, in nanoseconds. Zero should the kernel's clock put the end before
    /// the start.
    pub fn service_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns)
    }

    /// From the intended start to the start, in nanoseconds: blocked and lateness together.
    pub fn delay_ns(&self) -> u64 {
        self.start_ns.saturating_sub(self.intended_ns)
    }

    /// The part of the delay until a connection was free, in nanoseconds.
    pub fn blocked_ns(&self) -> u64 {
        let ready_ns = self.ready_ns.min(self.start_ns);
        ready_ns.saturating_sub(self.intended_ns)
    }

    /// The part of the delay that Loadline added, in nanoseconds.
    pub fn lateness_ns(&self) -> u64 {
        self.delay_ns() - self.blocked_ns()
    }

    /// The part of dialling in which the connection was made, a proxy's tunnel included, in
    /// nanoseconds: what is neither the name nor TLS.
    pub fn connect_ns(&self) -> u64 {
        let others_ns = self.resolve_ns + self.tls_ns;
        self.dial_ns.saturating_sub(others_ns)
    }

    /// From the end of dialling until the request was sent, in nanoseconds; 0 where nobody asked.
    pub fn send_ns(&self) -> u64 {
        self.sent_ns
            .saturating_sub(self.start_ns)
            .saturating_sub(self.dial_ns)
    }

    /// From the send (after dialling, if it dialled) to the first byte of the response, in
    /// nanoseconds.
    pub fn wait_ns(&self) -> u64 {
        self.first_byte_ns
            .saturating_sub(self.start_ns)
            .saturating_sub(self.dial_ns)
    }

    /// As [`wait_ns`](Self::wait_ns); `None` where a failure came before any byte of a response,
    /// whose first byte then is its end.
    pub fn first_byte_after_ns(&self) -> Option<u64> {
        let has_one = match self.outcome {
            Outcome::Answered { .. } => true,
            Outcome::Failed(_) => self.first_byte_ns < self.end_ns,
        };
        has_one.then(|| self.wait_ns())
    }

    /// From the first byte of the response to the last, in nanoseconds.
    pub fn rest_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.first_byte_ns)
    }
}

/// An exchange in five parts, by the kernel's clock on both ends: durations in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// From the intended start to the start: blocked and late.
    pub wait_ns: u64,
    /// From the start until the last byte of the request left for the network device.
    pub send_ns: u64,
    /// From there until the last packet of the response was received.
    pub wire_ns: u64,
    /// From there to our read.
    pub wakeup_ns: u64,
    /// From there until the response was known to be whole.
    pub parse_ns: u64,
}

impl Split {
    /// What a clock in user space takes for the time of the wire and the server: from before the
    /// send until the response is parsed.
    pub fn user_ns(&self) -> u64 {
        self.send_ns + self.wire_ns + self.wakeup_ns + self.parse_ns
    }
}

/// How an exchange ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// A whole response came, with this status.
    Answered {
        /// The status code, 100 to 999.
        status: u16,
    },
    /// No whole response came.
    Failed(ErrorKind),
}

/// Why an exchange failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The name had no usable address. Those of the plan are resolved before a run, and end it;
    /// this is about names that turn up while it lasts.
    Resolve,
    /// This process had no file descriptor left for a connection: our fault.
    Descriptors,
    /// This machine had no local port left for a connection: our fault.
    Ports,
    /// No connection could be made.
    Connect,
    /// The TLS handshake failed.
    Tls,
    /// The request could not be sent whole.
    Write,
    /// The connection ended or broke before the response was whole.
    Read,
    /// The response was not HTTP.
    Protocol,
    /// The server reset the request's stream (HTTP/2).
    StreamReset,
    /// The server gave the connection up, and the request with it (HTTP/2).
    GoAway,
    /// A redirect led nowhere, or further than its user follows.
    Redirect,
    /// A challenge of the server's could not be answered.
    Challenge,
    /// The body was not what its encoding says, or too long when decoded.
    Content,
    /// The response was not whole within the time allowed.
    Timeout,
    /// Its user gave it up. What is cut off with the run is none of these: it stays in flight.
    Aborted,
    /// In a file of a later version, which knows more kinds. It is never recorded.
    #[serde(other)]
    Other,
}

impl ErrorKind {
    /// Every kind, in the order of an exchange's course.
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

    /// Those of requests that were never sent, because no connection could be made.
    pub const BEFORE_SENDING: [ErrorKind; 5] = [
        ErrorKind::Resolve,
        ErrorKind::Descriptors,
        ErrorKind::Ports,
        ErrorKind::Connect,
        ErrorKind::Tls,
    ];

    /// The kind's one word, as in reports and files.
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

    /// The kind of this name; [`Other`](ErrorKind::Other) if this version knows none.
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
