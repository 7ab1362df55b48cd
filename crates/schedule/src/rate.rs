//! Arithmetic on rates: exact fractions, so that `0.2/s` and `90/m` are not rounded.

use loadline_units::Rate;

/// Returns the same rate with the smallest count and period.
///
/// # Panics
///
/// When the period is zero.
pub(crate) fn in_lowest_terms(rate: Rate) -> Rate {
    assert!(rate.per_ns > 0, "a rate's period must be more than zero");
    let divisor = greatest_common_divisor(rate.count, rate.per_ns);
    Rate {
        count: rate.count / divisor,
        per_ns: rate.per_ns / divisor,
    }
}

/// Returns the greatest common divisor of two numbers that are not both zero (Euclid's algorithm).
pub(crate) fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lowest_terms_keep_the_rate() {
        let cases = [
            ((2_500, 1_000_000_000), (1, 400_000)),
            ((90, 60_000_000_000), (3, 2_000_000_000)),
            ((0, 60_000_000_000), (0, 1)),
            ((u64::MAX, u64::MAX), (1, 1)),
            ((7, 3), (7, 3)),
        ];
        for ((count, per_ns), expected) in cases {
            let lowest = in_lowest_terms(Rate { count, per_ns });
            assert_eq!((lowest.count, lowest.per_ns), expected);
        }
    }

    #[test]
    #[should_panic(expected = "more than zero")]
    fn a_period_of_zero_is_refused() {
        let rate = Rate {
            count: 1,
            per_ns: 0,
        };
        in_lowest_terms(rate);
    }
}
