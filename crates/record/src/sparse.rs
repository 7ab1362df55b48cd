//! The counts of a distribution in a few bytes.
//!
//! A histogram is made to be added to and mostly holds zeros. A history keeps many and adds to few,
//! so it holds only the buckets that have a count, each as two numbers of variable length: its
//! distance from the one before, and its count. That is two or three bytes a bucket.

use crate::Distribution;
use integer_encoding::VarInt;

/// How many times fell into each bucket; empty ones are absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SparseCounts(Vec<u8>);

impl SparseCounts {
    /// The counts of a distribution in buckets whose times share their exponent and so many bits
    /// behind the first one.
    pub(crate) fn within(times: &Distribution, bits: u32) -> SparseCounts {
        let steps = times.steps();
        SparseCounts::from_counts(steps.map(|(value_ns, count)| (bucket(value_ns, bits), count)))
    }

    /// Takes counts in the order of their buckets; a bucket may come several times.
    fn from_counts(counts: impl Iterator<Item = (u32, u64)>) -> SparseCounts {
        let mut bytes = Vec::new();
        let mut counts = counts.peekable();
        let mut before = 0;
        while let Some((bucket, mut count)) = counts.next() {
            while let Some((_, more)) = counts.next_if(|next| next.0 == bucket) {
                count += more;
            }
            append(&mut bytes, u64::from(bucket - before));
            append(&mut bytes, count);
            before = bucket;
        }
        bytes.shrink_to_fit();
        SparseCounts(bytes)
    }

    /// The buckets in their order, each with its count.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (u32, u64)> + '_ {
        let mut rest = &self.0[..];
        let mut bucket = 0;
        std::iter::from_fn(move || {
            bucket += take(&mut rest)? as u32;
            Some((bucket, take(&mut rest)?))
        })
    }

    /// Adds all that the other one counts; both have buckets of one width.
    pub(crate) fn merge(&mut self, other: &SparseCounts) {
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

    /// How many times there are.
    pub(crate) fn len(&self) -> u64 {
        self.counts().map(|(_, count)| count).sum()
    }

    /// How many of them are in no bucket above this one.
    pub(crate) fn up_to(&self, last: u32) -> u64 {
        let within = self.counts().take_while(|(bucket, _)| *bucket <= last);
        within.map(|(_, count)| count).sum()
    }

    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        self.0.len()
    }
}

fn append(bytes: &mut Vec<u8>, number: u64) {
    let mut encoded = [0; 10];
    let length = number.encode_var(&mut encoded);
    bytes.extend_from_slice(&encoded[..length]);
}

/// Takes the next number from the front; nothing at the end.
fn take(bytes: &mut &[u8]) -> Option<u64> {
    let (number, length) = u64::decode_var(bytes)?;
    *bytes = &bytes[length..];
    Some(number)
}

/// The bucket of a time: its exponent and so many bits that follow the first one.
pub(crate) fn bucket(value_ns: u64, bits: u32) -> u32 {
    let exponent = value_ns.max(1).ilog2();
    let shift = exponent.saturating_sub(bits);
    (shift << bits) + (value_ns >> shift) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn nothing_takes_no_memory() {
        let nothing = SparseCounts::within(&Distribution::default(), 7);
        assert_eq!((nothing.bytes(), nothing.len()), (0, 0));
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
        fn buckets_are_in_order_and_as_wide_as_their_bits(value in 1u64..4_000_000_000_000) {
            prop_assert!(bucket(value, 7) <= bucket(value + 1, 7));
            prop_assert!(bucket(value, 7) < bucket(value + value / 100 + 1, 7));
        }
    }
}
