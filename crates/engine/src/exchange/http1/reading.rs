//! Reading the responses of a batch.

use super::{are_extra_bytes, are_line_ends};
use crate::behaviour::{Answer, Observer};
use crate::exchange::failure::{Broken, Failure, broken_connection, protocol};
use crate::exchange::in_flight::{ExchangeEnd, InFlightBatch};
use crate::exchange::{DISCARD_AT_ONCE, WORTH_DISCARDING};
use crate::gathering::Gathering;
use crate::pool::OpenConnection;
use crate::sampling::Instants;
use crate::worker::Worker;
use loadline_reactor::{Host, Received};
use loadline_record::{ErrorKind, Outcome};
use loadline_wire::Malformed;
use std::io;
use std::task::{Context, Poll, ready};

/// A response that ends with its connection, where TLS was not ended first.
const CUT: &str = "the response ends with its connection, but the server did not end TLS before \
                   (close_notify): it may be truncated";

/// What the failures of the rest of a batch say behind a response that ends its connection.
const LAST: &str = "the response before it ended the connection";

/// Reads the responses of a batch.
pub(super) struct Reading<'a, 'b, H: Host, O> {
    pub(super) worker: &'a Worker<H>,
    pub(super) open: &'a mut OpenConnection<H>,
    pub(super) in_flight: &'a mut InFlightBatch<'b, H>,
    pub(super) observer: &'a mut O,
}

/// When bytes came, by the kernel's clock if it told and by ours.
#[derive(Clone, Copy)]
struct Arrival {
    pub(super) at_ns: u64,
    pub(super) wakeup_ns: u64,
}

