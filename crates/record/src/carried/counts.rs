//! The counts of a distribution in few bits: only the buckets that have any, each as its distance
//! from the one before and its count, or as the difference from another distribution.
//!
//! A difference has one of two forms. Usually it is that of the counts. Where values are those of
//! the other distribution and some of them a little longer, it is for each bucket the number of
//! values that were moved beyond it: one such number says what two differences would.
//!
//! Many distributions of an interval are nearly equal. The time to the first byte of a response
//! that comes in one piece is its service time, and a response to which nothing was added before
//! its start has the same time with and without that delay. So a distribution may be sent as the
//! difference of its counts from those of another one.

use super::bits::{BitReader, BitWriter, Rice};
use super::error::CarryError;
use crate::buckets::{bucket_of, last_bucket, lowest_of};
use crate::{Distribution, SparseDistribution};
use serde::{Deserialize, Serialize};

/// A limit above the values of any run; it keeps sums over many intervals far from overflow.
const MOST_VALUES: u64 = 1 << 48;

/// A bucket with its count, or with the difference of two counts; never 0.
pub(crate) type Entry = (usize, i64);

/// Buckets with their counts, rising.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PackedCounts {
    /// The number of buckets.
    buckets: u32,
    /// The first of them.
    first: u32,
    /// The counts, and the distances of the buckets after the first.
    bits: Vec<u8>,
}

impl PackedCounts {
    /// Packs all counts of a distribution.
    pub(super) fn of(distribution: &Distribution) -> Self {
        PackedCounts::all(&entries(distribution))
    }

    /// Packs all of these counts.
    pub(crate) fn all(entries: &[Entry]) -> Self {
        PackedCounts::pack(entries, unsigned)
    }

    /// Packs the numbers of values that are those of `base` in later buckets; `None` if some are in
    /// earlier ones, or if that would be more numbers than counts.
    pub(super) fn later(counts: &[Entry], base: &[Entry]) -> Option<Self> {
        let moved = moved(&differences(base, counts), counts.len())?;
        Some(PackedCounts::pack(&moved, unsigned))
    }

    /// Returns the number of bytes of its bits.
    pub(super) fn bytes(&self) -> usize {
        self.bits.len()
    }

    /// Packs the differences of a distribution from another one.
    pub(super) fn difference(differences: &[Entry]) -> Self {
        PackedCounts::pack(differences, signed)
    }

    /// Returns the distribution of all its counts.
    ///
    /// # Errors
    /// If the counts are invalid.
    pub(super) fn distribution(&self) -> Result<Distribution, CarryError> {
        let entries = self.unpack(of_unsigned).ok_or(CarryError::Times)?;
        distribution_of(&entries)
    }

    /// Returns the same as [`distribution`](Self::distribution), in fewer bytes.
    ///
    /// # Errors
    /// If the counts are invalid.
    pub(crate) fn sparse(&self) -> Result<SparseDistribution, CarryError> {
        let entries = self.unpack(of_unsigned).ok_or(CarryError::Times)?;
        let mut values = 0_u64;
        let mut counts = Vec::with_capacity(entries.len());
        for (bucket, count) in entries {
            let count = u64::try_from(count).map_err(|_| CarryError::Times)?;
            values = values.saturating_add(count);
            counts.push((bucket as u32, count));
        }
        match values > MOST_VALUES {
            true => Err(CarryError::Times),
            false => Ok(SparseDistribution::of_counts(counts)),
        }
    }

    /// Returns the distribution that differs from this one by these counts.
    ///
    /// # Errors
    /// If the counts are invalid.
    pub(super) fn distribution_beside(
        &self,
        base: &Distribution,
    ) -> Result<Distribution, CarryError> {
        let differences = self.unpack(of_signed).ok_or(CarryError::Times)?;
        distribution_of(&added(&entries(base), &differences, 1))
    }

    /// Returns the distribution whose values are those of this one, so many of them beyond their
    /// buckets.
    ///
    /// # Errors
    /// If the counts are invalid.
    pub(super) fn distribution_later(
        &self,
        base: &Distribution,
    ) -> Result<Distribution, CarryError> {
        let moved = self.unpack(of_unsigned).ok_or(CarryError::Times)?;
        distribution_of(&added(&entries(base), &steps(&moved), -1))
    }

    fn pack(entries: &[Entry], number_of: impl Fn(i64) -> u64) -> Self {
        let (mut bits, mut distances, mut counts) = codes();
        let mut before = None;
        for &(bucket, count) in entries {
            if let Some(before) = before.replace(bucket) {
                distances.write(&mut bits, (bucket - before - 1) as u64);
            }
            counts.write(&mut bits, number_of(count));
        }
        PackedCounts {
            buckets: entries.len() as u32,
            first: entries.first().map_or(0, |(bucket, _)| *bucket as u32),
            bits: bits.into_bytes(),
        }
    }

