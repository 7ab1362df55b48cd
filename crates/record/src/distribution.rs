//! A distribution of times: an HDR histogram that allocates no memory before its first value.
//!
//! The histogram is that of the `hdrhistogram` crate with the bounds of [`LONGEST_NS`] and
//! [`DIGITS`]: with three significant digits the error of a value is at most 0.1 %.
//!
//! **Memory.** A histogram for the whole range takes 270 KB, and a worker would need ten of them
//! per second. Such blocks are only cheap while the allocator maps fresh zero pages for each; glibc
//! stops doing so after the first one was freed (its mmap threshold then rises above their size).
//! So a distribution starts without a histogram, creates a small one at its first value and lets it
//! grow with the largest value: 16 KB up to 2 µs and 8 KB for every doubling above, 120 KB if the
//! slowest response took 16 ms.
//!
//! Measured with a worker of 20 000 exchanges per second in an open load, a snapshot per second,
//! and the run's summary: 2.6 MB more than the bare process, 3.4 MB with a saved run, and the same
//! after 2 minutes as after 5 seconds.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};

/// The longest time that is distinguished, in nanoseconds: an hour. Longer times count as this.
pub const LONGEST_NS: u64 = 3_600_000_000_000;

/// The significant decimal digits of a recorded time.
pub const DIGITS: u8 = 3;

/// A distribution of times in nanoseconds.
///
/// Statistics of an empty distribution are 0: check [`is_empty`](Distribution::is_empty) first if
/// it matters.
#[derive(Clone, Default)]
pub struct Distribution {
    histogram: Option<Histogram<u64>>,
}

impl Distribution {
    /// A distribution without a time.
    pub(crate) const EMPTY: Distribution = Distribution { histogram: None };

    /// Adds one time, in nanoseconds.
    #[inline]
    pub fn record_ns(&mut self, value_ns: u64) {
        self.record_many_ns(value_ns, 1);
    }

    /// Adds the same time `count` times, in nanoseconds.
    #[inline]
    pub fn record_many_ns(&mut self, value_ns: u64, count: u64) {
        let value_ns = value_ns.min(LONGEST_NS);
        let histogram = self.histogram.get_or_insert_with(|| growing(value_ns));
        histogram
            .record_n(value_ns, count)
            .expect("a growing histogram takes every value up to an hour");
    }

    /// Adds all times of another distribution, without loss.
    pub fn merge(&mut self, other: &Distribution) {
        if let Some(source) = other.recorded() {
            self.add(source);
        }
    }

    /// Returns the difference of two distributions: of each value the count here less the count in
    /// `other`, at least 0, with the same three digits.
    pub fn without(&self, other: &Distribution) -> Distribution {
        let mut left = Distribution::default();
        let mut others = other.steps().peekable();
        for (value_ns, count) in self.steps() {
            while others
                .next_if(|(other_ns, _)| *other_ns < value_ns)
                .is_some()
            {}
            let same = others.next_if(|(other_ns, _)| *other_ns == value_ns);
            let taken = same.map_or(0, |(_, count)| count);
            if count > taken {
                left.record_many_ns(value_ns, count - taken);
            }
        }
        left
    }

    /// Removes all values and keeps the memory for the next ones.
    pub fn reset(&mut self) {
        if let Some(histogram) = &mut self.histogram {
            histogram.reset();
        }
    }

    /// Returns the number of recorded times.
    pub fn len(&self) -> u64 {
        self.histogram.as_ref().map_or(0, Histogram::len)
    }

    /// True if no time was recorded.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the arithmetic mean in nanoseconds.
    pub fn mean_ns(&self) -> f64 {
        self.recorded().map_or(0.0, Histogram::mean)
    }

    /// Returns the standard deviation (of the population) in nanoseconds.
    pub fn stdev_ns(&self) -> f64 {
        self.recorded().map_or(0.0, Histogram::stdev)
    }

    /// Returns the shortest time in nanoseconds, to three digits, rounded down.
    pub fn min_ns(&self) -> u64 {
        self.recorded().map_or(0, Histogram::min)
    }

    /// Returns the longest time in nanoseconds, to three digits, rounded up.
    pub fn max_ns(&self) -> u64 {
        self.recorded().map_or(0, Histogram::max)
    }

    /// Returns the time in nanoseconds that `percentile` (0 to 100) of all times do not exceed, to
    /// three digits, rounded up.
    ///
    /// The value is that of rank ⌈n · percentile / 100⌉ (the nearest-rank definition), at least 1.
    pub fn percentile_ns(&self, percentile: f64) -> u64 {
        self.recorded().map_or(0, |histogram| {
            histogram.value_at_quantile(quantile_of(percentile, histogram.len()))
        })
    }

