//! Users that repeat ab's request, and record each exchange in the ledger of their worker.
//!
//! Each request reads only what is needed: the headers of the first responses for `Server`, with
//! `-v 2` all heads and bodies, otherwise no head and no body.

use super::ledger::{Ledger, RequestOutcome};
use loadline_engine::{
    Agreed, Answer, AnyTally, Batch, Behaviour, Iteration, Observer, Part, Resend, Scenario,
};
use loadline_metrics::SeriesId;
use loadline_reactor::Host;
use loadline_record::{ErrorKind, Exchange, Outcome};
use loadline_wire::{Expect, Sink};
use serde::{Deserialize, Serialize};
use std::rc::Rc;
use std::sync::Arc;

/// The size of the part of a response that ab shows: the start of head and body. In bytes.
const SHOWN_BYTES: usize = 8191;

/// The request that all users send.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Message {
    /// The bytes of head and body.
    pub(super) bytes: Vec<u8>,
    /// The method, which determines whether its response has a body.
    pub(super) method: String,
    /// The value of `-v`.
    pub(super) verbosity: i64,
}

/// Creates the users of one worker.
#[derive(Debug)]
pub(super) struct RepeatScenario {
    message: Arc<Message>,
    ledger: Rc<Ledger>,
}

impl RepeatScenario {
    pub(super) fn new(message: Arc<Message>) -> Self {
        RepeatScenario {
            message,
            ledger: Rc::default(),
        }
    }
}

impl<H: Host> Scenario<H> for RepeatScenario {
    const COUNTS: bool = true;

    type Behaviour = Repeater;

    fn user(&mut self) -> Repeater {
        Repeater {
            part: Part {
                end: self.message.bytes.len(),
                expect: Expect::for_method(&self.message.method),
                series: SeriesId::default(),
                request: None,
            },
            message: Arc::clone(&self.message),
            ledger: Rc::clone(&self.ledger),
        }
    }

    fn take_tally(&mut self) -> Option<AnyTally> {
        self.ledger.take().map(AnyTally::new)
    }

    /// Always false: ab makes a fixed number of requests, and failed ones count among them.
    fn backs_off(&self) -> bool {
        false
    }
}

/// One user.
#[derive(Debug)]
pub(super) struct Repeater {
    message: Arc<Message>,
    part: Part,
    ledger: Rc<Ledger>,
}

impl<H: Host> Behaviour<H> for Repeater {
    fn is_prompt(&self) -> bool {
        true
    }

    async fn iterate(&mut self, iteration: Iteration<'_, H>) {
        let batch = Batch {
            endpoint: 0,
            bytes: &self.message.bytes,
            tail: &[],
            http2: None,
            parts: std::slice::from_ref(&self.part),
            resend: Resend::default(),
        };
        let verbosity = self.message.verbosity;
        if verbosity >= 2 {
            iteration
                .requester()
                .send(
                    batch,
                    &mut Watch::<true, true>::new(&self.ledger, verbosity),
                )
                .await;
        } else if !self.ledger.has_server.get() || self.ledger.has_cut.get() {
            iteration
                .requester()
                .send(
                    batch,
                    &mut Watch::<true, false>::new(&self.ledger, verbosity),
                )
                .await;
        } else {
            iteration
                .requester()
                .send(
                    batch,
                    &mut Watch::<false, false>::new(&self.ledger, verbosity),
                )
                .await;
        }
        if self.ledger.is_due() {
            iteration.report_tally();
        }
    }
}

/// Observes one request: its head, if `HEAD`, and its body, if `BODY`.
struct Watch<'a, const HEAD: bool, const BODY: bool> {
    ledger: &'a Ledger,
    verbosity: i64,
    /// The start of head and body, if both are observed.
    shown: Vec<u8>,
    answer: Option<Answer>,
    failure: Option<(String, Option<i32>)>,
    /// The length of the head in bytes, if it is observed and was received.
    head_bytes: Option<u64>,
}

