//! Where a run settles: the transient at its beginning, and whether it ends at all.
//!
//! MSER-5 (K. P. White, M. J. Cobb, S. C. Spratt, "A comparison of five steady-state truncation
//! heuristics for simulation", Winter Simulation Conference 2000): take means of five observations,
//! and leave out the first d of them so that the squared standard error of the rest is least,
//! Σ (Y_i − Ȳ)² / (k − d)². A d at half of the run means that even the second half moves: the run
//! never settled.

use crate::normal::t_quantile;

/// Observations in a batch of MSER-5.
pub const BATCH: usize = 5;

/// The fewest batches that are judged; half of them may be left out.
pub const FEWEST_BATCHES: usize = 8;

/// Values that differ by less than this share of their mean are alike: a constant series is steady from its
/// beginning, whichever way its mean was rounded.
const ROUNDING: f64 = 1e-12;

/// How a series settles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settling {
    /// It is steady after this many observations (0: from its beginning).
    After(usize),
    /// It never settles: even its second half is not steady.
    Never,
}

/// Where a series of equally long intervals settles, by [`BATCH`]es of five; `None` if it is shorter
/// than [`FEWEST_BATCHES`] of them. Observations after the last whole batch are not looked at.
pub fn mser5(series: &[f64]) -> Option<Settling> {
    mser(series, BATCH)
}

/// As [`mser5`], with batches of another size, for series that are short already.
pub fn mser(series: &[f64], batch: usize) -> Option<Settling> {
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let means: Vec<f64> = series.chunks_exact(batch).map(mean).collect();
    if means.len() < FEWEST_BATCHES {
        return None;
    }
    let cut = best_cut(&means);
    if cut == means.len() / 2 && moves(&means[cut..]) {
        return Some(Settling::Never);
    }
    Some(Settling::After(cut * batch))
}

/// The number of batches to leave out, at most half of them; the least of several that do as well.
fn best_cut(means: &[f64]) -> usize {
    let mut best = (0, f64::INFINITY);
    for cut in 0..=means.len() / 2 {
        let error = squared_error(&means[cut..]);
        if error < best.1 {
            best = (cut, error);
        }
    }
    best.0
}

fn squared_error(rest: &[f64]) -> f64 {
    let count = rest.len() as f64;
    let mean = rest.iter().sum::<f64>() / count;
    let squares: f64 = rest.iter().map(|y| (y - mean).powi(2)).sum();
    if squares <= count * (mean * ROUNDING).powi(2) {
        return 0.0;
    }
    squares / (count * count)
}

/// Whether the mean of these values still moves: the slope of a straight line through them differs
/// from zero at the 95 % level (the t-test of a least-squares slope, in any textbook of statistics).
/// Noise alone puts the best cut at half of a short run in one case of ten; this tells it apart.
fn moves(rest: &[f64]) -> bool {
    let count = rest.len() as f64;
    let middle = (count - 1.0) / 2.0;
    let mean = rest.iter().sum::<f64>() / count;
    let offset = |index: usize| index as f64 - middle;
    let spread: f64 = (0..rest.len()).map(|index| offset(index).powi(2)).sum();
    let each = rest.iter().enumerate();
    let slope = each
        .map(|(index, y)| offset(index) * (y - mean))
        .sum::<f64>()
        / spread;
    let each = rest.iter().enumerate();
    let left = each.map(|(index, y)| (y - mean - slope * offset(index)).powi(2));
    let error = (left.sum::<f64>() / (count - 2.0) / spread).sqrt();
    slope.abs() > t_quantile(0.975, count - 2.0) * error
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use rand_distr::{Distribution, StandardNormal};

    /// Standard normal noise on top of a course.
    fn noisy(seed: u64, n: usize, course: impl Fn(usize) -> f64) -> Vec<f64> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut noise = || -> f64 { StandardNormal.sample(&mut random) };
        (0..n).map(|index| course(index) + noise()).collect()
    }

    /// How many of 1 000 seeded runs fulfil a condition.
    fn count(
        n: usize,
        course: impl Fn(usize) -> f64 + Copy,
        fulfils: impl Fn(Settling) -> bool,
    ) -> usize {
        let settling = |seed| mser5(&noisy(seed, n, course)).expect("it is long enough");
        (0..1_000).filter(|seed| fulfils(settling(*seed))).count()
    }

    #[test]
    fn the_transient_is_cut_where_it_ends() {
        let step: Vec<f64> = (0..100).map(|i| if i < 20 { 9.0 } else { 1.0 }).collect();
        assert_eq!(mser5(&step), Some(Settling::After(20)));
        for flat in [3.0, 1e-6, 0.1, 0.0] {
            assert_eq!(mser5(&[flat; 60]), Some(Settling::After(0)), "{flat}");
            assert_eq!(mser(&[flat; 14], 1), Some(Settling::After(0)), "{flat}");
        }
        let decaying = |i: usize| 50.0 * (-(i as f64) / 10.0).exp();
        let found = count(120, decaying, |settling| {
            matches!(settling, Settling::After(25..=60))
        });
        assert!(found >= 950, "{found}");
    }

    #[test]
    fn what_climbs_to_its_end_never_settles() {
        let climbing = |i: usize| i as f64;
        let found = count(60, climbing, |settling| settling == Settling::Never);
        assert!(found >= 990, "{found}");
        let ramp: Vec<f64> = (0..60).map(f64::from).collect();
        assert_eq!(mser5(&ramp), Some(Settling::Never));
    }

    #[test]
    fn noise_alone_is_steady() {
        for n in [40, 60, 300] {
            let found = count(n, |_| 0.0, |settling| settling == Settling::Never);
            assert!(found <= 30, "{n}: {found}");
        }
    }

    #[test]
    fn short_series_are_not_judged() {
        assert_eq!(mser5(&[1.0; 39]), None);
        assert_eq!(mser5(&[]), None);
        assert_eq!(mser(&[1.0; 8], 1), Some(Settling::After(0)));
    }

    /// Computed once with numpy: argmin over d of `((m[d:] - m[d:].mean())**2).sum() / (k - d)**2`,
    /// where `m` are the means of five.
    #[test]
    fn the_cut_is_that_of_numpy() {
        let value = |i: i32| f64::from(i * 37 % 23) + 400.0 * (-f64::from(i) / 4.0).exp();
        let series: Vec<f64> = (0..80).map(value).collect();
        assert_eq!(mser5(&series), Some(Settling::After(20)));
    }
}
