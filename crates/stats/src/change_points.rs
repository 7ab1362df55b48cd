//! The places where a series changes: a figure of one run after the other, cut where its
//! distribution changes.
//!
//! The method is E-divisive: of all places at which a series can be cut in two, the one at which
//! the energy distance of the two parts is greatest; a permutation test decides whether that is
//! more than chance; then the same within the parts (D. S. Matteson, N. A. James, "A nonparametric
//! approach for multiple change point analysis of multivariate data", *Journal of the American
//! Statistical Association* 109 (2014); G. J. Székely, M. L. Rizzo, "Hierarchical clustering via
//! joint between-within distances", *Journal of Classification* 22 (2005), for the distance). It
//! requires no distribution, and finds a change of the spread as well as one of the level. For
//! figures of performance tests it is used by D. Daly and others, "The use of change point
//! detection to identify software performance regressions in a continuous integration system",
//! *ICPE* 2020.
//!
//! The values have to be independent but for the changes: runs by themselves, not the seconds of
//! one.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// A part has at least so many values: of two, one strange value would be half.
pub const SHORTEST_PART: usize = 3;
/// The number of permutations of the values.
const PERMUTATIONS: usize = 999;

/// A place where a series changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// The first value of the new part.
    pub index: usize,
    /// The probability that chance alone makes a change as large as this one: a share of one.
    pub probability: f64,
}

/// The change points of a series in their order, each of which chance makes in at most this share
/// of series without one.
pub fn change_points(values: &[f64], significance: f64, seed: u64) -> Vec<ChangePoint> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut found: Vec<ChangePoint> = Vec::new();
    let mut parts = vec![0, values.len()];
    while let Some(best) = best_split(values, &parts) {
        let probability = probability(values, &parts, best.energy, &mut random);
        if probability > significance {
            break;
        }
        found.push(ChangePoint {
            index: best.index,
            probability,
        });
        parts.push(best.index);
        parts.sort_unstable();
    }
    found.sort_by_key(|change| change.index);
    found
}

/// A place to cut a series at, and how far apart what lies on both sides is.
#[derive(Clone, Copy)]
struct Split {
    index: usize,
    energy: f64,
}

/// The best place to cut one of these parts, which begin and end at these indices.
fn best_split(values: &[f64], parts: &[usize]) -> Option<Split> {
    let splits = parts.windows(2).filter_map(|part| {
        let split = split(&values[part[0]..part[1]])?;
        Some(Split {
            index: part[0] + split.index,
            ..split
        })
    });
    splits.max_by(|one, other| one.energy.total_cmp(&other.energy))
}

/// The best place to cut this part.
fn split(part: &[f64]) -> Option<Split> {
    let count = part.len();
    let distance = |one: usize, others: std::ops::Range<usize>| -> f64 {
        let others = part[others].iter();
        others.map(|other| (part[one] - other).abs()).sum()
    };
    let (mut left, mut right) = (0.0, (0..count).map(|one| distance(one, one..count)).sum());
    let all: f64 = right;
    let mut best: Option<Split> = None;
    for index in 1..count {
        // The value before the cut goes over from the right to the left.
        left += distance(index - 1, 0..index - 1);
        right -= distance(index - 1, index..count);
        if index < SHORTEST_PART || count - index < SHORTEST_PART {
            continue;
        }
        let energy = energy(all - left - right, left, right, index, count - index);
        if best.is_none_or(|best| energy > best.energy) {
            best = Some(Split { index, energy });
        }
    }
    best
}

/// The energy distance of two samples, weighted by their sizes, from the sums of the distances
/// between them and within each.
fn energy(between: f64, left: f64, right: f64, left_count: usize, right_count: usize) -> f64 {
    let (m, n) = (left_count as f64, right_count as f64);
    let pairs = |count: f64| count * (count - 1.0) / 2.0;
    let mean = 2.0 * between / (m * n) - left / pairs(m) - right / pairs(n);
    mean * m * n / (m + n)
}

