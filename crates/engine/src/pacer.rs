//! The starts of a worker's users: one worker's share of the schedule.

mod open_load;
mod planned;

pub(crate) use self::planned::Planned;

use self::open_load::{OpenLoad, Queue, closed_level, open_level};
use self::planned::Counted;
use loadline_plan::{Level, Load, Plan, Shape, Stage, Think};
use loadline_schedule as schedule;
use schedule::{Stripe, Stripes, ThinkTimes, Users, Window};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::time::Duration;

/// The starts of a worker's users. Times are nanoseconds from the begin of the load (of the
/// warm-up, if there is one).
pub(crate) struct Pacer {
    kind: Kind,
    /// The worker's share of the arrivals, and the instant of the last one that it took over.
    share: RefCell<Stripes>,
    taken_over_ns: Cell<u64>,
    /// The shares in the users of a closed load that the worker has one after the other, each with
    /// its first instant.
    deals: RefCell<Vec<(u64, Stripes)>>,
    /// The end of the load: there is no start at or after this instant.
    pub(crate) end_ns: u64,
    /// The time after the end in which iterations may continue.
    pub(crate) graceful_ns: u64,
    /// The time for which a user may continue its iteration after a window that ends before the
    /// load.
    pub(crate) ramp_down_ns: u64,
    /// True if arrivals that fall due when no user is free are dropped.
    pub(crate) drops_late: bool,
    /// The number of dropped arrivals of the measured part that are not yet reported.
    dropped: Cell<u64>,
    /// Arrivals that fell due when a user was free, and that no user has taken: instants, and the
    /// number due at each. They are already deducted from the budget.
    late: RefCell<VecDeque<(u64, u64)>>,
    /// The maximum number of iterations of each user.
    pub(crate) iterations_per_user: Option<u64>,
    /// The think time between two iterations, and the seed of its random values.
    think: Option<(Think, u64)>,
    /// The begin of the load's own time.
    lead_ns: u64,
    /// The begin of the measured part.
    pub(crate) warmup_ns: u64,
    /// The remaining exchanges of the measured part in this worker's share of the plan's number of
    /// requests.
    budget: Cell<u64>,
    /// The exchanges that the budget had in all, and those of it that were reported as begun.
    granted: Cell<u64>,
    reported_begun: Cell<u64>,
    /// The users that the load may have: those of workers that join have higher numbers.
    pub(crate) numbers: u32,
    /// The instants from which the changes of the load and takeovers apply, ascending.
    changes_ns: RefCell<Vec<u64>>,
    /// The number of changes.
    changes: Cell<usize>,
    /// True if the last change was a pause.
    is_paused: Cell<bool>,
}

enum Kind {
    Closed(RefCell<Users>),
    Open {
        arrivals: RefCell<Queue>,
        load: Box<RefCell<OpenLoad>>,
        /// The arrivals as a function of time, if they need not be drawn.
        counted: Box<RefCell<Option<Counted>>>,
    },
}

/// The next step of a user.
pub(crate) enum Next {
    /// Begin an iteration now.
    Now,
    /// Begin an iteration at this instant.
    At(u64),
    /// Begin nothing before the load changes.
    Paused,
    /// Begin nothing more.
    Nothing,
}

/// The next active time of a user of a closed load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextWindow {
    /// In this window, which may have begun, and ends with the load at the latest.
    Is(Window),
    /// Not before the load changes.
    Paused,
    /// Never again.
    Nothing,
}

impl Pacer {
    /// Creates the share of one worker in a plan's load.
    pub(crate) fn new(plan: &Plan, stripe: Stripe) -> Self {
        let warmup_ns = nanoseconds(plan.warmup);
        // A worker that joins has no share before.
        let own = match stripe.index < stripe.of {
            true => stripe.into(),
            false => Stripes::default(),
        };
        let kind = match OpenLoad::of(plan) {
            Some(load) => Kind::Open {
                arrivals: RefCell::new(load.arrivals(&own)),
                load: Box::new(RefCell::new(load)),
                counted: Box::new(RefCell::new(Counted::undrawn(plan))),
            },
            None => Kind::Closed(RefCell::new(users(&plan.load, hold_ns(plan)))),
        };
        let budget = plan
            .request_limit
            .map(|limit| starts_of(limit, plan, stripe));
        Pacer {
            kind,
            deals: RefCell::new(vec![(0, own.clone())]),
            share: RefCell::new(own),
            taken_over_ns: Cell::new(0),
            end_ns: end_ns(plan),
            graceful_ns: graceful_ns(plan),
            ramp_down_ns: ramp_down_ns(plan),
            drops_late: drops_late(plan),
            dropped: Cell::new(0),
            late: RefCell::default(),
            iterations_per_user: plan.part.as_ref().and_then(|part| part.iterations_per_user),
            think: plan.think.map(|think| (think, plan.seed)),
            lead_ns: lead_ns(plan),
            warmup_ns,
            budget: Cell::new(budget.unwrap_or(u64::MAX)),
            granted: Cell::new(budget.unwrap_or(u64::MAX)),
            reported_begun: Cell::new(0),
            numbers: plan.load.max_users.max(most_users(plan)).max(stripe.of),
            changes_ns: RefCell::default(),
            changes: Cell::new(0),
            is_paused: Cell::new(false),
        }
    }

