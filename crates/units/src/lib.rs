//! Formatting and parsing of numbers: counts, times, bytes, rates and shares, with their units.
//!
//! Typed values are parsed exactly ([`parse_duration`], [`parse_count`], [`Rate`]), and
//! [`DurationText`] and [`Rate`] print them so that they are read back as the same value. The rest
//! of this crate prints measured values:
//!
//! For people: three significant digits, a fitting unit, thousands in groups. Groups are separated
//! by an ordinary space (`20 000`), which is easy to read and can be typed into a search. For
//! programs there is [`rounding`]: plain decimals in one fixed unit.
//!
//! ## To change
//!
//! - how a time, count, share or rate may be typed: `parse.rs`, `decimal.rs`, `rate.rs`; its errors
//!   `error.rs`
//! - how a number is printed: for people `digits.rs`, `duration.rs`; for programs `rounding.rs`
//! - how texts of others are shown on a terminal: `visible.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod decimal;
mod digits;
mod duration;
mod error;
mod parse;
mod rate;
pub mod rounding;
mod visible;

pub use digits::{MOST_DIGITS, SIGNIFICANT_DIGITS, grouped};
pub use duration::{duration, elapsed};
pub use error::Error;
pub use parse::{
    DurationText, parse_count, parse_duration, parse_duration_with_unit, parse_number,
    parse_percentile, parse_share, parse_small_count,
};
pub use rate::{Rate, parse_period};
pub use visible::visible;

use digits::{scaled, significant};

const TIMES: [(f64, &str); 3] = [(1e3, "µs"), (1e6, "ms"), (1e9, "s")];
const BYTES: [(f64, &str); 6] = [
    (1.0, "B"),
    (1e3, "kB"),
    (1e6, "MB"),
    (1e9, "GB"),
    (1e12, "TB"),
    (1e15, "PB"),
];

/// Formats a whole number in groups of three digits: `1 384 120`.
pub fn count(n: u64) -> String {
    grouped(&n.to_string())
}

/// Formats a count with its noun: `1 reconnect`, `2 reconnects`.
pub fn counted(n: u64, noun: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(n))
}

/// Formats a time in nanoseconds: `0.850 µs`, `152 µs`, `1.02 ms`, `900 ms`, `3 600 s`.
pub fn time(ns: f64) -> String {
    time_to(ns, SIGNIFICANT_DIGITS)
}

/// Formats a time like [`time`], with this many significant digits.
pub fn time_to(ns: f64, digits: usize) -> String {
    let (number, unit) = scaled(ns, &TIMES, digits);
    format!("{number} {unit}")
}

/// Formats a time like [`time`], with units of equal width, so that right-aligned numbers line up.
pub fn time_cell(ns: f64) -> String {
    let (number, unit) = split_time(ns);
    format!("{number} {unit:<2}")
}

/// Formats a time in nanoseconds as its number and its unit: `("152", "µs")`.
pub fn split_time(ns: f64) -> (String, &'static str) {
    scaled(ns, &TIMES, SIGNIFICANT_DIGITS)
}

/// Formats a number of bytes in powers of 1 000: `0 B`, `4.80 MB`, `1.23 TB`.
pub fn bytes(n: f64) -> String {
    if n < 999.5 {
        return format!("{n:.0} B");
    }
    let (number, unit) = scaled(n, &BYTES, SIGNIFICANT_DIGITS);
    format!("{number} {unit}")
}

/// Formats a share of one in percent: `0 %`, `0.0050 %`, `1.20 %`, `100 %`.
///
/// A share of less than one is never printed as 100 %.
pub fn share(share: f64) -> String {
    if (99.95..100.0).contains(&(share * 100.0)) {
        return "99.9 %".to_owned();
    }
    share_to(share, SIGNIFICANT_DIGITS)
}

/// Formats a share of one in percent, with this many significant digits.
pub fn share_to(share: f64, digits: usize) -> String {
    format!("{} %", significant(share * 100.0, digits))
}

/// Formats a measured rate per second: `0.200/s`, `90.5/s`, `138 412/s`.
pub fn rate(per_second: f64) -> String {
    rate_to(per_second, SIGNIFICANT_DIGITS)
}

