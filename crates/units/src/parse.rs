//! Durations, counts, shares and percentiles as users write them.
//!
//! A duration is written as in `1m30s` or `250us`; a number without a unit is in seconds. Values
//! are parsed exactly, to the nanosecond, and printed values are read back unchanged.

use crate::Error;
use crate::decimal::{Decimal, split_si};
use std::fmt;
use std::time::Duration;

const SECOND_NS: u64 = 1_000_000_000;

/// The units of time and their nanoseconds. If one unit begins like another (`ms` like `m`), the
/// longer comes first.
const TIME_UNITS: [(&str, u64); 7] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("h", 3_600 * SECOND_NS),
    ("m", 60 * SECOND_NS),
    ("s", SECOND_NS),
];

/// Reads a duration: `10s`, `500ms`, `1m30s`, `2h`, `250us`, `1.5s`; a number without a unit is in
/// seconds.
///
/// # Errors
/// [`Error::Duration`] for anything else, fractions of a nanosecond, and more than 584 years.
pub fn parse_duration(text: &str) -> Result<Duration, Error> {
    let refused = || Error::Duration(text.to_owned());
    if let Some((number, "")) = Decimal::split(text) {
        return number
            .times(SECOND_NS)
            .map(Duration::from_nanos)
            .ok_or_else(refused);
    }
    sum_of_parts(text)
        .map(Duration::from_nanos)
        .ok_or_else(refused)
}

/// Reads a duration that must have a unit, so that a bare `50` is not read as seconds.
pub fn parse_duration_with_unit(text: &str) -> Option<Duration> {
    sum_of_parts(text).map(Duration::from_nanos)
}

/// Adds up `1h30m5s`: each part with its unit, each unit smaller than the one before.
fn sum_of_parts(text: &str) -> Option<u64> {
    let (mut rest, mut total_ns, mut last_unit_ns) = (text, 0u64, u64::MAX);
    loop {
        let (number, after) = Decimal::split(rest)?;
        let (unit_ns, after) = split_time_unit(after)?;
        if unit_ns >= last_unit_ns {
            return None;
        }
        total_ns = total_ns.checked_add(number.times(unit_ns)?)?;
        if after.is_empty() {
            return Some(total_ns);
        }
        (rest, last_unit_ns) = (after, unit_ns);
    }
}

/// Splits `text` after the unit of time at its beginning, and returns the unit in nanoseconds.
pub(crate) fn split_time_unit(text: &str) -> Option<(u64, &str)> {
    TIME_UNITS
        .iter()
        .find_map(|&(unit, unit_ns)| Some((unit_ns, text.strip_prefix(unit)?)))
}

/// Prints a duration so that [`parse_duration`] reads back the same value: `1m30s`, `500ms`,
/// `1.5s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DurationText(pub Duration);

impl fmt::Display for DurationText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total_s = self.0.as_secs();
        let (hours, minutes) = (total_s / 3_600, total_s / 60 % 60);
        let rest_ns = total_s % 60 * SECOND_NS + u64::from(self.0.subsec_nanos());
        if hours > 0 {
            write!(f, "{hours}h")?;
        }
        if minutes > 0 {
            write!(f, "{minutes}m")?;
        }
        match rest_ns {
            0 if total_s > 0 => Ok(()),
            0 => f.write_str("0s"),
            SECOND_NS.. => write_decimal(f, rest_ns, SECOND_NS, "s"),
            1_000_000.. => write_decimal(f, rest_ns, 1_000_000, "ms"),
            1_000.. => write_decimal(f, rest_ns, 1_000, "us"),
            _ => write!(f, "{rest_ns}ns"),
        }
    }
}

/// Writes `amount / unit` as a decimal without trailing zeros; `unit` is a power of ten.
fn write_decimal(f: &mut fmt::Formatter<'_>, amount: u64, unit: u64, name: &str) -> fmt::Result {
    let (whole, fraction) = (amount / unit, amount % unit);
    if fraction == 0 {
        return write!(f, "{whole}{name}");
    }
    let width = unit.ilog10() as usize;
    let decimals = format!("{fraction:0width$}");
    write!(f, "{whole}.{}{name}", decimals.trim_end_matches('0'))
}

/// Reads a count: `500`, `10k`, `2.5M`, `1G`.
///
/// # Errors
/// [`Error::Count`] for anything that is not a whole number once its unit is applied.
pub fn parse_count(text: &str) -> Result<u64, Error> {
    let whole = || {
        let (number, rest) = Decimal::split(text)?;
        let (factor, rest) = split_si(rest);
        rest.is_empty().then(|| number.times(factor))?
    };
    whole().ok_or_else(|| Error::Count(text.to_owned()))
}

/// Reads a count that must fit in 32 bits, such as a number of connections or threads.
///
/// # Errors
/// [`Error::Count`] as for [`parse_count`], and [`Error::CountTooHigh`] above `u32::MAX`.
pub fn parse_small_count(text: &str) -> Result<u32, Error> {
    u32::try_from(parse_count(text)?).map_err(|_| Error::CountTooHigh(text.to_owned()))
}