    /// Returns the bounds in nanoseconds of the time with this rank (the shortest time has rank 1);
    /// their distance is the precision of three digits.
    pub fn rank_ns(&self, rank: u64) -> (u64, u64) {
        self.recorded().map_or((0, 0), |histogram| {
            let rank = rank.clamp(1, histogram.len());
            let quantile = (rank as f64 - 0.5) / histogram.len() as f64;
            let value = histogram.value_at_quantile(quantile);
            let lowest = histogram.lowest_equivalent(value);
            (lowest, histogram.highest_equivalent(value))
        })
    }

    /// Returns the shortest time in the histogram's step that contains `value_ns`.
    pub(crate) fn lowest_of(&self, value_ns: u64) -> u64 {
        self.recorded()
            .map_or(value_ns, |histogram| histogram.lowest_equivalent(value_ns))
    }

    /// Returns the number of times up to `value_ns` nanoseconds, to three digits.
    pub fn count_up_to_ns(&self, value_ns: u64) -> u64 {
        self.recorded()
            .map_or(0, |histogram| histogram.count_between(0, value_ns))
    }

    /// Returns the distribution of a histogram's values.
    pub(crate) fn from_histogram(histogram: &Histogram<u64>) -> Distribution {
        let mut distribution = Distribution::default();
        distribution.add(histogram);
        distribution
    }

    /// Returns the histogram, if it is not empty.
    pub fn recorded(&self) -> Option<&Histogram<u64>> {
        self.histogram
            .as_ref()
            .filter(|histogram| !histogram.is_empty())
    }

    /// Returns each distinct value in nanoseconds (to three digits, rounded up) with its count,
    /// rising.
    pub fn steps(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.recorded()
            .into_iter()
            .flat_map(Histogram::iter_recorded)
            .map(|step| (step.value_iterated_to(), step.count_at_value()))
    }

    fn add(&mut self, source: &Histogram<u64>) {
        self.histogram
            .get_or_insert_with(|| growing(source.max()))
            .add(source)
            .expect("a growing histogram takes every value of another one");
    }
}

/// A distribution in two or three bytes for each of its values, a fiftieth of the memory: the
/// histogram's V2 encoding.
#[derive(Clone, Debug, Default)]
pub(crate) struct PackedDistribution(Box<[u8]>);

impl Distribution {
    /// Returns the distribution in less memory; no values can be added to it.
    pub(crate) fn packed(&self) -> PackedDistribution {
        let mut bytes = Vec::new();
        if let Some(histogram) = self.recorded() {
            V2Serializer::new()
                .serialize(histogram, &mut bytes)
                .expect("counts stay below 2^63 and memory takes all bytes");
        }
        PackedDistribution(bytes.into())
    }
}

impl PackedDistribution {
    /// Returns the unpacked distribution.
    pub(crate) fn unpacked(&self) -> Distribution {
        if self.0.is_empty() {
            return Distribution::default();
        }
        let mut histogram: Histogram<u64> = Deserializer::new()
            .deserialize(&mut &self.0[..])
            .expect("what was packed can be unpacked");
        histogram.auto(true);
        Distribution {
            histogram: Some(histogram),
        }
    }
}

/// The values with their counts, rising.
impl std::fmt::Debug for Distribution {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.steps()).finish()
    }
}

/// Two distributions are equal if the same values were recorded, whatever memory they use.
impl PartialEq for Distribution {
    fn eq(&self, other: &Distribution) -> bool {
        self.steps().eq(other.steps())
    }
}

/// Returns a quantile in the middle of the percentile's rank among `len` values.
///
/// Dividing by 100 is not exact in binary: 99.9 % of 1 000 values would become slightly more than
/// 999 of them, and so the largest value. So the product is computed first and lowered by more than
/// its rounding error, and the returned quantile is in the middle of the rank.
fn quantile_of(percentile: f64, len: u64) -> f64 {
    const ROUNDING: f64 = 1e-13;
    let len = len as f64;
    let exact = percentile.clamp(0.0, 100.0) * len / 100.0;
    let rank = (exact * (1.0 - ROUNDING)).ceil().max(1.0);
    (rank - 0.5) / len
}

