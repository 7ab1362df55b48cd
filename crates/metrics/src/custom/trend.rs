//! The distribution of a custom metric's values, for any finite numbers.
//!
//! The bucket of a value consists of its exponent and the [`BITS`] bits after it, as an `f64` holds
//! them, so that the value is known to within a hundredth. Numbers below zero have separate
//! buckets, by their magnitude.

use super::ExactSum;
use crate::{BITS, SparseCounts};
use std::collections::BTreeMap;

/// The low bits of an `f64` that do not affect the bucket.
const SHIFT: u32 = f64::MANTISSA_DIGITS - 1 - BITS;
/// The last bucket, that of the largest number.
const LAST: u32 = (f64::MAX.to_bits() >> SHIFT) as u32;

/// The distribution of the values of a trend.
#[derive(Clone, Debug, PartialEq)]
pub struct Trend {
    count: u64,
    sum: ExactSum,
    min: f64,
    max: f64,
    /// Values from 0 on, by bucket.
    positive: SparseCounts,
    /// Values below 0, by the bucket of their magnitude.
    negative: SparseCounts,
}

impl Default for Trend {
    fn default() -> Trend {
        Trend {
            count: 0,
            sum: ExactSum::default(),
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            positive: SparseCounts::default(),
            negative: SparseCounts::default(),
        }
    }
}

/// The contents of a trend, as files hold them.
#[derive(Clone, Debug, PartialEq)]
pub struct TrendParts<'a> {
    /// The sum of the values.
    pub sum: ExactSum,
    /// The smallest and the largest value.
    pub range: (f64, f64),
    /// The counts of the values from 0 on, as bytes.
    pub positive: &'a [u8],
    /// The counts of the values below 0, as bytes.
    pub negative: &'a [u8],
}

/// Returns the bucket of a number from 0 on.
pub(super) fn bucket(magnitude: f64) -> u32 {
    (magnitude.to_bits() >> SHIFT) as u32
}

fn lowest_of(bucket: u32) -> f64 {
    f64::from_bits(u64::from(bucket) << SHIFT)
}

fn highest_of(bucket: u32) -> f64 {
    f64::from_bits(((u64::from(bucket) + 1) << SHIFT) - 1)
}

impl Trend {
    pub(super) fn of_counts(
        (sum, min, max): (ExactSum, f64, f64),
        positive: SparseCounts,
        negative: SparseCounts,
    ) -> Trend {
        Trend {
            count: positive.len().saturating_add(negative.len()),
            sum,
            min,
            max,
            positive,
            negative,
        }
    }

    /// The distribution of these values, each with how often it occurs. Those that are no finite
    /// numbers are left out.
    pub fn of_values(values: impl IntoIterator<Item = (f64, u64)>) -> Trend {
        let (mut sum, mut min, mut max) = (ExactSum::default(), f64::INFINITY, f64::NEG_INFINITY);
        let (mut positive, mut negative) = (BTreeMap::new(), BTreeMap::new());
        for (value, count) in values {
            if !value.is_finite() || count == 0 {
                continue;
            }
            sum.add(value * count as f64);
            (min, max) = (min.min(value), max.max(value));
            let counts = match value < 0.0 {
                true => &mut negative,
                false => &mut positive,
            };
            *counts.entry(bucket(value.abs())).or_insert(0) += count;
        }
        let sparse = |counts: BTreeMap<u32, u64>| SparseCounts::from_counts(counts.into_iter());
        Trend::of_counts((sum, min, max), sparse(positive), sparse(negative))
    }

    /// How many values there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the sum of the values.
    pub fn sum(&self) -> ExactSum {
        self.sum
    }

    /// Returns the smallest value; `None` without a value.
    pub fn min(&self) -> Option<f64> {
        (self.count > 0).then_some(self.min)
    }

    /// Returns the largest value; `None` without a value.
    pub fn max(&self) -> Option<f64> {
        (self.count > 0).then_some(self.max)
    }

