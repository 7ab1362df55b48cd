//! The number of planned arrivals of an open load: computed from the schedule, independently of the
//! requests sent.

use super::open_load::{OpenLoad, Queue, open_level};
use super::share;
use loadline_plan::{Level, Plan, Shape};
use loadline_schedule::{Arrival, Stripe, Stripes};

/// The number of slices of time in which arrivals are reported that are too many to be visited one
/// by one.
const SLICES: u128 = 4_096;

/// The expected number of arrivals of the measured part of an open load, without randomness.
pub(super) struct Counted(pub(super) OpenLoad);

impl Counted {
    /// Returns the counted load of a plan; `None` for a closed load, and if the arrivals are random
    /// and can be drawn in time.
    pub(super) fn undrawn(plan: &Plan) -> Option<Self> {
        let is_drawn = is_drawn(&plan.load.shape);
        (!is_drawn).then(|| OpenLoad::evenly(plan).map(Counted))?
    }

    /// Reports this arrival of a share and all later ones, in slices of time.
    pub(super) fn report_in_slices(
        &self,
        from: Arrival,
        until_ns: u64,
        share: &Stripes,
        report: &mut dyn FnMut(u64, u64),
    ) {
        let length_ns = until_ns - from.at_ns;
        let mut reported = match self.0.is_numbered {
            true => share.count(from.index),
            false => share.count(self.0.due_before(from.at_ns)),
        };
        for slice in 1..=SLICES {
            let end_ns = from.at_ns + (u128::from(length_ns) * slice / SLICES) as u64;
            let due = share.count(self.0.due_before(end_ns));
            if due > reported {
                report(end_ns - 1, due - reported);
                reported = due;
            }
        }
    }
}

/// Counts the arrivals of an open load as they fall due: those of all workers together, until a
/// change reaches the workers at different instants.
pub(crate) struct Planned {
    parts: Vec<Part>,
    workers: u32,
    /// The last instant up to which arrivals were counted.
    counted_ns: u64,
}

impl Planned {
    /// Creates the count for a plan; `None` for a closed load, which plans nothing.
    pub(crate) fn new(plan: &Plan) -> Option<Self> {
        let load = if is_drawn(&plan.load.shape) {
            OpenLoad::of(plan)
        } else {
            OpenLoad::evenly(plan)
        }?;
        let is_drawn = is_drawn(&plan.load.shape);
        Some(Planned {
            parts: vec![Part::new(load, is_drawn, Stripe::WHOLE)],
            workers: plan.threads,
            counted_ns: 0,
        })
    }

    /// Returns the number of arrivals of the measured part that fell due before `t_ns` and were not
    /// counted by an earlier call.
    pub(crate) fn due_before(&mut self, t_ns: u64) -> u64 {
        self.counted_ns = self.counted_ns.max(t_ns);
        self.parts
            .iter_mut()
            .map(|part| part.due_before(t_ns))
            .sum()
    }

    /// Changes the load of all workers at the same instant.
    pub(crate) fn change(&mut self, at_ns: u64, level: Level) {
        // The workers' shares of a limited number no longer follow from the arrivals' positions.
        if self.parts.iter().any(Part::is_limited_and_drawn) {
            self.split();
        }
        self.parts
            .iter_mut()
            .for_each(|part| part.change(at_ns, level));
    }

    /// Changes the load of one worker at an instant of its own.
    pub(crate) fn change_of(&mut self, worker: usize, at_ns: u64, level: Level) {
        self.split();
        if let Some(part) = self.parts.get_mut(worker) {
            part.change(at_ns, level);
        }
    }

    /// Counts each worker separately from here on.
    fn split(&mut self) {
        let [whole] = self.parts.as_slice() else {
            return;
        };
        if self.workers == 1 {
            return;
        }
        let of = self.workers;
        let stripes = (0..of).map(|index| Stripe { index, of });
        let part = |stripe| Part::new(whole.load.clone(), whole.queue.is_some(), stripe);
        let mut parts: Vec<Part> = stripes.map(part).collect();
        for part in &mut parts {
            part.due_before(self.counted_ns);
        }
        self.parts = parts;
    }
}

/// The arrivals of one stripe.
struct Part {
    load: OpenLoad,
    stripe: Stripe,
    /// The queue, if each arrival has to be drawn, and can be in time. Otherwise the count has a
    /// closed form: the highest rates would take longer to visit one by one than they last.
    queue: Option<Queue>,
    /// The number of arrivals counted, and its maximum.
    counted: u64,
    limit: u64,
}

impl Part {
    fn new(load: OpenLoad, is_drawn: bool, stripe: Stripe) -> Self {
        Part {
            queue: is_drawn.then(|| load.measured(stripe)),
            limit: share(load.limit, stripe),
            load,
            stripe,
            counted: 0,
        }
    }

    fn due_before(&mut self, t_ns: u64) -> u64 {
        let counted = match &mut self.queue {
            None => share(self.load.due_before(t_ns), self.stripe),
            Some(queue) => {
                let is_due = |arrival: &Arrival| arrival.at_ns < t_ns;
                let due = std::iter::from_fn(|| queue.next_if(is_due)).count();
                self.counted.saturating_add(due as u64)
            }
        };
        // An instant before that of the last call adds nothing.
        let counted = counted.min(self.limit).max(self.counted);
        let more = counted - self.counted;
        self.counted = counted;
        more
    }

    fn change(&mut self, at_ns: u64, level: Level) {
        let Some(level) = open_level(level) else {
            return;
        };
        self.load.change(at_ns, level);
        if let Some(queue) = &mut self.queue {
            self.load.requeue(queue, at_ns, &Stripes::from(self.stripe));
        }
    }

    fn is_limited_and_drawn(&self) -> bool {
        self.queue.is_some() && self.load.limit < u64::MAX
    }
}

/// The highest rate, in arrivals per second, at which arrivals are drawn to be counted. A core
/// draws some ten million, and no process sends as many: most of them remain unsent.
const MOST_DRAWN_PER_S: f64 = 1e7;

/// True if the arrivals of a load are drawn one by one to count them. If drawing would take longer
/// than the load lasts, the mean of their law is counted instead: of ten million arrivals, the
/// number of a Poisson process differs from it by some three thousand.
fn is_drawn(shape: &Shape) -> bool {
    let highest_per_s = match shape {
        Shape::Rate { rate, .. } => rate.per_second(),
        Shape::RateStages { start, stages, .. } => {
            let targets = stages.iter().map(|stage| stage.target.per_second());
            targets.fold(start.per_second(), f64::max)
        }
        Shape::Closed
        | Shape::ClosedStages { .. }
        | Shape::Burst { .. }
        | Shape::Paced
        | Shape::Scenarios { .. } => 0.0,
    };
    shape.is_random() && highest_per_s <= MOST_DRAWN_PER_S
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulated::plans::{SECOND, shaped};
    use loadline_plan::{Arrivals as Spread, Rate};
    use std::time::Duration;

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
        let reported = [SECOND, 3 * SECOND, 3 * SECOND, u64::MAX].map(|t_ns| all.due_before(t_ns));
        assert_eq!(reported, [0, SECOND, 0, 3_599 * SECOND]);
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
        let reported = [SECOND, 3 * SECOND, u64::MAX].map(|t_ns| all.due_before(t_ns));
        assert_eq!(reported, [0, SECOND, 3_599 * SECOND]);
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
