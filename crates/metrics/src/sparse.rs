//! The counts of a distribution in a few bytes.
//!
//! A histogram that receives values mostly holds zeros. A history keeps many histograms and adds to
//! few, so it holds only the buckets that have a count, each as two numbers of variable length: the
//! distance from the bucket before, and the count. That is two or three bytes for each bucket.

use integer_encoding::VarInt;

/// The longest time that has its own bucket, in nanoseconds: an hour. Longer times count as an
/// hour.
pub const LONGEST_NS: u64 = 3_600_000_000_000;

/// The number of times in each bucket; empty buckets are absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparseCounts(Vec<u8>);

impl SparseCounts {
    /// Creates counts from pairs in the order of their buckets; a bucket may occur several times.
    pub fn from_counts(counts: impl Iterator<Item = (u32, u64)>) -> SparseCounts {
        let mut bytes = Vec::new();
        let mut counts = counts.peekable();
        let mut before = 0;
        while let Some((bucket, mut count)) = counts.next() {
            while let Some((_, more)) = counts.next_if(|next| next.0 == bucket) {
                count = count.saturating_add(more);
            }
            append(&mut bytes, u64::from(bucket - before));
            append(&mut bytes, count);
            before = bucket;
        }
        bytes.shrink_to_fit();
        SparseCounts(bytes)
    }

    /// Returns the buckets in their order, each with its count.
    pub fn counts(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let mut rest = &self.0[..];
        let mut bucket = 0;
        std::iter::from_fn(move || {
            bucket += take(&mut rest)? as u32;
            Some((bucket, take(&mut rest)?))
        })
    }

    /// Adds other counts; both must have buckets of the same width.
    pub fn merge(&mut self, other: &SparseCounts) {
        if other.0.is_empty() {
            return;
        }
        let before = std::mem::take(self);
        let (mut ours, mut theirs) = (before.counts().peekable(), other.counts().peekable());
        let both = std::iter::from_fn(|| match (ours.peek(), theirs.peek()) {
            (Some((our, _)), Some((their, _))) if their < our => theirs.next(),
            (Some(_), _) => ours.next(),
            (None, _) => theirs.next(),
        });
        *self = SparseCounts::from_counts(both);
    }

    /// Returns the number of times.
    pub fn len(&self) -> u64 {
        self.counts().map(|(_, count)| count).sum()
    }

    /// Returns the number of times in this bucket and those below it.
    pub fn up_to(&self, last: u32) -> u64 {
        let within = self.counts().take_while(|(bucket, _)| *bucket <= last);
        within.map(|(_, count)| count).sum()
    }

    /// True if there is no time.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the bucket of the time that `percentile` (0 to 100) percent of all do not exceed:
    /// that of rank ⌈n · percentile / 100⌉, at least 1. `None` without a time.
    pub fn bucket_of_rank(&self, percentile: f64) -> Option<u32> {
        self.bucket_at(SparseCounts::rank(percentile, self.len()))
    }

    /// Returns the rank of `percentile` (0 to 100) among `count` times.
    pub(crate) fn rank(percentile: f64, count: u64) -> u64 {
        // The product is lowered by more than its rounding error: 99.9 % of 1 000 are 999.
        const ROUNDING: f64 = 1e-13;
        let exact = percentile.clamp(0.0, 100.0) * count as f64 / 100.0;
        (exact * (1.0 - ROUNDING)).ceil().max(1.0) as u64
    }

    /// Returns the bucket of the time of this rank, from 1; `None` if there are fewer times.
    pub(crate) fn bucket_at(&self, rank: u64) -> Option<u32> {
        let mut passed = 0;
        let reached = |(bucket, count)| {
            passed += count;
            (passed >= rank).then_some(bucket)
        };
        self.counts().find_map(reached)
    }

