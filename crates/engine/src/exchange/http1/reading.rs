//! Reads the responses of a batch.

use super::{are_extra_bytes, are_line_ends};
use crate::account::Account;
use crate::batch::Part;
use crate::error_bodies::{Beginning, is_error};
use crate::exchange::in_flight::{CloseLook, ExchangeEnd, InFlightBatch};
use crate::exchange::{DISCARD_AT_ONCE, WORTH_DISCARDING};
use crate::failure::{Broken, Failure, broken_connection, protocol};
use crate::gathering::Gathering;
use crate::network::Network;
use crate::observer::{Answer, Observer};
use crate::pool::OpenConnection;
use crate::sampling::Instants;
use loadline_reactor::{Host, Received};
use loadline_record::{ErrorKind, Outcome};
use loadline_wire::Malformed;
use std::io;
use std::task::{Context, Poll, ready};

/// The error text for a response that ends with its connection, if TLS was not ended first.
const CUT: &str = "the response ends with its connection, but the server did not end TLS before \
                   (close_notify): it may be truncated";

/// The error text for the remaining requests of a batch after a response that ends its connection.
const LAST: &str = "the response before it ended the connection";

/// The state of reading the responses of a batch.
pub(super) struct Reading<'a, 'b, A: Account, O> {
    pub(super) network: &'a Network<A::Host>,
    pub(super) open: &'a mut OpenConnection<A::Host>,
    pub(super) in_flight: &'a mut InFlightBatch<'b, A>,
    pub(super) observer: &'a mut O,
}

/// The time of received bytes: on the kernel's clock if it is known, and the wake-up delay until
/// they were read.
#[derive(Clone, Copy)]
struct Arrival {
    pub(super) at_ns: u64,
    pub(super) wakeup_ns: u64,
}

impl<A: Account, O: Observer> Reading<'_, '_, A, O> {
    /// Ready when all responses are complete. Returns true if the connection can serve another
    /// batch.
    // Two callers would prevent inlining, and nearly all requests go through one of them.
    #[inline(always)]
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<bool, Broken>> {
        loop {
            let discardable = self.discardable();
            let received = if discardable > 0 {
                ready!(self.open.connection.poll_discard(cx, discardable as usize))
            } else {
                let mut scratch = self.network.dialler.scratch.borrow_mut();
                ready!(self.open.connection.poll_recv(cx, &mut scratch))
            };
            let received = match received {
                Ok(received) => received,
                Err(error) if self.stops_gathering(&error) || self.may_be_late(&error) => continue,
                Err(error) => {
                    let answering = self.open.parser.started();
                    let broken = broken_connection(self.open, answering, ErrorKind::Read, &error);
                    return Poll::Ready(Err(broken));
                }
            };
            if let Some(ended) = self.take(received, discardable > 0).transpose() {
                return Poll::Ready(ended);
            }
            self.network.suspend_coalescing();
        }
    }

    /// Returns true if the error only means that a batch did not arrive at once: then it is read as
    /// it arrives.
    #[cold]
    fn stops_gathering(&mut self, error: &io::Error) -> bool {
        let open = &mut *self.open;
        let gathering = open.gathering.as_deref_mut();
        let gathers =
            error.kind() == io::ErrorKind::TimedOut && gathering.is_some_and(Gathering::give_up);
        if !gathers {
            return false;
        }
        open.connection.set_receive_low_water(1);
        open.connection
            .set_deadline(self.in_flight.progress.deadline_ns);
        true
    }

    /// Returns true if the response's time is over but it is still awaited. This happens once per
    /// batch: from then on there is no deadline.
    #[cold]
    fn may_be_late(&mut self, error: &io::Error) -> bool {
        if !self.waits_longer(error) {
            return false;
        }
        self.in_flight.progress.deadline_ns = u64::MAX;
        self.open.connection.set_deadline(u64::MAX);
        if self.in_flight.is_counted() {
            self.network.recorder.borrow_mut().late();
        }
        true
    }

    /// True if the error is a timeout of a response that is still awaited.
    pub(super) fn waits_longer(&self, error: &io::Error) -> bool {
        self.network.awaits_late && error.kind() == io::ErrorKind::TimedOut
    }

