//! A distribution that many of are kept: each has few distinct values, and as many bytes as those
//! need. A [`Distribution`] is faster with many values, and has some hundred kilobytes.

use crate::Distribution;
use crate::buckets::{bucket_of, lowest_of};
use crate::{LONGEST_NS, carried::PackedCounts};

/// A distribution of few distinct times in nanoseconds, in the same buckets as a [`Distribution`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SparseDistribution {
    /// The buckets with their counts, rising.
    counts: Vec<(u32, u64)>,
}

impl SparseDistribution {
    /// Adds the same time `count` times, in nanoseconds.
    pub fn record_many_ns(&mut self, value_ns: u64, count: u64) {
        let bucket = bucket_of(value_ns.min(LONGEST_NS)) as u32;
        match self.counts.binary_search_by_key(&bucket, |(own, _)| *own) {
            _ if count == 0 => {}
            Ok(at) => self.counts[at].1 = self.counts[at].1.saturating_add(count),
            Err(at) => self.counts.insert(at, (bucket, count)),
        }
    }

    /// Adds all times of another distribution, without loss.
    pub fn merge(&mut self, other: &SparseDistribution) {
        if self.counts.is_empty() {
            self.counts.clone_from(&other.counts);
            return;
        }
        let (mut own, mut others) = (
            std::mem::take(&mut self.counts).into_iter().peekable(),
            other.counts.iter().copied().peekable(),
        );
        while let (Some((mine, _)), Some((theirs, _))) = (own.peek(), others.peek()) {
            let order = mine.cmp(theirs);
            let mine = own.next_if(|_| order.is_le());
            let theirs = others.next_if(|_| order.is_ge());
            let count = |entry: Option<(u32, u64)>| entry.map_or(0, |(_, count)| count);
            if let Some((bucket, _)) = mine.or(theirs) {
                let sum = count(mine).saturating_add(count(theirs));
                self.counts.push((bucket, sum));
            }
        }
        self.counts.extend(own);
        self.counts.extend(others);
    }

    /// Returns the longest time in nanoseconds, to three digits, rounded up.
    pub fn max_ns(&self) -> u64 {
        let last = self.counts.last();
        last.map_or(0, |(bucket, _)| lowest_of(*bucket as usize + 1) - 1)
    }

    /// Returns the same times in a distribution that has all statistics.
    pub fn distribution(&self) -> Distribution {
        let mut distribution = Distribution::default();
        // From the longest time down, so that it grows once.
        for (bucket, count) in self.counts.iter().rev() {
            distribution.record_many_ns(lowest_of(*bucket as usize), *count);
        }
        distribution
    }

    /// Returns the distribution in less memory.
    pub(crate) fn packed(&self) -> PackedCounts {
        let entries = self.counts.iter();
        let entries: Vec<(usize, i64)> = entries
            .map(|(bucket, count)| (*bucket as usize, *count as i64))
            .collect();
        PackedCounts::all(&entries)
    }

    /// Returns the distribution of buckets with counts, rising.
    pub(crate) fn of_counts(counts: Vec<(u32, u64)>) -> Self {
        SparseDistribution { counts }
    }
}

impl From<&Distribution> for SparseDistribution {
    fn from(distribution: &Distribution) -> Self {
        let steps = distribution.steps();
        let counts = steps.map(|(value_ns, count)| (bucket_of(value_ns) as u32, count));
        SparseDistribution {
            counts: counts.collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[(u64, u64)]) -> (SparseDistribution, Distribution) {
        let (mut sparse, mut dense) = (SparseDistribution::default(), Distribution::default());
        for (value_ns, count) in values {
            sparse.record_many_ns(*value_ns, *count);
            dense.record_many_ns(*value_ns, *count);
        }
        (sparse, dense)
    }

    proptest! {
        #[test]
        fn it_has_what_a_distribution_has(
            one in prop::collection::vec((0..LONGEST_NS, 1..9_u64), 0..20),
            two in prop::collection::vec((0..10_000_u64, 1..9_u64), 0..20),
        ) {
            let ((mut sparse, mut dense), (other, other_dense)) = (of(&one), of(&two));
            sparse.merge(&other);
            dense.merge(&other_dense);
            prop_assert_eq!(&sparse.distribution(), &dense);
            prop_assert_eq!(sparse.max_ns(), dense.max_ns());
            prop_assert_eq!(&SparseDistribution::from(&dense), &sparse);
            prop_assert_eq!(sparse.packed().sparse().unwrap(), sparse);
        }
    }
}
