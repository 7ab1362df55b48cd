//! The Kolmogorov-Smirnov test of two samples: whether they can be of one distribution.
//!
//! The significance is that of Stephens' approximation, as in Press et al., *Numerical Recipes*,
//! section 14.3. Samples that are alike in a stretch of time, as response times are, differ by more
//! than the test expects of independent ones: demand a probability far below the usual ones, and
//! a difference that matters.

/// The result of the test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// The greatest distance of the two cumulative distributions, 0 to 1.
    pub distance: f64,
    /// The probability of such a distance, or a greater one, if both are of one distribution.
    pub chance: f64,
}

/// Compares two samples, each as its distinct values in rising order with their counts. `None` if
/// one of them is empty.
pub fn compare_samples(
    one: impl IntoIterator<Item = (u64, u64)>,
    other: impl IntoIterator<Item = (u64, u64)>,
) -> Option<Difference> {
    let (one, other): (Vec<_>, Vec<_>) = (one.into_iter().collect(), other.into_iter().collect());
    let size = |sample: &[(u64, u64)]| sample.iter().map(|(_, count)| *count).sum::<u64>() as f64;
    let (of_one, of_other) = (size(&one), size(&other));
    if of_one == 0.0 || of_other == 0.0 {
        return None;
    }
    let (mut left, mut right) = (one.iter().peekable(), other.iter().peekable());
    let (mut below_one, mut below_other, mut distance) = (0.0, 0.0, 0.0_f64);
    while let Some(value) = next_value(left.peek().copied(), right.peek().copied()) {
        if let Some((_, count)) = left.next_if(|(own, _)| *own == value) {
            below_one += *count as f64 / of_one;
        }
        if let Some((_, count)) = right.next_if(|(own, _)| *own == value) {
            below_other += *count as f64 / of_other;
        }
        distance = distance.max((below_one - below_other).abs());
    }
    let root = (of_one * of_other / (of_one + of_other)).sqrt();
    Some(Difference {
        distance,
        chance: chance((root + 0.12 + 0.11 / root) * distance),
    })
}

/// Returns the lower of the next values of two samples.
fn next_value(one: Option<&(u64, u64)>, other: Option<&(u64, u64)>) -> Option<u64> {
    let values = one.into_iter().chain(other).map(|(value, _)| *value);
    values.min()
}

/// Returns the probability that a scaled distance is at least this.
fn chance(scaled: f64) -> f64 {
    if scaled < 0.2 {
        // The series converges slowly there, and the probability is 1 to ten digits.
        return 1.0;
    }
    let term = |k: i32| {
        let sign = if k % 2 == 0 { -1.0 } else { 1.0 };
        sign * (-2.0 * f64::from(k * k) * scaled * scaled).exp()
    };
    (2.0 * (1..=100).map(term).sum::<f64>()).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_is_not_compared_and_equal_samples_do_not_differ() {
        assert_eq!(compare_samples([], [(1, 1)]), None);
        assert_eq!(compare_samples([(1, 0)], [(1, 1)]), None);
        let same = compare_samples([(1, 5), (9, 5)], [(1, 500), (9, 500)]);
        let same = same.expect("samples");
        assert_eq!((same.distance, same.chance), (0.0, 1.0));
        let apart = compare_samples([(1, 1_000)], [(2, 1_000)]).expect("samples");
        assert_eq!(apart.distance, 1.0);
        assert!(apart.chance < 1e-100, "{apart:?}");
    }

    #[test]
    fn the_probability_is_that_of_the_tables() {
        // Kolmogorov's distribution: 5 % at 1.3581, 1 % at 1.6276, 0.1 % at 1.9495.
        for (scaled, expected) in [(1.3581, 0.05), (1.6276, 0.01), (1.9495, 0.001)] {
            let found = chance(scaled);
            assert!((found / expected - 1.0).abs() < 0.002, "{scaled}: {found}");
        }
        assert_eq!(chance(0.0), 1.0);
    }

    proptest! {
        #[test]
        fn two_halves_of_one_sample_hardly_ever_differ(seed in any::<u64>()) {
            let mut state = seed | 1;
            let mut draw = || {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state % 1_000
            };
            let mut sample = || {
                let mut counts = std::collections::BTreeMap::<u64, u64>::new();
                (0..2_000).for_each(|_| *counts.entry(draw()).or_default() += 1);
                counts
            };
            let found = compare_samples(sample(), sample()).expect("samples");
            prop_assert!(found.chance > 1e-6, "{:?}", found);
        }
    }
}
