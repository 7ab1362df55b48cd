//! The counts of a distribution in a few bytes.
//!
//! A histogram that receives values mostly holds zeros. A history keeps many histograms and adds to
//! few, so it holds only the buckets that have a count, each as two numbers of variable length: the
//! distance from the bucket before, and the count. That is two or three bytes for each bucket.

use integer_encoding::VarInt;
use std::ops::Range;

/// The longest time that has its own bucket, in nanoseconds: an hour. Longer times count as an
/// hour.
pub const LONGEST_NS: u64 = 3_600_000_000_000;

/// The most numbers that one change of a pair writes.
const MOST_WRITTEN: usize = 3;
/// The most bytes of a number of variable length.
const LONGEST_NUMBER: usize = 10;

/// The number of times in each bucket; empty buckets are absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SparseCounts {
    bytes: Vec<u8>,
    /// The sum of the counts.
    len: u64,
}

impl SparseCounts {
    /// Creates counts from pairs in the order of their buckets; a bucket may occur several times.
    pub fn from_counts(counts: impl Iterator<Item = (u32, u64)>) -> SparseCounts {
        let mut sparse = SparseCounts::default();
        let mut counts = counts.peekable();
        let mut before = 0;
        while let Some((bucket, mut count)) = counts.next() {
            while let Some((_, more)) = counts.next_if(|next| next.0 == bucket) {
                count = count.saturating_add(more);
            }
            append(&mut sparse.bytes, u64::from(bucket - before));
            append(&mut sparse.bytes, count);
            sparse.len = sparse.len.saturating_add(count);
            before = bucket;
        }
        sparse.bytes.shrink_to_fit();
        sparse
    }

    /// Returns the sum of many counts, whose buckets have the same width.
    pub fn sum<'a>(many: impl Iterator<Item = &'a SparseCounts>) -> SparseCounts {
        let mut sums: Vec<u64> = Vec::new();
        for one in many {
            for (bucket, count) in one.counts() {
                let index = bucket as usize;
                if sums.len() <= index {
                    sums.resize(index + 1, 0);
                }
                sums[index] = sums[index].saturating_add(count);
            }
        }
        let sums = (0..).zip(sums);
        SparseCounts::from_counts(sums.filter(|(_, count)| *count > 0))
    }

    /// Returns the buckets in their order, each with its count.
    pub fn counts(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let mut rest = &self.bytes[..];
        let mut bucket = 0;
        std::iter::from_fn(move || {
            bucket += take(&mut rest)? as u32;
            Some((bucket, take(&mut rest)?))
        })
    }

    /// Adds other counts; both must have buckets of the same width.
    pub fn merge(&mut self, other: &SparseCounts) {
        if self.bytes.is_empty() {
            self.clone_from(other);
        } else if other.bytes.len() < self.bytes.len() / 8 {
            self.merge_few(other);
        } else if !other.bytes.is_empty() {
            self.merge_many(other);
        }
    }

    fn merge_many(&mut self, other: &SparseCounts) {
        let before = std::mem::take(self);
        let (mut ours, mut theirs) = (before.counts().peekable(), other.counts().peekable());
        let both = std::iter::from_fn(|| match (ours.peek(), theirs.peek()) {
            (Some((our, _)), Some((their, _))) if their < our => theirs.next(),
            (Some(_), _) => ours.next(),
            (None, _) => theirs.next(),
        });
        *self = SparseCounts::from_counts(both);
    }

    /// Adds few counts to many: pairs are changed or inserted where they are, and the others are
    /// not written again.
    fn merge_few(&mut self, other: &SparseCounts) {
        let (mut at, mut before) = (0, 0);
        for (bucket, count) in other.counts() {
            let found = loop {
                match Pair::at(&self.bytes, at) {
                    Some(pair) if before + pair.step < bucket => {
                        before += pair.step;
                        at = pair.end;
                    }
                    found => break found,
                }
            };
            let step = u64::from(bucket - before);
            match found {
                Some(pair) if before + pair.step == bucket => {
                    let sum = pair.count.saturating_add(count);
                    replace(&mut self.bytes, pair.count_at..pair.end, &[sum]);
                }
                Some(pair) => {
                    let rest = u64::from(before + pair.step - bucket);
                    replace(&mut self.bytes, at..pair.count_at, &[step, count, rest]);
                }
                None => {
                    let end = self.bytes.len();
                    replace(&mut self.bytes, end..end, &[step, count]);
                }
            }
        }
        self.len = self.len.saturating_add(other.len);
    }

    /// Returns the number of times.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Returns the number of times in this bucket and those below it.
    pub fn up_to(&self, last: u32) -> u64 {
        let within = self.counts().take_while(|(bucket, _)| *bucket <= last);
        within.map(|(_, count)| count).sum()
    }

    /// True if there is no time.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the bucket of the time that `percentile` (0 to 100) percent of all do not exceed:
    /// that of rank ⌈n · percentile / 100⌉, at least 1. `None` without a time.
    pub fn bucket_of_rank(&self, percentile: f64) -> Option<u32> {
        let [bucket] = self.buckets_of_ranks([percentile]);
        bucket
    }

    /// Returns the same as [`bucket_of_rank`](Self::bucket_of_rank) for each of several
    /// percentiles, which must rise.
    pub fn buckets_of_ranks<const N: usize>(&self, percentiles: [f64; N]) -> [Option<u32>; N] {
        debug_assert!(percentiles.is_sorted(), "percentiles are given in order");
        let ranks = percentiles.map(|percentile| SparseCounts::rank(percentile, self.len));
        let (mut buckets, mut passed, mut found) = ([None; N], 0_u64, 0);
        for (bucket, count) in self.counts() {
            passed = passed.saturating_add(count);
            while found < N && passed >= ranks[found] {
                buckets[found] = Some(bucket);
                found += 1;
            }
            if found == N {
                break;
            }
        }
        buckets
    }

    /// Returns the rank of `percentile` (0 to 100) among `count` times.
    pub(crate) fn rank(percentile: f64, count: u64) -> u64 {
        // The product is lowered by more than its rounding error: 99.9 % of 1 000 are 999.
        const ROUNDING: f64 = 1e-13;
        let exact = percentile.clamp(0.0, 100.0) * count as f64 / 100.0;
        (exact * (1.0 - ROUNDING)).ceil().max(1.0) as u64
    }

    /// Returns the counts as bytes, for files.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
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
        Some(SparseCounts {
            bytes: bytes.to_vec(),
            len: sum,
        })
    }
}

