//! The batch that a user has in flight: its next request, the start of that request, and the
//! outcome of the previous one.

use crate::activity::ConcurrentBatch;
use crate::batch::{Batch, Part};
use crate::failure::Failure;
use crate::observer::{Observer, Refusal};
use crate::own_starts::OwnStarts;
use crate::user::{Start, User};
use crate::worker::Worker;
use loadline_reactor::Host;
use loadline_record::{ErrorKind, Exchange, Outcome};

/// The error text of a cancelled exchange.
const CANCELLED: &str = "the request was cancelled before its response was complete";

/// A batch in flight. Times are nanoseconds on the host's clock.
///
/// Dropping it before all its exchanges have ended cancels them.
pub(super) struct InFlightBatch<'a, H: Host> {
    pub(super) user: &'a User<H>,
    pub(super) batch: Batch<'a>,
    /// True if another batch of the user is in flight, which uses the iteration's starts.
    is_concurrent: bool,
    /// True if the kernel's timestamps split the exchange.
    pub(super) is_sampled: bool,
    pub(super) begun_ns: u64,
    pub(super) deadline_ns: u64,
    pub(super) dial_ns: u64,
    /// The parts of `dial_ns` in which the name was resolved and TLS was negotiated.
    pub(super) resolve_ns: u64,
    pub(super) tls_ns: u64,
    /// The time at which the last byte was sent, if a behaviour requests it; otherwise 0.
    pub(super) sent_ns: u64,
    /// The first request that belongs to the measured part of the run.
    first_counted: usize,
    /// The first request without a whole response.
    pub(super) next: usize,
    /// The start of the next request.
    pub(super) start: Start,
    /// The time at which the first byte of its response arrived.
    pub(super) first_byte_ns: Option<u64>,
    /// Bytes of its response so far.
    pub(super) bytes_in: u64,
    /// The number of times that the remaining requests were sent.
    pub(super) sendings: u64,
    /// The number of bytes that the connection had accepted at the begin of the attempt, less the
    /// bytes of the batch answered before, modulo 2^32. Added to an offset in the batch it gives
    /// the position in the connection's bytes, or an earlier one over TLS.
    taken_before: u32,
    /// True if the remaining requests have been sent and are sent once more.
    pub(super) goes_again: bool,
    /// The outcome of the previous exchange, and its end.
    pub(super) last: Outcome,
    pub(super) ended_ns: u64,
}

/// The begin of a batch: the starts that it takes from the iteration.
struct Beginning {
    at_ns: u64,
    start: Start,
    is_concurrent: bool,
    first_counted: usize,
    /// The number of its exchanges that are in the schedule.
    scheduled: usize,
}

impl Beginning {
    #[inline(always)]
    fn take<H: Host>(user: &User<H>, count: usize) -> Self {
        let worker = &*user.worker;
        let is_open = worker.pacer.is_open();
        let is_concurrent = user.activity.has_flights();
        let mut starts = user.starts.borrow_mut();
        let at_ns = match starts.last() {
            // In a closed load the start is the instant at which it was taken.
            Some(start) if !is_open && !is_concurrent && user.is_prompt.get() => start.intended_ns,
            _ => worker.host.now_ns(),
        };
        if !is_open && !is_concurrent {
            starts.fill(Start::undelayed(at_ns));
        }
        let taken = if is_concurrent { None } else { starts.pop() };
        let start = taken.unwrap_or_else(|| {
            worker.suspend_coalescing();
            own_start(user, at_ns)
        });
        let later = if is_concurrent { &[] } else { &**starts };
        Beginning {
            at_ns,
            start,
            is_concurrent,
            first_counted: first_counted(worker, start, later, count),
            scheduled: taken.map_or(0, |_| 1 + later.len()),
        }
    }