    /// Returns the think times of user number `user` of the run, if the plan has them. Boxed,
    /// because most loads have none.
    pub(crate) fn think_times(&self, user: u32) -> Option<Box<ThinkTimes>> {
        let (think, seed) = self.think?;
        Some(Box::new(match think {
            Think::Constant(time) => ThinkTimes::constant(nanoseconds(time)),
            Think::Exponential(mean) => ThinkTimes::exponential(nanoseconds(mean), seed, user),
        }))
    }

    pub(crate) fn is_open(&self) -> bool {
        matches!(self.kind, Kind::Open { .. })
    }

    /// Changes the load from this instant on. Starts from then on that were taken have to be [given
    /// back](Self::give_back) and taken again.
    pub(crate) fn change(&self, at_ns: u64, level: Level) {
        match &self.kind {
            Kind::Closed(users) => {
                let Some(level) = closed_level(level) else {
                    return;
                };
                let own_ns = at_ns.saturating_sub(self.lead_ns);
                users.borrow_mut().change(own_ns, level);
            }
            Kind::Open {
                arrivals,
                load,
                counted,
            } => {
                let Some(level) = open_level(level) else {
                    return;
                };
                let mut load = load.borrow_mut();
                load.change(at_ns, level);
                load.requeue(&mut arrivals.borrow_mut(), at_ns, &self.share.borrow());
                if let Some(counted) = &mut *counted.borrow_mut() {
                    counted.0.change(at_ns, level);
                }
            }
        }
        self.is_paused.set(level == Level::Paused);
        self.void_from(at_ns);
    }

    /// Makes this the share of the load from this instant on, because lost workers had some of it,
    /// or because others have joined an open load. Starts of an open load from then on that were
    /// taken have to be [given back](Self::give_back) and taken again.
    pub(crate) fn take_over(&self, at_ns: u64, share: Stripes) {
        let Kind::Open { arrivals, load, .. } = &self.kind else {
            if let Some((_, last)) = self.deals.borrow_mut().last_mut() {
                last.clone_from(&share);
            }
            self.share.replace(share);
            self.void_from(at_ns);
            return;
        };
        let load = load.borrow();
        if load.limit < u64::MAX && !load.is_numbered {
            // The shares of a limited number no longer follow from the arrivals' positions.
            return;
        }
        if load.limit < u64::MAX {
            let due = load.due_before(at_ns);
            let left = |share: &Stripes| share.count(load.limit) - share.count(due);
            let (now, before) = (left(&share), left(&self.share.borrow()));
            self.budget
                .set((self.budget.get() + now).saturating_sub(before));
        }
        load.requeue_all(&mut arrivals.borrow_mut(), at_ns, &share);
        self.share.replace(share);
        self.taken_over_ns.set(at_ns);
        self.void_from(at_ns);
    }

    /// Makes this the share in the users of a closed load from this instant on, because others have
    /// joined: users that are in it no more end there, and new ones begin.
    pub(crate) fn deal(&self, at_ns: u64, share: Stripes) {
        self.deals.borrow_mut().push((at_ns, share.clone()));
        self.share.replace(share);
        self.void_from(at_ns);
    }

    /// Returns from when on and until when a user of a closed load is this worker's: at this
    /// instant, or after it.
    fn own_time(&self, user: u32, now_ns: u64) -> Option<(u64, u64)> {
        let deals = self.deals.borrow();
        if deals.len() == 1 {
            return Some((0, u64::MAX));
        }
        let ends = deals.iter().skip(1).map(|(from_ns, _)| *from_ns);
        let mut from_ns = None;
        for ((begin_ns, share), end_ns) in deals.iter().zip(ends.chain([u64::MAX])) {
            if !share.contains(user.into()) {
                if let Some(from_ns) = from_ns.take().filter(|_| *begin_ns > now_ns) {
                    return Some((from_ns, *begin_ns));
                }
            } else if end_ns > now_ns || from_ns.is_some() {
                from_ns.get_or_insert(*begin_ns);
            }
        }
        from_ns.map(|from_ns| (from_ns, u64::MAX))
    }

