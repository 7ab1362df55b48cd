//! When a worker's users start: the schedule, seen from one worker.

use loadline_plan::{Arrivals as Spread, Load, Plan, Rate, Shape, Stage};
use loadline_schedule as schedule;
use schedule::{Arrival, Law, Schedule, Stripe, Users, Window};
use std::cell::{Cell, RefCell};
use std::iter::Peekable;
use std::time::Duration;

/// When a worker's users start. Times are nanoseconds from the begin of the load (the warm-up, if
/// there is one).
pub(crate) struct Pacer {
    kind: Kind,
    /// No start at or behind this instant.
    pub(crate) end_ns: u64,
    /// Where the measured part begins.
    pub(crate) warmup_ns: u64,
    /// The arrivals of an open load as a function of time, where they need not be drawn.
    course: Option<(Counted, Stripe)>,
    /// Exchanges of the measured part that the plan's number of requests leaves to this worker.
    budget: Cell<u64>,
}

enum Kind {
    Closed(Users),
    Open(RefCell<Peekable<Box<dyn Iterator<Item = Arrival>>>>),
}

/// What a user may do next.
pub(crate) enum Next {
    /// Begin now.
    Now,
    /// Begin at this instant.
    At(u64),
    /// Nothing is left to begin.
    Nothing,
}

