//! The supervisor of a worker: it takes snapshots, spawns users that are needed and ends the run.

use super::unfinished::{UnfinishedWork, flight_ns};
use super::user_pool::UserPool;
use crate::behaviour::Scenario;
use crate::coalescing::ClosedLoadCoalescing;
use crate::control::{Change, Handle, Order};
use crate::exchange::let_others_run;
use crate::interval_times::IntervalTimes;
use crate::not_due::NotDue;
use crate::quotas::Quotas;
use crate::report::{Done, Gone, Interval, ReceivedChange, Report};
use crate::shares::Shares;
use crate::ticker::Ticker;
use loadline_reactor::{Host, Timer};
use loadline_record::{STALL_NS, Snapshot};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

/// The longest time between two checks of a worker's orders, in nanoseconds.
const TICK_NS: u64 = 100_000_000;

/// Takes a snapshot per interval, spawns users that are needed and ends the run.
pub(super) struct Supervisor<H: Host, S> {
    pub(super) pool: UserPool<H, S>,
    timer: Timer,
    interval_times: IntervalTimes,
    /// The number of the scenario in the plan, from 0. A worker has a supervisor for each; that of
    /// the first reports the interval times.
    number: usize,
    /// The instant at which the interval times restart: the begin of the measured part, if it is
    /// still to come.
    pub(super) zero_ns: Option<u64>,
    coalescing: ClosedLoadCoalescing,
    /// The instant at which the coalescing is next set.
    coalescing_due_ns: u64,
    pub(super) interval_ns: u64,
    /// The instant at which the next snapshot is due.
    boundary_ns: u64,
    ticker: Ticker,
    /// The instant of the next check.
    due_ns: u64,
    /// True if arrivals waited for a user at the last check.
    had_waiting: bool,
    pub(super) end_ns: u64,
    /// The end of the window, after which unfinished exchanges may be awaited.
    window_end_ns: u64,
    /// The instant at which the run was stopped from outside, or this worker by one of its users.
    pub(super) stopped_ns: Option<u64>,
    /// True if the measured part is over, and what is in flight may still end.
    is_window_over: bool,
    /// The number of changes of the load that it has received.
    changes: usize,
    /// The received changes that it has not reported yet.
    received: Vec<ReceivedChange>,
    /// The number of takeovers that it has received, and the shares of all workers since then.
    takeovers: usize,
    shares: Shares,
}

impl<H: Host, S: Scenario<H>> Supervisor<H, S> {
    pub(super) fn new(pool: UserPool<H, S>, interval_ns: u64, number: usize) -> Self {
        let worker = &pool.worker;
        Supervisor {
            timer: worker.host().timer(),
            boundary_ns: worker.zero_ns() + interval_ns,
            ticker: Ticker::new(worker.zero_ns(), TICK_NS),
            end_ns: worker.over_ns(),
            window_end_ns: worker.over_ns(),
            number,
            stopped_ns: None,
            is_window_over: false,
            changes: 0,
            received: Vec::new(),
            takeovers: 0,
            shares: Shares::new(pool.stripe.of),
            due_ns: u64::MAX,
            had_waiting: false,
            interval_times: IntervalTimes::begin(worker.host()),
            zero_ns: (worker.pacer.warmup_ns > 0).then(|| worker.zero_ns()),
            coalescing: ClosedLoadCoalescing::new(
                worker.begin_ns.get(),
                pool.stripe.of,
                worker.network.dialler.settings().streams,
            ),
            coalescing_due_ns: worker.begin_ns.get() + TICK_NS,
            pool,
            interval_ns,
        }
    }

    /// Receives what happened before a worker joined.
    pub(super) fn catch_up(&mut self, handle: &Handle) {
        let now_ns = self.now_ns();
        self.change_load(handle, now_ns);
        self.take_over(handle, now_ns);
    }

    /// True if the worker has joined while the run lasted.
    fn has_joined(&self) -> bool {
        self.pool.stripe.index >= self.pool.stripe.of
    }

    pub(super) async fn watch(mut self, handle: &Handle) {
        loop {
            self.wait().await;
            handle.beat(self.pool.stripe.index as usize);
            let now_ns = self.now_ns();
            self.notice_stall(now_ns);
            self.change_load(handle, now_ns);
            self.take_over(handle, now_ns);
            self.notice_shortage(now_ns).await;
            self.had_waiting = self.pool.worker.has_waiting(now_ns);
            self.leave_warmup(now_ns);
            self.set_coalescing(now_ns);
            self.tick(now_ns);
            self.report_early_tally();
            if self.is_stopped_anew(handle.order()) {
                // A start that is due by now is begun.
                let_others_run().await;
                self.stop(self.now_ns(), handle.order());
            }
            if now_ns >= self.end_ns && self.drains(handle.order()) {
                self.drain();
            }
            let over = self.pool.worker.is_over();
            let broken_off = self.pool.worker.draining.get() && handle.order() >= Order::Stop;
            if over || broken_off || now_ns >= self.end_ns || handle.order() == Order::Abort {
                return self.finish(over, handle.order()).await;
            }
            self.snapshot_intervals(now_ns + 1);
        }
    }

