//! The batch that a user has in flight: which of its requests is next, since when, and how those
//! before it ended.

use super::failure::Failure;
use crate::activity::ConcurrentBatch;
use crate::behaviour::{Batch, Observer, Part, Refusal};
use crate::own_starts::OwnStarts;
use crate::user::{Start, User};
use crate::worker::Worker;
use loadline_reactor::Host;
use loadline_record::{ErrorKind, Exchange, Outcome};

/// What a cancelled exchange's failure says.
const CANCELLED: &str = "the request was cancelled before its response was complete";

/// A batch in flight. Times are nanoseconds on the host's clock.
///
/// Dropping it before all its exchanges have ended cancels them.
pub(super) struct InFlightBatch<'a, H: Host> {
    pub(super) user: &'a User<H>,
    pub(super) batch: Batch<'a>,
    /// Whether another one of the user's is in flight, which goes on with the iteration's starts.
    is_concurrent: bool,
    /// Whether it is split by the kernel's clock.
    pub(super) is_sampled: bool,
    pub(super) begun_ns: u64,
    pub(super) deadline_ns: u64,
    pub(super) dial_ns: u64,
    /// The parts of that in which the name was resolved and TLS was negotiated.
    pub(super) resolve_ns: u64,
    pub(super) tls_ns: u64,
    /// When the last byte was sent, if a behaviour asks for it; 0 if none does.
    pub(super) sent_ns: u64,
    /// The first request that belongs to the measured part of the run.
    first_counted: usize,
    /// The first request without a whole response.
    pub(super) next: usize,
    /// The start of that request.
    pub(super) start: Start,
    /// When the first byte of its response came.
    pub(super) first_byte_ns: Option<u64>,
    /// Bytes of its response so far.
    pub(super) bytes_in: u64,
    /// How often what is left of the batch went out.
    pub(super) sendings: u64,
    /// How many bytes its connection had taken when it began, less those of the batch that were
    /// answered before, modulo 2^32: the sum with an offset is where that is in the connection's
    /// bytes, or before that where they are TLS's.
    taken_before: u32,
    /// Whether what is left has gone out and goes out once more.
    pub(super) goes_again: bool,
    /// How the exchange before it ended, and when.
    pub(super) last: Outcome,
    pub(super) ended_ns: u64,
}

/// How a batch begins: what it takes of the iteration's starts.
struct Beginning {
    at_ns: u64,
    start: Start,
    is_concurrent: bool,
    first_counted: usize,
    /// How many of its exchanges are those of the schedule.
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
            // In a closed load the start is the moment at which it was taken.
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

    /// Counts the exchanges of a batch of so many as sent, and shows them.
    #[inline(always)]
    fn count<H: Host>(&self, user: &User<H>, count: usize) {
        let (worker, activity) = (&*user.worker, &user.activity);
        let counted = count - self.first_counted;
        let begun_ns = self.at_ns.saturating_sub(worker.zero_ns.get());
        let mut recorder = worker.recorder.borrow_mut();
        (0..counted).for_each(|_| recorder.begin(begun_ns));
        if worker.times_from_schedule() && counted > 0 {
            // The schedule knows of the first requests of iterations only; that of users who pace
            // themselves of none.
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

    /// What the worker sees of it if it is not the main batch.
    fn concurrent(&self) -> ConcurrentBatch {
        ConcurrentBatch {
            begun_ns: self.begun_ns,
            left: (self.batch.parts.len() - self.next) as u32,
        }
    }

    /// The next request; `None` if all have ended.
    pub(super) fn next_part(&self) -> Option<&'a Part> {
        self.batch.parts.get(self.next)
    }

    /// Whether it is a pipeline's, and no response of it has come.
    pub(super) fn is_whole_pipeline(&self) -> bool {
        self.next == 0 && self.batch.parts.len() > 1
    }

    /// Whether the next request belongs to the measured part of the run.
    pub(super) fn is_counted(&self) -> bool {
        self.next >= self.first_counted
    }

    /// Whether it is one exchange of the measured part on a standing connection, so that what lies
    /// between its begin and the kernel's stamps is sending and waiting for the response.
    pub(super) fn may_be_split(&self) -> bool {
        let is_one = self.batch.parts.len() == 1 && self.sendings == 0;
        is_one && self.is_counted() && self.dial_ns == 0
    }

    /// Where the next request begins among the batch's bytes.
    pub(super) fn offset(&self) -> usize {
        offset(&self.batch, self.next)
    }

    /// What is left goes out on a connection that has taken so many bytes.
    #[inline(always)]
    pub(super) fn attempt(&mut self, taken: u32) {
        self.taken_before = taken.wrapping_sub(self.offset() as u32);
        if self.goes_again {
            self.count_resent();
        }
    }

    /// Where what is left begins among the bytes that its connection has taken, or before that.
    pub(super) fn attempt_from(&self) -> u32 {
        self.taken_before.wrapping_add(self.offset() as u32)
    }

    /// What is left may be sent again. It counts as that if some of it went out and it goes out
    /// once more.
    pub(super) fn go_again(&mut self, went_out: bool) {
        self.goes_again |= went_out;
    }

    /// Counts what is left as sent once more.
    #[cold]
    pub(super) fn count_resent(&mut self) {
        self.goes_again = false;
        let first = self.next.max(self.first_counted);
        let requests = self.batch.parts.len().saturating_sub(first);
        let mut recorder = self.user.worker.recorder.borrow_mut();
        recorder.resent(requests as u64);
    }

    /// The bytes of the measured part that go out with the rest of the batch.
    pub(super) fn counted_bytes(&self) -> u64 {
        let batch = &self.batch;
        let length = batch.bytes.len() + batch.tail.len();
        (length - offset(batch, self.next.max(self.first_counted))) as u64
    }

    /// Ends the next exchange and goes on to the one behind it.
    #[inline(always)]
    pub(super) fn end<O: Observer>(&mut self, observer: &mut O, ending: ExchangeEnd) {
        let user = self.user;
        let worker = &*user.worker;
        let part = &self.batch.parts[self.next];
        let bytes_out = (part.end - self.offset()) as u64 * self.sendings;
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
            bytes_out,
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

    /// Goes on to the next exchange of the batch, or to the starts that are left behind it.
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

    /// Ends what is left of it with a failure.
    pub(super) fn fail_rest<O: Observer>(&mut self, observer: &mut O, failure: Failure) {
        let worker = &*self.user.worker;
        let ending = ExchangeEnd {
            end_ns: worker.host.now_ns(),
            wakeup_ns: 0,
            outcome: Outcome::Failed(failure.kind),
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

    /// Tells that the next exchange fails with its response, and how.
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

    /// Ends what is left of it because its behaviour gave it up.
    #[cold]
    fn cancel(&mut self) {
        // What is cut off with the whole run stays in flight, and a panic ends the worker.
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

/// The start of a request that the load's schedule knows nothing of: it is not delayed, but for the
/// first one of an iteration of a user who paces itself.
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

/// Where a request begins among the batch's bytes.
pub(super) fn offset(batch: &Batch<'_>, index: usize) -> usize {
    let last = index.checked_sub(1);
    last.map_or(0, |last| batch.parts[last].end)
}

/// The first of `count` requests whose start lies in the measured part of the run: a batch may span
/// the end of the warm-up. `next` is the first one's start, `later` are those behind it, the
/// earliest last; requests beyond them start now.
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

/// How and when an exchange ended.
#[derive(Clone, Copy)]
pub(super) struct ExchangeEnd {
    pub(super) end_ns: u64,
    pub(super) wakeup_ns: u64,
    pub(super) outcome: Outcome,
}
