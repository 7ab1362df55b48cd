//! The batch that a user has in flight: its next request, the start of that request, and the
//! outcome of the previous one.

use crate::account::{Account, BatchBegin, Start};
use crate::batch::{Batch, Part};
use crate::connections::Connections;
use crate::error_bodies::{Body, is_error};
use crate::failure::Failure;
use crate::network::Network;
use crate::observer::{Observer, Refusal};
use loadline_reactor::Host;
use loadline_record::{ErrorKind, Exchange, Outcome};

/// The error text of a cancelled exchange.
const CANCELLED: &str = "the request was cancelled before its response was complete";

/// A batch in flight. Times are nanoseconds on the host's clock.
///
/// Dropping it before all its exchanges have ended cancels them.
pub(super) struct InFlightBatch<'a, A: Account> {
    pub(super) account: &'a A,
    pub(super) batch: Batch<'a>,
    pub(super) begun: BatchBegin,
    pub(super) look: CloseLook,
    pub(super) dial_ns: u64,
    /// The parts of `dial_ns` in which the name was resolved and TLS was negotiated.
    pub(super) resolve_ns: u64,
    pub(super) tls_ns: u64,
    /// The first request without a whole response.
    pub(super) next: usize,
    /// The start of the next request.
    pub(super) start: Start,
    pub(super) progress: Progress,
    /// The number of times that the remaining requests were sent.
    pub(super) sendings: u64,
    /// The number of bytes that the connection had accepted at the begin of the attempt, less the
    /// bytes of the batch answered before, modulo 2^32. Added to an offset in the batch it gives
    /// the position in the connection's bytes, or an earlier one over TLS.
    taken_before: u32,
    /// The number of batches that the connection had served before; `None` if it carries several at
    /// a time.
    pub(super) served_before: Option<u64>,
    /// True if the remaining requests have been sent and are sent once more.
    pub(super) goes_again: bool,
    /// The outcome of the previous exchange, and its end.
    pub(super) last: Outcome,
    pub(super) ended_ns: u64,
}

/// A closer look at the exchanges of an attempt than their times: nearly always none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CloseLook {
    /// True if the kernel's timestamps split the exchange.
    pub(super) splits: bool,
    /// True if the bodies of error responses are kept.
    pub(super) keeps_bodies: bool,
}

/// The progress of the next exchange of a batch. Times are nanoseconds on the host's clock.
pub(super) struct Progress {
    /// The instant at which it fails with a timeout.
    pub(super) deadline_ns: u64,
    /// The time at which its last byte was sent, if a behaviour requests it; otherwise 0.
    pub(super) sent_ns: u64,
    /// The time at which the first byte of its response arrived.
    pub(super) first_byte_ns: Option<u64>,
    /// Bytes of its response so far.
    pub(super) bytes_in: u64,
}

impl<'a, A: Account> InFlightBatch<'a, A> {
    #[inline(always)]
    pub(super) fn begin(account: &'a A, batch: Batch<'a>, timeout_ns: u64) -> Self {
        let begun = account.begin(batch.parts.len());
        InFlightBatch {
            account,
            batch,
            begun,
            look: CloseLook::default(),
            dial_ns: 0,
            resolve_ns: 0,
            tls_ns: 0,
            next: 0,
            start: begun.start,
            progress: Progress {
                deadline_ns: begun.at_ns.saturating_add(timeout_ns),
                sent_ns: 0,
                first_byte_ns: None,
                bytes_in: 0,
            },
            sendings: 0,
            taken_before: 0,
            served_before: None,
            goes_again: false,
            last: Outcome::Failed(ErrorKind::Aborted),
            ended_ns: begun.at_ns,
        }
    }

