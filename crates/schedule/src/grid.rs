//! One denominator for all rates of a schedule.
//!
//! Stages may mix rates per second, per minute and with decimals. Over a common denominator every
//! rate is a whole number of *ticks* per nanosecond, where a tick is a certain fraction of an
//! arrival, and so is every integral of a linear ramp at the end of its stage: sums stay exact.

use crate::Rate;
use crate::rate::{greatest_common_divisor, in_lowest_terms};

/// The upper limit of a rate and of an arrival, in half ticks. With it, the integral of any rate
/// over all the time that a `u64` holds, and any index times an arrival, fit in a `u128`.
const LIMIT: u64 = 1 << 62;

/// The number of ticks in an arrival.
///
/// Ticks are as fine as the limit allows, because Poisson arrivals do not fall on whole ticks by
/// themselves.
///
/// Rates whose common denominator exceeds the limit are rounded to an even number of ticks. This
/// happens only for periods with large coprime factors; decimals of seconds, minutes and hours are
/// far from it. Rates beyond 2^62 arrivals per nanosecond are limited to that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    /// Half of the ticks of an arrival, at least 1.
    half: u64,
}

impl Grid {
    /// Returns the finest grid on which all the rates are whole.
    pub(crate) fn over(rates: impl Iterator<Item = Rate>) -> Self {
        let (mut denominator, mut fastest_per_ns) = (Some(1), 1);
        for rate in rates.map(in_lowest_terms) {
            denominator = denominator.and_then(|so_far| common_multiple(so_far, rate.per_ns));
            fastest_per_ns = fastest_per_ns.max(rate.count.div_ceil(rate.per_ns));
        }
        let limit = LIMIT / fastest_per_ns;
        let half = match denominator {
            Some(whole) if whole <= limit => limit - limit % whole,
            _ => limit.max(1),
        };
        Self { half }
    }

    /// Returns the number of ticks of one arrival.
    pub(crate) fn ticks_per_arrival(self) -> u64 {
        2 * self.half
    }

    /// Returns the rate in ticks per nanosecond, always an even number, so that the area under a
    /// straight line from one rate to another over whole nanoseconds is whole too.
    pub(crate) fn ticks_per_ns(self, rate: Rate) -> u64 {
        let per_ns = u128::from(rate.per_ns);
        let scaled = u128::from(rate.count) * u128::from(self.half);
        let rounded = scaled.saturating_add(per_ns / 2) / per_ns;
        2 * rounded.min(u128::from(LIMIT)) as u64
    }
}

/// Returns the least common multiple of two numbers above zero; `None` if it is too large.
fn common_multiple(a: u64, b: u64) -> Option<u64> {
    (a / greatest_common_divisor(a, b)).checked_mul(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(count: u64, per_ns: u64) -> Rate {
        Rate { count, per_ns }
    }

    /// True if the grid represents the rate without rounding.
    fn is_exact(grid: Grid, rate: Rate) -> bool {
        u128::from(grid.ticks_per_ns(rate)) * u128::from(rate.per_ns)
            == u128::from(rate.count) * u128::from(grid.ticks_per_arrival())
    }

    #[test]
    fn seconds_minutes_hours_and_decimals_are_exact_together() {
        let rates = [
            rate(2_500, 1_000_000_000),
            rate(90, 60_000_000_000),
            rate(1, 86_400_000_000_000),
            rate(333_333_333, 1_000_000_000_000_000),
            rate(0, 1),
            rate(12_345_678, 3_600_000_000_000),
        ];
        let grid = Grid::over(rates.into_iter());
        for rate in rates {
            assert!(is_exact(grid, rate), "{rate:?}");
        }
        assert!(grid.ticks_per_arrival() > 1 << 61);
    }

    #[test]
    fn foreign_periods_are_rounded_by_less_than_a_tick() {
        let primes = [999_999_999_989, 999_999_999_961, 999_999_999_959];
        let grid = Grid::over(primes.iter().map(|prime| rate(1_000, *prime)));
        assert_eq!(grid.ticks_per_arrival(), 1 << 63);
        for prime in primes {
            let ticks = u128::from(grid.ticks_per_ns(rate(1_000, prime))) * u128::from(prime);
            assert!(ticks.abs_diff(1_000 << 63) <= u128::from(prime));
        }
    }

    #[test]
    fn rates_beyond_all_measure_are_cut_off() {
        let grid = Grid::over([rate(u64::MAX, 1), rate(1, 3)].into_iter());
        assert_eq!(grid.ticks_per_arrival(), 2);
        assert_eq!(grid.ticks_per_ns(rate(u64::MAX, 1)), 2 * LIMIT);
    }

    #[test]
    fn fast_rates_coarsen_the_grid_and_stay_exact() {
        let rates = [rate(1_000_000, 1), rate(1, 7), rate(2, 1_000_000_000)];
        let grid = Grid::over(rates.into_iter());
        assert!(rates.iter().all(|rate| is_exact(grid, *rate)));
        assert!((LIMIT..=2 * LIMIT).contains(&grid.ticks_per_ns(rates[0])));
    }

    #[test]
    fn no_rates_have_the_finest_grid() {
        assert_eq!(Grid::over(std::iter::empty()).ticks_per_arrival(), 1 << 63);
    }
}