    fn unpack(&self, count_of: impl Fn(u64) -> i64) -> Option<Vec<Entry>> {
        let (_, mut distances, mut counts) = codes();
        let mut bits = BitReader::new(&self.bits);
        let mut entries: Vec<Entry> = Vec::new();
        for _ in 0..self.buckets {
            let bucket = match entries.last() {
                None => self.first as usize,
                Some((before, _)) => {
                    let distance = usize::try_from(distances.read(&mut bits)?).ok()?;
                    before.checked_add(1)?.checked_add(distance)?
                }
            };
            if bucket > last_bucket() {
                return None;
            }
            entries.push((bucket, count_of(counts.read(&mut bits)?)));
        }
        Some(entries)
    }
}

/// Returns empty bits, and the codes of distances and of counts.
fn codes() -> (BitWriter, Rice, Rice) {
    (BitWriter::default(), Rice::new(2), Rice::new(0))
}

fn unsigned(count: i64) -> u64 {
    count as u64 - 1
}

fn of_unsigned(number: u64) -> i64 {
    (number as i64).saturating_add(1)
}

/// Numbers the differences 1, -1, 2, -2, … from 0.
fn signed(difference: i64) -> u64 {
    let is_negative = u64::from(difference < 0);
    (difference.unsigned_abs() - 1) << 1 | is_negative
}

fn of_signed(number: u64) -> i64 {
    let difference = (number >> 1) as i64 + 1;
    if number & 1 == 0 {
        difference
    } else {
        -difference
    }
}

/// Returns the buckets of a distribution that have counts, rising.
pub(super) fn entries(distribution: &Distribution) -> Vec<Entry> {
    let steps = distribution.steps();
    let entry = |(value_ns, count): (u64, u64)| (bucket_of(value_ns), count as i64);
    steps.map(entry).collect()
}

/// Returns the differences of these counts from those of `base`.
pub(super) fn differences(counts: &[Entry], base: &[Entry]) -> Vec<Entry> {
    added(counts, base, -1)
}

/// Returns the running sums of these differences, where they are not 0; `None` if one is negative,
/// if there are more than `most`, or if the sum of all is not 0.
fn moved(differences: &[Entry], most: usize) -> Option<Vec<Entry>> {
    let mut moved = Vec::new();
    let mut sum = 0_i64;
    for (index, &(bucket, difference)) in differences.iter().enumerate() {
        sum = sum.saturating_add(difference);
        if sum == 0 {
            continue;
        }
        let &(next, _) = differences.get(index + 1)?;
        if sum < 0 || moved.len() + (next - bucket) > most {
            return None;
        }
        moved.extend((bucket..next).map(|bucket| (bucket, sum)));
    }
    Some(moved)
}

/// Returns the differences whose running sums these are.
fn steps(sums: &[Entry]) -> Vec<Entry> {
    let mut steps = Vec::new();
    let mut push = |bucket: usize, step: i64| {
        if step != 0 {
            steps.push((bucket, step));
        }
    };
    let (mut next, mut sum) = (0, 0_i64);
    for &(bucket, own) in sums {
        if bucket > next {
            push(next, sum.saturating_neg());
            sum = 0;
        }
        push(bucket, own.saturating_sub(sum));
        (next, sum) = (bucket + 1, own);
    }
    push(next, sum.saturating_neg());
    steps
}

/// Returns the sums of these counts and `factor` times those of `others`, where they are not 0.
fn added(counts: &[Entry], others: &[Entry], factor: i64) -> Vec<Entry> {
    let (mut ours, mut theirs) = (counts.iter().peekable(), others.iter().peekable());
    let mut sums = Vec::with_capacity(counts.len());
    loop {
        let bucket = match (ours.peek(), theirs.peek()) {
            (Some((our, _)), Some((their, _))) => *our.min(their),
            (Some((bucket, _)), None) | (None, Some((bucket, _))) => *bucket,
            (None, None) => return sums,
        };
        let own = ours.next_if(|(own, _)| *own == bucket);
        let other = theirs.next_if(|(other, _)| *other == bucket);
        let count = |entry: Option<&Entry>| entry.map_or(0, |(_, count)| *count);
        let sum = count(own).saturating_add(factor * count(other));
        if sum != 0 {
            sums.push((bucket, sum));
        }
    }
}

