//! An open load: the schedules of its warm-up and of its measured part, and the effect of changes
//! on them.

use super::{end_ns, hold_ns, in_ns, nanoseconds, start_ns};
use loadline_plan::{Arrivals as Spread, Level, Plan, Rate, Shape};
use loadline_schedule::{self as schedule, Arrival, Arrivals, Law, Schedule, Share, Stripes};
use std::iter::Peekable;

/// The arrivals of a stripe that are not taken yet, in order. Their instants count from the begin
/// of the load.
pub(super) type Queue = Peekable<Box<dyn Iterator<Item = Arrival>>>;

/// The schedules of a whole open load.
#[derive(Clone)]
pub(super) struct OpenLoad {
    /// The schedule at the load's first level.
    warmup: Schedule,
    main: Schedule,
    /// The duration of the first level.
    hold_ns: u64,
    /// The begin of the arrivals of the load itself.
    main_ns: u64,
    end_ns: u64,
    /// The most arrivals of the measured part.
    pub(super) limit: u64,
    /// True if an arrival's index is its position among all arrivals of the measured part: the
    /// index of a random load restarts at 0 with each change.
    pub(super) is_numbered: bool,
}

impl OpenLoad {
    /// Returns the open load of a plan; `None` for a closed load.
    pub(super) fn of(plan: &Plan) -> Option<Self> {
        OpenLoad::shaped(plan, &plan.load.shape)
    }

    /// Returns the same load with even arrivals.
    pub(super) fn evenly(plan: &Plan) -> Option<Self> {
        let mut even = plan.load.shape.clone();
        if let Shape::Rate { arrivals, .. } | Shape::RateStages { arrivals, .. } = &mut even {
            *arrivals = Spread::Constant;
        }
        OpenLoad::shaped(plan, &even)
    }

    fn shaped(plan: &Plan, shape: &Shape) -> Option<Self> {
        let (warmup, main) = schedules(shape, plan.seed)?;
        Some(OpenLoad {
            warmup,
            main,
            hold_ns: hold_ns(plan),
            main_ns: nanoseconds(plan.warmup).saturating_add(start_ns(plan)),
            end_ns: end_ns(plan),
            limit: plan.request_limit.unwrap_or(u64::MAX),
            is_numbered: true,
        })
    }

    /// Returns the arrivals of a share: those of the warm-up, at the load's first level, then
    /// those of the load, up to its end.
    pub(super) fn arrivals(&self, share: impl Into<Stripes>) -> Queue {
        let share = share.into();
        if self.hold_ns == 0 {
            return self.measured(share);
        }
        let warmup = self.in_warmup(self.warmup.arrivals(&share));
        let main = self.in_main(self.main.arrivals(share));
        queue(warmup.chain(main))
    }

    /// Returns the arrivals of a share in the measured part.
    pub(super) fn measured(&self, share: impl Into<Stripes>) -> Queue {
        queue(self.in_main(self.main.arrivals(share)))
    }

    /// Changes the load from this instant on.
    pub(super) fn change(&mut self, at_ns: u64, level: schedule::Level<Rate>) {
        if at_ns < self.hold_ns {
            self.warmup.change(at_ns, level);
        }
        self.main.change(at_ns.saturating_sub(self.main_ns), level);
        self.is_numbered &= !self.main.is_random();
    }

    /// Replaces those arrivals of a queue that are due at the last change or after it.
    pub(super) fn requeue(&self, arrivals: &mut Queue, at_ns: u64, share: &Stripes) {
        let main = self.in_main(self.main.arrivals_since_change(share));
        let warmup = (at_ns < self.hold_ns)
            .then(|| self.in_warmup(self.warmup.arrivals_since_change(share)));
        let behind = warmup.into_iter().flatten().chain(main);
        replace_from(arrivals, at_ns, behind);
    }

    /// Replaces those arrivals of a queue that are due at this instant or after it by those of a
    /// share. They are walked from the begin of the load.
    pub(super) fn requeue_all(&self, arrivals: &mut Queue, at_ns: u64, share: &Stripes) {
        let all = self.arrivals(share);
        let behind = all.skip_while(move |arrival| arrival.at_ns < at_ns);
        replace_from(arrivals, at_ns, behind);
    }