    /// Returns the worker's share of the arrivals, or of the users' numbers.
    pub(crate) fn share(&self) -> Stripes {
        self.share.borrow().clone()
    }

    /// Adds starts of a limited number that lost workers had left.
    pub(crate) fn grant(&self, starts: u64) {
        self.budget.set(self.budget.get().saturating_add(starts));
        self.granted.set(self.granted.get().saturating_add(starts));
    }

    /// Returns the starts of a closed load that were taken from the budget since the last call.
    pub(crate) fn take_begun(&self) -> u64 {
        if self.is_open() {
            return 0;
        }
        let begun = self.granted.get().saturating_sub(self.budget.get());
        begun - self.reported_begun.replace(begun)
    }

    /// Makes starts from this instant on void that were taken before.
    fn void_from(&self, at_ns: u64) {
        self.changes_ns.borrow_mut().push(at_ns);
        self.changes.set(self.changes_ns.borrow().len());
    }

    /// Returns the instant from which the last change or takeover applies.
    pub(crate) fn changed_ns(&self) -> u64 {
        self.changes_ns.borrow().last().copied().unwrap_or(0)
    }

    /// True if the load is paused.
    pub(crate) fn is_paused(&self) -> bool {
        self.is_paused.get()
    }

    /// Ends a pause for good, because the load is over and will not change again.
    pub(crate) fn close(&self) {
        self.is_paused.set(false);
    }

    /// Returns the number of changes of the load so far.
    #[inline]
    pub(crate) fn changes(&self) -> usize {
        self.changes.get()
    }

    /// Returns the instant from which starts are void that were taken after this many changes of
    /// the load.
    pub(crate) fn void_from_ns(&self, changes: usize) -> u64 {
        let changes_ns = self.changes_ns.borrow();
        changes_ns.get(changes).copied().unwrap_or(u64::MAX)
    }

    /// Returns a start at this instant to the budget, because a change of the load cancelled it.
    pub(crate) fn give_back(&self, at_ns: u64) {
        if at_ns >= self.warmup_ns {
            self.budget.set(self.budget.get().saturating_add(1));
        }
    }

    /// Returns the window of user number `user` of the run that is active at `now_ns`, or the next
    /// one.
    pub(crate) fn next_window(&self, user: u32, now_ns: u64) -> NextWindow {
        let end_ns = self.end_ns;
        let Kind::Closed(users) = &self.kind else {
            // Arrivals that fell due are also sent after the end.
            return NextWindow::Is(Window {
                from_ns: 0,
                to_ns: Some(end_ns.saturating_add(self.graceful_ns)),
            });
        };
        let Some((own_from_ns, own_to_ns)) = self.own_time(user, now_ns) else {
            return NextWindow::Nothing;
        };
        let windows = users.borrow().windows(user);
        let in_load = |own_ns: u64| own_ns.saturating_add(self.lead_ns);
        let mut windows = windows.into_iter().map(|window| Window {
            from_ns: in_load(window.from_ns).max(own_from_ns),
            to_ns: Some(
                window
                    .to_ns
                    .map_or(u64::MAX, in_load)
                    .min(end_ns)
                    .min(own_to_ns),
            ),
        });
        let follows = |window: &Window| {
            let to_ns = window.to_ns;
            to_ns > Some(now_ns) && to_ns > Some(window.from_ns)
        };
        match windows.find(follows) {
            Some(window) if window.from_ns < end_ns => NextWindow::Is(window),
            _ if self.is_paused.get() && now_ns < end_ns => NextWindow::Paused,
            _ => NextWindow::Nothing,
        }
    }

    /// Returns the most users that may be active at once: all users of the run have lower numbers.
    pub(crate) fn most_users(&self) -> u32 {
        match &self.kind {
            Kind::Closed(users) => users.borrow().most(),
            Kind::Open { .. } => 0,
        }
    }

    /// Takes the next start that no user has taken.
    pub(crate) fn take(&self, now_ns: u64) -> Next {
        let next = match &self.kind {
            Kind::Closed(_) => Some((now_ns, Next::Now)),
            Kind::Open { arrivals, .. } => {
                if self.drops_late
                    && let Some(at_ns) = self.take_late()
                {
                    return Next::At(at_ns);
                }
                let arrival = arrivals.borrow_mut().next();
                arrival.map(|arrival| (arrival.at_ns, Next::At(arrival.at_ns)))
            }
        };
        match next {
            Some((at_ns, next)) if self.pay(at_ns) => next,
            None if self.is_paused.get() => Next::Paused,
            _ => Next::Nothing,
        }
    }

