//! What a worker reports of its requests, in batches.

use loadline_engine::Agreed;
use loadline_record::{ErrorKind, Exchange, Outcome};
use std::cell::{Cell, RefCell};
use std::sync::mpsc::Sender;

/// Requests that are sent in one message.
const BATCH: usize = 512;
/// They are sent when the first of them is this old, even if they are few. Nanoseconds.
const OLDEST_NS: u64 = 50_000_000;

/// What a worker reports.
#[derive(Debug)]
pub(super) enum Event {
    /// Requests that have ended.
    Ended(Vec<Ended>),
    /// The `Server` of a response.
    Server(String),
    /// What TLS agreed on.
    Secured(Agreed),
    /// Text of `-v`, for stdout.
    Transcript(Vec<u8>),
}

/// A request that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// Gathers the events of one worker's users, and sends them in batches.
#[derive(Debug)]
pub(super) struct Ledger {
    send: Sender<Event>,
    ended: RefCell<Vec<Ended>>,
    /// When the first of them ended.
    first_ns: Cell<u64>,
    /// Whether the `Server` of a response has been told.
    pub(super) server_told: Cell<bool>,
}

impl Ledger {
    pub(super) fn new(send: Sender<Event>) -> Self {
        Ledger {
            send,
            ended: RefCell::default(),
            first_ns: Cell::new(0),
            server_told: Cell::new(false),
        }
    }

    /// Sends an event at once. It is dropped where nobody receives any more.
    pub(super) fn tell(&self, event: Event) {
        let _ = self.send.send(event);
    }

    /// Takes in a request that has ended.
    pub(super) fn ended(&self, exchange: &Exchange, outcome: RequestOutcome) {
        let is_failed = matches!(exchange.outcome, Outcome::Failed(_));
        let mut ended = self.ended.borrow_mut();
        if ended.is_empty() {
            self.first_ns.set(exchange.end_ns);
        }
        ended.push(Ended::of(exchange, outcome));
        let age_ns = exchange.end_ns.saturating_sub(self.first_ns.get());
        if ended.len() >= BATCH || age_ns >= OLDEST_NS || is_failed {
            let batch = std::mem::replace(&mut *ended, Vec::with_capacity(BATCH));
            self.tell(Event::Ended(batch));
        }
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        self.tell(Event::Ended(self.ended.take()));
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