    /// Counts the exchanges of a batch of `count` as sent, and updates the user's activity.
    #[inline(always)]
    fn count<H: Host>(&self, user: &User<H>, count: usize) {
        let (worker, activity) = (&*user.worker, &user.activity);
        let counted = count - self.first_counted;
        let begun_ns = self.at_ns.saturating_sub(worker.zero_ns.get());
        let mut recorder = worker.recorder.borrow_mut();
        (0..counted).for_each(|_| recorder.begin(begun_ns));
        if worker.times_from_schedule() && counted > 0 {
            // The schedule contains only the first requests of iterations; for users who pace
            // themselves it contains none.
            let further = count.saturating_sub(self.scheduled).min(counted);
            recorder.planned(further as u64);
            let Start {
                intended_ns,
                ready_ns,
            } = self.start;
            let zero_ns = worker.zero_ns.get();
            let ready_ns = ready_ns.clamp(intended_ns, self.at_ns);
            let since_zero = |at_ns: u64| at_ns.saturating_sub(zero_ns);
            recorder.arrived(since_zero(ready_ns), begun_ns, counted as u64);
            let late_ns = self.at_ns.saturating_sub(ready_ns);
            if worker.pacer.is_open() {
                worker.backlog.sent(counted as u64, late_ns);
            }
            if !self.is_concurrent {
                activity.late_ns.set(late_ns);
            }
        }
        if self.is_concurrent {
            activity.begin_concurrent(ConcurrentBatch {
                begun_ns: self.at_ns,
                left: count as u32,
            });
            return;
        }
        activity.since_ns.set(Some(self.start.intended_ns));
        activity.begun_ns.set(self.at_ns);
        activity.in_flight.set(count as u32);
    }
}

impl<'a, H: Host> InFlightBatch<'a, H> {
    #[inline(always)]
    pub(super) fn begin(user: &'a User<H>, batch: Batch<'a>, timeout_ns: u64) -> Self {
        let beginning = Beginning::take(user, batch.parts.len());
        beginning.count(user, batch.parts.len());
        InFlightBatch {
            user,
            batch,
            is_concurrent: beginning.is_concurrent,
            is_sampled: false,
            begun_ns: beginning.at_ns,
            deadline_ns: beginning.at_ns.saturating_add(timeout_ns),
            dial_ns: 0,
            resolve_ns: 0,
            tls_ns: 0,
            sent_ns: 0,
            first_counted: beginning.first_counted,
            next: 0,
            start: beginning.start,
            first_byte_ns: None,
            bytes_in: 0,
            sendings: 0,
            taken_before: 0,
            goes_again: false,
            last: Outcome::Failed(ErrorKind::Aborted),
            ended_ns: beginning.at_ns,
        }
    }

    /// Returns the worker's view of the batch if it is not the main one.
    fn concurrent(&self) -> ConcurrentBatch {
        ConcurrentBatch {
            begun_ns: self.begun_ns,
            left: (self.batch.parts.len() - self.next) as u32,
        }
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
        self.next >= self.first_counted
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
        let first = self.next.max(self.first_counted);
        let requests = self.batch.parts.len().saturating_sub(first);
        let mut recorder = self.user.worker.recorder.borrow_mut();
        recorder.resent(requests as u64);
    }

    /// Returns the number of bytes of the measured part that are sent with the rest of the batch.
    pub(super) fn counted_bytes(&self) -> u64 {
        let batch = &self.batch;
        let length = batch.bytes.len() + batch.tail.len();
        (length - offset(batch, self.next.max(self.first_counted))) as u64
    }

    /// Ends the next exchange and moves on to the following one.
    #[inline(always)]
    pub(super) fn end<O: Observer>(&mut self, observer: &mut O, ending: ExchangeEnd) {
        let user = self.user;
        let worker = &*user.worker;
        let part = &self.batch.parts[self.next];
        let of_batch = (part.end - self.offset()) as u64 * self.sendings;
        let zero_ns = worker.zero_ns.get();
        let since_zero = |at_ns: u64| at_ns.saturating_sub(zero_ns);
        let exchange = Exchange {
            intended_ns: since_zero(self.start.intended_ns),
            ready_ns: since_zero(
                self.start
                    .ready_ns
                    .clamp(self.start.intended_ns, self.begun_ns),
            ),
            start_ns: since_zero(self.begun_ns),
            dial_ns: self.dial_ns,
            resolve_ns: self.resolve_ns,
            tls_ns: self.tls_ns,
            sent_ns: since_zero(self.sent_ns.max(self.begun_ns + self.dial_ns)),
            first_byte_ns: since_zero(self.first_byte_ns.unwrap_or(ending.end_ns)),
            end_ns: since_zero(ending.end_ns),
            wakeup_ns: ending.wakeup_ns,
            bytes_in: self.bytes_in,
            bytes_out: of_batch + ending.other_bytes_out,
            outcome: ending.outcome,
            request: part.request,
        };
        if self.is_counted() {
            worker.record(&exchange, part.series, user.activity.is_omitted.get());
        } else if ending.end_ns > zero_ns {
            let flight_ns = exchange.end_ns + exchange.wakeup_ns;
            let mut recorder = worker.recorder.borrow_mut();
            recorder.warm_up_ended(ending.outcome, flight_ns);
        }
        observer.ended(&exchange);
        self.last = ending.outcome;
        self.ended_ns = ending.end_ns;
        self.first_byte_ns = None;
        self.bytes_in = 0;
        self.go_on();
    }