    /// Returns the arithmetic mean of the values; `None` without a value.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum.value() / self.count as f64)
    }

    /// Returns the value that `percentile` (0 to 100) percent of all values do not exceed, by the
    /// nearest rank, to within a hundredth, rounded up; `None` without a value.
    pub fn percentile(&self, percentile: f64) -> Option<f64> {
        if self.count == 0 {
            return None;
        }
        let rank = SparseCounts::rank(percentile, self.count);
        let below = self.negative.len();
        let value = match rank.checked_sub(below) {
            // The largest magnitude is the smallest value.
            None | Some(0) => -lowest_of(self.negative.bucket_at(below - rank + 1)?),
            Some(rank) => highest_of(self.positive.bucket_at(rank)?),
        };
        Some(value.clamp(self.min, self.max))
    }

    /// Returns the number of values that are greater than this one, to within a hundredth of it.
    pub fn beyond(&self, value: f64) -> u64 {
        if value < 0.0 {
            let nearer = bucket(-value).checked_sub(1);
            let nearer = nearer.map_or(0, |last| self.negative.up_to(last));
            return self.positive.len() + nearer;
        }
        self.positive.len() - self.positive.up_to(bucket(value))
    }

    /// Returns each distinct value, to within a hundredth and rounded up, with its count, rising.
    pub fn steps(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        // The largest magnitude is the smallest value.
        let below: Vec<_> = self.negative.counts().collect();
        let below = below.into_iter().rev();
        let below = below.map(|(bucket, count)| (-lowest_of(bucket), count));
        let above = self.positive.counts();
        let above = above.map(|(bucket, count)| (highest_of(bucket), count));
        let all = below.chain(above);
        all.map(|(value, count)| (value.clamp(self.min, self.max), count))
    }

    /// Adds the values of another trend without loss.
    pub fn merge(&mut self, other: &Trend) {
        self.count = self.count.saturating_add(other.count);
        self.sum.merge(other.sum);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.positive.merge(&other.positive);
        self.negative.merge(&other.negative);
    }

    /// Returns the contents for a file.
    pub fn parts(&self) -> TrendParts<'_> {
        TrendParts {
            sum: self.sum,
            range: (self.min, self.max),
            positive: self.positive.bytes(),
            negative: self.negative.bytes(),
        }
    }

    /// Returns the trend with the contents of a file; `None` if they are invalid.
    pub fn from_parts(parts: &TrendParts<'_>) -> Option<Trend> {
        let counts = |bytes| SparseCounts::from_bytes(bytes, LAST);
        let (positive, negative) = (counts(parts.positive)?, counts(parts.negative)?);
        if positive.is_empty() && negative.is_empty() {
            return Some(Trend::default());
        }
        let (min, max) = parts.range;
        let is_range = min.is_finite() && max.is_finite() && min <= max;
        is_range.then(|| Trend::of_counts((parts.sum, min, max), positive, negative))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CustomMetric, CustomRecorder, Key, MetricKind, MetricUnit, Values};
    use proptest::prelude::*;

    fn trend(values: &[f64]) -> Trend {
        let mut recorder = CustomRecorder::new(1);
        let key = Key::new("a").unwrap();
        let id = recorder.define(&key, MetricKind::Trend, MetricUnit::None);
        let id = id.unwrap();
        values.iter().for_each(|value| recorder.add(id, *value, 0));
        let set = recorder.take();
        match set.get(&key) {
            Some(CustomMetric {
                values: Values::Trend(trend),
                ..
            }) => trend.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn nothing_has_no_figures() {
        let nothing = trend(&[]);
        assert_eq!((nothing.mean(), nothing.percentile(50.0)), (None, None));
        assert_eq!((nothing.min(), nothing.beyond(-1.0)), (None, 0));
    }

    #[test]
    fn steps_have_every_value_with_its_count_rising() {
        let steps: Vec<(f64, u64)> = trend(&[3.0, 0.5, -2.0, 0.5]).steps().collect();
        let counts: Vec<u64> = steps.iter().map(|(_, count)| *count).collect();
        assert_eq!(counts, [1, 2, 1]);
        for ((value, _), exact) in steps.iter().zip([-2.0, 0.5, 3.0_f64]) {
            assert!(
                (value - exact).abs() <= exact.abs() / 100.0,
                "{value} {exact}"
            );
        }
        assert_eq!(trend(&[]).steps().count(), 0);
    }

    #[test]
    fn numbers_below_zero_stand_before_those_above() {
        let some = trend(&[-100.0, -1.0, 0.0, 3.0]);
        let of = |percentile| some.percentile(percentile).unwrap();
        assert_eq!((of(25.0), of(75.0), of(100.0)), (-100.0, of(60.0), 3.0));
        assert!((of(50.0) - -1.0).abs() < 0.01 && of(75.0).abs() < 1e-300);
        let beyond = [-200.0, -50.0, -0.5, 0.0, 2.0, 4.0].map(|value| some.beyond(value));
        assert_eq!(beyond, [4, 3, 2, 1, 1, 0]);
    }

    proptest! {
        #[test]
        fn percentiles_are_known_to_a_hundredth(
            mut values in prop::collection::vec(-1e12..1e12_f64, 1..100),
            percentile in 0.0..=100.0_f64,
        ) {
            let found = trend(&values).percentile(percentile).unwrap();
            values.sort_by(f64::total_cmp);
            let rank = ((percentile * values.len() as f64 / 100.0) * (1.0 - 1e-13)).ceil();
            let exact = values[(rank.max(1.0) as usize) - 1];
            prop_assert!(found >= exact && found <= exact + exact.abs() / 100.0);
        }

        #[test]
        fn a_file_brings_it_back(values in prop::collection::vec(-1e12..1e12_f64, 0..50)) {
            let trend = trend(&values);
            prop_assert_eq!(Trend::from_parts(&trend.parts()), Some(trend));
        }
    }
}