    /// Returns the number of bytes to discard in the kernel.
    fn discardable(&self) -> u64 {
        if O::NEEDS_BODY || !self.open.connection.can_discard() {
            return 0;
        }
        match self.open.parser.discardable() {
            bytes if bytes >= WORTH_DISCARDING => bytes.min(DISCARD_AT_ONCE),
            _ => 0,
        }
    }

    /// Handles the bytes of one receive; returns `None` if more must arrive.
    #[inline(always)]
    fn take(&mut self, received: Received, discarded: bool) -> Result<Option<bool>, Broken> {
        let arrival = self.arrival(received);
        if received.bytes == 0 {
            return self.closed(arrival).map(Some);
        }
        if self.in_flight.is_counted() {
            self.network
                .recorder
                .borrow_mut()
                .received(received.bytes as u64);
        }
        if let Some(gathering) = &mut self.open.gathering {
            gathering.received(received.bytes);
        }
        if discarded {
            self.in_flight.progress.bytes_in += received.bytes as u64;
            let done = self.open.parser.discarded(received.bytes as u64);
            return if done {
                self.look(arrival, &[]);
                self.answered(arrival)
            } else {
                Ok(None)
            };
        }
        self.feed(received.bytes, arrival)
    }

    /// Returns the time of the bytes. The kernel's timestamp is of another clock, so it is clamped
    /// between our begin and our read.
    fn arrival(&self, received: Received) -> Arrival {
        let now_ns = self.network.host.now_ns();
        let at_ns = received
            .at_ns
            .unwrap_or(now_ns)
            .clamp(self.in_flight.begun.at_ns, now_ns);
        Arrival {
            at_ns,
            wakeup_ns: now_ns - at_ns,
        }
    }

    /// Keeps the beginning of a response that is not complete, if it may report an error and the
    /// bodies of such are kept.
    #[inline]
    fn begin_body(&mut self, bytes: &[u8]) {
        // No status is known before the head is complete.
        let status = self.open.parser.status();
        if self.in_flight.look.keeps_bodies && (status == 0 || is_error(status)) {
            let beginning = self.open.beginning.get_or_insert_default();
            beginning.add(bytes);
        }
    }

    /// Looks at an exchange whose response is complete with these bytes, if that is wanted.
    #[inline(always)]
    fn look(&mut self, arrival: Arrival, bytes: &[u8]) {
        if self.in_flight.look != CloseLook::default() {
            self.look_closely(arrival, bytes);
        }
    }

    #[cold]
    fn look_closely(&mut self, arrival: Arrival, bytes: &[u8]) {
        if self.in_flight.look.splits {
            self.split(arrival);
        }
        let beginning = self.open.beginning.take();
        if self.in_flight.look.keeps_bodies {
            let parser = &self.open.parser;
            let (status, length) = (parser.status(), parser.body_len());
            let body = |part: &Part| {
                let mut beginning = beginning.map_or_else(Beginning::default, |own| *own);
                beginning.add(bytes);
                beginning.body(part.expect)
            };
            let end_ns = arrival.at_ns;
            self.in_flight.keep_error_body(status, end_ns, length, body);
        }
    }

    /// Splits an exchange whose response is complete, if the kernel has timestamped the send of its
    /// request.
    #[cold]
    fn split(&self, arrival: Arrival) {
        let host = &self.network.host;
        let parsed_ns = host.now_ns();
        let Some(sent_ns) = self.open.connection.sent_at_ns() else {
            return;
        };
        let instants = Instants {
            intended_ns: self.in_flight.start.intended_ns,
            begun_ns: self.in_flight.begun.at_ns,
            sent_ns,
            received_ns: arrival.at_ns,
            read_ns: arrival.at_ns + arrival.wakeup_ns,
            parsed_ns,
        };
        self.network.recorder.borrow_mut().split(&instants.split());
    }

