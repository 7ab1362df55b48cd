//! The times of a run in stretches, to see how much they depend on each other.
//!
//! Times that follow each other resemble each other, and how much so shows in how differently the
//! stretches of a run turned out. A histogram for each second would need a gigabyte for an hour, so
//! there are never more than 64 stretches: when one more comes, each two neighbours are joined.
//! And each holds its times to within a hundredth, in some kilobytes: enough to count how many were
//! below a percentile. All of it stays below a megabyte, however long the run.

use crate::Distribution;

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
#[derive(Clone, Debug, Default, PartialEq)]
struct Buckets(Vec<(u16, u64)>);

impl Buckets {
    fn of(times: &Distribution) -> Buckets {
        let mut buckets = Buckets::default();
        for (value_ns, count) in times.steps() {
            buckets.push(bucket(value_ns), count);
        }
        buckets.0.shrink_to_fit();
        buckets
    }

    /// Adds to the last bucket, or to one after it.
    fn push(&mut self, bucket: u16, count: u64) {
        match self.0.last_mut() {
            Some((last, sum)) if *last == bucket => *sum += count,
            _ => self.0.push((bucket, count)),
        }
    }

    fn add(&mut self, other: &Buckets) {
        let mut all: Vec<_> = self.0.iter().chain(&other.0).copied().collect();
        all.sort_unstable_by_key(|(bucket, _)| *bucket);
        let mut sum = Buckets::default();
        all.iter()
            .for_each(|(bucket, count)| sum.push(*bucket, *count));
        sum.0.shrink_to_fit();
        *self = sum;
    }

    fn len(&self) -> u64 {
        self.0.iter().map(|(_, count)| count).sum()
    }

    fn up_to(&self, last: u16) -> u64 {
        let within = self.0.iter().take_while(|(bucket, _)| *bucket <= last);
        within.map(|(_, count)| count).sum()
    }
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
        assert!(blocks.blocks[0].0.len() * size_of::<(u16, u64)>() <= 40_000);
    }

    proptest! {
        #[test]
        fn buckets_are_in_order_and_a_hundredth_wide(value in 1u64..4_000_000_000_000) {
            prop_assert!(bucket(value) <= bucket(value + 1));
            prop_assert!(bucket(value) < bucket(value + value / 100 + 1));
        }
    }
}
