//! Distributions in the exponential buckets of Prometheus' native histograms and of OpenTelemetry.
//!
//! Both define the same buckets: of schema (or scale) s, the bound of bucket i is 2^(i / 2^s). A
//! [`Histogram`] counts in those of schema 8, each 0.27 % wide. Every coarser schema joins whole
//! buckets of it, so that a conversion is exact: no value changes its bucket, and no percentile is
//! computed from percentiles.

use crate::Buckets;
use crate::exemplar::{Exemplar, Exemplars};
use loadline_reactor::let_workers_run;

/// The schema of a [`Histogram`], the finest that Prometheus has.
pub(crate) const FINEST: i32 = 8;
/// The coarsest schema that a conversion chooses: bounds are 16-fold.
const COARSEST: i32 = -2;
/// The buckets of a doubling, with the finest schema.
const PER_DOUBLING: f64 = 256.0;
/// The largest magnitude that counts as zero: 2^-128, as in Prometheus' own client.
pub(crate) const ZERO_THRESHOLD: f64 = 2.938_735_877_055_719e-39;

/// A distribution of numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    positive: Buckets,
    /// Numbers below zero, by the bucket of their magnitude.
    negative: Buckets,
    zero: u64,
    count: u64,
    sum: f64,
    range: Option<(f64, f64)>,
    exemplars: Exemplars,
}

/// A histogram in the buckets of one schema, as formats write it.
#[derive(Clone, Debug, PartialEq)]
pub struct Exponential {
    /// The schema.
    pub schema: i32,
    /// The counts of numbers above zero, by the index of their bucket's upper bound.
    pub positive: Buckets,
    /// The counts of numbers below zero, by magnitude.
    pub negative: Buckets,
    /// The count of zeros.
    pub zero: u64,
}

/// A range of numbers that are counted together.
#[derive(Clone, Copy)]
enum NumberRange {
    /// Below zero, in the bucket of their magnitude.
    Below(i32),
    Zero,
    /// Above zero, in this bucket.
    Above(i32),
}

impl NumberRange {
    /// Returns the largest number there.
    fn upper_bound(self) -> f64 {
        match self {
            // Of a magnitude's bucket the lower bound is nearest to zero.
            NumberRange::Below(bucket) => -exponential(FINEST, bucket - 1),
            NumberRange::Zero => 0.0,
            NumberRange::Above(bucket) => exponential(FINEST, bucket),
        }
    }
}

/// Returns the upper bound of a bucket.
pub fn exponential(schema: i32, bucket: i32) -> f64 {
    (f64::from(bucket) * (-f64::from(schema)).exp2()).exp2()
}

impl Histogram {
    /// Adds a number `count` times. What is not a finite number is left out.
    pub fn add(&mut self, value: f64, count: u64) {
        if !value.is_finite() || count == 0 {
            return;
        }
        let magnitude = value.abs();
        match () {
            () if magnitude <= ZERO_THRESHOLD => self.zero = self.zero.saturating_add(count),
            () if value < 0.0 => self.negative.add(finest_bucket(magnitude), count),
            () => self.positive.add(finest_bucket(magnitude), count),
        }
        self.count = self.count.saturating_add(count);
        self.sum += value * count as f64;
        self.widen(value, value);
    }

    /// Replaces the sum, which is more exact where it was added up before the numbers were rounded.
    pub fn with_sum(mut self, sum: f64) -> Histogram {
        self.sum = sum;
        self
    }

    /// Adds exemplars, whose values are among the numbers.
    pub fn with_exemplars(mut self, exemplars: &[Exemplar]) -> Histogram {
        self.exemplars.add(exemplars);
        self
    }

    /// Returns the exemplars of the largest values, in the order of their instants.
    pub fn exemplars(&self) -> Vec<Exemplar> {
        self.exemplars.in_order()
    }

    /// Removes the exemplars.
    pub(crate) fn forget_exemplars(&mut self) {
        self.exemplars.clear();
    }

    /// Adds all numbers of another histogram, without loss.
    pub fn merge(&mut self, other: &Histogram) {
        self.positive.merge(&other.positive);
        self.negative.merge(&other.negative);
        self.zero = self.zero.saturating_add(other.zero);
        self.count = self.count.saturating_add(other.count);
        self.sum += other.sum;
        if let Some((min, max)) = other.range {
            self.widen(min, max);
        }
        self.exemplars.merge(&other.exemplars);
    }

