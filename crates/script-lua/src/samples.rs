//! The arguments of `done`: the figures of a run, and samples with the arithmetic of wrk and of
//! wrk2.

use crate::Flavour;
use loadline_record::{SocketErrors, Summary};

/// The figures of a run, for `done`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// The duration in microseconds.
    pub duration_us: u64,
    /// Complete responses, whatever their status.
    pub requests: u64,
    /// Bytes received.
    pub bytes: u64,
    /// Failed exchanges.
    pub errors: SocketErrors,
    /// Responses with a status above 399.
    pub bad_statuses: u64,
    /// Response times in microseconds.
    pub latency: Samples,
    /// Responses per second of each worker, interval by interval.
    pub rates: Samples,
}

impl Figures {
    /// Returns the figures of a summary: the response times, and for each interval the rate of
    /// responses divided by the number of workers, as a whole number, once for each worker.
    pub fn of(summary: &Summary) -> Self {
        let latency = summary.total.times.response.steps();
        Figures {
            duration_us: summary.counted_ns() / 1_000,
            requests: summary.total.counts.answered,
            bytes: summary.total.counts.bytes_in,
            errors: SocketErrors::of(&summary.total),
            bad_statuses: summary
                .total
                .statuses
                .range(400..)
                .map(|(_, count)| count)
                .sum(),
            latency: Samples::counted(latency.map(|(value_ns, count)| (value_ns / 1_000, count))),
            rates: rates(summary),
        }
    }
}

fn rates(summary: &Summary) -> Samples {
    let workers = u64::from(summary.plan.threads.max(1));
    let rate = |answered: u64, length_ns: u64| {
        let per_second = u128::from(answered) * 1_000_000_000 / u128::from(length_ns.max(1));
        u64::try_from(per_second).unwrap_or(u64::MAX) / workers
    };
    let rows = summary.rows.iter();
    Samples::counted(rows.map(|row| {
        (
            rate(row.counts.answered, row.end_ns - row.start_ns),
            workers,
        )
    }))
}

/// Whole numbers with their counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    /// Distinct values in rising order, each with the number of samples up to and including it.
    up_to: Vec<(u64, u64)>,
}

