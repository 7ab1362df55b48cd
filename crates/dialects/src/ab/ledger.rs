//! What a worker records of its requests beside what the engine does: each of them, as ab's report
//! has figures of single requests, and the first of some.

use loadline_engine::{Agreed, Tally};
use loadline_record::{ErrorKind, Exchange, Outcome};
use serde::{Deserialize, Serialize};
use std::cell::{Cell, RefCell};

/// Requests are reported when the first of them is this old. Nanoseconds.
const OLDEST_NS: u64 = 50_000_000;

/// What workers recorded since the last report.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Records {
    /// Requests that have ended, those of a worker in their order.
    pub(super) ended: Vec<Ended>,
    /// The `Server` of the first response.
    pub(super) server: Option<String>,
    /// What TLS agreed on first.
    pub(super) agreed: Option<Agreed>,
    /// Text of `-v`, for stdout.
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
    /// Bytes received, of the head and of the body.
    pub(super) bytes_in: u64,
    /// Bytes sent.
    pub(super) bytes_out: u64,
    /// How it ended.
    pub(super) outcome: RequestOutcome,
}

/// When a request was made and how long its parts took, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Times {
    /// From the run's begin.
    pub(super) start_us: u64,
    /// Connecting, TLS included; 0 on a standing connection.
    pub(super) connect_us: u64,
    /// From the start to the end.
    pub(super) total_us: u64,
    /// From the send to the first byte.
    pub(super) wait_us: u64,
}

/// How a request ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum RequestOutcome {
    /// A whole response.
    Answered {
        status: u16,
        /// Bytes of the body.
        body_bytes: u64,
        /// The same with the framing of chunks.
        framed_bytes: u64,
        /// Whether the connection goes on.
        kept: bool,
    },
    /// No whole response.
    Failed {
        kind: ErrorKind,
        /// The system's number for it.
        os_error: Option<i32>,
        /// What happened.
        reason: String,
        /// Bytes of the body that came, if a head came.
        body_bytes: Option<u64>,
    },
}

/// Gathers what one worker's users record.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    records: RefCell<Records>,
    /// When the first request of them ended.
    first_ns: Cell<u64>,
    /// Whether they are to be reported before their interval ends: they are old, or somebody waits
    /// to see them.
    is_due: Cell<bool>,
    /// Whether the `Server` of a response has been recorded.
    pub(super) has_server: Cell<bool>,
}

impl Ledger {
    /// Takes in a request that has ended.
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

    /// Takes in the `Server` of a response.
    pub(super) fn served_by(&self, server: String) {
        self.records.borrow_mut().server.get_or_insert(server);
    }

    /// Takes in what TLS agreed on.
    pub(super) fn secured(&self, agreed: &Agreed) {
        let known = &mut self.records.borrow_mut().agreed;
        known.get_or_insert_with(|| agreed.clone());
    }

    /// Takes in text of `-v`.
    pub(super) fn show(&self, text: Vec<u8>) {
        self.records.borrow_mut().transcript.extend(text);
        self.is_due.set(true);
    }

    /// Whether its records are to be reported now; that is said once.
    pub(super) fn is_due(&self) -> bool {
        self.is_due.replace(false)
    }

    /// What was recorded since the last call, if anything.
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