    fn widen(&mut self, low: f64, high: f64) {
        let (min, max) = self.range.unwrap_or((low, high));
        self.range = Some((min.min(low), max.max(high)));
    }

    /// Returns the number of values.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the sum of the values.
    pub fn sum(&self) -> f64 {
        self.sum
    }

    /// Returns the arithmetic mean; `None` without a value.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }

    /// Returns the smallest value; `None` without a value.
    pub fn min(&self) -> Option<f64> {
        self.range.map(|(min, _)| min)
    }

    /// Returns the largest value; `None` without a value.
    pub fn max(&self) -> Option<f64> {
        self.range.map(|(_, max)| max)
    }

    /// Returns the value that `percentile` (0 to 100) percent of all do not exceed, by the nearest
    /// rank ⌈n · percentile / 100⌉, rounded up by at most 0.28 %; `None` without a value.
    pub fn percentile(&self, percentile: f64) -> Option<f64> {
        let (min, max) = self.range?;
        // The product is lowered by more than its rounding error: 99.9 % of 1 000 are 999.
        const ROUNDING: f64 = 1e-13;
        let exact = percentile.clamp(0.0, 100.0) * self.count as f64 / 100.0;
        let rank = (exact * (1.0 - ROUNDING)).ceil().max(1.0) as u64;
        let mut passed = 0;
        let reached = |(range, count): (NumberRange, u64)| {
            passed += count;
            (passed >= rank).then(|| range.upper_bound().clamp(min, max))
        };
        self.ranges().find_map(reached)
    }

    /// Returns the upper bound of each bucket that has a value, with its count, rising.
    pub fn ascending(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        let ranges = self.ranges();
        ranges.map(|(range, count)| (range.upper_bound(), count))
    }

    /// Returns each range that has a value, with its count, rising.
    fn ranges(&self) -> impl Iterator<Item = (NumberRange, u64)> + '_ {
        let below = self.negative.iter().rev();
        let below = below.map(|(bucket, count)| (NumberRange::Below(bucket), count));
        let zero = (self.zero > 0).then_some((NumberRange::Zero, self.zero));
        let above = self.positive.iter();
        let above = above.map(|(bucket, count)| (NumberRange::Above(bucket), count));
        below.chain(zero).chain(above)
    }

    /// Returns the buckets of this schema, or of the finest coarser one that has at most `most`
    /// buckets, counted from the first with a value to the last.
    pub fn to_schema(&self, schema: i32, most: u32) -> Exponential {
        let_workers_run();
        let fits = |schema: &i32| {
            span(&self.positive, *schema) + span(&self.negative, *schema) <= u64::from(most)
        };
        let mut schemas = (COARSEST..=schema.clamp(COARSEST, FINEST)).rev();
        let schema = schemas.find(fits).unwrap_or(COARSEST);
        Exponential {
            schema,
            positive: self.positive.joined(|bucket| coarser(bucket, schema)),
            negative: self.negative.joined(|bucket| coarser(bucket, schema)),
            zero: self.zero,
        }
    }
}

/// Returns the bucket of a number above zero.
fn finest_bucket(magnitude: f64) -> i32 {
    // The exponent is exact, so that the logarithm's error can't grow with it.
    let (mantissa, exponent) = parts(magnitude);
    (mantissa.log2() * PER_DOUBLING).ceil() as i32 + exponent * PER_DOUBLING as i32
}

/// Splits a normal number above zero into a mantissa from 1 to below 2, and its exponent.
fn parts(number: f64) -> (f64, i32) {
    const BITS: u32 = f64::MANTISSA_DIGITS - 1;
    const BIAS: i32 = f64::MAX_EXP - 1;
    let bits = number.to_bits();
    let exponent = (bits >> BITS) as i32 - BIAS;
    let mantissa = f64::from_bits(bits & ((1 << BITS) - 1) | (BIAS as u64) << BITS);
    (mantissa, exponent)
}

/// Returns the bucket of a coarser schema that contains a bucket of the finest.
fn coarser(bucket: i32, schema: i32) -> i32 {
    let joined = 1 << (FINEST - schema);
    (bucket + joined - 1).div_euclid(joined)
}

