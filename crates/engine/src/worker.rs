//! A worker: one event loop, its users, and the supervisor that takes snapshots and ends the run.

mod backlog;
mod extra_users;
mod free_users;
mod ready;
mod running;
mod supervisor;
mod unfinished;
mod user_pool;

pub(crate) use self::ready::{Ready, prepare};
pub(crate) use self::running::run;

use self::backlog::Backlog;
use self::extra_users::ExtraUsers;
use self::free_users::FreeUsers;
use crate::counted::Counted;
use crate::network::Network;
use crate::not_due::NotDueCounter;
use crate::pacer::Pacer;
use crate::report::Report;
use crate::slowest::{SlowExchange, Slowest};
use loadline_metrics::SeriesId;
use loadline_reactor::Host;
use loadline_record::{Exchange, Recorder, SlowRequest};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::task::Waker;

/// The most exchanges that are logged in one message; the end of an interval also ends a message.
const LOG_BATCH: usize = 4096;

/// The state that the users of one worker share.
pub(crate) struct Worker<H: Host> {
    pub(crate) network: Rc<Network<H>>,
    /// The tags of all its series, if it belongs to one scenario of several, or the scenario has
    /// tags.
    pub(crate) series_tags: Option<BTreeMap<String, String>>,
    pub(crate) pacer: Pacer,
    /// True if its users pace themselves.
    pub(crate) paces_itself: bool,
    /// The time after the window for which unfinished exchanges are awaited.
    drain_ns: u64,
    /// True if the drain ends as soon as every unfinished exchange is older than the drain's
    /// length.
    drains_to_age: bool,
    /// The begin of the load, on the host's clock.
    pub(crate) begin_ns: Cell<u64>,
    /// True if nothing new is begun, because the run was stopped from outside, or the worker by a
    /// user.
    pub(crate) stopping: Cell<bool>,
    /// True if the window is over: nothing is begun any more except arrivals that fell due in it.
    pub(crate) draining: Cell<bool>,
    /// True if the run is over: exchanges in flight remain in flight.
    pub(crate) is_cut_off: Cell<bool>,
    /// The number of iterations that users have begun.
    pub(crate) iterations: Cell<u64>,
    /// Arrivals of an open load that were due and not sent at once.
    pub(crate) backlog: Backlog,
    /// Arrivals of an open load for which no request is due.
    pub(crate) not_due: NotDueCounter,
    /// The times at which a user was free, if arrivals that find none are dropped.
    free_users: FreeUsers,
    /// Users in addition to those of the load.
    pub(crate) extra_users: ExtraUsers,
    /// The number of users that have not ended.
    users: Cell<u32>,
    /// The number of users that rest until the end.
    resting: Cell<u32>,
    /// The number of users that wait between two iterations.
    thinking: Cell<u32>,
    most_users: u32,
    /// Closed-loop slots: the number of initial users of an open load that would be idle if there
    /// were no others. A closed loop would omit an arrival that finds no slot.
    closed_loop_slots: Cell<u32>,
    /// True if there is only one scenario, so that its users have the loop to themselves.
    is_alone: bool,
    supervisor: RefCell<Option<Waker>>,
    /// True if a user requested that the scenario's tally be reported before its interval ends.
    pub(crate) is_tally_due: Cell<bool>,
    log: Option<RefCell<Vec<Exchange>>>,
    /// The slowest requests of the interval, if they are wanted.
    slowest: Option<RefCell<Slowest>>,
    send: Box<dyn Fn(Report)>,
}

impl<H: Host> Worker<H> {
    /// Returns its host: its clock, timers and tasks.
    #[inline(always)]
    pub(crate) fn host(&self) -> &H {
        &self.network.host
    }

    #[inline(always)]
    pub(crate) fn recorder(&self) -> &RefCell<Recorder> {
        &self.network.recorder
    }

    /// Returns the begin of the measured part: the zero of all recorded times.
    #[inline(always)]
    pub(crate) fn zero_ns(&self) -> u64 {
        self.network.zero_ns.get()
    }

