//! One request and its response.

use serde::{Deserialize, Serialize};

/// One request and its response, ended. All times are nanoseconds from the run's start.
///
/// `response = delay + service` holds exactly: response is `end - intended`, service
/// `end - start`, delay `start - intended`, and delay is *blocked* (until `ready`) and *late*
/// (from there to `start`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// When the schedule wanted it to start; in a closed load the same as `start_ns`.
    pub intended_ns: u64,
    /// When a connection was free for it; at most `start_ns`.
    pub ready_ns: u64,
    /// When the worker began it: just before the send, or before dialling where it had to dial.
    pub start_ns: u64,
    /// Dialling within the exchange (connect and TLS), a duration; 0 on a standing connection.
    pub dial_ns: u64,
    /// When the first byte of the answer was received; `end_ns` if none was.
    pub first_byte_ns: u64,
    /// When the last byte was received (the kernel's clock where it gives one), or the failure.
    pub end_ns: u64,
    /// From the kernel's receive to our read, a duration; 0 with the user clock.
    pub wakeup_ns: u64,
    /// Bytes of the answer: head and body as on the wire (inside TLS).
    pub bytes_in: u64,
    /// Bytes of the request.
    pub bytes_out: u64,
    /// How it ended.
    pub outcome: Outcome,
}

/// How an exchange ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A whole answer came, with this status.
    Answered {
        /// The status code, 100 to 999.
        status: u16,
    },
    /// No whole answer came.
    Failed(ErrorKind),
}

/// Why an exchange failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The name had no usable address.
    Resolve,
    /// No connection could be made.
    Connect,
    /// The TLS handshake failed.
    Tls,
    /// The request could not be sent whole.
    Write,
    /// The connection ended or broke before the answer was whole.
    Read,
    /// The answer was not HTTP.
    Protocol,
    /// The answer was not whole within the time allowed.
    Timeout,
    /// We gave it up: the run was stopped at once.
    Aborted,
}