    /// Returns the connections of the user.
    #[inline(always)]
    pub(super) fn connections(&self) -> &'a Connections<A::Host> {
        self.account.connections()
    }

    /// Returns the network side of the user's worker.
    #[inline(always)]
    pub(super) fn network(&self) -> &'a Network<A::Host> {
        &self.account.connections().network
    }

    /// Returns the next request; `None` if all have ended.
    pub(super) fn next_part(&self) -> Option<&'a Part> {
        self.batch.parts.get(self.next)
    }

    /// True if the batch is a pipeline without any response so far.
    pub(super) fn is_whole_pipeline(&self) -> bool {
        self.next == 0 && self.batch.parts.len() > 1
    }

    /// True if the next request belongs to the measured part of the run.
    pub(super) fn is_counted(&self) -> bool {
        self.next >= self.begun.first_counted
    }

    /// True if it is one exchange of the measured part on an existing connection, so that nothing
    /// but sending and waiting for the response lies between its begin and the kernel's timestamps.
    pub(super) fn may_be_split(&self) -> bool {
        let is_one = self.batch.parts.len() == 1 && self.sendings == 0;
        is_one && self.is_counted() && self.dial_ns == 0
    }

    /// Returns the offset of the next request among the batch's bytes.
    pub(super) fn offset(&self) -> usize {
        offset(&self.batch, self.next)
    }

    /// Begins to send the remaining requests on a connection that has accepted this many bytes.
    #[inline(always)]
    pub(super) fn attempt(&mut self, taken: u32) {
        self.taken_before = taken.wrapping_sub(self.offset() as u32);
        if self.goes_again {
            self.count_resent();
        }
    }

    /// Returns the position of the remaining requests in the bytes that their connection has
    /// accepted, or an earlier one.
    pub(super) fn attempt_from(&self) -> u32 {
        self.taken_before.wrapping_add(self.offset() as u32)
    }

    /// Marks the remaining requests to be sent again. They count as resent if some of them had been
    /// sent.
    pub(super) fn go_again(&mut self, went_out: bool) {
        self.goes_again |= went_out;
    }

    /// Counts the remaining requests as sent again.
    #[cold]
    pub(super) fn count_resent(&mut self) {
        self.goes_again = false;
        let first = self.next.max(self.begun.first_counted);
        let requests = self.batch.parts.len().saturating_sub(first);
        let mut recorder = self.network().recorder.borrow_mut();
        recorder.resent(requests as u64);
    }

    /// Returns the number of bytes of the measured part that are sent with the rest of the batch.
    pub(super) fn counted_bytes(&self) -> u64 {
        let batch = &self.batch;
        let length = batch.bytes.len() + batch.tail.len();
        (length - offset(batch, self.next.max(self.begun.first_counted))) as u64
    }

    /// Ends the next exchange and moves on to the following one.
    #[inline(always)]
    pub(super) fn end<O: Observer>(&mut self, observer: &mut O, ending: ExchangeEnd) {
        let network = self.network();
        let (begun, progress) = (&self.begun, &self.progress);
        let part = &self.batch.parts[self.next];
        let of_batch = (part.end - self.offset()) as u64 * self.sendings;
        let zero_ns = network.zero_ns.get();
        let since_zero = |at_ns: u64| at_ns.saturating_sub(zero_ns);
        let exchange = Exchange {
            intended_ns: since_zero(self.start.intended_ns),
            ready_ns: since_zero(begun.ready_ns(self.start)),
            start_ns: since_zero(begun.at_ns),
            dial_ns: self.dial_ns,
            resolve_ns: self.resolve_ns,
            tls_ns: self.tls_ns,
            sent_ns: since_zero(progress.sent_ns.max(begun.at_ns + self.dial_ns)),
            first_byte_ns: since_zero(progress.first_byte_ns.unwrap_or(ending.end_ns)),
            end_ns: since_zero(ending.end_ns),
            wakeup_ns: ending.wakeup_ns,
            bytes_in: progress.bytes_in,
            bytes_out: of_batch + ending.other_bytes_out,
            outcome: ending.outcome,
            request: part.request,
        };
        if self.is_counted() {
            self.account
                .record(&exchange, part.series, self.served_before);
        } else if ending.end_ns > zero_ns {
            let flight_ns = exchange.end_ns + exchange.wakeup_ns;
            let mut recorder = network.recorder.borrow_mut();
            recorder.warm_up_ended(ending.outcome, flight_ns);
        }
        observer.ended(&exchange);
        self.last = ending.outcome;
        self.ended_ns = ending.end_ns;
        self.progress.first_byte_ns = None;
        self.progress.bytes_in = 0;
        self.next += 1;
        let left = self.batch.parts.len() - self.next;
        if let Some(start) = self.account.go_on(&self.begun, left) {
            self.start = start;
        }
    }

    /// Ends the remaining requests with a failure.
    pub(super) fn fail_rest<O: Observer>(&mut self, observer: &mut O, failure: Failure) {
        let network = self.network();
        let ending = ExchangeEnd {
            end_ns: network.host.now_ns(),
            wakeup_ns: 0,
            outcome: Outcome::Failed(failure.kind),
            other_bytes_out: 0,
        };
        if self.begun.first_counted < self.batch.parts.len() {
            let mut recorder = network.recorder.borrow_mut();
            recorder.failure_example(failure.kind, || failure.text.clone());
        }
        while self.next < self.batch.parts.len() {
            if let Some(blocked) = &failure.blocked {
                observer.blocked(blocked);
            }
            if let Some(code) = failure.code {
                observer.given_up(code);
            }
            observer.failed(&failure.text, failure.os_error);
            self.end(observer, ending);
        }
    }

    /// Keeps the response of the next exchange if it reports an error and is one of those to keep;
    /// only then `body` is called. `length` is that of the whole body.
    #[cold]
    pub(super) fn keep_error_body(
        &self,
        status: u16,
        end_ns: u64,
        length: u64,
        body: impl FnOnce(&Part) -> Body,
    ) {
        let network = self.network();
        if let (true, true, Some(part), Some(bodies)) = (
            is_error(status),
            self.is_counted(),
            self.next_part(),
            &network.error_bodies,
        ) {
            let end_ns = end_ns.saturating_sub(network.zero_ns.get());
            let response = (part.series, status, end_ns);
            let mut recorder = network.recorder.borrow_mut();
            bodies.keep(&mut recorder, response, length, || body(part));
        }
    }

    /// Reports to the observer that the next exchange fails because its response was refused.
    /// Returns the outcome.
    #[cold]
    pub(super) fn refuse<O: Observer>(&self, observer: &mut O, refusal: &Refusal) -> Outcome {
        let Refusal { kind, reason } = refusal;
        if self.is_counted() {
            let mut recorder = self.network().recorder.borrow_mut();
            recorder.failure_example(*kind, || reason.clone());
        }
        observer.failed(reason, None);
        Outcome::Failed(*kind)
    }

    /// Ends the remaining requests because the behaviour cancelled them.
    #[cold]
    fn cancel(&mut self) {
        // Requests that are cut off with the whole run remain in flight, and a panic ends the
        // worker.
        if self.account.is_cut_off() || std::thread::panicking() {
            return;
        }
        self.fail_rest(&mut (), Failure::new(ErrorKind::Aborted, CANCELLED));
        self.account.batch_ended(self.ended_ns);
    }
}

impl<A: Account> Drop for InFlightBatch<'_, A> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.next < self.batch.parts.len() {
            self.cancel();
        }
    }
}

/// Returns the offset of a request among the batch's bytes.
pub(super) fn offset(batch: &Batch<'_>, index: usize) -> usize {
    let last = index.checked_sub(1);
    last.map_or(0, |last| batch.parts[last].end)
}

/// The outcome and time of an exchange's end.
#[derive(Clone, Copy)]
pub(super) struct ExchangeEnd {
    pub(super) end_ns: u64,
    pub(super) wakeup_ns: u64,
    pub(super) outcome: Outcome,
    /// The bytes that were sent and are not those of the batch.
    pub(super) other_bytes_out: u64,
}