/// Creates an empty histogram with room for `value_ns`, which grows with larger values.
#[cold]
fn growing(value_ns: u64) -> Histogram<u64> {
    let mut histogram = Histogram::new_with_bounds(1, value_ns.max(2), DIGITS)
        .expect("1 to at least 2 with three digits are valid bounds");
    histogram.auto(true);
    histogram
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: impl IntoIterator<Item = u64>) -> Distribution {
        let mut distribution = Distribution::default();
        values
            .into_iter()
            .for_each(|value| distribution.record_ns(value));
        distribution
    }

    #[test]
    fn an_empty_one_is_zero_and_holds_no_memory() {
        let empty = Distribution::default();
        assert!(empty.is_empty() && empty.histogram.is_none());
        assert_eq!(
            empty.max_ns() + empty.min_ns() + empty.percentile_ns(99.0),
            0
        );
        assert_eq!(empty.mean_ns() + empty.stdev_ns(), 0.0);
        let mut sum = Distribution::default();
        sum.merge(&empty);
        assert!(sum.histogram.is_none());
    }

    #[test]
    fn small_values_are_exact() {
        let distribution = of([0, 1, 2, 3, 2_000]);
        assert_eq!(distribution.len(), 5);
        assert_eq!(distribution.min_ns(), 0);
        assert_eq!(distribution.max_ns(), 2_000);
        assert_eq!(distribution.percentile_ns(50.0), 2);
        assert_eq!(distribution.mean_ns(), 401.2);
        assert_eq!(distribution.count_up_to_ns(2), 3);
        assert_eq!(distribution.count_up_to_ns(u64::MAX), 5);
    }

    #[test]
    fn the_standard_deviation_is_that_of_the_population() {
        assert_eq!(of([2, 4, 4, 4, 5, 5, 7, 9]).stdev_ns(), 2.0);
    }

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        let thousand = of(1..=1000);
        for (percentile, rank) in [(0.0, 1), (0.1, 1), (50.0, 500), (99.0, 990), (99.9, 999)] {
            assert_eq!(thousand.percentile_ns(percentile), rank, "p{percentile}");
        }
        assert_eq!(thousand.percentile_ns(99.91), 1000);
        assert_eq!(thousand.percentile_ns(100.0), 1000);
        assert_eq!(of([1, 2, 3]).percentile_ns(50.0), 2);
    }

    #[test]
    fn a_rank_is_known_to_three_digits() {
        let thousand = of((1..=1000).map(|n| n * 10_000));
        assert_eq!(thousand.rank_ns(1), (10_000, 10_007));
        let (lowest, highest) = thousand.rank_ns(990);
        assert!(lowest <= 9_900_000 && 9_900_000 <= highest && highest - lowest < 9_900);
        assert_eq!(thousand.rank_ns(5_000), thousand.rank_ns(1_000));
        assert_eq!(Distribution::default().rank_ns(1), (0, 0));
    }

    #[test]
    fn longer_than_an_hour_counts_as_an_hour() {
        let distribution = of([LONGEST_NS * 3, u64::MAX]);
        assert_eq!(distribution.len(), 2);
        assert_eq!(distribution, of([LONGEST_NS, LONGEST_NS]));
    }

    #[test]
    fn reset_keeps_the_memory() {
        let mut distribution = of([1_000_000]);
        let counts = distribution.histogram.as_ref().unwrap().distinct_values();
        distribution.reset();
        assert!(distribution.is_empty());
        assert_eq!(distribution.max_ns(), 0);
        let kept = distribution.histogram.as_ref().unwrap().distinct_values();
        assert_eq!(kept, counts);
        assert_eq!(distribution, Distribution::default());
    }

    #[test]
    fn what_is_taken_out_is_gone_and_the_rest_stays() {
        let all = of([1, 5, 5, 5, 700_000, 3_000_000_000]);
        let left = all.without(&of([2, 5, 5, 3_000_000_000]));
        assert_eq!(left, of([1, 5, 700_000]));
        assert_eq!(all.without(&Distribution::default()), all);
        assert_eq!(of([5]).without(&all), Distribution::default());
    }

    #[test]
    fn equal_values_are_equal_in_any_memory() {
        let mut grown = of([LONGEST_NS]);
        grown.reset();
        grown.record_ns(5);
        assert_eq!(grown, of([5]));
        assert_ne!(grown, of([5, 5]));
    }

    proptest! {
        #[test]
        fn values_are_known_to_within_a_thousandth(value in 1..LONGEST_NS) {
            let distribution = of([value]);
            let error = (distribution.max_ns() - value).max(value - distribution.min_ns());
            prop_assert!(error as f64 <= value as f64 / 1000.0);
        }

        #[test]
        fn what_was_packed_comes_out_whole_and_takes_more(
            values in prop::collection::vec(0..LONGEST_NS, 0..50),
        ) {
            let mut unpacked = of(values.clone()).packed().unpacked();
            prop_assert_eq!(&unpacked, &of(values.clone()));
            unpacked.record_ns(LONGEST_NS);
            prop_assert_eq!(unpacked, of(values.into_iter().chain([LONGEST_NS])));
        }

        #[test]
        fn merging_is_recording_all(
            one in prop::collection::vec(0..LONGEST_NS, 0..50),
            two in prop::collection::vec(0..1_000_000_u64, 0..50),
        ) {
            let (mut merged, other) = (of(one.clone()), of(two.clone()));
            merged.merge(&other);
            prop_assert_eq!(&merged, &of(one.into_iter().chain(two)));
            let steps: u64 = merged.steps().map(|(_, count)| count).sum();
            prop_assert_eq!(merged.len(), steps);
        }
    }
}
