//! The account of a user: what its protocols report, counted for its worker.

use super::User;
use crate::account::{Account, BatchBegin, Start};
use crate::activity::ConcurrentBatch;
use crate::connections::Connections;
use crate::counted::Counted;
use crate::own_starts::OwnStarts;
use crate::shared_pool::Permit;
use loadline_metrics::SeriesId;
use loadline_reactor::Host;
use loadline_record::Exchange;

impl<H: Host> Account for User<H> {
    type Host = H;

    #[inline(always)]
    fn connections(&self) -> &Connections<H> {
        &self.connections
    }

    async fn place(&self) -> Option<Permit<'_, H>> {
        let network = &self.connections.network;
        let shared = network.shared.as_ref()?;
        if let Some(place) = shared.try_place() {
            return Some(place);
        }
        let _waits = Counted::in_number(&self.activity.waiting);
        let place = shared.place().await;
        self.set_free_since(network.host.now_ns());
        let put_off_ns = self.put_off_ns.get().max(self.worker.backlog.stalled_ns());
        self.put_off_ns.set(put_off_ns);
        Some(place)
    }

    /// After the window only starts that the schedule has already given are begun.
    #[inline(always)]
    fn is_drained(&self) -> bool {
        self.worker.draining.get() && !self.has_due_start()
    }

    /// The user ends as soon as its exchanges in flight have ended.
    fn refuse(&self) {
        self.activity.is_refused.set(true);
        self.end_if_refused();
    }

    #[inline(always)]
    fn begin(&self, count: usize) -> BatchBegin {
        let (begun, scheduled) = self.take_start(count);
        self.count_sent(&begun, scheduled, count);
        begun
    }

    #[inline(always)]
    fn record(&self, exchange: &Exchange, series: SeriesId, served_before: Option<u64>) {
        let is_omitted = self.activity.is_omitted.get();
        self.worker
            .record(exchange, series, is_omitted, served_before);
    }

    #[inline(always)]
    fn go_on(&self, batch: &BatchBegin, left: usize) -> Option<Start> {
        let activity = &self.activity;
        if batch.is_concurrent {
            activity.end_concurrent(ConcurrentBatch {
                begun_ns: batch.at_ns,
                left: left as u32 + 1,
            });
            return None;
        }
        activity.in_flight.set(left as u32);
        let mut starts = self.starts.borrow_mut();
        if !starts.is_empty() {
            activity.later.borrow_mut().pop();
        }
        if left == 0 {
            let unused = starts.last();
            activity.since_ns.set(unused.map(|start| start.intended_ns));
            return None;
        }
        let next = starts.pop().unwrap_or(Start::undelayed(batch.at_ns));
        activity.since_ns.set(Some(next.intended_ns));
        Some(next)
    }

    #[inline(always)]
    fn batch_ended(&self, at_ns: u64) {
        self.set_free_since(at_ns);
        if self.activity.pausing.get() > 0 {
            self.count_paused_time();
        }
        self.end_if_refused();
    }

    fn is_cut_off(&self) -> bool {
        self.worker.is_cut_off.get()
    }

    async fn wait(&self, duration_ns: u64) {
        let until_ns = self.now_ns().saturating_add(duration_ns);
        self.rest_until(until_ns).await;
        self.set_free_since(until_ns);
    }
}

/// A pause of a user, until it is dropped.
struct Pause<'u, H: Host>(&'u User<H>);

impl<'u, H: Host> Pause<'u, H> {
    fn begin(user: &'u User<H>) -> Self {
        let pausing = &user.activity.pausing;
        pausing.set(pausing.get() + 1);
        user.count_paused_time();
        Pause(user)
    }
}

impl<H: Host> Drop for Pause<'_, H> {
    fn drop(&mut self) {
        let pausing = &self.0.activity.pausing;
        pausing.set(pausing.get() - 1);
        self.0.count_paused_time();
    }
}

impl<H: Host> User<H> {
    /// Pauses for this time, as its behaviour says.
    pub(crate) async fn pause(&self, duration_ns: u64) {
        let begun_ns = self.now_ns();
        let until_ns = begun_ns.saturating_add(duration_ns);
        self.pause_between(begun_ns, until_ns).await;
    }