    /// Returns the counts as bytes, for files.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Reads counts from the bytes of a file; `None` if these are not valid counts with buckets up
    /// to `last`.
    pub fn from_bytes(bytes: &[u8], last: u32) -> Option<SparseCounts> {
        let last = u64::from(last);
        let (mut rest, mut at, mut sum, mut is_first) = (bytes, 0_u64, 0_u64, true);
        while !rest.is_empty() {
            let (step, count) = (take(&mut rest)?, take(&mut rest)?);
            at = at.checked_add(step)?;
            sum = sum.checked_add(count)?;
            if at > last || count == 0 || step == 0 && !is_first {
                return None;
            }
            is_first = false;
        }
        Some(SparseCounts(bytes.to_vec()))
    }
}

fn append(bytes: &mut Vec<u8>, number: u64) {
    let mut encoded = [0; 10];
    let length = number.encode_var(&mut encoded);
    bytes.extend_from_slice(&encoded[..length]);
}

/// Takes the next number from the front; `None` at the end.
fn take(bytes: &mut &[u8]) -> Option<u64> {
    let (number, length) = u64::decode_var(bytes)?;
    *bytes = &bytes[length..];
    Some(number)
}

/// Returns the bucket of a time: its exponent and the `bits` bits after the leading one.
pub fn bucket(value_ns: u64, bits: u32) -> u32 {
    let exponent = value_ns.max(1).ilog2();
    let shift = exponent.saturating_sub(bits);
    (shift << bits) + (value_ns >> shift) as u32
}

/// Returns the longest time of a bucket in nanoseconds, for buckets of this many bits.
pub const fn highest_of(bucket: u32, bits: u32) -> u64 {
    let shift = (bucket >> bits).saturating_sub(1);
    let first = (bucket - (shift << bits)) as u64;
    ((first + 1) << shift) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn nothing_takes_no_memory() {
        let nothing = SparseCounts::from_counts(std::iter::empty());
        assert_eq!((nothing.bytes().len(), nothing.len()), (0, 0));
        assert_eq!(nothing.bucket_of_rank(50.0), None);
    }

    #[test]
    fn bytes_that_are_no_counts_are_refused() {
        let counts = |bytes: &[u8]| SparseCounts::from_bytes(bytes, bucket(LONGEST_NS, 7));
        assert_eq!(counts(&[]), Some(SparseCounts::default()));
        assert!(counts(&[0, 1, 2, 3]).is_some());
        for bad in [&[1][..], &[5, 0], &[5, 1, 0, 1], &[255, 255, 1, 1], &[128]] {
            assert_eq!(counts(bad), None, "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn counts_come_back_as_they_went_in(
            counts in prop::collection::btree_map(0u32..7_000, 1..u64::MAX / 8_000, 0..100),
            more in prop::collection::btree_map(0u32..7_000, 1..u64::MAX / 8_000, 0..100),
        ) {
            let mut sparse = SparseCounts::from_counts(counts.clone().into_iter());
            prop_assert_eq!(sparse.counts().collect::<BTreeMap<_, _>>(), counts.clone());
            sparse.merge(&SparseCounts::from_counts(more.clone().into_iter()));
            let mut sum = counts;
            more.iter().for_each(|(bucket, count)| *sum.entry(*bucket).or_default() += count);
            prop_assert_eq!(sparse.counts().collect::<BTreeMap<_, _>>(), sum);
        }

        #[test]
        fn a_bucket_ends_with_its_longest_time(value in 0..LONGEST_NS) {
            let highest = highest_of(bucket(value, 7), 7);
            prop_assert!(highest >= value && highest <= value + value / 100);
            prop_assert_eq!(bucket(highest, 7), bucket(value, 7));
            prop_assert_eq!(bucket(highest + 1, 7), bucket(value, 7) + 1);
        }

        #[test]
        fn counts_are_read_back_from_their_bytes(
            counts in prop::collection::btree_map(0u32..4_500, 1..u64::MAX / 8_000, 0..100),
        ) {
            let sparse = SparseCounts::from_counts(counts.into_iter());
            prop_assert_eq!(SparseCounts::from_bytes(sparse.bytes(), 4_500), Some(sparse));
        }

        #[test]
        fn buckets_are_in_order_and_as_wide_as_their_bits(value in 1u64..4_000_000_000_000) {
            prop_assert!(bucket(value, 7) <= bucket(value + 1, 7));
            prop_assert!(bucket(value, 7) < bucket(value + value / 100 + 1, 7));
        }
    }
}
