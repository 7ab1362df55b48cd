//! Rates as exact fractions.
//!
//! `0.2/s` is one every five seconds and `90/m` three every two: no floats are involved, so that
//! the millionth arrival of a schedule is as exact as the first.

use crate::Error;
use crate::decimal::{Decimal, split_si};
use crate::parse::{DurationText, parse_duration_with_unit, split_time_unit};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A rate: `count` arrivals every `per_ns` nanoseconds. A fraction, so that `0.2/s` and `90/m` are
/// exact.
///
/// Rates that are parsed or created by this type's functions are normalised, so that equal rates
/// are equal values: the period is a second if the count is then whole, else the fraction is in its
/// lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rate {
    /// The number of arrivals in one period.
    pub count: u64,
    /// The period in nanoseconds, more than zero.
    pub per_ns: u64,
}

const SECOND_NS: u64 = 1_000_000_000;

/// The periods in which a rate is printed; the first that fits is used.
const PERIODS: [(&str, u64); 3] = [
    ("s", SECOND_NS),
    ("m", 60 * SECOND_NS),
    ("h", 3_600 * SECOND_NS),
];

impl Rate {
    /// No arrivals.
    pub const ZERO: Rate = Rate::each_second(0);

    /// Returns a rate of `count` arrivals a second.
    pub const fn each_second(count: u64) -> Self {
        Self {
            count,
            per_ns: SECOND_NS,
        }
    }

    /// True if the rate has no arrivals.
    pub fn is_zero(self) -> bool {
        self.count == 0
    }

    /// Returns the arrivals per second, as the nearest float: for printing and comparing, not for
    /// scheduling.
    pub fn per_second(self) -> f64 {
        self.count as f64 * SECOND_NS as f64 / self.per_ns as f64
    }

    /// Returns the normal form of `above / below` arrivals a nanosecond; `None` if it does not fit.
    fn normalised(above: u128, below: u128) -> Option<Self> {
        let in_a_second = above.checked_mul(u128::from(SECOND_NS))?;
        let (count, per_ns) = if in_a_second % below == 0 {
            (in_a_second / below, u128::from(SECOND_NS))
        } else {
            let divisor = greatest_common_divisor(above, below);
            (above / divisor, below / divisor)
        };
        Some(Self {
            count: count.try_into().ok()?,
            per_ns: per_ns.try_into().ok()?,
        })
    }
}

impl FromStr for Rate {
    type Err = Error;

    /// Reads `500`, `2.5k`, `90/m`, `0.2/s`, `1.5k/s`, `10/h`, and `20/500ms` for other periods.
    fn from_str(text: &str) -> Result<Self, Error> {
        let refused = || Error::Rate(text.to_owned());
        let (count, period) = text.split_once('/').unwrap_or((text, "s"));
        let (number, rest) = Decimal::split(count).ok_or_else(refused)?;
        let (factor, rest) = split_si(rest);
        let per_ns = parse_period(period)
            .filter(|_| rest.is_empty())
            .ok_or_else(refused)?;
        let (above, scale) = number.fraction(factor);
        let below = scale * u128::from(per_ns);
        if above > below {
            return Err(Error::RateTooHigh(text.to_owned()));
        }
        Self::normalised(above, below).ok_or_else(refused)
    }
}

/// Reads the part of a rate after the slash, in nanoseconds: a unit of time (`s`, `m`, `h`, `ms`),
/// or a duration (`500ms`). Never zero.
pub fn parse_period(text: &str) -> Option<u64> {
    if let Some((unit_ns, "")) = split_time_unit(text) {
        return Some(unit_ns);
    }
    let period_ns = u64::try_from(parse_duration_with_unit(text)?.as_nanos()).ok()?;
    (period_ns > 0).then_some(period_ns)
}

impl fmt::Display for Rate {
    /// Prints the rate so that it is read back as the same value: `500/s`, `0.2/s`, `10/h`,
    /// `7/3ns`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, unit_ns) in PERIODS {
            let thousandths = u128::from(self.count) * u128::from(unit_ns) * 1_000;
            if thousandths % u128::from(self.per_ns) == 0 {
                return write_thousandths(f, thousandths / u128::from(self.per_ns), unit);
            }
        }
        write!(
            f,
            "{}/{}",
            self.count,
            DurationText(Duration::from_nanos(self.per_ns))
        )
    }
}