    #[inline(always)]
    fn feed(&mut self, bytes: usize, arrival: Arrival) -> Result<Option<bool>, Broken> {
        let network = self.network;
        let scratch = network.dialler.scratch.borrow();
        let mut input = scratch.received(bytes);
        while !input.is_empty() {
            let memo = &mut *network.heads.borrow_mut();
            let fed = self.open.parser.feed_knowing(memo, input, self.observer);
            let fed = fed.map_err(|malformed| {
                // The parser does not report how much of it could be parsed.
                self.in_flight.progress.bytes_in += input.len() as u64;
                self.in_flight
                    .progress
                    .first_byte_ns
                    .get_or_insert(arrival.at_ns);
                protocol(malformed)
            })?;
            let (used, rest) = input.split_at(fed.used);
            input = rest;
            self.in_flight.progress.bytes_in += fed.used as u64;
            if O::MAY_REFUSE
                && !fed.done
                && let Some(refusal) = self.observer.refusal(false)
            {
                return Err(Broken::Failed(Failure::refused(refusal)));
            }
            if self.in_flight.progress.first_byte_ns.is_none() && self.open.parser.started() {
                self.in_flight.progress.first_byte_ns = Some(arrival.at_ns);
            }
            if !fed.done {
                self.begin_body(used);
                continue;
            }
            self.look(arrival, used);
            if let Some(reusable) = self.answered(arrival)? {
                if reusable && are_extra_bytes(input) {
                    network.extra_bytes();
                }
                // More bytes after the last response than a line end make the next response
                // unreliable.
                return Ok(Some(reusable && are_line_ends(input)));
            }
        }
        Ok(None)
    }

    /// Ends an exchange whose response is complete. Returns `Some` for the last one: true if the
    /// connection can be used again.
    fn answered(&mut self, arrival: Arrival) -> Result<Option<bool>, Broken> {
        let Arrival {
            at_ns: end_ns,
            wakeup_ns,
        } = arrival;
        let reusable = self.open.parser.reusable();
        let outcome = self.outcome();
        let ending = ExchangeEnd {
            end_ns,
            wakeup_ns,
            outcome,
            other_bytes_out: 0,
        };
        self.open.served += 1;
        if matches!(outcome, Outcome::Answered { .. }) {
            self.observer.answered(&Answer {
                head_bytes: self.open.parser.head_len(),
                body_bytes: self.open.parser.body_len(),
                keeps_connection: reusable,
            });
        }
        self.in_flight.end(self.observer, ending);
        let Some(part) = self.in_flight.next_part() else {
            return Ok(Some(reusable));
        };
        if !reusable {
            return Err(self.leaves_rest());
        }
        self.open.parser.begin(part.expect);
        Ok(None)
    }

    /// Returns the outcome of an exchange whose response is complete.
    fn outcome(&mut self) -> Outcome {
        if O::MAY_REFUSE
            && let Some(refusal) = self.observer.refusal(true)
        {
            return self.in_flight.refuse(self.observer, &refusal);
        }
        Outcome::Answered {
            status: self.open.parser.status(),
        }
    }

    /// Handles the end of the server's side: the end of a response of undeclared length, or of a
    /// connection that was expected to continue.
    fn closed(&mut self, arrival: Arrival) -> Result<bool, Broken> {
        match self.open.parser.close() {
            // A response that ends like this may have been longer.
            Ok(()) if self.open.connection.is_cut() => {
                Err(Broken::Failed(Failure::new(ErrorKind::Protocol, CUT)))
            }
            Ok(()) => {
                self.look(arrival, &[]);
                self.answered(arrival).map(|_| false)
            }
            Err(malformed) => {
                let failure = Failure::new(ErrorKind::Read, &malformed);
                let may_go_again = malformed == Malformed::NoAnswer && self.open.served > 0;
                Err(match may_go_again {
                    true => Broken::Ended(failure),
                    false => Broken::Failed(failure),
                })
            }
        }
    }

    /// Returns the consequence for the remaining requests of a batch of a response after which the
    /// connection serves nothing more.
    #[cold]
    fn leaves_rest(&self) -> Broken {
        match self.open.parser.announces_close() {
            true => Broken::ClosedByServer,
            false => Broken::Ended(Failure::new(ErrorKind::Read, LAST)),
        }
    }
}
