//! The steady part of a run: the transient at its beginning, and the test whether it ends at all.
//!
//! The *end* is found by MSER-5 (K. P. White, M. J. Cobb, S. C. Spratt, "A comparison of five
//! steady-state truncation heuristics for simulation", Winter Simulation Conference 2000): take
//! means of five observations, and leave out the first d of them so that the squared standard error
//! of the rest is least, Σ (Y_i − Ȳ)² / (k − d)². A d at half of the run whose second half still
//! moves means that the run never settled.
//!
//! How *long* it is, is not: MSER looks for the quietest rest, and cuts a quarter of a series that
//! is noise from end to end. A transient is a contiguous beginning on another level instead
//! ([`InitialTransient::After`]): its values lie on one side of what the second half shows, and
//! their median differs from the rest by more than the noise explains. One bad value in an
//! otherwise usual beginning is neither.

use crate::normal::t_quantile;

/// Observations in a batch of MSER-5.
pub const BATCH: usize = 5;

/// The fewest batches that are judged; half of them may be left out.
pub const FEWEST_BATCHES: usize = 8;

/// Values that differ by less than this share of their mean are alike: a constant series is steady
/// from its beginning, whichever way its mean was rounded.
const ROUNDING: f64 = 1e-12;

/// The share of the values at either end that are not taken for the range of a series: stalls that
/// come now and then are no reason not to see a transient, nor its noise.
const TRIMMED: f64 = 0.1;

/// The confidence required to call the beginning different from the rest: high, because the
/// beginning that is tested was chosen for its difference, and one of three series is enough (see
/// docs/design/016).
const DIFFERS: f64 = 0.9999;

/// The least difference of a beginning from the rest, as a share of the rest, that is worth a cut.
const LEAST_DIFFERENCE: f64 = 0.2;

/// The fewest values of a transient: one alone may be a stall that happened to come first.
const FEWEST_VALUES: usize = 2;

/// The confidence required to conclude that the second half still moves, in any of three series.
const MOVES: f64 = 1.0 - 0.01 / 3.0;

/// The initial transient of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialTransient {
    /// It is steady after this many observations (0: from its beginning).
    After(usize),
    /// It never settles: even its second half is not steady.
    Never,
}

/// Returns the end of the initial transient of a series of equally long intervals; `None` for fewer
/// than [`FEWEST_BATCHES`].
pub fn initial_transient(series: &[f64]) -> Option<InitialTransient> {
    if series.len() < FEWEST_BATCHES {
        return None;
    }
    let batch = (series.len() / FEWEST_BATCHES).clamp(1, BATCH);
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let means: Vec<f64> = series.chunks_exact(batch).map(mean).collect();
    let cut = best_cut(&means);
    let beginning = beginning(series);
    let is_half = cut == means.len() / 2 || beginning == series.len() / 2;
    if is_half && moves(&means[means.len() / 2..]) {
        return Some(InitialTransient::Never);
    }
    Some(InitialTransient::After(beginning))
}

/// Returns the number of values at the beginning that are on another level than the rest, at most
/// half of them.
fn beginning(series: &[f64]) -> usize {
    let half = series.len() / 2;
    let (lowest, highest) = range(&series[half..]);
    let is_above = series[0] > highest;
    if !is_above && series[0] >= lowest {
        return 0;
    }
    let is_beyond = |index: usize| {
        let value = series.get(index);
        value.is_some_and(|value| {
            if is_above {
                *value > highest
            } else {
                *value < lowest
            }
        })
    };
    // One usual value between unusual ones ends nothing.
    let goes_on =
        |index: &usize| is_beyond(*index) || (is_beyond(index + 1) && is_beyond(index + 2));
    let length = (0..half).take_while(goes_on).count();
    let beyond = (0..length).filter(|index| is_beyond(*index)).count();
    let differs = || differs(&series[..length], &series[length..], is_above);
    if beyond >= FEWEST_VALUES && differs() {
        length
    } else {
        0
    }
}

/// Between which values all but the [`TRIMMED`] ones at either end lie.
fn range(values: &[f64]) -> (f64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let trimmed = (TRIMMED * sorted.len() as f64) as usize;
    (sorted[trimmed], sorted[sorted.len() - 1 - trimmed])
}

/// True if the median of a beginning differs from the mean of the rest by more than noise explains:
/// the t-test of two means with the variance of the rest, in which far values count as the nearest
/// that are not trimmed, and which is raised for the dependence of each value on the one before it.
fn differs(beginning: &[f64], rest: &[f64], is_above: bool) -> bool {
    let (lowest, highest) = range(rest);
    let rest: Vec<f64> = rest
        .iter()
        .map(|value| value.clamp(lowest, highest))
        .collect();
    let count = rest.len() as f64;
    let mean = rest.iter().sum::<f64>() / count;
    let mut sorted = beginning.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = if is_above {
        (sorted.len() - 1) / 2
    } else {
        sorted.len() / 2
    };
    let difference = (sorted[middle] - mean).abs();
    let squares: f64 = rest.iter().map(|value| (value - mean).powi(2)).sum();
    // What is trimmed is missing in the variance: a third to a half of it, of normal noise.
    let variance = squares / (count - 1.0) * (1.0 + 4.0 * TRIMMED) * dependence(&rest, mean);
    let error = (variance / beginning.len() as f64 + variance / count).sqrt();
    difference > LEAST_DIFFERENCE * mean.abs()
        && difference > t_quantile(1.0 - (1.0 - DIFFERS) / 2.0, count - 1.0) * error
}

