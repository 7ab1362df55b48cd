//! Is B slower than A? The ratio of two measurements, with its interval.
//!
//! Both sides are resampled: drawn again from what was measured, with replacement, many times over,
//! and the spread of the ratios is the interval (B. Efron, R. J. Tibshirani, *An Introduction to
//! the Bootstrap*, Chapman & Hall 1993). What is drawn is the largest piece that is independent of
//! the others:
//!
//! - [`compare_runs`]: whole runs, each one number. This is the interval that a restart, a
//!   neighbour or the weather of the machine is in.
//! - [`compare_pairs`]: runs that took turns, in pairs, so that what drifts meanwhile is in both of
//!   a pair and not in their ratio.
//! - [`compare_quantiles`], [`compare_means`]: stretches of one run a side, for who has no repeats.
//!   What differs from run to run is not in it.
//!
//! From few pieces the plain bootstrap is too narrow, by the factor √((n−1)/n) and by that of the
//! normal distribution against Student's t (T. C. Hesterberg, "What teachers should know about the
//! bootstrap", *The American Statistician* 69 (2015), section 4). Here both factors widen the
//! deviations themselves and not the percentiles that are read, because the bootstrap of few pieces
//! ends where they end. The degrees of freedom are those of B. L. Welch, "The generalization of
//! 'Student's' problem when several different population variances are involved", *Biometrika* 34
//! (1947).
//!
//! Several comparisons of the same two sides go wrong more often than one of them. For m
//! comparisons whose intervals are to hold all at once, at 95 %, use 1 − 0.05/m for each (C. E.
//! Bonferroni, 1936): see [`confidence_of_each`].

mod noise;
mod pieces;

pub use noise::{Noise, VISIBLE_IN};
pub use pieces::Stretches;

use crate::normal::{normal_quantile, t_quantile};
use pieces::{Logarithms, Means, Pieces, Quantile};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// The number of resamples of both sides.
const DRAWS: usize = 2_000;

/// The share of comparisons in which "this many more runs would decide" is to come true.
const POWER: f64 = 0.8;

/// The degrees of freedom of the stretches of one run, of which there are at most 30.
const FREEDOM: f64 = 29.0;

/// More runs than this are not worth advising.
const MOST_RUNS: f64 = 1_000.0;

/// The ratio of B to A, with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// B over A, as measured.
    pub ratio: f64,
    /// The lower end of its interval.
    pub lower: f64,
    /// The upper end of its interval.
    pub upper: f64,
    /// The confidence of the interval (0.95, say).
    pub confidence: f64,
}

/// The conclusion from a [`Ratio`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// B is smaller than A.
    Smaller,
    /// B is larger than A.
    Larger,
    /// The difference, if there is one, is lost in the noise.
    CannotTell,
}

impl Ratio {
    /// Returns whether B is smaller or larger; it is so only if the whole interval lies on that
    /// side.
    pub fn decision(self) -> Decision {
        if self.upper < 1.0 {
            Decision::Smaller
        } else if self.lower > 1.0 {
            Decision::Larger
        } else {
            Decision::CannotTell
        }
    }

    /// The interval with both ends moved out by this share, for what is only known that exactly (a
    /// histogram of three digits: 0.001).
    pub fn widened(self, share: f64) -> Ratio {
        Ratio {
            lower: self.lower / (1.0 + share),
            upper: self.upper * (1.0 + share),
            ..self
        }
    }

    /// The interval at a higher confidence, which the resamples are too few to show: its deviations
    /// are lengthened by the quantiles of Student's distribution, with no more degrees of freedom
    /// than the stretches of one run give.
    pub fn at_confidence(self, confidence: f64) -> Ratio {
        let quantile = |confidence: f64| t_quantile(1.0 - (1.0 - confidence) / 2.0, FREEDOM);
        let factor = quantile(confidence) / quantile(self.confidence);
        let moved = |end: f64| self.ratio * (end / self.ratio).powf(factor);
        Ratio {
            lower: moved(self.lower),
            upper: moved(self.upper),
            confidence,
            ..self
        }
    }

    /// Returns about how many more runs of each side (of as many as there are) would decide a
    /// difference as large as the measured one, in four cases of five: the interval shrinks as the
    /// square root of their number. 0 if it is decided already; `None` if a thousand would not
    /// suffice.
    pub fn more_runs(self, runs: usize) -> Option<u64> {
        if self.decision() != Decision::CannotTell {
            return Some(0);
        }
        let half = (self.upper.ln() - self.lower.ln()) / 2.0;
        let two_sided = normal_quantile(1.0 - (1.0 - self.confidence) / 2.0);
        let powered = (two_sided + normal_quantile(POWER)) / two_sided;
        let needed = runs as f64 * (powered * half / self.ratio.ln()).powi(2);
        (needed <= MOST_RUNS).then(|| (needed.ceil() as u64).saturating_sub(runs as u64).max(1))
    }
}

/// The confidence that each of this many comparisons needs, for all of them together to hold at
/// `confidence`.
pub fn confidence_of_each(comparisons: usize, confidence: f64) -> f64 {
    1.0 - (1.0 - confidence) / comparisons.max(1) as f64
}