    /// True if unfinished exchanges at the end of the window are awaited.
    fn drains(&self, order: Order) -> bool {
        let worker = &self.pool.worker;
        let is_new = !worker.draining.get() && self.stopped_ns.is_none();
        let has_drain = order == Order::Run && self.drain_end_ns() > self.end_ns;
        is_new && has_drain && self.pool.has_unfinished()
    }

    /// Returns the end of the drain that begins with the end of the window.
    fn drain_end_ns(&self) -> u64 {
        let worker = &self.pool.worker;
        let youngest_ns = self.pool.youngest_sent_ns();
        let from_ns = youngest_ns.filter(|_| worker.drains_to_age);
        let from_ns = from_ns.map_or(self.end_ns, |youngest_ns| youngest_ns.min(self.end_ns));
        from_ns.saturating_add(worker.drain_ns)
    }

    /// Ends the window, and begins nothing any more except arrivals that fell due in it.
    fn drain(&mut self) {
        let worker = Rc::clone(&self.pool.worker);
        let drain_end_ns = self.drain_end_ns();
        self.end_window(self.end_ns);
        worker.draining.set(true);
        if !worker.pacer.is_open() {
            self.pool.retire_idle();
        }
        self.pool.end_pause(self.now_ns());
        self.end_ns = drain_end_ns;
    }

    /// Takes the last snapshots of the measured part.
    fn end_window(&mut self, at_ns: u64) {
        let worker = Rc::clone(&self.pool.worker);
        let flight_ns = flight_ns(&self.pool, at_ns);
        self.snapshot_intervals(at_ns);
        worker.recorder().borrow_mut().still_in_flight(flight_ns);
        self.snapshot(at_ns, at_ns);
        worker.recorder().borrow_mut().drain();
        self.boundary_ns = u64::MAX;
        self.is_window_over = true;
    }

    /// Returns the delay of this check.
    fn stalled_ns(&self, now_ns: u64) -> u64 {
        now_ns.min(self.end_ns).saturating_sub(self.due_ns)
    }

    /// Records a stall of the loop if this check is late: every request was delayed by as much.
    fn notice_stall(&self, now_ns: u64) {
        let stalled_ns = self.stalled_ns(now_ns);
        if stalled_ns > STALL_NS {
            let worker = &self.pool.worker;
            let users = worker.users.get();
            worker.backlog.stalled(stalled_ns, users, self.had_waiting);
        }
    }

    /// Adds a user if an arrival finds none free, or drops the arrival. Before an arrival is
    /// dropped, all users have their turn: one of them may have become free.
    async fn notice_shortage(&mut self, now_ns: u64) {
        if !self.pool.worker.pacer.drops_late {
            return self.pool.spawn_if_short(now_ns);
        }
        if self.pool.is_short(now_ns) {
            let_others_run().await;
        }
        let was_stalled = self.stalled_ns(now_ns) > STALL_NS;
        self.pool.drop_late_and_grow(now_ns, was_stalled);
    }

    /// Applies new changes of the load. A change that is received too late begins with the next
    /// nanosecond: earlier arrivals may have been sent.
    fn change_load(&mut self, handle: &Handle, now_ns: u64) {
        let changes = handle.changes_since(self.changes);
        if changes.is_empty() {
            return;
        }
        let worker = Rc::clone(&self.pool.worker);
        let is_ending = worker.draining.get() || worker.stopping.get();
        let before = worker.pacer.changes();
        let has_share = !worker.pacer.share().is_empty();
        let load_ns = (now_ns + 1).saturating_sub(worker.begin_ns.get());
        // Those who join follow the schedule as it is for the others.
        let load_ns = if has_share { load_ns } else { 0 };
        for change in changes {
            let number = self.changes;
            self.changes += 1;
            let change = Change {
                at_ns: change.at_ns.max(load_ns).max(worker.pacer.changed_ns()),
                ..change
            };
            let is_own = change
                .scenario
                .is_none_or(|scenario| scenario == self.number);
            if is_own && !is_ending && change.at_ns < worker.pacer.end_ns {
                worker.pacer.change(change.at_ns, change.level);
                if !self.has_joined() {
                    self.received.push(ReceivedChange {
                        worker: self.pool.stripe.index,
                        number,
                        change,
                    });
                }
            }
        }
        if worker.pacer.changes() > before {
            self.pool.load_changed(now_ns);
        }
    }