/// Reads a percentage, `0.1%`, as a share of 1; `None` if the text is not a percentage or above 100
/// %.
pub fn parse_share(text: &str) -> Option<f64> {
    let (number, rest) = Decimal::split(text.strip_suffix('%')?.trim_end())?;
    let share = number.shifted(2);
    (rest.is_empty() && share <= 1.0).then_some(share)
}

/// Reads a plain decimal number, `0.5`; `None` for anything else.
pub fn parse_number(text: &str) -> Option<f64> {
    let (number, rest) = Decimal::split(text)?;
    rest.is_empty().then(|| number.shifted(0))
}

/// Reads a percentile: a number above 0 and at most 100, with or without a `p` before it.
///
/// # Errors
/// [`Error::Percentile`] for anything else.
pub fn parse_percentile(text: &str) -> Result<f64, Error> {
    let digits = text.strip_prefix('p').unwrap_or(text);
    match parse_number(digits) {
        Some(percentile) if percentile > 0.0 && percentile <= 100.0 => Ok(percentile),
        _ => Err(Error::Percentile(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn durations_are_read_exactly() {
        for (text, ns) in [
            ("10s", 10 * SECOND_NS),
            ("500ms", 500_000_000),
            ("1m30s", 90 * SECOND_NS),
            ("2h", 7_200 * SECOND_NS),
            ("250us", 250_000),
            ("250µs", 250_000),
            ("7ns", 7),
            ("1.5s", 1_500_000_000),
            ("0.1ms", 100_000),
            ("1h0.5s", 3_600_500_000_000),
            ("10", 10 * SECOND_NS),
            ("0.25", 250_000_000),
            ("0", 0),
            ("0s", 0),
            ("0m0s", 0),
        ] {
            assert_eq!(parse_duration(text), Ok(Duration::from_nanos(ns)), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_refused() {
        for text in [
            "",
            "s",
            "-1s",
            "1 s",
            "10x",
            "1s30m",
            "1s1s",
            "1m30",
            "0.1ns",
            "1e3s",
            "10S",
            "1d",
            "999999999999h",
        ] {
            assert_eq!(
                parse_duration(text),
                Err(Error::Duration(text.to_owned())),
                "{text}"
            );
        }
    }

    #[test]
    fn durations_are_printed_as_people_write_them() {
        for text in [
            "0s",
            "7ns",
            "1.5us",
            "250us",
            "500ms",
            "1.5s",
            "10s",
            "1m30s",
            "2h",
            "1h1m500ms",
            "1h1ms",
        ] {
            let printed = DurationText(parse_duration(text).expect("a duration")).to_string();
            assert_eq!(printed, text);
        }
    }

    #[test]
    fn counts_take_si_units() {
        for (text, count) in [
            ("0", 0),
            ("500", 500),
            ("10k", 10_000),
            ("2.5M", 2_500_000),
            ("1G", 1_000_000_000),
            ("0.001k", 1),
        ] {
            assert_eq!(parse_count(text), Ok(count), "{text}");
        }
        for text in [
            "",
            "k",
            "1.5",
            "0.0001k",
            "10K",
            "10m",
            "-1",
            "10 k",
            "1_000",
            "99999999999G",
        ] {
            assert_eq!(
                parse_count(text),
                Err(Error::Count(text.to_owned())),
                "{text}"
            );
        }
    }

    #[test]
    fn small_counts_have_an_end() {
        assert_eq!(parse_small_count("10k"), Ok(10_000));
        assert_eq!(parse_small_count("4294967295"), Ok(u32::MAX));
        assert_eq!(
            parse_small_count("5G"),
            Err(Error::CountTooHigh("5G".into()))
        );
        assert_eq!(parse_small_count("many"), Err(Error::Count("many".into())));
    }

    #[test]
    fn shares_end_in_a_percent_sign() {
        assert_eq!(parse_share("0.1%"), Some(0.001));
        assert_eq!(parse_share("100%"), Some(1.0));
        assert_eq!(parse_share("5 %"), Some(0.05));
        for text in ["0.1", "%", "101%", "-1%", "1%%"] {
            assert_eq!(parse_share(text), None, "{text}");
        }
    }

    #[test]
    fn percentiles_lie_above_zero_and_reach_a_hundred() {
        for (text, percentile) in [
            ("50", 50.0),
            ("p99", 99.0),
            ("99.9", 99.9),
            ("100", 100.0),
            ("0.001", 0.001),
        ] {
            assert_eq!(parse_percentile(text), Ok(percentile), "{text}");
        }
        for text in ["", "p", "0", "101", "100.1", "-5", "99%", "99.", "median"] {
            assert_eq!(
                parse_percentile(text),
                Err(Error::Percentile(text.to_owned())),
                "{text}"
            );
        }
    }

    proptest! {
        #[test]
        fn every_duration_reads_back(ns in prop_oneof![any::<u64>(), 0..100_000_000_000u64]) {
            let duration = Duration::from_nanos(ns);
            prop_assert_eq!(parse_duration(&DurationText(duration).to_string()), Ok(duration));
        }

        #[test]
        fn no_text_upsets_the_parsers(text in "\\PC*") {
            let _ = (parse_duration(&text), parse_count(&text));
            let _ = (parse_percentile(&text), parse_share(&text));
        }
    }
}
