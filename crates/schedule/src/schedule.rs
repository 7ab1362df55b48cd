//! The schedule of an open load: which arrival starts when.

use crate::burst::{Burst, BurstWalk};
use crate::constant::{Constant, ConstantWalk};
use crate::curve::{Curve, CurveWalk};
use crate::poisson::{Poisson, PoissonWalk};
use crate::{Rate, Stage, Stripe, stage};
use std::iter::FusedIterator;

/// How arrivals are spread around their rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// Arrival k when the rate's integral passes k.
    Even,
    /// A Poisson process: independent exponential gaps with mean 1 from a ChaCha8 stream of the
    /// seed, summed, and the sums taken through the inverse of the rate's integral (Luc Devroye,
    /// Non-Uniform Random Variate Generation, Springer 1986, chapters II.2 and VI.1). The same seed
    /// gives the same arrivals on every machine and for every number of stripes.
    Poisson,
}

/// One intended start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Its number among the arrivals of all stripes, from 0.
    pub index: u64,
    /// Its instant in nanoseconds from the run's start.
    pub at_ns: u64,
}

/// An open load's arrivals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    course: Course,
    end_ns: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Course {
    Burst(Burst),
    Constant(Constant),
    Poisson(Poisson),
    Ramps(Curve),
}

impl Schedule {
    /// Arrivals at the same rate for all time. Under the even law arrival k is at
    /// ⌊k · `per_ns` / `count`⌋ exactly, and the seed is without effect.
    ///
    /// # Panics
    ///
    /// When the rate's period is zero.
    pub fn constant(rate: Rate, law: Law, seed: u64) -> Self {
        let course = match law {
            Law::Even => Course::Constant(Constant::new(rate)),
            Law::Poisson => Course::Poisson(Poisson::new(Curve::constant(rate), seed)),
        };
        Self {
            course,
            end_ns: None,
        }
    }

    /// A rate that moves linearly from `start` through the stages' targets; no arrivals at or after
    /// their end.
    ///
    /// The rates are brought to a common denominator. Should that not fit in 62 bits (which decimal
    /// rates per second, minute and hour do, mixed as they may be), they are rounded to 2^-63
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
        Self {
            course,
            end_ns: Some(stage::end_ns(stages)),
        }
    }

    /// `size` arrivals at once at 0, `every_ns`, 2 · `every_ns` and so on for all time.
    ///
    /// # Panics
    ///
    /// When `every_ns` is zero.
    pub fn burst(size: u64, every_ns: u64) -> Self {
        Self {
            course: Course::Burst(Burst::new(size, every_ns)),
            end_ns: None,
        }
    }

    /// When the stages of ramps end, in nanoseconds from the run's start. None for the others,
    /// which have no end of their own.
    pub fn end_ns(&self) -> Option<u64> {
        self.end_ns
    }

    /// The stripe's arrivals, ascending in index and time.
    ///
    /// A Poisson stripe draws the arrivals of the others too and drops them, at the cost of a
    /// random number and a logarithm for each.
    ///
    /// # Panics
    ///
    /// When the stripe's index is not less than the number of stripes.
    pub fn arrivals(&self, stripe: Stripe) -> Arrivals {
        let walk = match &self.course {
            Course::Burst(burst) => Walk::Burst(burst.walk(stripe)),
            Course::Constant(constant) => Walk::Constant(constant.walk(stripe)),
            Course::Poisson(poisson) => Walk::Poisson(Box::new(poisson.walk(stripe))),
            Course::Ramps(curve) => Walk::Ramps(curve.walk(stripe)),
        };
        Arrivals { walk }
    }

    /// How many arrivals of all stripes have an `at_ns` less than `t_ns`; at most `u64::MAX`.
    ///
    /// Computed at once for the even law and bursts. For the Poisson law it draws the arrivals one
    /// by one, so the time it takes grows with the answer.
    pub fn due_before(&self, t_ns: u64) -> u64 {
        match &self.course {
            Course::Burst(burst) => burst.due_before(t_ns),
            Course::Constant(constant) => constant.due_before(t_ns),
            Course::Poisson(poisson) => poisson.due_before(t_ns),
            Course::Ramps(curve) => curve.due_before(t_ns),
        }
    }
}

/// The arrivals of one stripe of a [`Schedule`], ascending in index and time.
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
}

impl Iterator for Arrivals {
    type Item = Arrival;

    #[inline]
    fn next(&mut self) -> Option<Arrival> {
        match &mut self.walk {
            Walk::Burst(walk) => walk.next(),
            Walk::Constant(walk) => walk.next(),
            Walk::Poisson(walk) => walk.next(),
            Walk::Ramps(walk) => walk.next(),
        }
    }
}

impl FusedIterator for Arrivals {}

#[cfg(test)]
mod tests;