    /// Pauses until this instant, as its behaviour says.
    pub(crate) async fn pause_until(&self, until_ns: u64) {
        self.pause_between(self.now_ns(), until_ns).await;
    }

    /// What the behaviour sends next is meant to start later by the pause, which is none of the
    /// time for which the user waits for the target.
    async fn pause_between(&self, begun_ns: u64, until_ns: u64) {
        let _pause = Pause::begin(self);
        // Another pause of the behaviour may end meanwhile.
        let from_ns = self.rest_until(until_ns).await.max(begun_ns);
        self.free_ns.set(until_ns);
        self.postpone_starts(until_ns.saturating_sub(from_ns));
    }

    /// Begins or ends the count of the time for which the user pauses and waits for no response.
    #[cold]
    fn count_paused_time(&self) {
        let (worker, activity) = (&*self.worker, &self.activity);
        let pauses = activity.pausing.get() > 0 && !activity.has_flights();
        if activity.is_paused_time_counted.replace(pauses) != pauses {
            let counter = &worker.not_due;
            match pauses {
                true => counter.pause_begins(worker.measured_now_ns()),
                false => counter.pause_ends(worker.measured_now_ns()),
            }
        }
    }

    fn now_ns(&self) -> u64 {
        self.connections.network.host.now_ns()
    }

    /// Rests until this instant. Returns the instant at which the rest before it ended.
    async fn rest_until(&self, until_ns: u64) -> u64 {
        if !self.worker.pacer.is_open() {
            // No request was sent to the target yet for which the user could wait.
            self.activity.since_ns.set(None);
        }
        let host = &self.connections.network.host;
        host.timer().until(until_ns).await;
        let answered_ns = self.answered_ns();
        self.last_pause.replace((until_ns, answered_ns)).0
    }

    /// Postpones the unsent starts of the iteration by a pause of this length. Those of the warm-up
    /// keep their instant, which tells them from the measured ones.
    fn postpone_starts(&self, pause_ns: u64) {
        if !self.worker.pacer.is_open() {
            return self.put_off_starts();
        }
        let zero_ns = self.worker.zero_ns();
        let mut starts = self.starts.borrow_mut();
        for start in &mut *starts {
            if start.intended_ns >= zero_ns {
                start.intended_ns += pause_ns;
                start.ready_ns += pause_ns;
            }
        }
    }

    /// Takes the start of a batch of `count` requests from the iteration. Returns with it the
    /// number of its exchanges that are in the schedule.
    #[inline(always)]
    fn take_start(&self, count: usize) -> (BatchBegin, usize) {
        let (worker, network) = (&*self.worker, &*self.connections.network);
        let is_open = worker.pacer.is_open();
        let is_concurrent = self.activity.has_flights();
        let mut starts = self.starts.borrow_mut();
        let at_ns = match starts.last() {
            // In a closed load the start is the instant at which it was taken.
            Some(start) if !is_open && !is_concurrent && self.is_prompt.get() => start.intended_ns,
            _ => network.host.now_ns(),
        };
        if !is_open && !is_concurrent {
            starts.fill(Start::undelayed(at_ns));
        }
        let taken = if is_concurrent { None } else { starts.pop() };
        let start = taken.unwrap_or_else(|| {
            network.suspend_coalescing();
            self.own_start(at_ns)
        });
        let later = if is_concurrent { &[] } else { &**starts };
        let begun = BatchBegin {
            at_ns,
            start,
            put_off_ns: self.put_off_ns.get(),
            is_concurrent,
            first_counted: self.first_counted(start, later, count),
        };
        (begun, taken.map_or(0, |_| 1 + later.len()))
    }

