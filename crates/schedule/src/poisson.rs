//! The Poisson law: random arrivals from a seed, at a constant rate or along ramps.
//!
//! A Poisson process of rate 1 has independent exponential gaps with mean 1; a gap is drawn by
//! inversion, −ln u with u uniform on (0, 1]. Taking the points E_k of that process through the
//! inverse of N, the integral of a rate, gives a Poisson process with that rate, constant or not
//! (time change). Both are in Luc Devroye, Non-Uniform Random Variate Generation, Springer 1986:
//! chapter II.2 for inversion, chapter VI.1 for Poisson processes.
//!
//! The stream of random numbers is ChaCha8 and the logarithm is computed in software, so the same
//! seed gives the same arrivals on every machine. Every stripe walks the whole stream and returns
//! its own arrivals, so that the arrivals do not depend on the number of stripes.

use crate::Stripe;
use crate::arrival::Arrival;
use crate::curve::{Curve, Inverse};
use crate::point::Point;
use crate::stripe::Indices;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// Poisson arrivals with the rate of a curve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Poisson {
    curve: Curve,
    seed: u64,
}

impl Poisson {
    pub(crate) fn new(curve: Curve, seed: u64) -> Self {
        Self { curve, seed }
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    pub(crate) fn curve(&self) -> &Curve {
        &self.curve
    }

    pub(crate) fn walk(&self, stripe: Stripe) -> PoissonWalk {
        PoissonWalk {
            inverse: self.curve.inverse(),
            points: Points::new(self.seed),
            indices: stripe.indices(),
        }
    }

    /// Returns the number of arrivals before `t_ns`. Draws the points one by one: an arrival is
    /// before t if its point lies below N(t).
    pub(crate) fn due_before(&self, t_ns: u64) -> u64 {
        let ticks = self.curve.ticks_before(t_ns);
        Points::new(self.seed).count_below(ticks, self.curve.ticks_per_arrival())
    }
}

/// One stripe of a [`Poisson`].
#[derive(Clone, Debug)]
pub(crate) struct PoissonWalk {
    inverse: Inverse,
    points: Points,
    indices: Indices,
}

impl Iterator for PoissonWalk {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        let index = self.indices.next()?;
        let ticks_per_arrival = self.inverse.ticks_per_arrival();
        let ticks = self.points.ascend_to(index).in_ticks(ticks_per_arrival);
        let at_ns = self.inverse.instant_of(ticks)?;
        Some(Arrival { index, at_ns })
    }
}

/// The points of a Poisson process of rate 1.
#[derive(Clone, Debug)]
pub(crate) struct Points {
    random: ChaCha8Rng,
    /// The number of points drawn so far.
    drawn: u64,
    /// The last of them.
    last: Point,
}

impl Points {
    fn new(seed: u64) -> Self {
        // The label separates this stream from any other that is drawn from the run's seed.
        let mut key = *b"........loadline poisson arrival";
        key[..8].copy_from_slice(&seed.to_le_bytes());
        Self {
            random: ChaCha8Rng::from_seed(key),
            drawn: 0,
            last: Point(0),
        }
    }

    /// Returns the points of another stream of the same seed.
    pub(crate) fn of_stream(seed: u64, stream: u64) -> Self {
        let mut points = Points::new(seed);
        points.random.set_stream(stream);
        points
    }

    /// Returns the number of points before this many ticks.
    pub(crate) fn count_below(mut self, ticks: u128, ticks_per_arrival: u64) -> u64 {
        let mut count = 0;
        while self.ascend_to(count).in_ticks(ticks_per_arrival) < ticks {
            count += 1;
        }
        count
    }

    /// Draws up to the point with this index, which must not lie before the last one drawn.
    pub(crate) fn ascend_to(&mut self, index: u64) -> Point {
        while self.drawn <= index {
            self.last.0 += self.gap();
            self.drawn += 1;
        }
        self.last
    }

    /// Draws an exponential variate with mean 1, in 2^-64.
    pub(crate) fn gap(&mut self) -> u128 {
        const TWO_TO_53: f64 = (1u64 << 53) as f64;
        const TWO_TO_64: f64 = TWO_TO_53 * 2048.0;
        let uniform = ((self.random.next_u64() >> 11) + 1) as f64 / TWO_TO_53;
        (-libm::log(uniform) * TWO_TO_64) as u128
    }
}

#[cfg(test)]
mod tests;
