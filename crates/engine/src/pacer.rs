//! When a worker's users start: the schedule, seen from one worker.

mod open_load;
mod planned;

pub(crate) use self::planned::Planned;

use self::open_load::{OpenLoad, Queue, closed_level, open_level};
use self::planned::Counted;
use loadline_plan::{Level, Load, Plan, Shape, Stage, Think};
use loadline_schedule as schedule;
use schedule::{Stripe, ThinkTimes, Users, Window};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::time::Duration;

/// When a worker's users start. Times are nanoseconds from the begin of the load (the warm-up, if
/// there is one).
pub(crate) struct Pacer {
    kind: Kind,
    stripe: Stripe,
    /// No start at or behind this instant.
    pub(crate) end_ns: u64,
    /// How long behind that iterations may go on.
    pub(crate) graceful_ns: u64,
    /// How long a user may go on with its iteration behind a window that ends before the load.
    pub(crate) ramp_down_ns: u64,
    /// Whether arrivals that fall due when no user is free are dropped.
    pub(crate) drops_late: bool,
    /// Those of the measured part that were, and that nobody was told of.
    dropped: Cell<u64>,
    /// Arrivals that fell due when a user was free, and that nobody has taken: instants, and how
    /// many fell due at each. They are paid for.
    late: RefCell<VecDeque<(u64, u64)>>,
    /// How many iterations each user begins, at most.
    pub(crate) iterations_per_user: Option<u64>,
    /// How long users wait between two iterations, and the seed of what is drawn.
    think: Option<(Think, u64)>,
    /// When the load's own time begins.
    lead_ns: u64,
    /// Where the measured part begins.
    pub(crate) warmup_ns: u64,
    /// Exchanges of the measured part that the plan's number of requests leaves to this worker.
    budget: Cell<u64>,
    /// Since when each change of the load holds, ascending.
    changes_ns: RefCell<Vec<u64>>,
    /// How many there are.
    changes: Cell<usize>,
    /// Whether the last of them was a pause.
    is_paused: Cell<bool>,
}

enum Kind {
    Closed(RefCell<Users>),
    Open {
        arrivals: RefCell<Queue>,
        load: Box<RefCell<OpenLoad>>,
        /// The arrivals as a function of time, where they need not be drawn.
        counted: Box<RefCell<Option<Counted>>>,
    },
}

/// What a user may do next.
pub(crate) enum Next {
    /// Begin now.
    Now,
    /// Begin at this instant.
    At(u64),
    /// Nothing before the load changes.
    Paused,
    /// Nothing is left to begin.
    Nothing,
}

/// When a user of a closed load is active next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextWindow {
    /// Then, or already. Ends with the load at the latest.
    Is(Window),
    /// Not before the load changes.
    Paused,
    /// Never more.
    Nothing,
}

impl Pacer {
    /// The share of one worker in a plan's load.
    pub(crate) fn new(plan: &Plan, stripe: Stripe) -> Self {
        let warmup_ns = nanoseconds(plan.warmup);
        let kind = match OpenLoad::of(plan) {
            Some(load) => Kind::Open {
                arrivals: RefCell::new(load.arrivals(stripe)),
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
            stripe,
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
            changes_ns: RefCell::default(),
            changes: Cell::new(0),
            is_paused: Cell::new(false),
        }
    }

    /// How long user number `user` of the run waits between its iterations, if it does. Boxed,
    /// since most loads have none.
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

    /// Changes the load from this instant on. Starts from there on that were taken are to be
    /// [given back](Self::give_back) and taken again.
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
                load.requeue(&mut arrivals.borrow_mut(), at_ns, self.stripe);
                if let Some(counted) = &mut *counted.borrow_mut() {
                    counted.0.change(at_ns, level);
                }
            }
        }
        self.is_paused.set(level == Level::Paused);
        self.changes_ns.borrow_mut().push(at_ns);
        self.changes.set(self.changes_ns.borrow().len());
    }

    /// Whether the load is paused.
    pub(crate) fn is_paused(&self) -> bool {
        self.is_paused.get()
    }

    /// The load is over: no change will end a pause.
    pub(crate) fn close(&self) {
        self.is_paused.set(false);
    }

    /// How often the load was changed.
    #[inline]
    pub(crate) fn changes(&self) -> usize {
        self.changes.get()
    }

    /// From when on starts are void that were taken when the load had been changed so often.
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

    /// When user number `user` of the run is active, at `now_ns` or later.
    pub(crate) fn next_window(&self, user: u32, now_ns: u64) -> NextWindow {
        let end_ns = self.end_ns;
        let Kind::Closed(users) = &self.kind else {
            // What fell due is sent behind the end, too.
            return NextWindow::Is(Window {
                from_ns: 0,
                to_ns: Some(end_ns.saturating_add(self.graceful_ns)),
            });
        };
        let windows = users.borrow().windows(user);
        let in_load = |own_ns: u64| own_ns.saturating_add(self.lead_ns);
        let mut windows = windows.into_iter().map(|window| Window {
            from_ns: in_load(window.from_ns),
            to_ns: Some(window.to_ns.map_or(u64::MAX, in_load).min(end_ns)),
        });
        match windows.find(|window| window.to_ns > Some(now_ns)) {
            Some(window) if window.from_ns < end_ns => NextWindow::Is(window),
            _ if self.is_paused.get() && now_ns < end_ns => NextWindow::Paused,
            _ => NextWindow::Nothing,
        }
    }

    /// Users that may be active at once, at most: no user of the run has this number.
    pub(crate) fn most_users(&self) -> u32 {
        match &self.kind {
            Kind::Closed(users) => users.borrow().most(),
            Kind::Open { .. } => 0,
        }
    }

    /// The next start that nobody has taken; taken by this call.
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

    /// Takes a start at this instant from the budget; false if nothing is left of it.
    fn pay(&self, at_ns: u64) -> bool {
        if at_ns < self.warmup_ns {
            return true;
        }
        let left = self.budget.get().checked_sub(1);
        left.inspect(|left| self.budget.set(*left)).is_some()
    }

    /// Whether the plan's number of requests leaves nothing more to begin.
    pub(crate) fn is_spent(&self) -> bool {
        self.budget.get() == 0
    }

    /// Tells of the arrivals before `until_ns` that nobody has taken: an instant, and how many fell
    /// due at it; and takes them. Where there are more than can be walked in no time, those behind
    /// are told in some thousand slices of time, each with the instant of its end.
    pub(crate) fn each_untaken(&self, until_ns: u64, tell: &mut dyn FnMut(u64, u64)) {
        let late = self.late.take();
        late.into_iter()
            .for_each(|(at_ns, count)| tell(at_ns, count));
        self.each_unjudged(until_ns, tell);
    }

    /// The same without those that are known to be late.
    fn each_unjudged(&self, until_ns: u64, tell: &mut dyn FnMut(u64, u64)) {
        let Kind::Open {
            arrivals, counted, ..
        } = &self.kind
        else {
            return;
        };
        let (mut arrivals, counted) = (arrivals.borrow_mut(), counted.borrow());
        let mut walked = 0;
        while let Some(arrival) = arrivals.next_if(|arrival| arrival.at_ns < until_ns) {
            if !self.pay(arrival.at_ns) {
                return;
            }
            walked += 1;
            match &*counted {
                Some(counted) if walked > MOST_WALKED && arrival.at_ns >= self.warmup_ns => {
                    return counted.tell_in_slices(arrival, until_ns, self.stripe, tell);
                }
                _ => tell(arrival.at_ns, 1),
            }
        }
    }

    /// Judges the arrivals before this instant that nobody has taken, each by its own instant: it
    /// is dropped, or late.
    pub(crate) fn judge_before(&self, before_ns: u64, is_dropped: &dyn Fn(u64) -> bool) {
        self.each_unjudged(before_ns, &mut |at_ns, count| {
            if !is_dropped(at_ns) {
                self.late.borrow_mut().push_back((at_ns, count));
            } else if at_ns >= self.warmup_ns {
                self.dropped.set(self.dropped.get() + count);
            }
        });
    }

    /// The first of the late arrivals; taken by this call.
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

    /// How many arrivals of the measured part were dropped since this was asked last.
    pub(crate) fn take_dropped(&self) -> u64 {
        self.dropped.take()
    }

    /// The first arrival that nobody has taken.
    pub(crate) fn first_untaken_ns(&self) -> Option<u64> {
        let late_ns = self.late.borrow().front().map(|(at_ns, _)| *at_ns);
        late_ns.or_else(|| self.first_unjudged_ns())
    }

    /// The same without those that are known to be late.
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

