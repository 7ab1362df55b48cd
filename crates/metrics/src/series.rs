//! The series of one key.

use crate::sparse::highest_of;
use crate::{BITS, SparseCounts};
use std::collections::BTreeMap;

/// The requests of one key that have ended: their outcomes and their times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Requests with a whole response, whatever its status.
    pub answered: u64,
    /// Responses that ended in the measured part, whenever their request began. Rates are computed
    /// from these.
    pub completed: u64,
    /// Requests without a response.
    pub failed: u64,
    /// Responses that a script rejected; each is one of those answered.
    pub rejected: u64,
    /// Responses by status.
    pub statuses: BTreeMap<u16, u64>,
    /// Response times of the answered requests and of those that timed out, in buckets of [`BITS`].
    pub times: SparseCounts,
    /// The sum of these times, in nanoseconds.
    pub sum_ns: u64,
    /// The longest of these times, in nanoseconds.
    pub max_ns: u64,
}

impl Series {
    /// Returns the number of requests that ended.
    pub fn ended(&self) -> u64 {
        self.answered.saturating_add(self.failed)
    }

    /// Returns the number of requests that failed: without a response, or because a script rejected
    /// theirs.
    pub fn failures(&self) -> u64 {
        self.failed.saturating_add(self.rejected)
    }

    /// Adds another series without loss. Sums saturate, because they may come from files.
    pub fn merge(&mut self, other: &Series) {
        self.add_counts(other);
        self.times.merge(&other.times);
    }

    /// Adds all but the distribution of the times.
    fn add_counts(&mut self, other: &Series) {
        self.answered = self.answered.saturating_add(other.answered);
        self.completed = self.completed.saturating_add(other.completed);
        self.failed = self.failed.saturating_add(other.failed);
        self.rejected = self.rejected.saturating_add(other.rejected);
        for (status, count) in &other.statuses {
            let sum = self.statuses.entry(*status).or_default();
            *sum = sum.saturating_add(*count);
        }
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Returns the response time in nanoseconds that `percentile` (0 to 100) percent of all do not
    /// exceed, by the nearest rank, to within a hundredth, rounded up; `None` without a time.
    pub fn percentile_ns(&self, percentile: f64) -> Option<u64> {
        let [found] = self.percentiles_ns([percentile]);
        found
    }

    /// Returns the same as [`percentile_ns`](Self::percentile_ns) for each of several percentiles,
    /// which must rise.
    pub fn percentiles_ns<const N: usize>(&self, percentiles: [f64; N]) -> [Option<u64>; N] {
        let buckets = self.times.buckets_of_ranks(percentiles);
        buckets.map(|bucket| Some(highest_of(bucket?, BITS).min(self.max_ns)))
    }

    /// Returns the sum of many series.
    pub fn sum<'a>(many: impl Iterator<Item = &'a Series> + Clone) -> Series {
        let mut sum = Series::default();
        many.clone().for_each(|series| sum.add_counts(series));
        sum.times = SparseCounts::sum(many.map(|series| &series.times));
        sum
    }

    /// Returns the arithmetic mean of the response times in nanoseconds; `None` without a time.
    pub fn mean_ns(&self) -> Option<f64> {
        match self.times.len() {
            0 => None,
            count => Some(self.sum_ns as f64 / count as f64),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{Key, RequestOutcome, SeriesId, SeriesRecorder, SeriesTable};
    use proptest::prelude::*;

    /// Returns a series of requests that were answered after these times.
    pub(crate) fn answered(times_ns: &[u64]) -> Series {
        let mut table = SeriesTable::new(1);
        table.intern(&Key::new("a").unwrap());
        let mut recorder = SeriesRecorder::new(table);
        for time_ns in times_ns {
            recorder.record(
                SeriesId(0),
                RequestOutcome::Answered { status: 200 },
                *time_ns,
                true,
            );
        }
        let set = recorder.take();
        set.get(&Key::new("a").unwrap())
            .cloned()
            .unwrap_or_default()
    }

    #[test]
    fn nothing_has_no_percentile_and_no_mean() {
        let nothing = Series::default();
        assert_eq!(
            (nothing.percentile_ns(50.0), nothing.mean_ns()),
            (None, None)
        );
    }

    #[test]
    fn one_time_is_every_percentile_of_its_series() {
        let one = answered(&[1_234_567]);
        for percentile in [0.0, 50.0, 100.0] {
            assert_eq!(one.percentile_ns(percentile), Some(1_234_567));
        }
        assert_eq!(one.mean_ns(), Some(1_234_567.0));
    }

    #[test]
    fn ranks_are_not_moved_by_rounding() {
        let times: Vec<u64> = (1..=1_000).map(|rank| rank * 1_000_000).collect();
        let found = answered(&times).percentile_ns(99.9).unwrap();
        assert!((999_000_000..=1_000_000_000).contains(&found), "{found}");
        assert!(answered(&times).percentile_ns(50.0).unwrap() < 505_000_000);
    }

    proptest! {
        #[test]
        fn percentiles_are_known_to_a_hundredth(
            mut times in prop::collection::vec(1..10_000_000_000_u64, 1..100),
            percentile in 0.0..=100.0_f64,
        ) {
            let found = answered(&times).percentile_ns(percentile).unwrap();
            times.sort_unstable();
            let rank = ((percentile * times.len() as f64 / 100.0) * (1.0 - 1e-13)).ceil();
            let exact = times[(rank.max(1.0) as usize) - 1];
            prop_assert!(found >= exact && found <= exact + exact / 100 + 1);
        }
    }
}
