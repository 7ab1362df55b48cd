//! The times of a run in stretches, to measure how much they depend on each other.
//!
//! Successive times resemble each other; the differences between the stretches of a run show how
//! much. A histogram for each second would need a gigabyte for an hour, so there are never more
//! than 64 stretches ([`Halving`]). Each stretch stores its times with an error of at most 1 %, in
//! some kilobytes: enough to count the times below a percentile. All stretches together need less
//! than half a megabyte, however long the run is.

use crate::{Distribution, Halving, Segment};
use loadline_metrics::{SparseCounts, bucket};

/// The maximum number of stretches.
const MOST: usize = 64;

/// The bits after the first one that select a bucket: times with the same exponent and the same
/// first bits share a bucket.
const BITS: u32 = 7;

/// The times of a run in at most 64 stretches of equal length, in the order of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Blocks(Halving<SparseCounts, MOST>);

impl Blocks {
    /// Adds the next interval.
    pub fn observe(&mut self, interval: &Distribution) {
        self.0.observe(interval);
    }

    /// Returns for each stretch the number of its times, and the number of times up to `value_ns`,
    /// with an error of at most 1 % in `value_ns`.
    pub fn up_to_ns(&self, value_ns: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        let last = bucket(value_ns, BITS);
        let stretches = self.0.segments().iter();
        stretches.map(move |counts| (counts.len(), counts.up_to(last)))
    }
}

impl Segment for SparseCounts {
    type Interval = Distribution;

    fn of(interval: &Distribution) -> SparseCounts {
        let steps = interval.steps();
        SparseCounts::from_counts(steps.map(|(value_ns, count)| (bucket(value_ns, BITS), count)))
    }

    fn add(&mut self, interval: &Distribution) {
        self.merge(&SparseCounts::of(interval));
    }

    fn join(&mut self, next: &SparseCounts) {
        self.merge(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(blocks.0.segments()[0].bytes().len() <= 8_000);
    }
}
