//! How many numbers lie in each bucket of a histogram, in the order of the buckets.

/// Counts by the index of their bucket, rising; buckets without a number are left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Buckets(Vec<(i32, u64)>);

impl Buckets {
    /// Adds this many numbers to a bucket.
    pub(crate) fn add(&mut self, bucket: i32, count: u64) {
        // Most come in rising order.
        let is_next = self.last().is_none_or(|last| last < bucket);
        let from = if is_next { self.0.len() } else { 0 };
        self.add_from(from, bucket, count);
    }

    /// Adds the counts of other buckets.
    pub(crate) fn merge(&mut self, other: &Buckets) {
        let mut from = 0;
        for (bucket, count) in other.iter() {
            from = self.add_from(from, bucket, count);
        }
    }

    /// Adds to a bucket that does not lie before this position; returns its position.
    fn add_from(&mut self, from: usize, bucket: i32, count: u64) -> usize {
        let before = self.0[from..].partition_point(|(own, _)| *own < bucket);
        let position = from + before;
        match self.0.get_mut(position) {
            Some((own, sum)) if *own == bucket => *sum = sum.saturating_add(count),
            _ => self.0.insert(position, (bucket, count)),
        }
        position
    }

    /// Returns each bucket with its count, rising.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (i32, u64)> + '_ {
        self.0.iter().copied()
    }

    /// True if no number lies in any bucket.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the first bucket with a number.
    pub(crate) fn first(&self) -> Option<i32> {
        self.0.first().map(|(bucket, _)| *bucket)
    }

    /// Returns the last bucket with a number.
    pub(crate) fn last(&self) -> Option<i32> {
        self.0.last().map(|(bucket, _)| *bucket)
    }

    /// Returns the sum of all counts.
    pub fn sum(&self) -> u64 {
        self.iter().map(|(_, count)| count).sum()
    }

    /// Returns the counts of coarser buckets, each of which joins some of these. `coarser` returns
    /// the one that a bucket lies in, and keeps the order.
    pub(crate) fn joined(&self, coarser: impl Fn(i32) -> i32) -> Buckets {
        let mut joined: Vec<(i32, u64)> = Vec::with_capacity(self.0.len());
        for (bucket, count) in self.iter() {
            let bucket = coarser(bucket);
            match joined.last_mut() {
                Some((last, sum)) if *last == bucket => *sum += count,
                _ => joined.push((bucket, count)),
            }
        }
        Buckets(joined)
    }
}

impl FromIterator<(i32, u64)> for Buckets {
    fn from_iter<T: IntoIterator<Item = (i32, u64)>>(counts: T) -> Buckets {
        let mut buckets = Buckets::default();
        for (bucket, count) in counts {
            buckets.add(bucket, count);
        }
        buckets
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    type Counts = Vec<(i32, u64)>;

    fn counts() -> impl Strategy<Value = Counts> {
        prop::collection::vec((-20..20_i32, 1..100_u64), 0..40)
    }

    fn sorted(counts: &Counts) -> Counts {
        let mut sums = BTreeMap::new();
        for (bucket, count) in counts {
            *sums.entry(*bucket).or_default() += count;
        }
        sums.into_iter().collect()
    }

    proptest! {
        #[test]
        fn counts_are_added_up_by_bucket(one in counts(), other in counts()) {
            let mut buckets: Buckets = one.iter().copied().collect();
            prop_assert_eq!(&buckets.0, &sorted(&one));
            buckets.merge(&other.iter().copied().collect());
            prop_assert_eq!(buckets.0, sorted(&[one, other].concat()));
        }

        #[test]
        fn joined_buckets_have_the_sums(one in counts()) {
            let buckets: Buckets = one.iter().copied().collect();
            let halved: Counts = one.iter().map(|(bucket, count)| (bucket >> 1, *count)).collect();
            prop_assert_eq!(buckets.joined(|bucket| bucket >> 1).0, sorted(&halved));
            prop_assert_eq!(buckets.sum(), one.iter().map(|(_, count)| count).sum::<u64>());
        }
    }
}