impl Samples {
    /// Creates samples from pairs of a value and its count, in any order.
    pub fn counted(pairs: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut pairs: Vec<(u64, u64)> =
            pairs.into_iter().filter(|(_, count)| *count > 0).collect();
        pairs.sort_unstable();
        pairs.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0 };
            same
        });
        let mut total = 0;
        for (_, count) in &mut pairs {
            total += *count;
            *count = total;
        }
        Samples { up_to: pairs }
    }

    /// Returns the number of samples.
    pub fn count(&self) -> u64 {
        self.up_to.last().map_or(0, |(_, up_to)| *up_to)
    }

    /// Returns the number of distinct values.
    pub fn distinct_count(&self) -> usize {
        self.up_to.len()
    }

    /// Returns the distinct value at a place, from 1, and its count; `(0, distinct count)` outside,
    /// as in wrk.
    pub fn distinct(&self, place: usize) -> (u64, u64) {
        let index = place.checked_sub(1);
        match index.and_then(|index| self.pairs().nth(index)) {
            Some(pair) => pair,
            None => (0, self.up_to.len() as u64),
        }
    }

    /// Returns the sample at a place in rising order, from 1; the nearest one outside, 0 if there
    /// are no samples.
    pub fn sample(&self, place: u64) -> u64 {
        let at = self.up_to.partition_point(|(_, up_to)| *up_to < place);
        let last = self.up_to.len().saturating_sub(1);
        self.up_to.get(at.min(last)).map_or(0, |(value, _)| *value)
    }

    /// Returns the minimum; without samples the largest number of 64 bits, as in wrk.
    pub fn min(&self) -> u64 {
        self.up_to.first().map_or(u64::MAX, |(value, _)| *value)
    }

    /// Returns the maximum; 0 without samples.
    pub fn max(&self) -> u64 {
        self.up_to.last().map_or(0, |(value, _)| *value)
    }

    /// Returns the value at this percentage of the samples; 0 without samples.
    ///
    /// The ranks are those of wrk, `round(n · p / 100 + 0.5)`, and wrk2 (HdrHistogram), `⌊n · p /
    /// 100 + 0.5⌋`, but limited to 1 … n: wrk's exceeds the end at 100, and the result there is 0.
    pub fn percentile(&self, flavour: Flavour, percent: f64) -> u64 {
        if flavour == Flavour::Wrk && percent < 0.0 {
            return 0;
        }
        let rank = percent / 100.0 * self.count() as f64 + 0.5;
        let rank = match flavour {
            Flavour::Wrk => rank.round(),
            Flavour::Wrk2 => rank.floor(),
        };
        self.sample((rank as u64).clamp(1, self.count().max(1)))
    }

    /// Returns the mean; without samples 0 in wrk, not a number in wrk2.
    pub fn mean(&self, flavour: Flavour) -> f64 {
        match (self.count(), flavour) {
            (0, Flavour::Wrk) => 0.0,
            (count, _) => self.sum_of(|value| value) / count as f64,
        }
    }

    /// Returns the standard deviation: in wrk that of the sample (divided by n − 1; 0 for fewer
    /// than two samples), in wrk2 that of the population (divided by n).
    pub fn stdev(&self, flavour: Flavour) -> f64 {
        let mean = self.mean(flavour);
        let squares = self.sum_of(|value| (value - mean) * (value - mean));
        let divisor = match flavour {
            Flavour::Wrk if self.count() < 2 => return 0.0,
            Flavour::Wrk => self.count() - 1,
            Flavour::Wrk2 => self.count(),
        };
        (squares / divisor as f64).sqrt()
    }

    fn sum_of(&self, term: impl Fn(f64) -> f64) -> f64 {
        self.pairs()
            .map(|(value, count)| term(value as f64) * count as f64)
            .sum()
    }

    /// Returns the distinct values in rising order, with their counts.
    fn pairs(&self) -> impl Iterator<Item = (u64, u64)> {
        let before = std::iter::once(0).chain(self.up_to.iter().map(|(_, up_to)| *up_to));
        self.up_to
            .iter()
            .zip(before)
            .map(|((value, up_to), before)| (*value, up_to - before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn samples() -> Samples {
        Samples::counted([(30, 1), (10, 2), (20, 3), (10, 1), (7, 0)])
    }

    #[test]
    fn equal_values_are_one() {
        let samples = samples();
        assert_eq!((samples.count(), samples.distinct_count()), (7, 3));
        assert_eq!((samples.min(), samples.max()), (10, 30));
        assert_eq!(samples.distinct(1), (10, 3));
        assert_eq!(samples.distinct(3), (30, 1));
        assert_eq!((samples.distinct(0), samples.distinct(4)), ((0, 3), (0, 3)));
        let all: Vec<u64> = (1..=7).map(|place| samples.sample(place)).collect();
        assert_eq!(all, [10, 10, 10, 20, 20, 20, 30]);
        assert_eq!((samples.sample(0), samples.sample(8)), (10, 30));
    }

    #[test]
    fn percentiles_are_of_the_nearest_rank() {
        let hundred = Samples::counted((1..=100).map(|value| (value, 1)));
        // wrk: round(50.5) = 51.
        assert_eq!(hundred.percentile(Flavour::Wrk, 50.0), 51);
        assert_eq!(hundred.percentile(Flavour::Wrk2, 50.0), 50);
        assert_eq!(hundred.percentile(Flavour::Wrk, 100.0), 100);
        assert_eq!(hundred.percentile(Flavour::Wrk2, 100.0), 100);
        assert_eq!(hundred.percentile(Flavour::Wrk, 0.0), 1);
        assert_eq!(hundred.percentile(Flavour::Wrk, -5.0), 0);
        assert_eq!(hundred.percentile(Flavour::Wrk2, 99.999), 100);
    }

    #[test]
    fn deviations_differ_by_their_divisor() {
        let samples = Samples::counted([(2, 1), (4, 1)]);
        assert_eq!(samples.mean(Flavour::Wrk), 3.0);
        assert_eq!(samples.stdev(Flavour::Wrk), 2f64.sqrt());
        assert_eq!(samples.stdev(Flavour::Wrk2), 1.0);
    }

    #[test]
    fn without_samples_each_says_what_its_original_says() {
        let none = Samples::default();
        assert_eq!((none.min(), none.max(), none.count()), (u64::MAX, 0, 0));
        assert_eq!(
            (none.mean(Flavour::Wrk), none.stdev(Flavour::Wrk)),
            (0.0, 0.0)
        );
        assert!(none.mean(Flavour::Wrk2).is_nan() && none.stdev(Flavour::Wrk2).is_nan());
        assert_eq!(none.percentile(Flavour::Wrk, 50.0), 0);
        assert_eq!(none.percentile(Flavour::Wrk2, 50.0), 0);
        assert_eq!((none.sample(1), none.distinct(1)), (0, (0, 0)));
    }

    proptest! {
        #[test]
        fn samples_are_what_was_counted(values in proptest::collection::vec(0u64..50, 1..60)) {
            let samples = Samples::counted(values.iter().map(|value| (*value, 1)));
            let mut sorted = values.clone();
            sorted.sort_unstable();
            let places = 1..=samples.count();
            let again: Vec<u64> = places.map(|place| samples.sample(place)).collect();
            prop_assert_eq!(&again, &sorted);
            let distinct = 1..=samples.distinct_count();
            let counted: u64 = distinct.map(|place| samples.distinct(place).1).sum();
            prop_assert_eq!(counted, values.len() as u64);
        }
    }
}