impl<'a, const HEAD: bool, const BODY: bool> Watch<'a, HEAD, BODY> {
    fn new(ledger: &'a Ledger, verbosity: i64) -> Self {
        Watch {
            ledger,
            verbosity,
            shown: Vec::new(),
            answer: None,
            failure: None,
            head_bytes: None,
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = SHOWN_BYTES.saturating_sub(self.shown.len());
        self.shown
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Adds the output of `-v` for a response.
    fn show(&mut self, status: u16) {
        let mut text = b"LOG: header received:\n".to_vec();
        text.append(&mut self.shown);
        text.push(b'\n');
        if !(200..300).contains(&status) {
            text.extend(format!("WARNING: Response code not 2xx ({status})\n").bytes());
        } else if self.verbosity >= 3 {
            text.extend(format!("LOG: Response code = {status}\n").bytes());
        }
        self.ledger.show(text);
    }

    fn outcome(&mut self, exchange: &Exchange) -> RequestOutcome {
        match exchange.outcome {
            Outcome::Answered { status } => {
                let answer = self.answer.take();
                RequestOutcome::Answered {
                    status,
                    body_bytes: answer.map_or(0, |answer| answer.body_bytes),
                    framed_bytes: answer.map_or(0, |answer| {
                        exchange.bytes_in.saturating_sub(answer.head_bytes)
                    }),
                    kept: answer.is_some_and(|answer| answer.keeps_connection),
                }
            }
            Outcome::Failed(kind) => self.failed_outcome(kind, exchange.bytes_in),
        }
    }

    fn failed_outcome(&mut self, kind: ErrorKind, bytes_in: u64) -> RequestOutcome {
        let (reason, os_error) = self.failure.take().unwrap_or_default();
        let body_bytes = self.head_bytes.take();
        if kind == ErrorKind::Read {
            self.ledger.has_cut.set(true);
        }
        RequestOutcome::Failed {
            kind,
            os_error,
            reason,
            body_bytes: body_bytes.map(|head_bytes| bytes_in.saturating_sub(head_bytes)),
        }
    }
}

impl<const HEAD: bool, const BODY: bool> Sink for Watch<'_, HEAD, BODY> {
    const NEEDS_HEAD: bool = HEAD;
    const NEEDS_BODY: bool = BODY;

    fn head(&mut self, bytes: &[u8]) {
        self.head_bytes = Some(bytes.len() as u64);
        if BODY {
            self.keep(bytes);
        }
    }

    fn header(&mut self, name: &[u8], value: &[u8]) {
        if !self.ledger.has_server.get() && name.eq_ignore_ascii_case(b"server") {
            let word = value.split(|byte| *byte <= b' ').next().unwrap_or_default();
            let server = String::from_utf8_lossy(word).into_owned();
            self.ledger.served_by(server);
        }
    }

    fn body(&mut self, part: &[u8]) {
        self.keep(part);
    }
}

impl<const HEAD: bool, const BODY: bool> Observer for Watch<'_, HEAD, BODY> {
    const NEEDS_TLS: bool = HEAD;

    fn secured(&mut self, agreed: &Agreed) {
        if !self.ledger.has_server.get() {
            self.ledger.secured(agreed);
        }
    }

    fn answered(&mut self, answer: &Answer) {
        self.answer = Some(*answer);
    }

    fn failed(&mut self, reason: &str, os_error: Option<i32>) {
        self.failure = Some((reason.to_owned(), os_error));
    }

    fn ended(&mut self, exchange: &Exchange) {
        if let Outcome::Answered { status } = exchange.outcome {
            if BODY {
                self.show(status);
            }
            // The value is set even without a `Server` header: only the one of the first response
            // is printed.
            self.ledger.has_server.set(true);
        }
        let outcome = self.outcome(exchange);
        self.ledger.ended(exchange, outcome);
    }
}
