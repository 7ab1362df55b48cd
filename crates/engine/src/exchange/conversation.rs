//! Exchanges of protocols that are no request with one response: a stream, a WebSocket.
//!
//! A [`Protocol`] talks on a connection through a [`Conversation`], and knows neither user nor
//! worker: it sends and receives bytes, which the conversation counts and times. The exchange lasts
//! from its start to the end of the conversation. What happens in it, such as messages, are
//! [events](ExchangeEvent) for its observer, of which it may have any number.

use super::carry_out;
use super::http1::{finish, judge, open_new, report_carrier, standing};
use super::in_flight::{ExchangeEnd, InFlightBatch, Progress};
use crate::account::Account;
use crate::batch::{Batch, Part, Resend};
use crate::failure::{Broken, Failure, broken_connection};
use crate::network::Network;
use crate::observer::{ExchangeEvent, Observer};
use crate::pool::OpenConnection;
use loadline_metrics::SeriesId;
use loadline_reactor::{Host, Received};
use loadline_record::{ErrorKind, Outcome};
use loadline_wire::Expect;
use std::future::{Future, poll_fn};
use std::io;
use std::task::Poll;

/// The error text for a connection that ends before its conversation.
const CUT_OFF: &str = "the server closed the connection before the exchange was over";

/// A protocol that is no request with one response.
pub trait Protocol<H: Host> {
    /// Talks on a connection until the exchange is over.
    ///
    /// It is called again, on another connection, if a reused one turns out to be closed before the
    /// server read a byte, by the rule of its [`Opening::resend`].
    ///
    /// # Errors
    /// The reason why the exchange failed.
    fn talk<O: Observer>(
        &mut self,
        conversation: &mut Conversation<'_, H, O>,
    ) -> impl Future<Output = Result<Ending, Interruption>>;
}

/// The place and the name of an exchange of a [`Protocol`].
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    /// The index of its endpoint:
    /// [`Requester::endpoint_of`](crate::Requester::endpoint_of).
    pub endpoint: usize,
    /// The series that counts it, if the run has series.
    pub series: SeriesId,
    /// Its index among the plan's requests; `None` if the plan does not contain it.
    pub request: Option<u32>,
    /// The condition for starting it again after a reused connection was closed.
    pub resend: Resend,
}

/// The end of a conversation that has succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The status that is counted; 200 for a protocol that has none.
    pub status: u16,
    /// True if the connection can serve the user's next exchange with this endpoint, whatever the
    /// protocol of that.
    pub keeps_connection: bool,
}

/// The reason why a conversation failed.
#[derive(Debug)]
pub struct Interruption(Broken);

impl Interruption {
    /// Creates the interruption by a message that violates the protocol.
    pub fn protocol(reason: impl ToString) -> Self {
        Interruption(Broken::Failed(Failure::new(ErrorKind::Protocol, reason)))
    }
}

/// The connection of an exchange, as its [`Protocol`] has it. Dropping its future cancels the
/// exchange.
pub struct Conversation<'a, H: Host, O> {
    network: &'a Network<H>,
    open: &'a mut OpenConnection<H>,
    observer: &'a mut O,
    /// The begin of the exchange, on the host's clock.
    begun_ns: u64,
    /// True if the exchange belongs to the measured part of the run.
    is_counted: bool,
    progress: &'a mut Progress,
    bytes_out: u64,
    /// The arrival of bytes, if nothing was sent after it.
    arrival: Option<Arrival>,
}

/// The time of received bytes: on the kernel's clock if it is known, and the wake-up delay until
/// they were read.
#[derive(Clone, Copy)]
struct Arrival {
    at_ns: u64,
    wakeup_ns: u64,
}