    /// Returns the time on the host's clock, or the begin of the measured part before that.
    pub(crate) fn measured_now_ns(&self) -> u64 {
        self.host().now_ns().max(self.zero_ns())
    }

    /// True if exchanges are timed from a schedule, the load's or that of each user, and not only
    /// from the send.
    #[inline]
    pub(crate) fn times_from_schedule(&self) -> bool {
        self.pacer.is_open() || self.paces_itself
    }

    /// Records an exchange of the measured part; `is_omitted` is true if a closed loop would have
    /// omitted it. `served_before` is what its connection had served, if that is known.
    #[inline]
    pub(crate) fn record(
        &self,
        exchange: &Exchange,
        series: SeriesId,
        is_omitted: bool,
        served_before: Option<u64>,
    ) {
        let mut recorder = self.recorder().borrow_mut();
        recorder.end(exchange);
        recorder.count_in_series(series, exchange);
        if is_omitted {
            recorder.omitted(exchange);
        }
        drop(recorder);
        if let Some(slowest) = &self.slowest {
            slowest.borrow_mut().observe(&SlowExchange {
                exchange: *exchange,
                series,
                served_before,
            });
        }
        if let Some(log) = &self.log {
            let mut log = log.borrow_mut();
            log.push(*exchange);
            if log.len() == LOG_BATCH {
                self.send_logged(&mut log);
            }
        }
    }

    /// Reports the exchanges that were logged and not yet reported, if there are any.
    pub(crate) fn flush_log(&self) {
        if let Some(log) = &self.log {
            let mut log = log.borrow_mut();
            if !log.is_empty() {
                self.send_logged(&mut log);
            }
        }
    }

    /// Reports the slowest requests of the interval that ends, if they are wanted.
    pub(crate) fn report_slowest(&self) {
        let Some(slowest) = &self.slowest else {
            return;
        };
        let kept = slowest.borrow_mut().take();
        if kept.is_empty() {
            return;
        }
        let recorder = self.recorder().borrow();
        let named = kept.into_iter().map(|kept| SlowRequest {
            exchange: kept.exchange,
            name: recorder
                .key_of(kept.series)
                .map(|key| key.name().to_owned()),
            served_before: kept.served_before,
        });
        let named = named.collect();
        drop(recorder);
        (self.send)(Report::Slow(named));
    }

    fn send_logged(&self, log: &mut Vec<Exchange>) {
        let batch = std::mem::replace(log, Vec::with_capacity(LOG_BATCH));
        (self.send)(Report::Log(batch));
    }

    /// Takes a closed-loop slot; returns false if none is left.
    #[inline]
    pub(crate) fn take_closed_loop_slot(&self) -> bool {
        let idle = self.closed_loop_slots.get();
        self.closed_loop_slots.set(idle.saturating_sub(1));
        idle > 0
    }

    #[inline]
    pub(crate) fn return_closed_loop_slot(&self) {
        self.closed_loop_slots.set(self.closed_loop_slots.get() + 1);
    }

    /// Returns the instant at which an arrival will find no user free, if none becomes free until
    /// then; `None` if that requires no action, because no user can be added and the arrival is not
    /// dropped. A free user takes the next arrival at once and waits for it, so if an arrival is
    /// not taken, no user is free, unless the worker is late.
    fn next_shortage_ns(&self) -> Option<u64> {
        let is_heeded = self.may_grow() || self.pacer.drops_late;
        let is_awaited = is_heeded && !self.stopping.get();
        is_awaited.then(|| self.next_untaken_ns())?
    }

    /// Returns the instant of the first arrival that no user has taken.
    fn next_untaken_ns(&self) -> Option<u64> {
        let untaken_ns = self.pacer.first_unjudged_ns()?;
        Some(self.begin_ns.get().saturating_add(untaken_ns))
    }

    /// True if an arrival waits for a user.
    fn has_waiting(&self, now_ns: u64) -> bool {
        self.next_untaken_ns().is_some_and(|at_ns| at_ns <= now_ns)
    }

