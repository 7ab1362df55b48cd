//! The schedule of an open load: the instants at which its arrivals start.

use crate::arrival::Arrival;
use crate::burst::{Burst, BurstWalk};
use crate::constant::{Constant, ConstantWalk};
use crate::curve::{Curve, CurveWalk};
use crate::level::{Level, Share};
use crate::poisson::{Poisson, PoissonWalk};
use crate::segment::{Phase, Segment, SegmentWalk};
use crate::shared::SharedWalk;
use crate::{Rate, Stage, Stripe, Stripes, stage};
use std::iter::FusedIterator;

/// The spread of arrivals around their rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// Evenly: arrival k when the rate's integral passes k.
    Even,
    /// A Poisson process: independent exponential gaps with mean 1 from a ChaCha8 stream of the
    /// seed, summed, and the sums taken through the inverse of the rate's integral (Luc Devroye,
    /// Non-Uniform Random Variate Generation, Springer 1986, chapters II.2 and VI.1). The same seed
    /// gives the same arrivals on every machine and for every number of stripes.
    Poisson,
}

/// The arrivals of an open load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    course: Course,
    end_ns: Option<u64>,
    /// The segments that changes have begun, ascending in time.
    segments: Vec<Segment>,
    /// The number of changes.
    changes: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Course {
    Burst(Burst),
    Constant(Constant),
    Poisson(Poisson),
    Ramps(Curve),
}

impl Schedule {
    /// Creates a schedule with the same rate for all time. Under the even law arrival k is at ⌊k ·
    /// `per_ns` / `count`⌋ exactly, and the seed has no effect.
    ///
    /// # Panics
    ///
    /// When the rate's period is zero.
    pub fn constant(rate: Rate, law: Law, seed: u64) -> Self {
        let course = match law {
            Law::Even => Course::Constant(Constant::new(rate)),
            Law::Poisson => Course::Poisson(Poisson::new(Curve::constant(rate), seed)),
        };
        Self::planned(course, None)
    }

    /// Creates a schedule whose rate moves linearly from `start` through the stages' targets; it
    /// has no arrivals at or after their end.
    ///
    /// The rates are converted to a common denominator. If that does not fit in 62 bits (decimal
    /// rates per second, minute and hour always do, in any mixture), they are rounded to 2^-63
    /// arrivals per nanosecond: an error of one part in 10^10 at one arrival a second, less at
    /// higher rates. Everything else is exact.
    ///
    /// # Panics
    ///
    /// When a rate's period is zero.
    pub fn ramps(start: Rate, stages: &[Stage<Rate>], law: Law, seed: u64) -> Self {
        let curve = Curve::ramps(start, stages);
        let course = match law {
            Law::Even => Course::Ramps(curve),
            Law::Poisson => Course::Poisson(Poisson::new(curve, seed)),
        };
        Self::planned(course, Some(stage::end_ns(stages)))
    }

    /// Creates a schedule of `size` arrivals at once at 0, `every_ns`, 2 · `every_ns` and so on for
    /// all time.
    ///
    /// # Panics
    ///
    /// When `every_ns` is zero.
    pub fn burst(size: u64, every_ns: u64) -> Self {
        Self::planned(Course::Burst(Burst::new(size, every_ns)), None)
    }

    fn planned(course: Course, end_ns: Option<u64>) -> Self {
        Self {
            course,
            end_ns,
            segments: Vec::new(),
            changes: 0,
        }
    }

    /// Changes the load from `at_ns` on; arrivals before that instant are unaffected. A fixed rate
    /// continues for all time. It does not apply to bursts, which stay as planned.
    ///
    /// # Panics
    ///
    /// When the instant lies before that of the last change, or a rate's period is zero.
    pub fn change(&mut self, at_ns: u64, level: Level<Rate>) {
        let last_ns = self.segments.last().map(|last| last.from_ns);
        assert!(last_ns <= Some(at_ns), "changes come in the order of time");
        self.changes += 1;
        let segment = self.segment(at_ns, level);
        // Segments of no duration have no effect.
        self.segments.retain(|earlier| earlier.from_ns < at_ns);
        self.segments.push(segment);
    }

