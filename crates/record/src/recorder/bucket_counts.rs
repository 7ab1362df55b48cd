//! The buckets of an HDR histogram as a plain array, for times that nearly every request records.
//!
//! A [`Distribution`] updates its memory, its sum and its extremes with each value. This array only
//! counts, and a distribution is filled from it once per interval. Its buckets are those of the
//! distribution (`buckets.rs`), so that no precision is lost between the two.
//!
//! **Memory.** 270 KB of address space; the kernel allocates a page of 4 KiB for 512 buckets at the
//! first count in one of them.

use crate::buckets::{bucket_of, last_bucket, lowest_of};
use crate::{Distribution, LONGEST_NS};

/// Counts of times by the histogram's buckets.
#[derive(Debug)]
pub(super) struct BucketCounts {
    counts: Box<[u64]>,
    /// The lowest and the highest bucket with a count; the lowest exceeds the highest if there is
    /// none.
    lowest: usize,
    highest: usize,
}

impl Default for BucketCounts {
    fn default() -> Self {
        BucketCounts {
            counts: vec![0; last_bucket() + 1].into_boxed_slice(),
            lowest: usize::MAX,
            highest: 0,
        }
    }
}

impl BucketCounts {
    /// Adds one time, in nanoseconds.
    #[inline]
    pub(super) fn record_ns(&mut self, value_ns: u64) {
        let bucket = bucket_of(value_ns.min(LONGEST_NS));
        self.counts[bucket] += 1;
        self.lowest = self.lowest.min(bucket);
        self.highest = self.highest.max(bucket);
    }

    /// Moves all counts into these distributions; each of them gets all counts.
    pub(super) fn move_into(&mut self, distributions: &mut [&mut Distribution]) {
        // From the longest time down, so that the histograms grow once.
        for bucket in (self.lowest..=self.highest).rev() {
            let count = std::mem::take(&mut self.counts[bucket]);
            if count > 0 {
                for distribution in &mut *distributions {
                    distribution.record_many_ns(lowest_of(bucket), count);
                }
            }
        }
        (self.lowest, self.highest) = (usize::MAX, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn counted(values_ns: &[u64]) -> Distribution {
        let mut counts = BucketCounts::default();
        for value_ns in values_ns {
            counts.record_ns(*value_ns);
        }
        let mut distribution = Distribution::default();
        counts.move_into(&mut [&mut distribution]);
        distribution
    }

    fn recorded(values_ns: &[u64]) -> Distribution {
        let mut distribution = Distribution::default();
        for value_ns in values_ns {
            distribution.record_ns(*value_ns);
        }
        distribution
    }

    #[test]
    fn every_bound_of_a_power_of_two_is_counted_as_in_a_histogram() {
        let around = (0..63).flat_map(|power| {
            let value_ns = 1_u64 << power;
            [value_ns - 1, value_ns, value_ns + 1]
        });
        for value_ns in around.chain([LONGEST_NS - 1, LONGEST_NS, u64::MAX]) {
            assert_eq!(counted(&[value_ns]), recorded(&[value_ns]), "{value_ns}");
        }
    }

    #[test]
    fn moving_out_leaves_nothing_behind() {
        let mut counts = BucketCounts::default();
        counts.record_ns(700);
        let (mut first, mut second) = (Distribution::default(), Distribution::default());
        counts.move_into(&mut [&mut first]);
        counts.move_into(&mut [&mut second]);
        assert_eq!((first.len(), second.len()), (1, 0));
    }

    proptest! {
        #[test]
        fn counts_equal_a_histogram(
            powers in prop::collection::vec((0_u32..45, any::<u64>()), 0..200),
        ) {
            let values_ns: Vec<u64> = powers
                .into_iter()
                .map(|(power, noise)| (1_u64 << power) + noise % (1_u64 << power))
                .collect();
            let (counted, recorded) = (counted(&values_ns), recorded(&values_ns));
            prop_assert_eq!(&counted, &recorded);
            prop_assert_eq!(counted.mean_ns(), recorded.mean_ns());
            prop_assert_eq!(counted.min_ns(), recorded.min_ns());
            prop_assert_eq!(counted.max_ns(), recorded.max_ns());
        }
    }
}