impl<H: Host, O: Observer> Conversation<'_, H, O> {
    /// Returns the host: its clock and timers.
    pub fn host(&self) -> &H {
        &self.network.host
    }

    /// True if the connection has served an exchange before, so that it needs no greeting.
    pub fn is_reused(&self) -> bool {
        self.open.served > 0
    }

    /// Sets the instant at which an operation that still waits fails with a timeout, instead of the
    /// exchange's timeout. Nanoseconds on the host's clock.
    pub fn set_deadline(&mut self, at_ns: u64) {
        self.progress.deadline_ns = at_ns;
        self.open.connection.set_deadline(at_ns);
    }

    /// Sends bytes.
    ///
    /// # Errors
    /// If the connection fails, or the deadline is over.
    pub async fn send(&mut self, bytes: &[u8]) -> Result<(), Interruption> {
        let mut rest = bytes;
        let sent = poll_fn(|cx| self.open.connection.poll_send_all(cx, &mut rest)).await;
        self.count_sent((bytes.len() - rest.len()) as u64);
        sent.map_err(|error| self.interruption(ErrorKind::Write, &error))
    }

    /// Waits for bytes, and appends them to `into`; returns their number, 0 if the server sends
    /// nothing more.
    ///
    /// # Errors
    /// If the connection fails, or the deadline is over.
    pub async fn receive(&mut self, into: &mut Vec<u8>) -> Result<usize, Interruption> {
        let network = self.network;
        let received = poll_fn(|cx| {
            let mut scratch = network.dialler.scratch.borrow_mut();
            let received = self.open.connection.poll_recv(cx, &mut scratch);
            if let Poll::Ready(Ok(Received { bytes, .. })) = &received {
                into.extend_from_slice(scratch.received(*bytes));
            }
            received
        });
        match received.await {
            Ok(received) => {
                self.count_received(received);
                Ok(received.bytes)
            }
            Err(error) => Err(self.interruption(ErrorKind::Read, &error)),
        }
    }

    /// Reports an event to the observer: at the arrival of the last bytes, or now if bytes were
    /// sent after that.
    pub fn event(&mut self, name: &str, bytes: &[u8]) {
        let arrived_ns = self.arrival.map(|arrival| arrival.at_ns);
        let at_ns = arrived_ns.unwrap_or_else(|| self.network.host.now_ns());
        self.observer.event(&ExchangeEvent {
            name,
            at_ns: at_ns.saturating_sub(self.network.zero_ns.get()),
            bytes,
        });
    }

    /// Returns the interruption by a server that has closed the connection too early.
    pub fn cut_off(&self) -> Interruption {
        let failure = Failure::new(ErrorKind::Read, CUT_OFF);
        let is_unread = self.open.served > 0 && self.progress.bytes_in == 0;
        Interruption(match is_unread {
            true => Broken::Ended(failure),
            false => Broken::Failed(failure),
        })
    }

    fn interruption(&self, kind: ErrorKind, error: &io::Error) -> Interruption {
        let answering = self.progress.bytes_in > 0;
        Interruption(broken_connection(self.open, answering, kind, error))
    }

    fn count_sent(&mut self, bytes: u64) {
        if O::NEEDS_SENT {
            self.progress.sent_ns = self.network.host.now_ns();
        }
        self.arrival = None;
        self.bytes_out += bytes;
        if self.is_counted {
            self.network.recorder.borrow_mut().transmitted(bytes);
        }
    }

    fn count_received(&mut self, received: Received) {
        let now_ns = self.network.host.now_ns();
        let at_ns = received.at_ns.unwrap_or(now_ns);
        // The kernel's timestamp is of another clock.
        let at_ns = at_ns.clamp(self.begun_ns, now_ns);
        self.arrival = Some(Arrival {
            at_ns,
            wakeup_ns: now_ns - at_ns,
        });
        if received.bytes == 0 {
            return;
        }
        if self.is_counted {
            let mut recorder = self.network.recorder.borrow_mut();
            recorder.received(received.bytes as u64);
        }
        self.progress.first_byte_ns.get_or_insert(at_ns);
        self.progress.bytes_in += received.bytes as u64;
    }
}

/// Runs an exchange of a protocol, over an idle connection of the user or a new one; returns its
/// outcome.
pub(crate) async fn converse<A: Account, P: Protocol<A::Host>, O: Observer>(
    account: &A,
    opening: Opening,
    protocol: &mut P,
    observer: &mut O,
) -> Outcome {
    let parts = [Part {
        end: 0,
        expect: Expect::Other,
        series: opening.series,
        request: opening.request,
    }];
    let batch = Batch {
        endpoint: opening.endpoint,
        bytes: &[],
        tail: &[],
        http2: None,
        parts: &parts,
        resend: opening.resend,
    };
    carry_out(
        account,
        batch,
        account.connections().network.timeout_ns,
        observer,
        async |in_flight, observer| attempt(in_flight, protocol, observer).await,
    )
    .await
}

/// Lets a protocol talk on a connection until its exchange has ended.
async fn attempt<A: Account, P: Protocol<A::Host>, O: Observer>(
    in_flight: &mut InFlightBatch<'_, A>,
    protocol: &mut P,
    observer: &mut O,
) -> Result<(), Broken> {
    in_flight.network().suspend_coalescing();
    let mut open = match standing(in_flight.connections(), in_flight.batch.endpoint) {
        Some(open) => open,
        None => open_new(in_flight, observer).await?,
    };
    if O::NEEDS_CARRIER {
        report_carrier(&open, observer);
    }
    open.connection.set_deadline(in_flight.progress.deadline_ns);
    in_flight.attempt(open.connection.taken());
    let mut conversation = Conversation {
        network: in_flight.network(),
        open: &mut open,
        observer: &mut *observer,
        begun_ns: in_flight.begun.at_ns,
        is_counted: in_flight.is_counted(),
        progress: &mut in_flight.progress,
        bytes_out: 0,
        arrival: None,
    };
    let talked = protocol.talk(&mut conversation).await;
    let (bytes_out, arrival) = (conversation.bytes_out, conversation.arrival);
    match talked {
        Ok(ending) => {
            open.served += 1;
            let end = ended(in_flight, ending, bytes_out, arrival);
            in_flight.end(observer, end);
            finish(in_flight, open, ending.keeps_connection);
            Ok(())
        }
        Err(Interruption(broken)) => Err(judge(&open, in_flight, broken)),
    }
}

/// Returns the end of an exchange: the arrival of its last bytes, or now if bytes were sent after
/// that.
fn ended<A: Account>(
    in_flight: &InFlightBatch<'_, A>,
    ending: Ending,
    bytes_out: u64,
    arrival: Option<Arrival>,
) -> ExchangeEnd {
    let arrival = arrival.unwrap_or_else(|| Arrival {
        at_ns: in_flight.network().host.now_ns(),
        wakeup_ns: 0,
    });
    ExchangeEnd {
        end_ns: arrival.at_ns,
        wakeup_ns: arrival.wakeup_ns,
        outcome: Outcome::Answered {
            status: ending.status,
        },
        other_bytes_out: bytes_out,
    }
}
