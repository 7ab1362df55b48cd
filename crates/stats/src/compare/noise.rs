//! The smallest difference that a comparison can show, from the noise of one side, before the other
//! side exists.

use super::pieces::{Means, Pieces, Quantile};
use super::{Side, Stretches};
use crate::normal::{normal_quantile, t_quantile};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The share of comparisons in which a change that is called visible is found.
pub const VISIBLE_IN: f64 = 0.9;

/// The random error of the estimate of a side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// The standard error of the logarithm of the estimate.
    pub error: f64,
    /// The number of independent pieces of the estimate, at least two.
    pub pieces: f64,
}

impl Noise {
    /// Returns the noise of runs, each one number above zero; `None` if there are fewer than two.
    pub fn of_runs(runs: &[f64]) -> Option<Noise> {
        if runs.len() < 2 || runs.iter().any(|run| *run <= 0.0) {
            return None;
        }
        let count = runs.len() as f64;
        let logarithms = runs.iter().map(|run| run.ln());
        let mean = logarithms.clone().sum::<f64>() / count;
        let squares: f64 = logarithms.map(|x| (x - mean).powi(2)).sum();
        Some(Noise {
            error: (squares / (count - 1.0) / count).sqrt(),
            pieces: count,
        })
    }

    /// Returns the noise of a quantile (between 0 and 1) of one run; `None` if it has fewer than
    /// two stretches.
    pub fn of_quantile(run: &Stretches, quantile: f64, seed: u64) -> Option<Noise> {
        Noise::of(&Quantile::of(run, quantile)?, seed)
    }

    /// Returns the noise of the mean of one run, each value a stretch of it; `None` if there are
    /// fewer than two.
    pub fn of_mean(values: &[f64], seed: u64) -> Option<Noise> {
        Noise::of(&Means::of(values)?, seed)
    }

    fn of(pieces: &impl Pieces, seed: u64) -> Option<Noise> {
        if pieces.count() < 2 {
            return None;
        }
        let side = Side::draw(pieces, &mut ChaCha8Rng::seed_from_u64(seed));
        Some(Noise {
            error: side.variance().sqrt(),
            pieces: side.pieces,
        })
    }

    /// Returns the noise of a side with this many times as many pieces of the same kind.
    pub fn of_times_as_many(self, times: f64) -> Noise {
        Noise {
            error: self.error / times.sqrt(),
            pieces: (self.pieces * times).max(2.0),
        }
    }

    /// By how many times, at least, a figure of another side has to lie beyond a limit so that a
    /// comparison at this confidence finds it in [`VISIBLE_IN`] of all cases: t for the interval
    /// and the normal quantile for the power, as in the planning of samples for a t-test (J. Cohen,
    /// *Statistical Power Analysis for the Behavioral Sciences*, 1988).
    pub fn visible(self, other: Noise, confidence: f64) -> f64 {
        let freedom = freedom(self, other);
        let interval = t_quantile(1.0 - (1.0 - confidence) / 2.0, freedom);
        ((interval + normal_quantile(VISIBLE_IN)) * self.error.hypot(other.error)).exp()
    }
}

/// Welch's degrees of freedom.
fn freedom(one: Noise, other: Noise) -> f64 {
    let (first, second) = (one.error.powi(2), other.error.powi(2));
    let parts = first.powi(2) / (one.pieces - 1.0) + second.powi(2) / (other.pieces - 1.0);
    match parts > 0.0 {
        true => (first + second).powi(2) / parts,
        false => one.pieces + other.pieces - 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::compare_runs;
    use rand_chacha::rand_core::RngCore;

    fn runs(count: usize, level: f64, random: &mut ChaCha8Rng) -> Vec<f64> {
        let mut drawn = |_| {
            let share = (f64::from(random.next_u32()) + 0.5) / 4_294_967_296.0;
            level * (0.03 * normal_quantile(share)).exp()
        };
        (0..count).map(&mut drawn).collect()
    }

    #[test]
    fn noise_shrinks_with_more_of_the_same_and_few_have_none() {
        assert_eq!(Noise::of_runs(&[1.0]), None);
        assert_eq!(Noise::of_runs(&[1.0, 0.0]), None);
        let noise = Noise::of_runs(&[1.0, 1.1, 0.9, 1.0]).expect("four runs");
        let more = noise.of_times_as_many(4.0);
        assert!((more.error - noise.error / 2.0).abs() < 1e-12);
        assert!(more.visible(more, 0.95) < noise.visible(noise, 0.95));
        let still = Noise::of_runs(&[2.0; 3]).expect("three runs");
        assert_eq!(still.visible(still, 0.95), 1.0);
    }

    /// A change as large as is called visible is found about as often as is promised. The noise is
    /// that of very many runs, so that what is tried is the formula.
    #[test]
    fn what_is_called_visible_is_found_that_often() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let known = Noise::of_runs(&runs(4_000, 1.0, &mut random)).expect("many runs");
        let six = known.of_times_as_many(6.0 / 4_000.0);
        let change = six.visible(six, 0.95);
        assert!((1.05..1.08).contains(&change), "{change}");
        let found = (0..200).filter(|_| {
            let sides = (runs(6, 1.0, &mut random), runs(6, change, &mut random));
            let ratio = compare_runs(&sides.0, &sides.1, 0.95, 1).expect("six runs a side");
            ratio.lower > 1.0
        });
        let found = found.count();
        assert!((165..=195).contains(&found), "{found} of 200");
    }
}