impl<H: Host, O: Observer> Reading<'_, '_, H, O> {
    /// Ready when all responses are whole; says whether the connection can serve another batch.
    // Two callers would keep it out of line, and nearly all requests go through one of them.
    #[inline(always)]
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<bool, Broken>> {
        loop {
            let discardable = self.discardable();
            let received = if discardable > 0 {
                ready!(self.open.connection.poll_discard(cx, discardable as usize))
            } else {
                let mut scratch = self.worker.dialler.scratch.borrow_mut();
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
            self.worker.suspend_coalescing();
        }
    }

    /// Whether this error is only that a batch did not come at once: then it is read as it comes.
    #[cold]
    fn stops_gathering(&mut self, error: &io::Error) -> bool {
        let open = &mut *self.open;
        let gathering = open.gathering.as_deref_mut();
        let gathers =
            error.kind() == io::ErrorKind::TimedOut && gathering.is_some_and(Gathering::give_up);
        if !gathers {
            return false;
        }
        open.connection.hear_from(1);
        open.connection.set_deadline(self.in_flight.deadline_ns);
        true
    }

    /// Whether the time for the response is over and it is waited for all the same. That happens
    /// once for a batch: from then on there is no deadline.
    #[cold]
    fn may_be_late(&mut self, error: &io::Error) -> bool {
        if !self.waits_longer(error) {
            return false;
        }
        self.in_flight.deadline_ns = u64::MAX;
        self.open.connection.set_deadline(u64::MAX);
        if self.in_flight.is_counted() {
            self.worker.recorder.borrow_mut().late();
        }
        true
    }

    /// Whether this error is that the time is over, and the response is waited for all the same.
    pub(super) fn waits_longer(&self, error: &io::Error) -> bool {
        self.worker.awaits_late && error.kind() == io::ErrorKind::TimedOut
    }

    /// How many bytes are to be dropped in the kernel.
    fn discardable(&self) -> u64 {
        if O::WANTS_BODY || !self.open.connection.can_discard() {
            return 0;
        }
        match self.open.parser.discardable() {
            bytes if bytes >= WORTH_DISCARDING => bytes.min(DISCARD_AT_ONCE),
            _ => 0,
        }
    }

    /// Takes what one receive brought; `None` if more must come.
    #[inline(always)]
    fn take(&mut self, received: Received, discarded: bool) -> Result<Option<bool>, Broken> {
        let arrival = self.arrival(received);
        if received.bytes == 0 {
            return self.closed(arrival).map(Some);
        }
        if self.in_flight.is_counted() {
            self.worker
                .recorder
                .borrow_mut()
                .received(received.bytes as u64);
        }
        if let Some(gathering) = &mut self.open.gathering {
            gathering.received(received.bytes);
        }
        if discarded {
            self.in_flight.bytes_in += received.bytes as u64;
            let done = self.open.parser.discarded(received.bytes as u64);
            return if done {
                self.answered(arrival)
            } else {
                Ok(None)
            };
        }
        self.feed(received.bytes, arrival)
    }

    /// When the bytes came. The kernel's stamp is of another clock, so it is held between our
    /// begin and our read.
    fn arrival(&self, received: Received) -> Arrival {
        let now_ns = self.worker.host.now_ns();
        let at_ns = received
            .at_ns
            .unwrap_or(now_ns)
            .clamp(self.in_flight.begun_ns, now_ns);
        Arrival {
            at_ns,
            wakeup_ns: now_ns - at_ns,
        }
    }

    /// Splits an exchange whose answer is whole, if the kernel has told when its request left.
    #[cold]
    fn split(&self, arrival: Arrival) {
        let host = &self.worker.host;
        let parsed_ns = host.now_ns();
        let Some(sent_ns) = self.open.connection.sent_at_ns() else {
            return;
        };
        let instants = Instants {
            intended_ns: self.in_flight.start.intended_ns,
            begun_ns: self.in_flight.begun_ns,
            sent_ns,
            received_ns: arrival.at_ns,
            read_ns: arrival.at_ns + arrival.wakeup_ns,
            parsed_ns,
        };
        self.worker.recorder.borrow_mut().split(&instants.split());
    }

    #[inline(always)]
    fn feed(&mut self, bytes: usize, arrival: Arrival) -> Result<Option<bool>, Broken> {
        let worker = self.worker;
        let scratch = worker.dialler.scratch.borrow();
        let mut input = scratch.received(bytes);
        while !input.is_empty() {
            let memo = &mut *worker.heads.borrow_mut();
            let fed = self.open.parser.feed_knowing(memo, input, self.observer);
            let fed = fed.map_err(|malformed| {
                // It is not told how much of it could be read.
                self.in_flight.bytes_in += input.len() as u64;
                self.in_flight.first_byte_ns.get_or_insert(arrival.at_ns);
                protocol(malformed)
            })?;
            input = &input[fed.used..];
            self.in_flight.bytes_in += fed.used as u64;
            if O::MAY_REFUSE
                && !fed.done
                && let Some(refusal) = self.observer.refusal(false)
            {
                return Err(Broken::Failed(Failure::refused(refusal)));
            }
            if self.in_flight.first_byte_ns.is_none() && self.open.parser.started() {
                self.in_flight.first_byte_ns = Some(arrival.at_ns);
            }
            if !fed.done {
                continue;
            }
            if let Some(reusable) = self.answered(arrival)? {
                if reusable && are_extra_bytes(input) {
                    worker.extra_bytes();
                }
                // More behind the last response than a line end makes what follows it doubtful.
                return Ok(Some(reusable && are_line_ends(input)));
            }
        }
        Ok(None)
    }

    /// A response is whole. `Some` if it was the last: whether the connection can be used again.
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
        };
        self.open.served += 1;
        if self.in_flight.is_sampled {
            self.split(arrival);
        }
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

    /// How an exchange ends whose response is whole.
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

    /// The server has closed its side: the end of a response whose length it did not tell, or of a
    /// connection that we thought would go on.
    fn closed(&mut self, arrival: Arrival) -> Result<bool, Broken> {
        match self.open.parser.close() {
            // What such an end is the end of may have been longer.
            Ok(()) if self.open.connection.is_cut() => {
                Err(Broken::Failed(Failure::new(ErrorKind::Protocol, CUT)))
            }
            Ok(()) => self.answered(arrival).map(|_| false),
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

    /// What a response, behind which the connection serves nothing more, means for the rest of its
    /// batch.
    #[cold]
    fn leaves_rest(&self) -> Broken {
        match self.open.parser.announces_close() {
            true => Broken::ClosedByServer,
            false => Broken::Ended(Failure::new(ErrorKind::Read, LAST)),
        }
    }
}
