//! The times of a run in stretches, to see how much they depend on each other.
//!
//! Times that follow each other resemble each other, and how much so shows in how differently the
//! stretches of a run turned out. A histogram for each second would need a gigabyte for an hour, so
//! there are never more than 64 stretches: when one more comes, each two neighbours are joined.
//! And each holds its times to within a hundredth, in some kilobytes: enough to count how many were
//! below a percentile. All of it stays below half a megabyte, however long the run.

use crate::Distribution;
use integer_encoding::VarInt;

/// At most so many stretches are kept.
const MOST: usize = 64;

/// Times that share their exponent and the first bits after it share a bucket.
const BITS: u32 = 7;

/// The times of a run in at most 64 stretches of equal length, in the order of time.
#[derive(Clone, Debug, PartialEq)]
pub struct Blocks {
    blocks: Vec<Buckets>,
    /// How many intervals a stretch holds, a power of two.
    each: usize,
    /// How many intervals the last stretch holds.
    in_last: usize,
}

impl Default for Blocks {
    fn default() -> Blocks {
        Blocks {
            blocks: Vec::new(),
            each: 1,
            in_last: 0,
        }
    }
}

impl Blocks {
    /// Adds the next interval.
    pub fn observe(&mut self, interval: &Distribution) {
        let buckets = Buckets::of(interval);
        match self.blocks.last_mut() {
            Some(last) if self.in_last < self.each => {
                last.add(&buckets);
                self.in_last += 1;
            }
            _ => {
                self.make_room();
                self.blocks.push(buckets);
                self.in_last = 1;
            }
        }
    }

    /// For each stretch, how many times it has and how many of them were at most `value_ns`, to
    /// within a hundredth of it.
    pub fn up_to_ns(&self, value_ns: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let last = bucket(value_ns);
        self.blocks
            .iter()
            .map(move |buckets| (buckets.len(), buckets.up_to(last)))
    }

    /// Joins each two neighbours if there are as many stretches as may be.
    fn make_room(&mut self) {
        if self.blocks.len() < MOST {
            return;
        }
        let join = |pair: &[Buckets]| {
            let mut sum = pair[0].clone();
            pair[1..].iter().for_each(|next| sum.add(next));
            sum
        };
        self.blocks = self.blocks.chunks(2).map(join).collect();
        self.each *= 2;
    }
}

/// How many times fell into each bucket; empty ones are absent.
///
/// Each bucket is two numbers of variable length: its distance from the one before, and its count.
/// Hundreds of buckets with a handful of times each take three bytes a bucket that way.
#[derive(Clone, Debug, Default, PartialEq)]
struct Buckets(Vec<u8>);

impl Buckets {
    fn of(times: &Distribution) -> Buckets {
        let steps = times.steps();
        Buckets::from_counts(steps.map(|(value_ns, count)| (bucket(value_ns), count)))
    }

    /// Takes counts in the order of their buckets; a bucket may come several times.
    fn from_counts(counts: impl Iterator<Item = (u16, u64)>) -> Buckets {
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
        Buckets(bytes)
    }

    /// The buckets in their order, each with its count.
    fn counts(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        let mut rest = &self.0[..];
        let mut bucket = 0;
        std::iter::from_fn(move || {
            bucket += take(&mut rest)? as u16;
            Some((bucket, take(&mut rest)?))
        })
    }

    fn add(&mut self, other: &Buckets) {
        let mut all: Vec<_> = self.counts().chain(other.counts()).collect();
        all.sort_unstable_by_key(|(bucket, _)| *bucket);
        *self = Buckets::from_counts(all.into_iter());
    }

    fn len(&self) -> u64 {
        self.counts().map(|(_, count)| count).sum()
    }

    fn up_to(&self, last: u16) -> u64 {
        let within = self.counts().take_while(|(bucket, _)| *bucket <= last);
        within.map(|(_, count)| count).sum()
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

/// The bucket of a time: its exponent and the [`BITS`] that follow the first one.
fn bucket(value_ns: u64) -> u16 {
    let exponent = value_ns.max(1).ilog2();
    let shift = exponent.saturating_sub(BITS);
    ((shift << BITS) as u64 + (value_ns >> shift)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn interval(values: impl IntoIterator<Item = u64>) -> Distribution {
        let mut times = Distribution::default();
        values.into_iter().for_each(|value| times.record_ns(value));
        times
    }

    fn observed(intervals: usize) -> Blocks {
        let mut blocks = Blocks::default();
        (1..=intervals as u64).for_each(|n| blocks.observe(&interval([n * 1_000, 5_000_000])));
        blocks
    }

    #[test]
    fn up_to_the_limit_each_interval_is_its_own() {
        let counts: Vec<_> = observed(64).up_to_ns(4_000_000).collect();
        assert_eq!(counts, vec![(2, 1); 64]);
    }

    #[test]
    fn beyond_it_neighbours_are_joined() {
        for (intervals, stretches, each) in
            [(65, 33, 2), (128, 64, 2), (129, 33, 4), (1_000, 63, 16)]
        {
            let counts: Vec<_> = observed(intervals).up_to_ns(4_000_000).collect();
            assert_eq!(counts.len(), stretches, "{intervals}");
            assert_eq!(counts[0], (2 * each, each), "{intervals}");
            let all: u64 = counts.iter().map(|(samples, _)| samples).sum();
            assert_eq!(all, 2 * intervals as u64);
        }
    }

    #[test]
    fn an_interval_without_times_is_a_stretch_without_samples() {
        let mut blocks = Blocks::default();
        blocks.observe(&Distribution::default());
        assert_eq!(blocks.up_to_ns(1).collect::<Vec<_>>(), [(0, 0)]);
    }

    #[test]
    fn a_stretch_is_small() {
        let mut blocks = Blocks::default();
        blocks.observe(&interval((0..100_000).map(|n| 50_000 + n * 10_000)));
        assert!(blocks.blocks[0].0.len() <= 8_000);
    }

    proptest! {
        #[test]
        fn counts_come_back_as_they_went_in(counts in proptest::collection::btree_map(0u16..7_000, 1..u64::MAX / 8_000, 0..100)) {
            let buckets = Buckets::from_counts(counts.clone().into_iter());
            prop_assert_eq!(buckets.counts().collect::<Vec<_>>(), counts.clone().into_iter().collect::<Vec<_>>());
            let mut twice = buckets.clone();
            twice.add(&buckets);
            let doubled: Vec<_> = counts.into_iter().map(|(bucket, count)| (bucket, 2 * count)).collect();
            prop_assert_eq!(twice.counts().collect::<Vec<_>>(), doubled);
        }

        #[test]
        fn buckets_are_in_order_and_a_hundredth_wide(value in 1u64..4_000_000_000_000) {
            prop_assert!(bucket(value) <= bucket(value + 1));
            prop_assert!(bucket(value) < bucket(value + value / 100 + 1));
        }
    }
}