    /// Returns the number of arrivals of the measured part, of all stripes, that fell due before
    /// `t_ns`.
    pub(super) fn due_before(&self, t_ns: u64) -> u64 {
        let measured_ns = t_ns.min(self.end_ns).saturating_sub(self.main_ns);
        self.main.due_before(measured_ns).min(self.limit)
    }

    fn in_warmup(&self, arrivals: Arrivals) -> impl Iterator<Item = Arrival> + use<> {
        let hold_ns = self.hold_ns;
        arrivals.take_while(move |arrival| arrival.at_ns < hold_ns)
    }

    fn in_main(&self, arrivals: Arrivals) -> impl Iterator<Item = Arrival> + use<> {
        let (main_ns, end_ns) = (self.main_ns, self.end_ns);
        // Without its position among all, an arrival is limited by the budget.
        let limit = if self.is_numbered {
            self.limit
        } else {
            u64::MAX
        };
        arrivals
            .map(move |arrival| Arrival {
                at_ns: arrival.at_ns.saturating_add(main_ns),
                ..arrival
            })
            .take_while(move |arrival| arrival.at_ns < end_ns && arrival.index < limit)
    }
}

/// Replaces the arrivals of a queue from this instant on.
fn replace_from(arrivals: &mut Queue, at_ns: u64, behind: impl Iterator<Item = Arrival> + 'static) {
    let nothing = queue(std::iter::empty());
    let before = std::mem::replace(arrivals, nothing);
    let before = before.take_while(move |arrival| arrival.at_ns < at_ns);
    *arrivals = queue(before.chain(behind));
}

fn queue(arrivals: impl Iterator<Item = Arrival> + 'static) -> Queue {
    let arrivals: Box<dyn Iterator<Item = Arrival>> = Box::new(arrivals);
    arrivals.peekable()
}

/// Converts a level of a plan to one of an open load; returns `None` if it is one of a closed load.
pub(super) fn open_level(level: Level) -> Option<schedule::Level<Rate>> {
    match level {
        Level::Share(per_mille) => Some(schedule::Level::Share(Share { per_mille })),
        Level::Rate(rate) => Some(schedule::Level::Fixed(rate)),
        Level::Users(_) => None,
        Level::Paused => Some(schedule::Level::Paused),
    }
}

/// Converts a level of a plan to one of a closed load; returns `None` if it is one of an open load.
pub(super) fn closed_level(level: Level) -> Option<schedule::Level<u32>> {
    match level {
        Level::Share(per_mille) => Some(schedule::Level::Share(Share { per_mille })),
        Level::Rate(_) => None,
        Level::Users(users) => Some(schedule::Level::Fixed(users)),
        Level::Paused => Some(schedule::Level::Paused),
    }
}

/// Returns the schedules of the warm-up and of the measured part; `None` for a closed load.
fn schedules(shape: &Shape, seed: u64) -> Option<(Schedule, Schedule)> {
    // The warm-up has its own random numbers, so that those of the run do not depend on a warm-up.
    let warmup = |rate: Rate, spread| Schedule::constant(rate, law(spread), !seed);
    match shape {
        Shape::Closed | Shape::ClosedStages { .. } | Shape::Paced | Shape::Scenarios { .. } => None,
        Shape::Rate { rate, arrivals } => Some((
            warmup(*rate, *arrivals),
            Schedule::constant(*rate, law(*arrivals), seed),
        )),
        Shape::RateStages {
            start,
            stages,
            arrivals,
        } => {
            let stages: Vec<_> = stages.iter().map(in_ns).collect();
            let main = Schedule::ramps(*start, &stages, law(*arrivals), seed);
            Some((warmup(*start, *arrivals), main))
        }
        Shape::Burst { size, every } => {
            let burst = || Schedule::burst(*size, nanoseconds(*every));
            Some((burst(), burst()))
        }
    }
}

fn law(spread: Spread) -> Law {
    match spread {
        Spread::Constant => Law::Even,
        Spread::Poisson => Law::Poisson,
    }
}
