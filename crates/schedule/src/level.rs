//! Levels of a load after a change.

use crate::Rate;

/// The level of a load from a change to the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level<T> {
    /// A share of the planned course, which continues as planned.
    Share(Share),
    /// A fixed level for all time, whatever the plan.
    Fixed(T),
    /// A pause.
    Paused,
}

/// A share of a planned load, in thousandths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Share {
    /// Thousandths of the plan: 1 000 is the load as planned.
    pub per_mille: u32,
}

impl Share {
    /// The whole load, as planned.
    pub const WHOLE: Self = Self { per_mille: 1_000 };

    /// Returns the share of a rate, exact unless it does not fit in 64 bits.
    pub(crate) fn of_rate(self, rate: Rate) -> Rate {
        let divisor = crate::rate::greatest_common_divisor(u64::from(self.per_mille), 1_000);
        let (times, by) = (u64::from(self.per_mille) / divisor, 1_000 / divisor);
        let rate = crate::rate::in_lowest_terms(rate);
        let (mut count, mut per_ns) = (
            u128::from(rate.count) * u128::from(times),
            u128::from(rate.per_ns) * u128::from(by),
        );
        while count.max(per_ns) > u128::from(u64::MAX) {
            (count, per_ns) = (count / 2, (per_ns / 2).max(1));
        }
        Rate {
            count: count.min(u128::from(u64::MAX)) as u64,
            per_ns: per_ns as u64,
        }
    }

    /// Returns the share of a whole number, rounded to the nearest; at least 1 unless one of the
    /// two is 0.
    pub(crate) fn of_count(self, count: u64) -> u64 {
        let share = u128::from(count) * u128::from(self.per_mille);
        let least = u128::from(share > 0);
        u64::try_from(((share + 500) / 1_000).max(least)).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(per_mille: u32) -> Share {
        Share { per_mille }
    }

    #[test]
    fn shares_of_rates_are_exact() {
        let per_second = |count| Rate::each_second(count);
        let rate = share(1_050).of_rate(per_second(100));
        assert_eq!(rate.per_second(), 105.0);
        let rate = share(50).of_rate(per_second(1));
        assert_eq!((rate.count, rate.per_ns), (1, 20_000_000_000));
        assert_eq!(share(0).of_rate(per_second(7)).count, 0);
        let largest = Rate {
            count: u64::MAX,
            per_ns: 1,
        };
        assert_eq!(share(100_000).of_rate(largest).per_ns, 1);
    }

    #[test]
    fn shares_of_counts_are_rounded_and_nothing_only_of_nothing() {
        let of_ten = [0, 1, 940, 950, 1_050, 2_000].map(|per_mille| share(per_mille).of_count(10));
        assert_eq!(of_ten, [0, 1, 9, 10, 11, 20]);
        assert_eq!(share(500).of_count(0), 0);
        assert_eq!(share(2_000).of_count(u64::MAX), u64::MAX);
    }
}