    /// Deducts a start at this instant from the budget; returns false if the budget is exhausted.
    fn pay(&self, at_ns: u64) -> bool {
        if at_ns < self.warmup_ns {
            return true;
        }
        let left = self.budget.get().checked_sub(1);
        left.inspect(|left| self.budget.set(*left)).is_some()
    }

    /// True if the plan's number of requests is exhausted.
    pub(crate) fn is_spent(&self) -> bool {
        self.budget.get() == 0
    }

    /// Takes the arrivals before `until_ns` that no user has taken, and calls `report` with an
    /// instant and the number of arrivals due at it. If there are too many to visit one by one, the
    /// rest is reported in some thousand slices of time, each with the instant of its end.
    pub(crate) fn each_untaken(&self, until_ns: u64, report: &mut dyn FnMut(u64, u64)) {
        let late = self.late.take();
        late.into_iter()
            .for_each(|(at_ns, count)| report(at_ns, count));
        self.each_unjudged(until_ns, report);
    }

    /// Does the same, except for arrivals that are known to be late.
    fn each_unjudged(&self, until_ns: u64, report: &mut dyn FnMut(u64, u64)) {
        let Kind::Open {
            arrivals, counted, ..
        } = &self.kind
        else {
            return;
        };
        let (mut arrivals, counted) = (arrivals.borrow_mut(), counted.borrow());
        let countable_ns = self.warmup_ns.max(self.taken_over_ns.get());
        let mut walked = 0;
        while let Some(arrival) = arrivals.next_if(|arrival| arrival.at_ns < until_ns) {
            if !self.pay(arrival.at_ns) {
                return;
            }
            walked += 1;
            match &*counted {
                Some(counted) if walked > MOST_WALKED && arrival.at_ns >= countable_ns => {
                    let share = self.share.borrow();
                    return counted.report_in_slices(arrival, until_ns, &share, report);
                }
                _ => report(arrival.at_ns, 1),
            }
        }
    }

    /// Classifies the arrivals before this instant that no user has taken, each by its own instant,
    /// as dropped or late.
    pub(crate) fn judge_before(&self, before_ns: u64, is_dropped: &dyn Fn(u64) -> bool) {
        self.each_unjudged(before_ns, &mut |at_ns, count| {
            if !is_dropped(at_ns) {
                self.late.borrow_mut().push_back((at_ns, count));
            } else if at_ns >= self.warmup_ns {
                self.dropped.set(self.dropped.get() + count);
            }
        });
    }

    /// Takes the first of the late arrivals.
    fn take_late(&self) -> Option<u64> {
        let mut late = self.late.borrow_mut();
        let (at_ns, count) = late.front_mut()?;
        let at_ns = *at_ns;
        *count -= 1;
        if *count == 0 {
            late.pop_front();
        }
        Some(at_ns)
    }

    /// Returns the number of arrivals of the measured part that were dropped since the last call.
    pub(crate) fn take_dropped(&self) -> u64 {
        self.dropped.take()
    }

    /// Returns the first arrival that no user has taken.
    pub(crate) fn first_untaken_ns(&self) -> Option<u64> {
        let late_ns = self.late.borrow().front().map(|(at_ns, _)| *at_ns);
        late_ns.or_else(|| self.first_unjudged_ns())
    }

    /// Returns the same, except for arrivals that are known to be late.
    pub(crate) fn first_unjudged_ns(&self) -> Option<u64> {
        let Kind::Open { arrivals, .. } = &self.kind else {
            return None;
        };
        let mut arrivals = arrivals.borrow_mut();
        let first = arrivals.peek()?;
        let is_left = first.at_ns < self.warmup_ns || !self.is_spent();
        is_left.then_some(first.at_ns)
    }
}

/// The most arrivals that are visited one by one, in a fraction of a second.
const MOST_WALKED: u64 = 1_000_000;

/// Returns the begin of a load's own time, from the begin of the load: for a scenario that begins
/// later than the others, its start after the warm-up. Otherwise 0, because the warm-up belongs to
/// it.
fn lead_ns(plan: &Plan) -> u64 {
    match start_ns(plan) {
        0 => 0,
        start_ns => nanoseconds(plan.warmup).saturating_add(start_ns),
    }
}

/// Returns the time for which a load holds its first level at the beginning: the warm-up; 0 for a
/// scenario that begins later than the others.
fn hold_ns(plan: &Plan) -> u64 {
    match start_ns(plan) {
        0 => nanoseconds(plan.warmup),
        _ => 0,
    }
}