    /// Counts a user that begins an iteration.
    #[inline]
    pub(crate) fn one_is_busy(&self) {
        if self.pacer.drops_late {
            self.free_users.one_less(self.host().now_ns());
        }
    }

    /// Counts a user that becomes free: it is new, or its iteration has ended.
    #[inline]
    pub(crate) fn one_is_free(&self) {
        if self.pacer.drops_late {
            let now_ns = self.host().now_ns();
            let first_ns = self.next_shortage_ns();
            self.free_users
                .one_more(now_ns, first_ns.is_some_and(|at_ns| at_ns < now_ns));
        }
    }

    /// Drops the arrivals up to this instant that found no user free, if the plan requires it;
    /// arrivals that found one, but were not handled in time by the worker, stay. If the worker
    /// `was_stalled`, it is unknown when a user became free that is free after the stall.
    fn drop_late(&self, now_ns: u64, was_stalled: bool) {
        if !self.pacer.drops_late || self.stopping.get() {
            return;
        }
        let begin_ns = self.begin_ns.get();
        let users = &self.free_users;
        let is_in_doubt = was_stalled && users.had_any();
        let load_ns = (now_ns + 1).saturating_sub(begin_ns);
        self.pacer.judge_before(load_ns, &|at_ns| {
            !is_in_doubt && users.had_none_at(begin_ns.saturating_add(at_ns))
        });
        users.forget();
    }

    /// True if one more user may be added.
    fn may_grow(&self) -> bool {
        self.users.get() < self.most_users
    }

    /// True if there is nothing left to wait for: a load that has run out of arrivals or users
    /// before its time is over continues to its end.
    fn is_over(&self) -> bool {
        let for_good = self.stopping.get() || self.draining.get() || self.pacer.is_spent();
        self.all_rest() && (for_good || self.pacer.end_ns == u64::MAX || self.has_begun_all())
    }

    /// True if nothing more is begun in a load whose users may end before its time: each of them
    /// has a number of iterations, or it is the time in which they finish their iterations.
    fn has_begun_all(&self) -> bool {
        let last_ns = self.begin_ns.get().saturating_add(self.pacer.end_ns);
        let finishes = self.pacer.graceful_ns > 0 && self.host().now_ns() >= last_ns;
        finishes || self.pacer.iterations_per_user.is_some()
    }

    /// Returns the end of the load, including the time in which its users finish their iterations.
    fn over_ns(&self) -> u64 {
        let load_ns = self.pacer.end_ns.saturating_add(self.pacer.graceful_ns);
        self.begin_ns.get().saturating_add(load_ns)
    }

    /// True if no user is active any more.
    fn all_rest(&self) -> bool {
        // If the budget is spent, there is nothing left for users that are thinking.
        let idle = match self.pacer.is_spent() {
            true => self.thinking.get(),
            false => 0,
        };
        self.users.get() == self.resting.get() + idle
    }

    /// Counts a user that waits between two iterations, until the returned value is dropped.
    pub(crate) fn one_thinks(&self) -> Counted<'_> {
        let thinks = Counted::in_number(&self.thinking);
        if self.all_rest() {
            self.wake_supervisor();
        }
        thinks
    }

    /// Returns the number of users that are not between two iterations.
    fn unthinking(&self) -> u32 {
        self.users.get().saturating_sub(self.thinking.get())
    }

    /// Counts a user that rests until the end.
    pub(crate) fn one_rests(&self) {
        self.resting.set(self.resting.get() + 1);
        if self.all_rest() {
            self.wake_supervisor();
        }
    }

    pub(crate) fn user_ended(&self) {
        self.users.set(self.users.get() - 1);
        if self.all_rest() {
            self.wake_supervisor();
        }
    }

    pub(crate) fn wake_supervisor(&self) {
        if let Some(waker) = &*self.supervisor.borrow() {
            waker.wake_by_ref();
        }
    }
}