    /// Moves on to the next exchange of the batch, or to the starts that remain after it.
    #[inline(always)]
    fn go_on(&mut self) {
        let user = self.user;
        let activity = &user.activity;
        if self.is_concurrent {
            activity.end_concurrent(self.concurrent());
            self.next += 1;
            return;
        }
        self.next += 1;
        let left = self.batch.parts.len() - self.next;
        activity.in_flight.set(left as u32);
        let mut starts = user.starts.borrow_mut();
        if !starts.is_empty() {
            activity.later.borrow_mut().pop();
        }
        if left > 0 {
            let next = starts.pop();
            self.start = next.unwrap_or(Start::undelayed(self.begun_ns));
            activity.since_ns.set(Some(self.start.intended_ns));
        } else {
            let left = starts.last();
            activity.since_ns.set(left.map(|start| start.intended_ns));
        }
    }

    /// Ends the remaining requests with a failure.
    pub(super) fn fail_rest<O: Observer>(&mut self, observer: &mut O, failure: Failure) {
        let worker = &*self.user.worker;
        let ending = ExchangeEnd {
            end_ns: worker.host.now_ns(),
            wakeup_ns: 0,
            outcome: Outcome::Failed(failure.kind),
            other_bytes_out: 0,
        };
        if self.first_counted < self.batch.parts.len() {
            let mut recorder = worker.recorder.borrow_mut();
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

    /// Reports to the observer that the next exchange fails because its response was refused.
    /// Returns the outcome.
    #[cold]
    pub(super) fn refuse<O: Observer>(&self, observer: &mut O, refusal: &Refusal) -> Outcome {
        let Refusal { kind, reason } = refusal;
        if self.is_counted() {
            let mut recorder = self.user.worker.recorder.borrow_mut();
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
        if self.user.worker.is_cut_off.get() || std::thread::panicking() {
            return;
        }
        self.fail_rest(&mut (), Failure::new(ErrorKind::Aborted, CANCELLED));
        self.user.set_free_since(self.ended_ns);
        self.user.end_if_refused();
    }
}

impl<H: Host> Drop for InFlightBatch<'_, H> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.next < self.batch.parts.len() {
            self.cancel();
        }
    }
}

/// Returns the start of a request that is not in the load's schedule: it is not delayed, except for
/// the first one of an iteration of a user who paces itself.
fn own_start<H: Host>(user: &User<H>, at_ns: u64) -> Start {
    let delay = match user.worker.paces_itself {
        true => user.activity.own_starts().and_then(OwnStarts::take_delay),
        false => None,
    };
    let delay = delay.unwrap_or_default();
    let ready_ns = at_ns.saturating_sub(delay.lateness_ns);
    Start {
        intended_ns: ready_ns
            .saturating_sub(delay.blocked_ns)
            .max(user.worker.zero_ns.get().min(at_ns)),
        ready_ns,
    }
}

/// Returns the offset of a request among the batch's bytes.
pub(super) fn offset(batch: &Batch<'_>, index: usize) -> usize {
    let last = index.checked_sub(1);
    last.map_or(0, |last| batch.parts[last].end)
}

/// Returns the index of the first of `count` requests whose start lies in the measured part of the
/// run: a batch may span the end of the warm-up. `next` is the first one's start, `later` are the
/// following ones, the earliest last; further requests start now.
fn first_counted<H: Host>(worker: &Worker<H>, next: Start, later: &[Start], count: usize) -> usize {
    let zero_ns = worker.zero_ns.get();
    if next.intended_ns >= zero_ns {
        return 0;
    }
    let is_warmup = |start: &&Start| start.intended_ns < zero_ns;
    let uncounted = 1 + later.iter().rev().take_while(is_warmup).count();
    if uncounted > later.len() && worker.host.now_ns() < zero_ns {
        return count;
    }
    uncounted.min(count)
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