    fn segment(&self, at_ns: u64, level: Level<Rate>) -> Segment {
        let curve = |planned: &dyn Fn(Share) -> Curve| match level {
            Level::Share(share) => Some(planned(share)),
            Level::Fixed(rate) => Some(Curve::constant(rate)),
            Level::Paused => None,
        };
        match &self.course {
            Course::Constant(constant) => {
                let curve = curve(&|share| Curve::constant(share.of_rate(constant.rate())));
                let planned = || Phase::of_constant(*constant, at_ns);
                Segment::even(at_ns, curve, self.phase_at(at_ns, planned))
            }
            Course::Ramps(ramps) => {
                let curve = curve(&|share| ramps.scaled(share));
                let planned = || Phase::of_curve(ramps, at_ns);
                Segment::even(at_ns, curve, self.phase_at(at_ns, planned))
            }
            Course::Poisson(poisson) => {
                let curve = curve(&|share| poisson.curve().scaled(share));
                Segment::poisson(at_ns, curve, poisson.seed(), self.changes)
            }
            Course::Burst(burst) => {
                let size = match level {
                    Level::Share(share) => share.of_count(burst.size()),
                    Level::Fixed(_) => burst.size(),
                    Level::Paused => 0,
                };
                Segment::burst(at_ns, size, burst.every_ns(), self.due_before(at_ns))
            }
        }
    }

    /// Returns the phase of an even load at an instant that is not before the last change.
    fn phase_at(&self, t_ns: u64, planned: impl Fn() -> Phase) -> Phase {
        let changed = self.segments.last().and_then(|last| last.phase_at(t_ns));
        changed.unwrap_or_else(planned)
    }

    /// True if the instants of arrivals are random.
    pub fn is_random(&self) -> bool {
        matches!(self.course, Course::Poisson(_))
    }

    /// Returns the end of the stages of ramps, in nanoseconds from the run's start. `None` for
    /// other schedules, which have no end of their own.
    pub fn end_ns(&self) -> Option<u64> {
        self.end_ns
    }

    /// Returns the arrivals of a share, ascending in index and time.
    ///
    /// A Poisson share also draws the arrivals of the others and drops them, at the cost of a
    /// random number and a logarithm for each.
    ///
    /// # Panics
    ///
    /// When the index of a stripe is not less than the number of stripes.
    pub fn arrivals(&self, share: impl Into<Stripes>) -> Arrivals {
        self.shared(share.into(), |stripe| {
            let planned = self.planned_walk(stripe);
            match self.segments.is_empty() {
                true => planned,
                false => {
                    Walk::Segments(Box::new(SegmentsWalk::new(planned, &self.segments, stripe)))
                }
            }
        })
    }

    /// Returns the arrivals of a share that are due at the last change or after it; all of them if
    /// there was no change.
    ///
    /// # Panics
    ///
    /// When the index of a stripe is not less than the number of stripes.
    pub fn arrivals_since_change(&self, share: impl Into<Stripes>) -> Arrivals {
        let share = share.into();
        match self.segments.last() {
            None => self.arrivals(share),
            Some(last) => self.shared(share, |stripe| Walk::Segment(Box::new(last.walk(stripe)))),
        }
    }

    /// Returns the arrivals of a share, given those of a stripe.
    fn shared(&self, share: Stripes, walk: impl Fn(Stripe) -> Walk) -> Arrivals {
        let walk = match share.stripes() {
            [stripe] => walk(*stripe),
            _ if self.is_random() => {
                let whole = walk(Stripe::WHOLE);
                Walk::Shared(Box::new(SharedWalk::filtered(
                    Arrivals { walk: whole },
                    share,
                )))
            }
            stripes => {
                let walks = stripes.iter().map(|stripe| Arrivals {
                    walk: walk(*stripe),
                });
                Walk::Shared(Box::new(SharedWalk::merged(walks)))
            }
        };
        Arrivals { walk }
    }

