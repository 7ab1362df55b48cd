//! The records of a worker in addition to the engine's: each request, because ab's report has
//! figures of single requests, and data of the first response and connection.

use loadline_engine::{Agreed, Tally};
use loadline_record::{ErrorKind, Exchange, Outcome};
use serde::{Deserialize, Serialize};
use std::cell::{Cell, RefCell};

/// The age of the oldest unreported request at which all are reported. Nanoseconds.
const OLDEST_NS: u64 = 50_000_000;

/// The records of workers since the last report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Records {
    /// The requests that have ended, those of one worker in their order.
    pub(super) ended: Vec<Ended>,
    /// The `Server` of the first response.
    pub(super) server: Option<String>,
    /// The parameters of the first TLS connection.
    pub(super) agreed: Option<Agreed>,
    /// The output of `-v`, for stdout.
    pub(super) transcript: Vec<u8>,
}

impl Tally for Records {
    fn merge(&mut self, other: Self) {
        self.ended.extend(other.ended);
        self.server = self.server.take().or(other.server);
        self.agreed = self.agreed.take().or(other.agreed);
        self.transcript.extend(other.transcript);
    }
}

/// A request that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Ended {
    pub(super) times: Times,
    /// The bytes received, of the head and of the body.
    pub(super) bytes_in: u64,
    /// The bytes sent.
    pub(super) bytes_out: u64,
    /// The result.
    pub(super) outcome: RequestOutcome,
}

/// The start of a request and the durations of its phases, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Times {
    /// The time from the run's begin to the start.
    pub(super) start_us: u64,
    /// The time to connect, TLS included; 0 on an open connection.
    pub(super) connect_us: u64,
    /// The time from the start to the end.
    pub(super) total_us: u64,
    /// The time from the send to the first byte.
    pub(super) wait_us: u64,
}

/// The result of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum RequestOutcome {
    /// A whole response.
    Answered {
        status: u16,
        /// The bytes of the body.
        body_bytes: u64,
        /// The bytes of the body with the framing of chunks.
        framed_bytes: u64,
        /// True if the connection is kept alive.
        kept: bool,
    },
    /// No whole response.
    Failed {
        kind: ErrorKind,
        /// The `errno`, if the system reported the failure.
        os_error: Option<i32>,
        /// The description of the failure.
        reason: String,
        /// The bytes of the body that were received; `None` if there was no head.
        body_bytes: Option<u64>,
    },
}

/// Collects the records of one worker's users.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    records: RefCell<Records>,
    /// The end of the first request of these records, in nanoseconds.
    first_ns: Cell<u64>,
    /// True if the records are to be reported before their interval ends: they are old, contain a
    /// failure, or have output to print.
    is_due: Cell<bool>,
    /// True after the first response, whose `Server` is recorded if it has one.
    pub(super) has_server: Cell<bool>,
    /// True after a response that ended early: from then on each body's length counts.
    pub(super) has_cut: Cell<bool>,
}

impl Ledger {
    /// Adds a request that has ended.
    pub(super) fn ended(&self, exchange: &Exchange, outcome: RequestOutcome) {
        let is_failed = matches!(exchange.outcome, Outcome::Failed(_));
        let ended = &mut self.records.borrow_mut().ended;
        if ended.is_empty() {
            self.first_ns.set(exchange.end_ns);
        }
        ended.push(Ended::of(exchange, outcome));
        let age_ns = exchange.end_ns.saturating_sub(self.first_ns.get());
        if age_ns >= OLDEST_NS || is_failed {
            self.is_due.set(true);
        }
    }

    /// Records the `Server` of a response, unless there is one already.
    pub(super) fn served_by(&self, server: String) {
        self.records.borrow_mut().server.get_or_insert(server);
    }

    /// Records the parameters of a TLS connection, unless there are some already.
    pub(super) fn secured(&self, agreed: &Agreed) {
        let known = &mut self.records.borrow_mut().agreed;
        known.get_or_insert_with(|| agreed.clone());
    }

    /// Adds output of `-v`.
    pub(super) fn show(&self, text: Vec<u8>) {
        self.records.borrow_mut().transcript.extend(text);
        self.is_due.set(true);
    }

    /// True if the records are to be reported now; resets the flag.
    pub(super) fn is_due(&self) -> bool {
        self.is_due.replace(false)
    }

    /// Returns the records since the last call, if there are any.
    pub(super) fn take(&self) -> Option<Records> {
        let records = self.records.take();
        (records != Records::default()).then_some(records)
    }
}

impl Ended {
    fn of(exchange: &Exchange, outcome: RequestOutcome) -> Self {
        let microseconds = |ns: u64| ns / 1000;
        Ended {
            times: Times {
                start_us: microseconds(exchange.start_ns),
                connect_us: microseconds(exchange.dial_ns.min(exchange.service_ns())),
                total_us: microseconds(exchange.service_ns()),
                wait_us: microseconds(exchange.wait_ns()),
            },
            bytes_in: exchange.bytes_in,
            bytes_out: exchange.bytes_out,
            outcome,
        }
    }
}