/// Writes a number of thousandths as a decimal without trailing zeros.
fn write_thousandths(f: &mut fmt::Formatter<'_>, thousandths: u128, unit: &str) -> fmt::Result {
    let (whole, fraction) = (thousandths / 1_000, thousandths % 1_000);
    if fraction == 0 {
        return write!(f, "{whole}/{unit}");
    }
    let decimals = format!("{fraction:03}");
    write!(f, "{whole}.{}/{unit}", decimals.trim_end_matches('0'))
}

fn greatest_common_divisor(mut larger: u128, mut smaller: u128) -> u128 {
    while smaller > 0 {
        (larger, smaller) = (smaller, larger % smaller);
    }
    larger
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rates_are_exact_fractions() {
        for (text, count, per_ns) in [
            ("500", 500, SECOND_NS),
            ("500/s", 500, SECOND_NS),
            ("2.5k", 2_500, SECOND_NS),
            ("1.5k/s", 1_500, SECOND_NS),
            ("1M", 1_000_000, SECOND_NS),
            ("1G", 1_000_000_000, SECOND_NS),
            ("90/m", 3, 2 * SECOND_NS),
            ("0.2/s", 1, 5 * SECOND_NS),
            ("0.2", 1, 5 * SECOND_NS),
            (".2", 1, 5 * SECOND_NS),
            ("10/h", 1, 360 * SECOND_NS),
            ("1/ms", 1_000, SECOND_NS),
            ("20/500ms", 40, SECOND_NS),
            ("1/3s", 1, 3 * SECOND_NS),
            ("1/1m30s", 1, 90 * SECOND_NS),
            ("2/3ns", 2, 3),
            ("0", 0, SECOND_NS),
            ("0/h", 0, SECOND_NS),
        ] {
            assert_eq!(text.parse(), Ok(Rate { count, per_ns }), "{text}");
        }
    }

    #[test]
    fn what_is_no_rate_is_refused() {
        for text in [
            "", "fast", "-1", "1e3", "500rps", "500/", "/s", "500/x", "500/0s", "500/5", "5K",
            "5m", "1.", "5 /s", "1/s/s",
        ] {
            assert_eq!(
                text.parse::<Rate>(),
                Err(Error::Rate(text.to_owned())),
                "{text}"
            );
        }
        for text in ["1.1G", "2/ns", "18446744073709551615"] {
            assert_eq!(
                text.parse::<Rate>(),
                Err(Error::RateTooHigh(text.to_owned())),
                "{text}"
            );
        }
    }

    #[test]
    fn rates_are_printed_in_the_first_unit_that_fits() {
        for (text, printed) in [
            ("500", "500/s"),
            ("2.5k", "2500/s"),
            ("0.2", "0.2/s"),
            ("90/m", "1.5/s"),
            ("1/m", "1/m"),
            ("10/h", "10/h"),
            ("1/7s", "1/7s"),
            ("1/7ns", "1/7ns"),
            ("0.125", "0.125/s"),
            ("0", "0/s"),
        ] {
            assert_eq!(text.parse::<Rate>().expect("a rate").to_string(), printed);
        }
    }

    #[test]
    fn per_second_is_the_nearest_float() {
        assert_eq!(
            Rate {
                count: 1,
                per_ns: 5 * SECOND_NS
            }
            .per_second(),
            0.2
        );
        assert_eq!(Rate::each_second(990).per_second(), 990.0);
        assert!(Rate::ZERO.is_zero());
    }

    proptest! {
        #[test]
        fn every_rate_reads_back(count in any::<u64>(), per_ns in 1..=u64::MAX) {
            let (count, per_ns) = (u128::from(count.min(per_ns)), u128::from(per_ns));
            if let Some(rate) = Rate::normalised(count, per_ns) {
                prop_assert_eq!(rate.to_string().parse(), Ok(rate));
            }
        }

        #[test]
        fn human_rates_read_back(count in 0..100_000u64, per in 1..10_000u64, unit in 0..4usize) {
            let typed = format!("{count}/{per}{}", ["h", "m", "s", "ms"][unit]);
            let rate = typed.parse::<Rate>().expect("a rate");
            prop_assert_eq!(rate.to_string().parse(), Ok(rate));
        }

        #[test]
        fn no_text_upsets_the_parser(text in "\\PC*") {
            let _ = text.parse::<Rate>();
        }
    }
}