/// Formats a rate per second, with this many significant digits.
pub fn rate_to(per_second: f64, digits: usize) -> String {
    format!("{}/s", significant(per_second, digits))
}

/// Formats a number without a unit, with this many significant digits; whole numbers have all of
/// their digits: `0.0120`, `-1.50`, `20 000`.
pub fn number_to(number: f64, digits: usize) -> String {
    let sign = if number < 0.0 { "-" } else { "" };
    let magnitude = number.abs();
    // Above this limit a float does not represent all whole numbers.
    if magnitude.fract() == 0.0 && magnitude < 9e15 {
        return format!("{sign}{}", count(magnitude as u64));
    }
    format!("{sign}{}", significant(magnitude, digits))
}

/// Formats a number like [`number_to`], with the default number of significant digits.
pub fn number(number: f64) -> String {
    number_to(number, SIGNIFICANT_DIGITS)
}

/// Formats a planned rate per second, without trailing zeros: `0.2/s`, `1.5/s`, `2 000/s`.
pub fn planned_rate(per_second: f64) -> String {
    let thousandths = (per_second * 1e3).round() as u64;
    let fraction = format!("{:03}", thousandths % 1000);
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{}{point}{fraction}/s", count(thousandths / 1000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn counts_are_grouped_by_threes() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_000), "1 000");
        assert_eq!(count(1_384_120), "1 384 120");
        assert_eq!(count(u64::MAX), "18 446 744 073 709 551 615");
    }

    #[test]
    fn a_time_has_three_digits_and_the_unit_that_fits() {
        let shown = [
            (0.0, "0 µs"),
            (1.0, "0.0010 µs"),
            (850.0, "0.850 µs"),
            (152_300.0, "152 µs"),
            (999_400.0, "999 µs"),
            (999_600.0, "1.00 ms"),
            (9_996_000.0, "10.0 ms"),
            (900e6, "900 ms"),
            (1.024e9, "1.02 s"),
            (3_600e9, "3 600 s"),
        ];
        for (ns, text) in shown {
            assert_eq!(time(ns), text, "{ns} ns");
        }
    }

    #[test]
    fn bytes_are_whole_below_a_thousand() {
        assert_eq!(bytes(0.0), "0 B");
        assert_eq!(bytes(60.0), "60 B");
        assert_eq!(bytes(999.6), "1.00 kB");
        assert_eq!(bytes(4_800_000.0), "4.80 MB");
        assert_eq!(bytes(1.23e18), "1 230 PB");
    }

    #[test]
    fn nearly_all_is_not_all() {
        assert_eq!(share(1.0), "100 %");
        assert_eq!(share(0.999_99), "99.9 %");
        assert_eq!(share(0.0), "0 %");
        assert_eq!(share(0.012), "1.20 %");
        assert_eq!(share(0.000_05), "0.0050 %");
    }

    #[test]
    fn rates_as_measured_and_as_asked() {
        assert_eq!(rate(138_412.4), "138 412/s");
        assert_eq!(rate(90.52), "90.5/s");
        assert_eq!(planned_rate(2_000.0), "2 000/s");
        assert_eq!(planned_rate(0.2), "0.2/s");
        assert_eq!(planned_rate(1.5), "1.5/s");
        assert_eq!(planned_rate(5.0 / 3.0), "1.667/s");
    }

    proptest! {
        #[test]
        fn a_time_cell_is_never_wider_than_nine(ns in 0u64..3_600_000_000_000) {
            prop_assert!(time_cell(ns as f64).chars().count() <= 9);
        }

        #[test]
        fn a_time_is_off_by_at_most_half_a_percent(ns in 1_000u64..3_600_000_000_000) {
            let shown = time(ns as f64);
            let (number, unit) = shown.rsplit_once(' ').unwrap();
            let size = match unit { "µs" => 1e3, "ms" => 1e6, _ => 1e9 };
            let read: f64 = number.replace(' ', "").parse().unwrap();
            prop_assert!((read * size - ns as f64).abs() <= 0.0051 * ns as f64);
        }
    }
}