/// Arrivals that are walked one by one at most, in a fraction of a second.
const MOST_WALKED: u64 = 1_000_000;

/// When a load's own time begins: that of a scenario which begins later than the others, at its
/// start. Otherwise a warm-up belongs to it.
fn lead_ns(plan: &Plan) -> u64 {
    match start_ns(plan) {
        0 => 0,
        start_ns => nanoseconds(plan.warmup).saturating_add(start_ns),
    }
}

/// How long a load holds its first level before anything moves: while it warms up.
fn hold_ns(plan: &Plan) -> u64 {
    match start_ns(plan) {
        0 => nanoseconds(plan.warmup),
        _ => 0,
    }
}

/// When a plan's load begins, from the begin of the measured part.
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

/// When the last worker of a load leaves, from its begin: never, if nothing but a number of
/// requests ends it.
pub(crate) fn over_ns(plan: &Plan) -> u64 {
    end_ns(plan).saturating_add(graceful_ns(plan))
}

/// The users of a closed load; a warm-up holds its first level before anything moves.
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

/// The most users that a plan's load ever has at once without being short of one.
pub(crate) fn most_users(plan: &Plan) -> u32 {
    match plan.load.shape {
        Shape::Closed | Shape::ClosedStages { .. } => users(&plan.load, hold_ns(plan)).most(),
        _ => plan.load.users,
    }
}

/// As [`most_users`], of a load that is changed to this level.
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

/// When a load ends, from its begin: never, if only a number of requests ends it.
pub(crate) fn end_ns(plan: &Plan) -> u64 {
    let stages: Option<Duration> = match &plan.load.shape {
        Shape::ClosedStages { stages, .. } => Some(stages.iter().map(|s| s.duration).sum()),
        Shape::RateStages { stages, .. } => Some(stages.iter().map(|s| s.duration).sum()),
        _ => None,
    };
    match stages.into_iter().chain(plan.duration).min() {
        Some(end) => {
            let begin_ns = nanoseconds(plan.warmup).saturating_add(start_ns(plan));
            begin_ns.saturating_add(nanoseconds(end))
        }
        None => u64::MAX,
    }
}

/// A stage of the plan, with its duration in nanoseconds.
fn in_ns<T: Copy>(stage: &Stage<T>) -> schedule::Stage<T> {
    schedule::Stage {
        duration_ns: nanoseconds(stage.duration),
        target: stage.target,
    }
}

/// What falls to one of several workers of a limited number of starts. Of a closed load a worker
/// without a user gets none: nobody would begin them.
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

/// What falls to one of several workers when `total` is dealt out one by one.
pub(crate) fn share(total: u64, stripe: Stripe) -> u64 {
    let (index, of) = (u64::from(stripe.index), u64::from(stripe.of));
    total / of + u64::from(index < total % of)
}

/// A duration in nanoseconds; what is beyond five centuries counts as never.
pub(crate) fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