/// Returns how often a series without a change (the same values, in another order within these
/// parts) has a place that is as good, as a share of one.
fn probability(values: &[f64], parts: &[usize], energy: f64, random: &mut ChaCha8Rng) -> f64 {
    let mut shuffled = values.to_vec();
    let mut as_good = 0;
    for _ in 0..PERMUTATIONS {
        for part in parts.windows(2) {
            shuffle(&mut shuffled[part[0]..part[1]], random);
        }
        let best = best_split(&shuffled, parts);
        as_good += usize::from(best.is_some_and(|best| best.energy >= energy));
    }
    (1 + as_good) as f64 / (1 + PERMUTATIONS) as f64
}

/// In an order that is as likely as any other (R. A. Fisher and F. Yates).
fn shuffle(values: &mut [f64], random: &mut ChaCha8Rng) {
    for end in (1..values.len()).rev() {
        let drawn = (u64::from(random.next_u32()) * (end as u64 + 1)) >> 32;
        values.swap(end, drawn as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normal::normal_quantile;

    /// So many values around this level, of this standard deviation.
    fn noise(count: usize, level: f64, deviation: f64, random: &mut ChaCha8Rng) -> Vec<f64> {
        let mut drawn = |_| {
            let share = (f64::from(random.next_u32()) + 0.5) / 4_294_967_296.0;
            level + deviation * normal_quantile(share)
        };
        (0..count).map(&mut drawn).collect()
    }

    fn indices(values: &[f64]) -> Vec<usize> {
        let found = change_points(values, 0.01, 1);
        found.iter().map(|change| change.index).collect()
    }

    #[test]
    fn what_is_too_short_or_all_equal_has_no_change() {
        for values in [&[][..], &[1.0], &[1.0; 5], &[1.0; 40], &[1.0, 9.0, 1.0]] {
            assert_eq!(indices(values), [], "{values:?}");
        }
    }

    #[test]
    fn each_step_is_found_where_it_is() {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let parts = [(20, 10.0), (15, 12.0), (25, 10.5)];
        let each = parts.map(|(count, level)| noise(count, level, 0.2, &mut random));
        let values = each.concat();
        let found = indices(&values);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0].abs_diff(20) <= 1 && found[1].abs_diff(35) <= 1,
            "{found:?}"
        );
    }

    #[test]
    fn three_runs_after_a_large_change_are_enough() {
        let mut random = ChaCha8Rng::seed_from_u64(6);
        let mut values = noise(12, 10.0, 0.1, &mut random);
        values.extend(noise(3, 12.0, 0.1, &mut random));
        assert_eq!(indices(&values), [12]);
    }

    #[test]
    fn one_strange_value_is_no_change() {
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let mut values = noise(30, 10.0, 0.1, &mut random);
        values[14] = 20.0;
        assert_eq!(indices(&values), []);
    }

    /// Counts the series that have a change, of so many series of 30 values of which the last 12
    /// are this much higher.
    fn found_in(series: usize, change: f64) -> usize {
        let has_one = |seed: usize| {
            let mut random = ChaCha8Rng::seed_from_u64(seed as u64);
            let mut values = noise(30, 10.0, 0.3, &mut random);
            values[18..].iter_mut().for_each(|value| *value += change);
            !change_points(&values, 0.01, 1).is_empty()
        };
        (0..series).filter(|seed| has_one(*seed)).count()
    }

    /// A change of two standard deviations, as visible as what is promised of a comparison: in nine
    /// of ten cases.
    #[test]
    fn noise_alone_is_hardly_ever_a_change_and_a_clear_one_is_found() {
        let (false_alarms, found) = (found_in(400, 0.0), found_in(400, 0.6));
        println!("{false_alarms} of 400 without a change, {found} of 400 with one of 6 %");
        // Of 400 at 1 % four are expected, and eleven or more come once in three hundred times.
        assert!(false_alarms <= 10, "{false_alarms}");
        assert!(found >= 360, "{found}");
    }
}
