//! The batch that a user has in flight: which of its requests is next, since when, and how those
//! before it ended.

use super::failure::Failure;
use crate::behaviour::{Batch, Observer};
use crate::user::{Activity, Start, User};
use crate::worker::Worker;
use loadline_reactor::Host;
use loadline_record::{ErrorKind, Exchange, Outcome};
use std::rc::Rc;

/// A batch in flight. Times are nanoseconds on the host's clock.
pub(super) struct InFlightBatch {
    activity: Rc<Activity>,
    pub(super) begun_ns: u64,
    pub(super) deadline_ns: u64,
    pub(super) dial_ns: u64,
    /// The part of that in which TLS was negotiated.
    pub(super) tls_ns: u64,
    /// When the last byte was sent, if a behaviour asks for it; 0 if none does.
    pub(super) sent_ns: u64,
    /// The first request that belongs to the measured part of the run.
    first_counted: usize,
    /// The first request without a whole answer.
    pub(super) next: usize,
    /// The start of that request.
    pub(super) start: Start,
    /// When the first byte of its answer came.
    pub(super) first_byte_ns: Option<u64>,
    /// Bytes of its answer so far.
    pub(super) bytes_in: u64,
    /// How often what is left of the batch went out.
    pub(super) sendings: u64,
    /// Whether it is split by the kernel's clock.
    pub(super) is_sampled: bool,
    /// How the exchange before it ended, and when.
    pub(super) last: Outcome,
    pub(super) ended_ns: u64,
}

impl InFlightBatch {
    pub(super) fn begin<H: Host>(user: &mut User<H>, batch: &Batch<'_>) -> Self {
        let worker = Rc::clone(&user.worker);
        let begun_ns = match user.starts.last() {
            // In a closed load the start is the moment at which it was taken.
            Some(start) if !worker.pacer.is_open() => start.intended_ns,
            _ => worker.host.now_ns(),
        };
        let start = user.next_start(begun_ns);
        let first_counted = first_counted(&worker, start, &user.starts, batch.parts.len());
        let mut recorder = worker.recorder.borrow_mut();
        let counted = batch.parts.len() - first_counted;
        (0..counted).for_each(|_| recorder.begin());
        if worker.pacer.is_open() && counted > 0 {
            let zero_ns = worker.zero_ns.get();
            let ready_ns = start.ready_ns.clamp(start.intended_ns, begun_ns);
            let since_zero = |at_ns: u64| at_ns.saturating_sub(zero_ns);
            recorder.arrived(since_zero(ready_ns), since_zero(begun_ns), counted as u64);
            let late_ns = begun_ns.saturating_sub(ready_ns);
            worker.backlog.sent(counted as u64, late_ns);
            user.activity.late_ns.set(late_ns);
        }
        user.activity.since_ns.set(Some(start.intended_ns));
        user.activity.begun_ns.set(begun_ns);
        user.activity.in_flight.set(batch.parts.len() as u32);
        InFlightBatch {
            activity: Rc::clone(&user.activity),
            begun_ns,
            deadline_ns: begun_ns.saturating_add(worker.timeout_ns),
            dial_ns: 0,
            tls_ns: 0,
            sent_ns: 0,
            first_counted,
            next: 0,
            start,
            first_byte_ns: None,
            bytes_in: 0,
            sendings: 0,
            is_sampled: false,
            last: Outcome::Failed(ErrorKind::Aborted),
            ended_ns: begun_ns,
        }
    }