    /// Counts the exchanges of a batch of `count` as sent, of which `scheduled` are in the
    /// schedule, and updates the activity.
    #[inline(always)]
    fn count_sent(&self, batch: &BatchBegin, scheduled: usize, count: usize) {
        let (worker, activity) = (&*self.worker, &self.activity);
        let network = &*self.connections.network;
        let counted = count - batch.first_counted;
        let zero_ns = network.zero_ns.get();
        let since_zero = |at_ns: u64| at_ns.saturating_sub(zero_ns);
        let begun_ns = since_zero(batch.at_ns);
        let mut recorder = network.recorder.borrow_mut();
        (0..counted).for_each(|_| recorder.begin(begun_ns));
        if worker.times_from_schedule() && counted > 0 {
            // The schedule contains only the first requests of iterations; for users who pace
            // themselves it contains none.
            let further = count.saturating_sub(scheduled).min(counted);
            recorder.planned(further as u64);
            let ready_ns = batch.ready_ns(batch.start);
            recorder.arrived(since_zero(ready_ns), begun_ns, counted as u64);
            let late_ns = batch.at_ns.saturating_sub(ready_ns);
            if worker.pacer.is_open() {
                worker.backlog.sent(counted as u64, batch.free_ns());
            }
            if !batch.is_concurrent {
                activity.late_ns.set(late_ns);
            }
        }
        if batch.is_concurrent {
            activity.begin_concurrent(ConcurrentBatch {
                begun_ns: batch.at_ns,
                left: count as u32,
            });
            return;
        }
        activity.since_ns.set(Some(batch.start.intended_ns));
        activity.begun_ns.set(batch.at_ns);
        activity.in_flight.set(count as u32);
        if activity.pausing.get() > 0 {
            self.count_paused_time();
        }
    }

    /// Returns the start of a request that is not in the load's schedule: it is not delayed, except
    /// for the first one of an iteration of a user who paces itself.
    fn own_start(&self, at_ns: u64) -> Start {
        let delay = match self.worker.paces_itself {
            true => self.activity.own_starts().and_then(OwnStarts::take_delay),
            false => None,
        };
        let delay = delay.unwrap_or_default();
        let ready_ns = at_ns.saturating_sub(delay.lateness_ns);
        Start {
            intended_ns: ready_ns
                .saturating_sub(delay.blocked_ns)
                .max(self.worker.zero_ns().min(at_ns)),
            ready_ns,
        }
    }

    /// Returns the index of the first of `count` requests whose start lies in the measured part of
    /// the run: a batch may span the end of the warm-up. `next` is the first one's start, `later`
    /// are the following ones, the earliest last; further requests start now.
    fn first_counted(&self, next: Start, later: &[Start], count: usize) -> usize {
        let network = &*self.connections.network;
        let zero_ns = network.zero_ns.get();
        if next.intended_ns >= zero_ns {
            return 0;
        }
        let is_warmup = |start: &&Start| start.intended_ns < zero_ns;
        let uncounted = 1 + later.iter().rev().take_while(is_warmup).count();
        if uncounted > later.len() && network.host.now_ns() < zero_ns {
            return count;
        }
        uncounted.min(count)
    }

    /// True if it has a start from the schedule that no exchange has taken yet.
    fn has_due_start(&self) -> bool {
        self.worker.pacer.is_open() && !self.starts.borrow().is_empty()
    }

    /// Ends the user for its worker, if a request was refused and none is in flight.
    fn end_if_refused(&self) {
        if self.activity.is_refused.get() && !self.activity.has_flights() {
            self.end();
        }
    }

    /// Sets the instant since which it is free for the unsent requests of the iteration.
    fn set_free_since(&self, at_ns: u64) {
        self.free_ns.set(at_ns);
        self.put_off_starts();
    }

    /// Postpones the unsent starts of the iteration after earlier work: in a closed load they start
    /// now, in an open load they were not ready before the user was free.
    fn put_off_starts(&self) {
        let mut starts = self.starts.borrow_mut();
        if starts.is_empty() {
            return;
        }
        let now_ns = self.connections.network.host.now_ns();
        for start in &mut *starts {
            if !self.worker.pacer.is_open() {
                start.intended_ns = now_ns;
            }
            start.ready_ns = start.intended_ns.max(self.free_ns.get());
        }
    }
}