    /// Takes its part of what lost workers would have sent. One that is received too late begins
    /// with the next nanosecond, and what was due until then is lost.
    fn take_over(&mut self, handle: &Handle, now_ns: u64) {
        let takeovers = handle.takeovers_since(self.takeovers);
        if takeovers.is_empty() {
            return;
        }
        let worker = Rc::clone(&self.pool.worker);
        let own = self.pool.stripe.index;
        let is_ending = worker.draining.get() || worker.stopping.get();
        let before = worker.pacer.changes();
        let load_ns = (now_ns + 1).saturating_sub(worker.begin_ns.get());
        for takeover in takeovers {
            self.takeovers += 1;
            let before = self.shares.of(own);
            let lost = self.shares.hand_on(&takeover);
            // Those who join are counted from the interval that begins at this instant, and what
            // they send at the instant itself might be in the one before.
            let begin_ns = takeover.at_ns + u64::from(!takeover.joined.is_empty());
            let at_ns = begin_ns.max(load_ns).max(worker.pacer.changed_ns());
            let is_heir = takeover.heirs.contains(&own);
            if !is_heir || is_ending || at_ns >= worker.pacer.end_ns {
                continue;
            }
            if !worker.pacer.is_open() && !takeover.joined.is_empty() {
                worker.pacer.deal(at_ns, self.shares.of(own));
                self.pool.load_changed(now_ns);
                continue;
            }
            worker.pacer.take_over(at_ns, self.shares.of(own));
            if !worker.pacer.is_open() {
                let left = takeover.left.get(self.number).copied().flatten();
                self.pool.take_over(&Quotas::new(lost, left), &before);
            }
        }
        if worker.pacer.is_open() && worker.pacer.changes() > before {
            self.pool.load_changed(now_ns);
        }
    }

    /// Restarts the interval times at the end of the warm-up, which is part of no figure.
    fn leave_warmup(&mut self, now_ns: u64) {
        if self.zero_ns.take_if(|zero_ns| *zero_ns <= now_ns).is_some() && self.number == 0 {
            self.interval_times = IntervalTimes::begin(self.pool.worker.host());
        }
    }

    fn tick(&mut self, now_ns: u64) {
        let answered = self.pool.worker.recorder().borrow().answered_so_far();
        if let Some(tick) = self.ticker.tick(now_ns, answered) {
            self.pool.ticked(tick);
        }
    }

    /// Reports the scenario's early tally, if there is one.
    fn report_early_tally(&mut self) {
        let is_due = self.pool.worker.is_tally_due.replace(false);
        if let Some(tally) = self.pool.take_early_tally(is_due) {
            (self.pool.worker.send)(Report::Tally(tally));
        }
    }

    /// Sets the coalescing of the loop as far as the load allows it.
    fn set_coalescing(&mut self, now_ns: u64) {
        if now_ns < self.coalescing_due_ns {
            return;
        }
        self.coalescing_due_ns = now_ns + TICK_NS;
        let worker = &self.pool.worker;
        if !worker.is_alone {
            // A setting that suits one scenario would delay another.
            return;
        }
        let coalescing = if worker.pacer.is_open() {
            worker.network.coalescing.next()
        } else {
            let (users, iterations) = (worker.unthinking(), worker.iterations.get());
            self.coalescing.observe(now_ns, users, iterations)
        };
        worker.host().set_coalescing(coalescing);
    }

    /// Takes the snapshots of the intervals that ended before `before_ns`.
    fn snapshot_intervals(&mut self, before_ns: u64) {
        while self.boundary_ns < before_ns {
            self.snapshot(self.boundary_ns, self.boundary_ns);
            self.boundary_ns += self.interval_ns;
        }
    }

    /// True if the run was stopped from outside, or this worker by one of its users, and the stop
    /// was not handled yet.
    fn is_stopped_anew(&self, order: Order) -> bool {
        let stopped = order >= Order::Stop || self.pool.worker.stopping.get();
        stopped && self.stopped_ns.is_none()
    }

    /// Begins nothing new. If all workers stop, what is still in flight is no load any more: the
    /// measured part is over, unless users go on with their iterations.
    fn stop(&mut self, now_ns: u64, order: Order) {
        self.stopped_ns = Some(now_ns);
        self.pool.worker.stopping.set(true);
        self.pool.retire_idle();
        let is_measured = !self.is_window_over && now_ns > self.pool.worker.zero_ns();
        let is_over = order == Order::Stop && !S::FINISHES_ITERATIONS && is_measured;
        if is_over && !self.pool.worker.is_over() {
            // A check that is late does not make the window longer.
            self.end_window(now_ns.min(self.end_ns));
        }
    }