    pub(super) fn part<'a>(&self, batch: &Batch<'a>) -> &'a crate::Part {
        &batch.parts[self.next]
    }

    /// Whether the next request belongs to the measured part of the run.
    pub(super) fn is_counted(&self) -> bool {
        self.next >= self.first_counted
    }

    /// Whether it is one exchange of the measured part on a standing connection, so that what lies
    /// between its begin and the kernel's stamps is sending and waiting for the answer.
    pub(super) fn may_be_split(&self, batch: &Batch<'_>) -> bool {
        let is_one = batch.parts.len() == 1 && self.sendings == 0;
        is_one && self.is_counted() && self.dial_ns == 0
    }

    /// Where the next request begins among the batch's bytes.
    pub(super) fn offset(&self, batch: &Batch<'_>) -> usize {
        offset(batch, self.next)
    }

    /// The bytes of the measured part that go out with the rest of the batch.
    pub(super) fn counted_bytes(&self, batch: &Batch<'_>) -> u64 {
        (batch.bytes.len() - offset(batch, self.next.max(self.first_counted))) as u64
    }

    /// Ends the next exchange and goes on to the one behind it.
    pub(super) fn end<H: Host, O: Observer>(
        &mut self,
        worker: &Worker<H>,
        batch: &Batch<'_>,
        starts: &mut Vec<Start>,
        observer: &mut O,
        ending: Ending,
    ) {
        let bytes_out = (self.part(batch).end - self.offset(batch)) as u64 * self.sendings;
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
            resolve_ns: 0,
            tls_ns: self.tls_ns,
            sent_ns: since_zero(self.sent_ns.max(self.begun_ns + self.dial_ns)),
            first_byte_ns: since_zero(self.first_byte_ns.unwrap_or(ending.end_ns)),
            end_ns: since_zero(ending.end_ns),
            wakeup_ns: ending.wakeup_ns,
            bytes_in: self.bytes_in,
            bytes_out,
            outcome: ending.outcome,
        };
        if self.is_counted() {
            worker.record(&exchange, self.activity.is_omitted.get());
        } else if ending.end_ns > zero_ns {
            let flight_ns = exchange.end_ns + exchange.wakeup_ns;
            let mut recorder = worker.recorder.borrow_mut();
            recorder.warm_up_ended(ending.outcome, flight_ns);
        }
        observer.ended(&exchange);
        self.last = ending.outcome;
        self.ended_ns = ending.end_ns;
        self.next += 1;
        self.first_byte_ns = None;
        self.bytes_in = 0;
        self.go_on(batch, starts);
    }

    /// Goes on to the next exchange of the batch, or to the starts that are left behind it.
    fn go_on(&mut self, batch: &Batch<'_>, starts: &mut Vec<Start>) {
        let activity = &self.activity;
        activity
            .in_flight
            .set((batch.parts.len() - self.next) as u32);
        if !starts.is_empty() {
            activity.later.borrow_mut().pop();
        }
        if self.next < batch.parts.len() {
            let begun_ns = self.begun_ns;
            self.start = starts.pop().unwrap_or(Start {
                intended_ns: begun_ns,
                ready_ns: begun_ns,
            });
            activity.since_ns.set(Some(self.start.intended_ns));
        } else {
            let left = starts.last();
            activity.since_ns.set(left.map(|start| start.intended_ns));
        }
    }

    pub(super) fn fail_rest<H: Host, O: Observer>(
        &mut self,
        user: &mut User<H>,
        batch: &Batch<'_>,
        observer: &mut O,
        failure: Failure,
    ) {
        let worker = Rc::clone(&user.worker);
        let outcome = Outcome::Failed(failure.kind);
        let ending = Ending {
            end_ns: worker.host.now_ns(),
            wakeup_ns: 0,
            outcome,
        };
        if self.first_counted < batch.parts.len() {
            let mut recorder = worker.recorder.borrow_mut();
            recorder.failure_example(failure.kind, || failure.text.clone());
        }
        while self.next < batch.parts.len() {
            observer.failed(&failure.text, failure.os_error);
            self.end(&worker, batch, &mut user.starts, observer, ending);
        }
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
pub(super) struct Ending {
    pub(super) end_ns: u64,
    pub(super) wakeup_ns: u64,
    pub(super) outcome: Outcome,
}