/// Returns the begin of a plan's load, from the begin of the measured part.
fn start_ns(plan: &Plan) -> u64 {
    let start = plan.part.as_ref().map(|part| part.start);
    nanoseconds(start.unwrap_or_default())
}

fn graceful_ns(plan: &Plan) -> u64 {
    let graceful_stop = plan.part.as_ref().map(|part| part.graceful_stop);
    nanoseconds(graceful_stop.unwrap_or_default())
}

fn ramp_down_ns(plan: &Plan) -> u64 {
    let ramp_down = plan.part.as_ref().and_then(|part| part.graceful_ramp_down);
    ramp_down.map_or(u64::MAX, nanoseconds)
}

fn drops_late(plan: &Plan) -> bool {
    let part = plan.part.as_ref();
    part.is_some_and(|part| !part.late_arrivals.wait())
}

/// Returns the end of a load for its last worker, from its begin: `u64::MAX` if only a number of
/// requests ends it.
pub(crate) fn over_ns(plan: &Plan) -> u64 {
    end_ns(plan).saturating_add(graceful_ns(plan))
}

/// Returns the users of a closed load; a warm-up holds its first level before any change.
fn users(load: &Load, warmup_ns: u64) -> Users {
    let Shape::ClosedStages { start, stages } = &load.shape else {
        return Users::constant(load.users);
    };
    let hold = schedule::Stage {
        duration_ns: warmup_ns,
        target: *start,
    };
    let stages = stages.iter().map(in_ns);
    let stages: Vec<_> = (warmup_ns > 0)
        .then_some(hold)
        .into_iter()
        .chain(stages)
        .collect();
    Users::ramps(*start, &stages)
}

/// Returns the most users that a plan's load needs at once, without those added when none is free.
pub(crate) fn most_users(plan: &Plan) -> u32 {
    match plan.load.shape {
        Shape::Closed | Shape::ClosedStages { .. } => users(&plan.load, hold_ns(plan)).most(),
        Shape::Rate { .. }
        | Shape::RateStages { .. }
        | Shape::Burst { .. }
        | Shape::Paced
        | Shape::Scenarios { .. } => plan.load.users,
    }
}

/// Returns the same as [`most_users`], for a load that is changed to this level.
pub(crate) fn most_users_at(plan: &Plan, level: Level) -> u32 {
    match (&plan.load.shape, closed_level(level)) {
        (Shape::Closed | Shape::ClosedStages { .. }, Some(level)) => {
            let mut users = users(&plan.load, hold_ns(plan));
            users.change(0, level);
            users.most()
        }
        _ => most_users(plan),
    }
}

/// Returns the end of a load, from its begin: `u64::MAX` if only a number of requests ends it.
pub(crate) fn end_ns(plan: &Plan) -> u64 {
    let stages: Option<Duration> = match &plan.load.shape {
        Shape::ClosedStages { stages, .. } => Some(stages.iter().map(|s| s.duration).sum()),
        Shape::RateStages { stages, .. } => Some(stages.iter().map(|s| s.duration).sum()),
        Shape::Closed
        | Shape::Rate { .. }
        | Shape::Burst { .. }
        | Shape::Paced
        | Shape::Scenarios { .. } => None,
    };
    match stages.into_iter().chain(plan.duration).min() {
        Some(end) => {
            let begin_ns = nanoseconds(plan.warmup).saturating_add(start_ns(plan));
            begin_ns.saturating_add(nanoseconds(end))
        }
        None => u64::MAX,
    }
}

/// Converts a stage of the plan to one with its duration in nanoseconds.
fn in_ns<T: Copy>(stage: &Stage<T>) -> schedule::Stage<T> {
    schedule::Stage {
        duration_ns: nanoseconds(stage.duration),
        target: stage.target,
    }
}

/// Returns one worker's share of a limited number of starts. In a closed load a worker without a
/// user gets none, because no user would begin them.
pub(crate) fn starts_of(limit: u64, plan: &Plan, stripe: Stripe) -> u64 {
    let with_users = match plan.load.shape.is_open() {
        true => stripe.of,
        false => stripe.of.min(most_users(plan)).max(1),
    };
    match stripe.index < with_users {
        true => share(
            limit,
            Stripe {
                of: with_users,
                ..stripe
            },
        ),
        false => 0,
    }
}

/// Returns one worker's share when `total` is dealt out one by one.
pub(crate) fn share(total: u64, stripe: Stripe) -> u64 {
    stripe.count(total)
}

/// Returns a duration in nanoseconds, at most `u64::MAX` (more than five centuries), which counts
/// as never.
pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