    /// Waits for the next action, which users may trigger earlier.
    pub(super) async fn wait(&mut self) {
        let now_ns = self.now_ns();
        let worker = &self.pool.worker;
        let shortage_ns = worker.next_shortage_ns().unwrap_or(u64::MAX);
        let next_ns = self.boundary_ns.min(self.end_ns).min(now_ns + TICK_NS);
        let next_ns = self.zero_ns.map_or(next_ns, |zero_ns| zero_ns.min(next_ns));
        let last_ns = worker.begin_ns.get().saturating_add(worker.pacer.end_ns);
        let next_ns = if now_ns < last_ns {
            next_ns.min(last_ns)
        } else {
            next_ns
        };
        self.due_ns = next_ns.min(shortage_ns);
        self.timer.set(Some(self.due_ns));
        let timer = &self.timer;
        poll_fn(|cx| {
            *worker.supervisor.borrow_mut() = Some(cx.waker().clone());
            let is_due = worker.is_tally_due.get() || self.is_stopped_anew(Order::Run);
            if worker.is_over() || is_due {
                return Poll::Ready(());
            }
            timer.poll(cx)
        })
        .await;
    }

    pub(super) fn now_ns(&self) -> u64 {
        self.pool.worker.host().now_ns()
    }

    /// Reports the record up to `until_ns`. The schedule was followed up to `followed_ns`.
    pub(super) fn snapshot(&mut self, until_ns: u64, followed_ns: u64) {
        let snapshot = self.take_snapshot(until_ns);
        let not_due = self
            .pool
            .take_not_due(followed_ns.min(self.after_stop_ns()));
        self.report_interval(snapshot, followed_ns, not_due);
    }

    /// Takes the record up to `until_ns` out of the recorder.
    fn take_snapshot(&mut self, until_ns: u64) -> Box<Snapshot> {
        let worker = &self.pool.worker;
        let until_ns = until_ns.saturating_sub(worker.zero_ns());
        let answered = worker.recorder().borrow().answered_so_far();
        self.ticker.end_interval(answered);
        let mut snapshot = Box::new(worker.recorder().borrow_mut().take(until_ns));
        if self.number == 0
            && let Some(mut times) = self.interval_times.end(worker.host())
            && !snapshot.drain
        {
            times.counted(&snapshot.counts);
            snapshot.workers.insert(self.pool.stripe.index, times);
        }
        snapshot
    }

    /// Reports an interval, and with it the scenario's tally. The schedule was followed up to
    /// `followed_ns`, or to the stop, whose own instant counts: a start of that instant may have
    /// been sent.
    fn report_interval(&mut self, snapshot: Box<Snapshot>, followed_ns: u64, not_due: NotDue) {
        let followed_ns = followed_ns.min(self.after_stop_ns());
        let tally = self.pool.take_tally();
        let worker = &self.pool.worker;
        let followed_ns = followed_ns.saturating_sub(worker.begin_ns.get());
        // Before the interval, so that the log contains at the interval's end all exchanges that
        // the interval counts.
        worker.flush_log();
        worker.report_slowest();
        (worker.send)(Report::Interval(Interval {
            snapshot,
            tally,
            followed_ns,
            begun: worker.pacer.take_begun(),
            changes: std::mem::take(&mut self.received),
            gone: Gone::default(),
            not_due,
        }));
    }

    /// Returns the instant after the stop, if there was one: an arrival at the instant of the stop
    /// is planned.
    fn after_stop_ns(&self) -> u64 {
        self.stopped_ns.map_or(u64::MAX, |at_ns| at_ns + 1)
    }

    /// Cuts off the remaining users, and reports the rest.
    async fn finish(mut self, over: bool, order: Order) {
        let stopped = self.stopped_ns.is_some() && order >= Order::Stop;
        let complete = over && !stopped;
        let now_ns = self.now_ns().min(self.end_ns);
        let worker = Rc::clone(&self.pool.worker);
        self.pool.drop_late(now_ns, false);
        self.snapshot_intervals(now_ns);
        let followed_ns = self.window_end_ns.min(now_ns + 1);
        let flight_ns = flight_ns(&self.pool, now_ns);
        let until_ns = followed_ns.min(self.after_stop_ns());
        let unfinished = UnfinishedWork::new(&worker, now_ns, until_ns).count(&self.pool);
        let not_due = self.pool.take_not_due(until_ns).at_end();
        self.pool.cut_off();
        if !self.is_window_over {
            worker.recorder().borrow_mut().still_in_flight(flight_ns);
        }
        if worker.paces_itself {
            worker.recorder().borrow_mut().planned(unfinished.unsent);
        }
        let snapshot = self.take_snapshot(now_ns);
        self.pool.until_gone().await;
        self.report_interval(snapshot, followed_ns, not_due);
        let in_flight = worker.recorder().borrow().in_flight();
        debug_assert_eq!(in_flight, unfinished.in_flight, "each has its age");
        (worker.send)(Report::Done(Done {
            complete,
            stopped,
            unfinished: Box::new(unfinished),
            ..Done::default()
        }));
    }
}