    fn planned_walk(&self, stripe: Stripe) -> Walk {
        match &self.course {
            Course::Burst(burst) => Walk::Burst(burst.walk(stripe)),
            Course::Constant(constant) => Walk::Constant(constant.walk(stripe)),
            Course::Poisson(poisson) => Walk::Poisson(Box::new(poisson.walk(stripe))),
            Course::Ramps(curve) => Walk::Ramps(curve.walk(stripe)),
        }
    }

    /// Returns the number of arrivals of all stripes with an `at_ns` less than `t_ns`; at most
    /// `u64::MAX`.
    ///
    /// Computed at once for the even law and bursts. For the Poisson law the arrivals are drawn one
    /// by one, so the time grows with the result.
    pub fn due_before(&self, t_ns: u64) -> u64 {
        let Some(first) = self.segments.first() else {
            return self.planned_before(t_ns);
        };
        let ends = self.segments.iter().skip(1).map(|next| next.from_ns);
        let segments = self.segments.iter().zip(ends.chain([u64::MAX]));
        segments
            .map(|(segment, end_ns)| segment.due_before(t_ns.min(end_ns).max(segment.from_ns)))
            .fold(
                self.planned_before(t_ns.min(first.from_ns)),
                u64::saturating_add,
            )
    }

    fn planned_before(&self, t_ns: u64) -> u64 {
        match &self.course {
            Course::Burst(burst) => burst.due_before(t_ns),
            Course::Constant(constant) => constant.due_before(t_ns),
            Course::Poisson(poisson) => poisson.due_before(t_ns),
            Course::Ramps(curve) => curve.due_before(t_ns),
        }
    }
}

/// The arrivals of a share of a [`Schedule`], ascending in index and time.
#[derive(Clone, Debug)]
pub struct Arrivals {
    walk: Walk,
}

#[derive(Clone, Debug)]
enum Walk {
    Burst(BurstWalk),
    Constant(ConstantWalk),
    /// Boxed because the state of the random stream is several times larger than all the others.
    Poisson(Box<PoissonWalk>),
    Ramps(CurveWalk),
    /// Boxed, like the next one, because only a load that was changed needs them.
    Segment(Box<SegmentWalk>),
    Segments(Box<SegmentsWalk>),
    /// Boxed, because only a share that was handed on needs it.
    Shared(Box<SharedWalk<Arrivals>>),
}

/// The planned arrivals up to the first change, and those of each segment up to the next one.
#[derive(Clone, Debug)]
struct SegmentsWalk {
    current: Walk,
    until_ns: Option<u64>,
    /// The segments after the current one, the next one last.
    later: Vec<(u64, SegmentWalk)>,
}

impl SegmentsWalk {
    fn new(planned: Walk, segments: &[Segment], stripe: Stripe) -> Self {
        let segments = segments.iter().rev();
        let later: Vec<_> = segments
            .map(|segment| (segment.from_ns, segment.walk(stripe)))
            .collect();
        SegmentsWalk {
            current: planned,
            until_ns: later.last().map(|(from_ns, _)| *from_ns),
            later,
        }
    }

    fn next(&mut self) -> Option<Arrival> {
        loop {
            let arrival = self.current.next();
            let is_due = |arrival: &Arrival| self.until_ns.is_none_or(|end| arrival.at_ns < end);
            if let Some(arrival) = arrival.filter(is_due) {
                return Some(arrival);
            }
            let (_, next) = self.later.pop()?;
            self.current = Walk::Segment(Box::new(next));
            self.until_ns = self.later.last().map(|(from_ns, _)| *from_ns);
        }
    }
}

impl Walk {
    #[inline]
    fn next(&mut self) -> Option<Arrival> {
        match self {
            Walk::Burst(walk) => walk.next(),
            Walk::Constant(walk) => walk.next(),
            Walk::Poisson(walk) => walk.next(),
            Walk::Ramps(walk) => walk.next(),
            Walk::Segment(walk) => walk.next(),
            Walk::Segments(walk) => walk.next(),
            Walk::Shared(walk) => walk.next(),
        }
    }
}

impl Iterator for Arrivals {
    type Item = Arrival;

    #[inline]
    fn next(&mut self) -> Option<Arrival> {
        self.walk.next()
    }
}

impl FusedIterator for Arrivals {}

#[cfg(test)]
mod tests;