/// By how much dependence raises the variance of a mean: (1+ρ)/(1−ρ), with the correlation of each
/// value with the next, corrected for a short series as M. G. Kendall, *Biometrika* 41 (1954), has
/// it.
fn dependence(series: &[f64], mean: f64) -> f64 {
    let square: f64 = series.iter().map(|x| (x - mean).powi(2)).sum();
    if square == 0.0 {
        return 1.0;
    }
    let products = series
        .windows(2)
        .map(|pair| (pair[0] - mean) * (pair[1] - mean));
    let found = products.sum::<f64>() / square;
    let rho = (found + (1.0 + 3.0 * found) / series.len() as f64).clamp(0.0, 0.9);
    (1.0 + rho) / (1.0 - rho)
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

/// True if the mean of these values still moves: the slope of a straight line through them differs
/// from zero (the t-test of a least-squares slope, in any textbook of statistics). Noise alone puts
/// the best cut at half of a short run in one case of ten; this test detects that.
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
    slope.abs() > t_quantile(1.0 - (1.0 - MOVES) / 2.0, count - 2.0) * error
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

    /// Counts how many of 1 000 seeded runs fulfil a condition.
    fn count(
        n: usize,
        course: impl Fn(usize) -> f64 + Copy,
        fulfils: impl Fn(InitialTransient) -> bool,
    ) -> usize {
        let transient =
            |seed| initial_transient(&noisy(seed, n, course)).expect("it is long enough");
        (0..1_000).filter(|seed| fulfils(transient(*seed))).count()
    }

    #[test]
    fn the_transient_is_cut_where_it_ends() {
        let step: Vec<f64> = (0..100).map(|i| if i < 20 { 9.0 } else { 1.0 }).collect();
        assert_eq!(initial_transient(&step), Some(InitialTransient::After(20)));
        for flat in [3.0, 1e-6, 0.1, 0.0] {
            assert_eq!(
                initial_transient(&[flat; 60]),
                Some(InitialTransient::After(0)),
                "{flat}"
            );
            assert_eq!(
                initial_transient(&[flat; 14]),
                Some(InitialTransient::After(0)),
                "{flat}"
            );
        }
        let decaying = |i: usize| 10.0 + 50.0 * (-(i as f64) / 10.0).exp();
        let found = count(120, decaying, |transient| {
            matches!(transient, InitialTransient::After(25..=60))
        });
        assert!(found >= 950, "{found}");
        let slower = |i: usize| if i < 4 { 100.0 } else { 10.0 };
        let found = count(20, slower, |transient| {
            matches!(transient, InitialTransient::After(4..=8))
        });
        assert!(found >= 950, "{found}");
    }

    #[test]
    fn what_climbs_to_its_end_never_settles() {
        let climbing = |i: usize| i as f64;
        let found = count(60, climbing, |transient| {
            transient == InitialTransient::Never
        });
        assert!(found >= 990, "{found}");
        let ramp: Vec<f64> = (0..60).map(f64::from).collect();
        assert_eq!(initial_transient(&ramp), Some(InitialTransient::Never));
    }

    #[test]
    fn noise_alone_is_steady() {
        for n in [8, 10, 20, 40, 60, 300] {
            let found = count(
                n,
                |_| 0.0,
                |transient| transient != InitialTransient::After(0),
            );
            assert!(found <= 17, "{n}: {found}");
        }
    }

    #[test]
    fn a_bad_value_after_a_usual_beginning_is_no_transient() {
        let frozen = |i: usize| if i == 5 { 500.0 } else { 10.0 };
        let found = count(20, frozen, |transient| {
            transient != InitialTransient::After(0)
        });
        assert!(found <= 5, "{found}");
        let at_once = |i: usize| if i == 0 { 500.0 } else { 10.0 };
        let found = count(20, at_once, |transient| {
            transient != InitialTransient::After(0)
        });
        assert!(found <= 5, "{found}");
    }

    #[test]
    fn a_bad_value_in_the_rest_hides_no_transient() {
        let course = |i: usize| match i {
            0..4 => 100.0,
            17 => 1_000.0,
            _ => 10.0,
        };
        let found = count(20, course, |transient| {
            matches!(transient, InitialTransient::After(4..=6))
        });
        assert!(found >= 900, "{found}");
    }

    #[test]
    fn short_series_are_not_judged() {
        assert_eq!(initial_transient(&[1.0; 7]), None);
        assert_eq!(initial_transient(&[]), None);
        assert_eq!(
            initial_transient(&[1.0; 8]),
            Some(InitialTransient::After(0))
        );
    }

    /// Computed once with numpy: argmin over d of `((m[d:] - m[d:].mean())**2).sum() / (k - d)**2`,
    /// where `m` are the means of five.
    #[test]
    fn the_quietest_rest_is_that_of_numpy() {
        let value = |i: i32| f64::from(i * 37 % 23) + 400.0 * (-f64::from(i) / 4.0).exp();
        let series: Vec<f64> = (0..80).map(value).collect();
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
        let means: Vec<f64> = series.chunks_exact(BATCH).map(mean).collect();
        assert_eq!(best_cut(&means), 4);
    }
}