/// A pair within the bytes of counts.
struct Pair {
    /// The distance from the bucket before.
    step: u32,
    count: u64,
    /// The index of the first byte of the count, and of the byte after it.
    count_at: usize,
    end: usize,
}

impl Pair {
    /// Returns the pair that begins at this byte; `None` at the end.
    #[inline]
    fn at(bytes: &[u8], at: usize) -> Option<Pair> {
        let mut rest = bytes.get(at..)?;
        let step = take(&mut rest)? as u32;
        let count_at = bytes.len() - rest.len();
        let count = take(&mut rest)?;
        Some(Pair {
            step,
            count,
            count_at,
            end: bytes.len() - rest.len(),
        })
    }
}

/// Replaces some bytes by at most [`MOST_WRITTEN`] numbers. Room is made for these alone: there are
/// many counts, and most of them have had each of their buckets after a while.
fn replace(bytes: &mut Vec<u8>, range: Range<usize>, numbers: &[u64]) {
    let mut encoded = [0; MOST_WRITTEN * LONGEST_NUMBER];
    let mut length = 0;
    for number in numbers {
        length += number.encode_var(&mut encoded[length..]);
    }
    let encoded = &encoded[..length];
    if range.len() == length {
        bytes[range].copy_from_slice(encoded);
        return;
    }
    bytes.reserve_exact(length.saturating_sub(range.len()));
    drop(bytes.splice(range, encoded.iter().copied()));
}

fn append(bytes: &mut Vec<u8>, number: u64) {
    let mut encoded = [0; LONGEST_NUMBER];
    let length = number.encode_var(&mut encoded);
    bytes.extend_from_slice(&encoded[..length]);
}

/// Takes the next number from the front; `None` at the end.
#[inline]
fn take(bytes: &mut &[u8]) -> Option<u64> {
    // Nearly all numbers have one byte.
    if let [number @ 0..=127, rest @ ..] = *bytes {
        *bytes = rest;
        return Some(u64::from(*number));
    }
    take_long(bytes)
}

fn take_long(bytes: &mut &[u8]) -> Option<u64> {
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
            let more_sparse = SparseCounts::from_counts(more.clone().into_iter());
            let at_once = SparseCounts::sum([&sparse, &more_sparse].into_iter());
            sparse.merge(&more_sparse);
            let mut sum = counts;
            more.iter().for_each(|(bucket, count)| *sum.entry(*bucket).or_default() += count);
            prop_assert_eq!(sparse.len(), sum.values().sum::<u64>());
            prop_assert_eq!(sparse.counts().collect::<BTreeMap<_, _>>(), sum);
            prop_assert_eq!(sparse, at_once);
        }

        /// Few counts at a time are added where they belong, as the recorder adds its seconds.
        #[test]
        fn counts_that_come_by_and_by_are_those_that_come_at_once(
            buckets in prop::collection::vec((0u32..300, 1..200_u64), 200..400),
            few in 1..4_usize,
        ) {
            let mut sparse = SparseCounts::default();
            let mut sum = BTreeMap::new();
            for part in buckets.chunks(few) {
                let mut part = part.to_vec();
                part.sort_unstable();
                part.iter().for_each(|(bucket, count)| *sum.entry(*bucket).or_default() += count);
                sparse.merge(&SparseCounts::from_counts(part.into_iter()));
            }
            let at_once = SparseCounts::from_counts(sum.into_iter());
            prop_assert_eq!(sparse.len(), at_once.len());
            prop_assert_eq!(sparse, at_once);
        }

        #[test]
        fn several_ranks_are_found_at_once(
            counts in prop::collection::btree_map(0u32..7_000, 1..1_000_u64, 0..100),
            mut percentiles in prop::array::uniform3(0.0..=100.0_f64),
        ) {
            percentiles.sort_unstable_by(f64::total_cmp);
            let sparse = SparseCounts::from_counts(counts.into_iter());
            let each = percentiles.map(|percentile| {
                let rank = SparseCounts::rank(percentile, sparse.len());
                let first = sparse.counts().find(|(bucket, _)| sparse.up_to(*bucket) >= rank);
                first.map(|(bucket, _)| bucket)
            });
            prop_assert_eq!(sparse.buckets_of_ranks(percentiles), each);
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