/// Returns the number of buckets of a schema from the first with a value to the last.
fn span(counts: &Buckets, schema: i32) -> u64 {
    let ends = counts.first().zip(counts.last());
    ends.map_or(0, |(first, last)| {
        (coarser(last, schema) - coarser(first, schema)) as u64 + 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[f64]) -> Histogram {
        let mut histogram = Histogram::default();
        values.iter().for_each(|value| histogram.add(*value, 1));
        histogram
    }

    #[test]
    fn nothing_has_no_figures() {
        let nothing = Histogram::default();
        assert_eq!((nothing.mean(), nothing.percentile(50.0)), (None, None));
        assert_eq!((nothing.min(), nothing.max()), (None, None));
        assert!(nothing.to_schema(8, 160).positive.is_empty());
    }

    #[test]
    fn powers_of_two_are_the_last_of_their_bucket() {
        for exponent in -120..120 {
            let bucket = finest_bucket(f64::from(exponent).exp2());
            assert_eq!(bucket, exponent * 256);
        }
        assert_eq!(finest_bucket(1.0 + f64::EPSILON), 1);
    }

    #[test]
    fn zeros_and_numbers_below_have_buckets_of_their_own() {
        let mixed = of(&[-4.0, -1.0, 0.0, 0.0, 2.0, f64::NAN]);
        let coarse = mixed.to_schema(0, 160);
        assert_eq!(coarse.zero, 2);
        assert_eq!(coarse.negative, [(0, 1), (2, 1)].into_iter().collect());
        assert_eq!(coarse.positive, [(1, 1)].into_iter().collect());
        assert_eq!(mixed.percentile(0.0), Some(-exponential(8, 511)));
        assert_eq!(mixed.percentile(100.0), Some(2.0));
        assert_eq!((mixed.count(), mixed.sum()), (5, -3.0));
    }

    #[test]
    fn a_wide_range_is_written_in_coarser_buckets() {
        let wide = of(&[1e-9, 3600.0]);
        let written = wide.to_schema(8, 160);
        assert_eq!(written.schema, 1);
        assert_eq!(written.positive.sum(), 2);
    }

    proptest! {
        #[test]
        fn every_number_lies_within_the_bounds_of_its_bucket(
            value in 1e-12..1e12_f64, schema in -2..=8_i32,
        ) {
            let written = of(&[value]).to_schema(schema, 160);
            let bucket = written.positive.first().unwrap();
            let (low, high) = (exponential(schema, bucket - 1), exponential(schema, bucket));
            let error = 1e-14;
            prop_assert!(value > low * (1.0 - error) && value <= high * (1.0 + error));
        }

        #[test]
        fn a_percentile_lies_in_the_bucket_of_its_rank(
            mut values in prop::collection::vec(1e-6..1e3_f64, 1..200),
            percentile in 0.0..=100.0_f64,
        ) {
            let found = of(&values).percentile(percentile).unwrap();
            values.sort_by(f64::total_cmp);
            let rank = (percentile * values.len() as f64 / 100.0 * (1.0 - 1e-13)).ceil();
            let exact = values[rank.max(1.0) as usize - 1];
            prop_assert!(found >= exact * (1.0 - 1e-14) && found <= exact * 1.0028);
        }

        #[test]
        fn merging_is_adding_all(
            one in prop::collection::vec(-1e3..1e3_f64, 0..50),
            two in prop::collection::vec(-1e3..1e3_f64, 0..50),
        ) {
            let mut merged = of(&one);
            merged.merge(&of(&two));
            let all = of(&[one, two].concat());
            prop_assert_eq!(merged.to_schema(3, 1_000), all.to_schema(3, 1_000));
            prop_assert_eq!((merged.count(), merged.range), (all.count(), all.range));
            prop_assert!((merged.sum() - all.sum()).abs() < 1e-6);
        }

        #[test]
        fn counts_are_kept_by_every_schema(
            values in prop::collection::vec(1e-9..1e5_f64, 0..100), most in 1..200_u32,
        ) {
            let written = of(&values).to_schema(8, most);
            prop_assert_eq!(written.positive.sum(), values.len() as u64);
            let span = written.positive.last().zip(written.positive.first());
            let span = span.map_or(0, |(last, first)| last - first + 1);
            prop_assert!(span <= most as i32 || written.schema == COARSEST);
        }
    }
}