/// Returns the distribution of these counts.
fn distribution_of(entries: &[Entry]) -> Result<Distribution, CarryError> {
    let mut distribution = Distribution::default();
    let mut values = 0_u64;
    // From the longest time down, so that the histogram grows once.
    for (bucket, count) in entries.iter().rev() {
        let count = u64::try_from(*count).map_err(|_| CarryError::Times)?;
        values = values.saturating_add(count);
        if values > MOST_VALUES {
            return Err(CarryError::Times);
        }
        distribution.record_many_ns(lowest_of(*bucket), count);
    }
    Ok(distribution)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LONGEST_NS;
    use proptest::prelude::*;

    fn of(values: &[u64]) -> Distribution {
        let mut distribution = Distribution::default();
        values
            .iter()
            .for_each(|value| distribution.record_ns(*value));
        distribution
    }

    #[test]
    fn nothing_takes_no_bits() {
        let nothing = PackedCounts::of(&Distribution::default());
        assert_eq!(nothing, PackedCounts::default());
        assert_eq!(nothing.distribution().unwrap(), Distribution::default());
    }

    #[test]
    fn counts_that_no_distribution_has_are_refused() {
        let packed = PackedCounts::of(&of(&[5, 7, LONGEST_NS]));
        let refused = |packed: PackedCounts| packed.distribution().is_err();
        assert!(!refused(packed.clone()));
        let (buckets, first) = (packed.buckets, packed.first);
        assert!(refused(PackedCounts {
            first: first + 1,
            ..packed.clone()
        }));
        assert!(refused(PackedCounts {
            buckets: buckets + 1,
            ..packed.clone()
        }));
        let less = PackedCounts::difference(&[(7, -2)]);
        assert!(less.distribution_beside(&of(&[7])).is_err());
        assert_eq!(less.distribution_beside(&of(&[7, 7, 9])).unwrap(), of(&[9]));
        let later = PackedCounts::all(&[(7, 2)]);
        assert!(later.distribution_later(&of(&[7])).is_err());
        assert_eq!(
            later.distribution_later(&of(&[7, 7, 7])).unwrap(),
            of(&[7, 8, 8])
        );
        let most = PackedCounts::difference(&[(7, 1 << 48)]);
        assert!(most.distribution_beside(&Distribution::default()).is_ok());
        assert!(most.distribution_beside(&of(&[9])).is_err());
    }

    #[test]
    fn values_that_are_a_little_later_take_a_number_each() {
        let (before, after) = (of(&[10, 20, 20, 30]), of(&[10, 20, 22, 31]));
        let (before_entries, after_entries) = (entries(&before), entries(&after));
        let moved = moved(&differences(&before_entries, &after_entries), 9);
        assert_eq!(moved, Some(vec![(20, 1), (21, 1), (30, 1)]));
        let packed = PackedCounts::later(&after_entries, &before_entries).expect("they are later");
        assert_eq!(packed.distribution_later(&before).unwrap(), after);
        assert_eq!(PackedCounts::later(&before_entries, &after_entries), None);
        let more = entries(&of(&[10, 20, 22, 31, 40]));
        assert_eq!(PackedCounts::later(&more, &before_entries), None);
    }

    proptest! {
        #[test]
        fn a_distribution_comes_back_as_it_was(
            values in prop::collection::vec(
                prop_oneof![0..3_000_u64, 0..20_000_000_u64, 0..2 * LONGEST_NS], 0..200),
        ) {
            let distribution = of(&values);
            prop_assert_eq!(PackedCounts::of(&distribution).distribution().unwrap(), distribution);
        }

        #[test]
        fn a_difference_and_its_base_give_the_distribution(
            one in prop::collection::vec(0..5_000_u64, 0..100),
            two in prop::collection::vec(0..5_000_u64, 0..100),
        ) {
            let (one, two) = (of(&one), of(&two));
            let packed = PackedCounts::difference(&differences(&entries(&one), &entries(&two)));
            prop_assert_eq!(packed.distribution_beside(&two).unwrap(), one);
        }

        #[test]
        fn values_that_are_later_come_back(
            values in prop::collection::vec((0..5_000_u64, 0..4_u64), 0..100),
        ) {
            let base: Vec<u64> = values.iter().map(|(value, _)| *value).collect();
            let later: Vec<u64> = values.iter().map(|(value, more)| value + more).collect();
            let (base, later) = (of(&base), of(&later));
            if let Some(packed) = PackedCounts::later(&entries(&later), &entries(&base)) {
                prop_assert_eq!(packed.distribution_later(&base).unwrap(), later);
            }
        }

        #[test]
        fn any_bits_are_read_without_harm(
            buckets in 0..100_u32,
            first in any::<u32>(),
            bits in prop::collection::vec(any::<u8>(), 0..50),
        ) {
            let packed = PackedCounts { buckets, first, bits };
            let _ = packed.distribution();
            let _ = packed.distribution_beside(&of(&[1, 2, 3]));
            let _ = packed.distribution_later(&of(&[1, 2, 3]));
        }
    }
}