impl Pacer {
    /// The share of one worker in a plan's load.
    pub(crate) fn new(plan: &Plan, stripe: Stripe) -> Self {
        let warmup_ns = nanoseconds(plan.warmup);
        let open = open_schedule(&plan.load.shape, plan.seed);
        let kind = match open {
            Some(open) => Kind::Open(RefCell::new(arrivals(&open, plan, stripe).peekable())),
            None => Kind::Closed(users(&plan.load, warmup_ns)),
        };
        let budget = plan.request_limit.map(|limit| share(limit, stripe));
        Pacer {
            kind,
            end_ns: end_ns(plan),
            warmup_ns,
            course: Counted::undrawn(plan).map(|counted| (counted, stripe)),
            budget: Cell::new(budget.unwrap_or(u64::MAX)),
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        matches!(self.kind, Kind::Open(_))
    }

    /// When user number `user` of the run is active.
    pub(crate) fn windows(&self, user: u32) -> Vec<Window> {
        match &self.kind {
            Kind::Closed(users) => users.windows(user),
            Kind::Open(_) => vec![Window {
                from_ns: 0,
                to_ns: None,
            }],
        }
    }

    /// The next start that nobody has taken; taken by this call.
    pub(crate) fn take(&self, now_ns: u64) -> Next {
        let next = match &self.kind {
            Kind::Closed(_) => Some((now_ns, Next::Now)),
            Kind::Open(arrivals) => {
                let arrival = arrivals.borrow_mut().next();
                arrival.map(|arrival| (arrival.at_ns, Next::At(arrival.at_ns)))
            }
        };
        match next {
            Some((at_ns, next)) if self.pay(at_ns) => next,
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
        let Kind::Open(arrivals) = &self.kind else {
            return;
        };
        let mut arrivals = arrivals.borrow_mut();
        let mut walked = 0;
        while let Some(arrival) = arrivals.next_if(|arrival| arrival.at_ns < until_ns) {
            walked += 1;
            match &self.course {
                Some((counted, stripe))
                    if walked > MOST_WALKED && arrival.at_ns >= self.warmup_ns =>
                {
                    return counted.tell_in_slices(arrival, until_ns, *stripe, tell);
                }
                _ => tell(arrival.at_ns, 1),
            }
        }
    }

    /// The first arrival that nobody has taken.
    pub(crate) fn first_untaken_ns(&self) -> Option<u64> {
        match &self.kind {
            Kind::Closed(_) => None,
            Kind::Open(arrivals) => arrivals.borrow_mut().peek().map(|arrival| arrival.at_ns),
        }
    }
}

/// Arrivals that are walked one by one at most, in a fraction of a second.
const MOST_WALKED: u64 = 1_000_000;
/// Slices of time in which those beyond are told.
const SLICES: u128 = 4_096;

/// How many arrivals of the measured part of a whole open load fell due, without chance.
pub(crate) struct Counted {
    schedule: Schedule,
    warmup_ns: u64,
    end_ns: u64,
    limit: u64,
}

impl Counted {
    /// `None` for a closed load.
    fn new(plan: &Plan) -> Option<Self> {
        Some(Counted {
            schedule: open_schedule(&evenly(&plan.load.shape), plan.seed)?.main,
            warmup_ns: nanoseconds(plan.warmup),
            end_ns: end_ns(plan),
            limit: plan.request_limit.unwrap_or(u64::MAX),
        })
    }

    /// As [`new`](Counted::new), unless chance decides when each is due and can be asked in time.
    fn undrawn(plan: &Plan) -> Option<Self> {
        let is_drawn = is_drawn(&plan.load.shape);
        (!is_drawn).then(|| Counted::new(plan))?
    }

    /// Tells of this arrival of a stripe and of all behind it, in slices of time.
    fn tell_in_slices(
        &self,
        from: Arrival,
        until_ns: u64,
        stripe: Stripe,
        tell: &mut dyn FnMut(u64, u64),
    ) {
        let length_ns = until_ns - from.at_ns;
        let mut told = share(from.index, stripe);
        for slice in 1..=SLICES {
            let end_ns = from.at_ns + (u128::from(length_ns) * slice / SLICES) as u64;
            let due = share(self.due_before(end_ns), stripe);
            if due > told {
                tell(end_ns - 1, due - told);
                told = due;
            }
        }
    }

    /// How many fell due before `t_ns`.
    fn due_before(&self, t_ns: u64) -> u64 {
        let measured_ns = t_ns.min(self.end_ns).saturating_sub(self.warmup_ns);
        self.schedule.due_before(measured_ns).min(self.limit)
    }
}

/// Counts the arrivals of a whole open load as they fall due.
pub(crate) enum Planned {
    /// Where the count has a closed form: the highest rates would take longer to walk than to keep.
    /// With what was told already.
    Counted(Counted, u64),
    /// Where each arrival has to be drawn, and can be in time.
    Drawn(Peekable<Box<dyn Iterator<Item = Arrival>>>),
}

impl Planned {
    /// `None` for a closed load, which plans nothing.
    pub(crate) fn new(plan: &Plan) -> Option<Self> {
        let shape = &plan.load.shape;
        if is_drawn(shape) {
            let open = open_schedule(shape, plan.seed)?;
            let whole = Stripe { index: 0, of: 1 };
            let measured: Box<dyn Iterator<Item = Arrival>> = Box::new(main(&open, plan, whole));
            return Some(Planned::Drawn(measured.peekable()));
        }
        Some(Planned::Counted(Counted::new(plan)?, 0))
    }

    /// How many more of the measured part fell due before `t_ns` since the last call.
    pub(crate) fn due_before(&mut self, t_ns: u64) -> u64 {
        match self {
            Planned::Counted(counted, told) => {
                // An earlier instant than that of the last call tells nothing new.
                let more = counted.due_before(t_ns).saturating_sub(*told);
                *told += more;
                more
            }
            Planned::Drawn(arrivals) => {
                let due = std::iter::from_fn(|| arrivals.next_if(|arrival| arrival.at_ns < t_ns));
                due.count() as u64
            }
        }
    }
}

/// The most arrivals a second that are drawn to be counted. A core draws some ten million, and no
/// process sends as many: most of them stay unsent.
const MOST_DRAWN_PER_S: f64 = 1e7;

/// Whether the arrivals of a load are drawn one by one to count them. Where drawing would take
/// longer than the load lasts, the mean of their law is counted instead: of ten million arrivals
/// the number that a Poisson process has differs from it by some three thousand.
fn is_drawn(shape: &Shape) -> bool {
    let highest_per_s = match shape {
        Shape::Rate { rate, .. } => rate.per_second(),
        Shape::RateStages { start, stages, .. } => {
            let targets = stages.iter().map(|stage| stage.target.per_second());
            targets.fold(start.per_second(), f64::max)
        }
        Shape::Closed | Shape::ClosedStages { .. } | Shape::Burst { .. } => 0.0,
    };
    shape.is_random() && highest_per_s <= MOST_DRAWN_PER_S
}

/// The arrivals of a stripe: those of the warm-up, at the load's first level, and behind them
/// those of the load, up to its end.
fn arrivals(open: &Open, plan: &Plan, stripe: Stripe) -> Box<dyn Iterator<Item = Arrival>> {
    let warmup_ns = nanoseconds(plan.warmup);
    let main = main(open, plan, stripe);
    if warmup_ns == 0 {
        return Box::new(main);
    }
    let warmup = open
        .warmup
        .arrivals(stripe)
        .take_while(move |arrival| arrival.at_ns < warmup_ns);
    Box::new(warmup.chain(main))
}

/// The arrivals of a stripe in the measured part.
fn main(open: &Open, plan: &Plan, stripe: Stripe) -> impl Iterator<Item = Arrival> + use<> {
    let warmup_ns = nanoseconds(plan.warmup);
    let end_ns = end_ns(plan);
    let limit = plan.request_limit.unwrap_or(u64::MAX);
    open.main
        .arrivals(stripe)
        .map(move |arrival| Arrival {
            at_ns: arrival.at_ns.saturating_add(warmup_ns),
            ..arrival
        })
        .take_while(move |arrival| arrival.at_ns < end_ns && arrival.index < limit)
}

struct Open {
    warmup: Schedule,
    main: Schedule,
}

/// The same load without chance.
fn evenly(shape: &Shape) -> Shape {
    let mut even = shape.clone();
    if let Shape::Rate { arrivals, .. } | Shape::RateStages { arrivals, .. } = &mut even {
        *arrivals = Spread::Constant;
    }
    even
}

fn open_schedule(shape: &Shape, seed: u64) -> Option<Open> {
    // The warm-up's randomness is not that of the run, which must not depend on there being one.
    let warmup = |rate: Rate, spread| Schedule::constant(rate, law(spread), !seed);
    match shape {
        Shape::Closed | Shape::ClosedStages { .. } => None,
        Shape::Rate { rate, arrivals } => Some(Open {
            warmup: warmup(*rate, *arrivals),
            main: Schedule::constant(*rate, law(*arrivals), seed),
        }),
        Shape::RateStages {
            start,
            stages,
            arrivals,
        } => Some(Open {
            warmup: warmup(*start, *arrivals),
            main: Schedule::ramps(
                *start,
                &stages.iter().map(in_ns).collect::<Vec<_>>(),
                law(*arrivals),
                seed,
            ),
        }),
        Shape::Burst { size, every } => {
            let burst = || Schedule::burst(*size, nanoseconds(*every));
            Some(Open {
                warmup: burst(),
                main: burst(),
            })
        }
    }
}

/// The users of a closed load; a warm-up holds its first level before anything moves.
fn users(load: &Load, warmup_ns: u64) -> Users {
    let Shape::ClosedStages { start, stages } = &load.shape else {
        return Users::constant(load.connections);
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
        Shape::Closed | Shape::ClosedStages { .. } => {
            users(&plan.load, nanoseconds(plan.warmup)).most()
        }
        _ => plan.load.connections,
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
        Some(end) => nanoseconds(plan.warmup).saturating_add(nanoseconds(end)),
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

fn law(spread: Spread) -> Law {
    match spread {
        Spread::Constant => Law::Even,
        Spread::Poisson => Law::Poisson,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::plans::{SECOND, shaped};

    fn planned(rate: Rate, arrivals: Spread, limit: Option<u64>) -> Planned {
        let plan = Plan {
            warmup: Duration::from_secs(2),
            request_limit: limit,
            ..shaped(Shape::Rate { rate, arrivals }, 1, 3_600 * SECOND)
        };
        Planned::new(&plan).expect("an open load")
    }

    #[test]
    fn the_arrivals_of_the_highest_rate_are_counted_at_once() {
        let every_ns = Rate {
            count: 1,
            per_ns: 1,
        };
        let mut all = planned(every_ns, Spread::Constant, None);
        let told = [SECOND, 3 * SECOND, 3 * SECOND, u64::MAX].map(|t_ns| all.due_before(t_ns));
        assert_eq!(told, [0, SECOND, 0, 3_599 * SECOND]);
        let mut some = planned(every_ns, Spread::Constant, Some(5));
        assert_eq!(
            (some.due_before(u64::MAX), some.due_before(u64::MAX)),
            (5, 0)
        );
    }

    #[test]
    fn where_drawing_would_outlast_the_load_the_mean_of_the_law_is_counted() {
        let every_ns = Rate {
            count: 1,
            per_ns: 1,
        };
        let mut all = planned(every_ns, Spread::Poisson, None);
        let told = [SECOND, 3 * SECOND, u64::MAX].map(|t_ns| all.due_before(t_ns));
        assert_eq!(told, [0, SECOND, 3_599 * SECOND]);
    }

    #[test]
    fn drawn_arrivals_count_from_the_end_of_the_warm_up_as_well() {
        let rate = Rate {
            count: 1,
            per_ns: SECOND,
        };
        let mut drawn = planned(rate, Spread::Poisson, Some(5));
        assert_eq!(drawn.due_before(2 * SECOND), 0);
        assert_eq!(drawn.due_before(u64::MAX), 5);
    }
}
