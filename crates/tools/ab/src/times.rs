//! The figures of connection times, computed as in ab.
//!
//! ab stores whole microseconds and prints whole milliseconds, rounded half up. Its mean is
//! truncated to whole microseconds before it is rounded, its deviation is the one of a sample
//! (divided by n - 1), and its median is the value at n/2 (counted from 0), but for odd n above 1
//! the mean of that value and the next one.

use super::ledger::Times;

/// The percentages of the table.
pub(super) const PERCENTAGES: [u32; 9] = [50, 66, 75, 80, 90, 95, 98, 99, 100];

/// The spread of one kind of time over all requests, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Spread {
    pub(super) min_us: u64,
    pub(super) mean_us: u64,
    pub(super) deviation_us: f64,
    pub(super) median_us: u64,
    pub(super) max_us: u64,
}

/// The spreads of all kinds of times over all requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Spreads {
    pub(super) connect: Spread,
    pub(super) processing: Spread,
    pub(super) waiting: Spread,
    pub(super) total: Spread,
}

impl Spreads {
    pub(super) fn of(times: &[Times]) -> Self {
        let of = |part: fn(&Times) -> u64| Spread::of(times.iter().map(part).collect());
        Spreads {
            connect: of(|times| times.connect_us),
            processing: of(Times::processing_us),
            waiting: of(|times| times.wait_us),
            total: of(|times| times.total_us),
        }
    }
}

impl Spread {
    fn of(mut values: Vec<u64>) -> Self {
        values.sort_unstable();
        let [min_us, .., max_us] = values[..] else {
            let only = values.first().copied().unwrap_or(0);
            return Spread {
                min_us: only,
                mean_us: only,
                deviation_us: 0.0,
                median_us: only,
                max_us: only,
            };
        };
        let mean_us = values.iter().sum::<u64>() / values.len() as u64;
        Spread {
            min_us,
            mean_us,
            deviation_us: deviation(&values, mean_us),
            median_us: median(&values),
            max_us,
        }
    }
}

/// Returns the standard deviation of at least two values.
fn deviation(values: &[u64], mean: u64) -> f64 {
    let square = |value: &u64| (*value as f64 - mean as f64).powi(2);
    let squares: f64 = values.iter().map(square).sum();
    (squares / (values.len() - 1) as f64).sqrt()
}

/// Returns the median of at least two values in rising order.
fn median(sorted: &[u64]) -> u64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        (sorted[middle] + sorted[middle + 1]) / 2
    } else {
        sorted[middle]
    }
}

impl Times {
    /// Returns the time without connecting.
    pub(super) fn processing_us(&self) -> u64 {
        self.total_us.saturating_sub(self.connect_us)
    }
}

/// Returns all times sorted by their totals, as ab writes and counts them.
pub(super) fn by_total(times: &[Times]) -> Vec<Times> {
    let mut sorted = times.to_vec();
    sorted.sort_by_key(|times| times.total_us);
    sorted
}

/// Returns the total time at a percentage of the table; there must be at least one time.
pub(super) fn served_within_us(sorted: &[Times], percentage: u32) -> u64 {
    let rank = sorted.len() * percentage as usize / 100;
    sorted[rank.min(sorted.len() - 1)].total_us
}

/// Returns the total time at a percentage of the CSV, whose ranks are rounded differently.
pub(super) fn csv_percentile_us(sorted: &[Times], percentage: u32) -> u64 {
    let rank = (0.5 + sorted.len() as f64 * f64::from(percentage) / 100.0) as usize;
    let rank = if percentage == 0 { 0 } else { rank };
    sorted[rank.min(sorted.len() - 1)].total_us
}

/// Converts to whole milliseconds, rounded half up.
pub(super) fn ms(us: u64) -> u64 {
    (us + 500) / 1000
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn times(totals: &[u64]) -> Vec<Times> {
        let time = |&total_us| Times {
            total_us,
            ..Times::default()
        };
        totals.iter().map(time).collect()
    }

    #[test]
    fn nothing_and_one_value_are_themselves() {
        assert_eq!(Spreads::of(&[]), Spreads::default());
        let one = Spreads::of(&times(&[7])).total;
        assert_eq!(
            (one.min_us, one.mean_us, one.median_us, one.max_us),
            (7, 7, 7, 7)
        );
        assert_eq!(one.deviation_us, 0.0);
    }

    #[test]
    fn the_median_is_that_of_ab() {
        let median = |totals: &[u64]| Spreads::of(&times(totals)).total.median_us;
        assert_eq!(median(&[4, 2]), 4);
        assert_eq!(median(&[1, 2, 4]), 3);
        assert_eq!(median(&[1, 2, 3, 4]), 3);
        assert_eq!(median(&[1, 2, 3, 4, 6]), 3);
    }

    #[test]
    fn the_deviation_is_that_of_a_sample() {
        let spread = Spreads::of(&times(&[2, 4, 4, 4, 5, 5, 7, 9])).total;
        assert_eq!(spread.mean_us, 5);
        assert!((spread.deviation_us - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn percentages_are_ranks_among_the_totals() {
        let sorted = by_total(&times(&[30, 10, 20, 40]));
        let table: Vec<_> = PERCENTAGES.map(|p| served_within_us(&sorted, p)).into();
        assert_eq!(table, [30, 30, 40, 40, 40, 40, 40, 40, 40]);
        let csv: Vec<_> = [0, 1, 50, 99, 100]
            .map(|p| csv_percentile_us(&sorted, p))
            .into();
        assert_eq!(csv, [10, 10, 30, 40, 40]);
    }

    #[test]
    fn milliseconds_are_rounded_half_up() {
        assert_eq!([0, 499, 500, 1499, 1500].map(ms), [0, 0, 1, 1, 2]);
    }

    proptest! {
        #[test]
        fn every_figure_lies_between_the_smallest_and_the_largest(
            totals in prop::collection::vec(0..10_000_000_u64, 1..50),
        ) {
            let all = times(&totals);
            let spread = Spreads::of(&all).total;
            let sorted = by_total(&all);
            for figure in [spread.mean_us, spread.median_us]
                .into_iter()
                .chain((0..=100).map(|p| csv_percentile_us(&sorted, p)))
                .chain(PERCENTAGES.map(|p| served_within_us(&sorted, p)))
            {
                prop_assert!((spread.min_us..=spread.max_us).contains(&figure));
            }
        }
    }
}