/// The ratio of two sets of runs, each run one number above zero (its p99, say): of their geometric
/// means. `None` if a side has fewer than two runs, or one that is not above zero.
pub fn compare_runs(base: &[f64], with: &[f64], confidence: f64, seed: u64) -> Option<Ratio> {
    let sides = (Logarithms::of(base)?, Logarithms::of(with)?);
    bootstrap(&sides.0, &sides.1, confidence, seed)
}

/// The ratio of runs in pairs (first with first, and so on), each run one number above zero: the
/// geometric mean of the ratios of the pairs, with Student's interval of the mean of their
/// logarithms (the paired t-test, W. S. Gosset, "The probable error of a mean", *Biometrika* 6
/// (1908)). `None` if there are fewer than two pairs, one side has more runs, or one is not above
/// zero.
pub fn compare_pairs(base: &[f64], with: &[f64], confidence: f64) -> Option<Ratio> {
    let positive = base.iter().chain(with).all(|run| *run > 0.0);
    if base.len() < 2 || base.len() != with.len() || !positive {
        return None;
    }
    let pairs = base.iter().zip(with);
    let logarithms: Vec<f64> = pairs.map(|(base, with)| (with / base).ln()).collect();
    let count = logarithms.len() as f64;
    let mean = logarithms.iter().sum::<f64>() / count;
    let squares: f64 = logarithms.iter().map(|x| (x - mean).powi(2)).sum();
    let error = (squares / (count - 1.0) / count).sqrt();
    let half = error * t_quantile(1.0 - (1.0 - confidence) / 2.0, count - 1.0);
    Some(Ratio {
        ratio: mean.exp(),
        lower: (mean - half).exp(),
        upper: (mean + half).exp(),
        confidence,
    })
}

/// The ratio of the means of two series, each value a stretch of a run (the rate of a second, say).
/// `None` if a side has fewer than two values, or a mean that is not above zero.
pub fn compare_means(base: &[f64], with: &[f64], confidence: f64, seed: u64) -> Option<Ratio> {
    let sides = (Means::of(base)?, Means::of(with)?);
    bootstrap(&sides.0, &sides.1, confidence, seed)
}

/// The ratio of a quantile (between 0 and 1) of two runs in [`Stretches`]. `None` if a side has
/// fewer than two of them, or its quantile is zero.
pub fn compare_quantiles(
    base: &Stretches,
    with: &Stretches,
    quantile: f64,
    confidence: f64,
    seed: u64,
) -> Option<Ratio> {
    let sides = (Quantile::of(base, quantile)?, Quantile::of(with, quantile)?);
    bootstrap(&sides.0, &sides.1, confidence, seed)
}

/// A side that was measured, and what it became each time it was drawn again; all as logarithms.
struct Side {
    measured: f64,
    pieces: f64,
    deviations: Vec<f64>,
}

impl Side {
    fn draw(pieces: &impl Pieces, random: &mut ChaCha8Rng) -> Side {
        let count = pieces.count();
        let measured = pieces.logarithm(&vec![1; count]);
        let short = (count as f64 / (count as f64 - 1.0)).sqrt();
        let mut weights = vec![0; count];
        let mut deviation = |_| {
            draw_weights(&mut weights, random);
            short * (pieces.logarithm(&weights) - measured)
        };
        Side {
            measured,
            pieces: count as f64,
            deviations: (0..DRAWS).map(&mut deviation).collect(),
        }
    }

    fn variance(&self) -> f64 {
        self.deviations.iter().map(|x| x * x).sum::<f64>() / self.deviations.len() as f64
    }
}

/// Draws the number of times that each piece is taken.
fn draw_weights(weights: &mut [u32], random: &mut ChaCha8Rng) {
    let count = weights.len();
    weights.fill(0);
    for _ in 0..count {
        // The high half of a product: as even as it need be for a few thousand pieces.
        let drawn = (u64::from(random.next_u32()) * count as u64) >> 32;
        weights[drawn as usize] += 1;
    }
}

fn bootstrap(base: &impl Pieces, with: &impl Pieces, confidence: f64, seed: u64) -> Option<Ratio> {
    if base.count() < 2 || with.count() < 2 {
        return None;
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let base = Side::draw(base, &mut random);
    let with = Side::draw(with, &mut random);
    let mut deviations: Vec<f64> = (with.deviations.iter())
        .zip(&base.deviations)
        .map(|(with, base)| with - base)
        .collect();
    deviations.sort_by(f64::total_cmp);
    let tail = (1.0 - confidence) / 2.0;
    let at = |share: f64| deviations[((share * DRAWS as f64) as usize).min(DRAWS - 1)];
    let widening = widening(&base, &with, tail);
    let measured = with.measured - base.measured;
    let ratio = Ratio {
        ratio: measured.exp(),
        lower: (measured + widening * at(tail)).exp(),
        upper: (measured + widening * at(1.0 - tail)).exp(),
        confidence,
    };
    measured.is_finite().then_some(ratio)
}

/// By how much Student's t is wider than the normal distribution, with Welch's degrees of freedom.
fn widening(base: &Side, with: &Side, tail: f64) -> f64 {
    let (of_base, of_with) = (base.variance(), with.variance());
    let parts = of_base.powi(2) / (base.pieces - 1.0) + of_with.powi(2) / (with.pieces - 1.0);
    if parts == 0.0 {
        return 1.0;
    }
    let freedom = (of_base + of_with).powi(2) / parts;
    t_quantile(1.0 - tail, freedom) / normal_quantile(1.0 - tail)
}

#[cfg(test)]
mod tests;
