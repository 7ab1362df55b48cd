//! Numbers as people read them: three significant digits, a unit that fits, thousands in groups.
//!
//! Groups are parted by an ordinary space (`20 000`): easy on the eye, and found by a search for
//! what one can type. Programs read the JSON or the CSV, where numbers are plain.

use loadline_record::Bounded;
use loadline_verdict::{CheckResult, Quantity};
use std::cmp::Ordering;
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);
/// Significant digits of a figure.
const DIGITS: usize = 3;
/// Significant digits at most, where fewer would show two different figures alike.
const MOST_DIGITS: usize = 9;
const TIMES: [(f64, &str); 3] = [(1e3, "µs"), (1e6, "ms"), (1e9, "s")];

/// A whole number in groups of three digits: `1 384 120`.
pub(crate) fn count(n: u64) -> String {
    grouped(&n.to_string())
}

/// A count with its noun: `1 reconnect`, `2 reconnects`.
pub(crate) fn counted(n: u64, noun: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(n))
}

/// A time in nanoseconds: `0.850 µs`, `152 µs`, `1.02 ms`, `900 ms`, `3 600 s`.
pub(crate) fn time(ns: f64) -> String {
    let (number, unit) = scaled_time(ns);
    format!("{number} {unit}")
}

/// As [`time`], with units of one width, so that right-aligned numbers stand in line.
pub(crate) fn time_cell(ns: f64) -> String {
    let (number, unit) = scaled_time(ns);
    format!("{number} {unit:<2}")
}

/// A time in nanoseconds that may be a lower bound: `1.02 ms`, `> 1.02 ms`.
pub(crate) fn bounded_time(ns: Bounded<f64>) -> String {
    sign(ns).to_owned() + &time(ns.value())
}

/// As [`bounded_time`], with units of one width.
pub(crate) fn bounded_cell(ns: Bounded<f64>) -> String {
    sign(ns).to_owned() + &time_cell(ns.value())
}

/// What stands before a lower bound.
pub(crate) fn sign<T: Copy>(bounded: Bounded<T>) -> &'static str {
    match bounded {
        Bounded::Exactly(_) => "",
        Bounded::AtLeast(_) => "> ",
    }
}

/// An interval of times in nanoseconds: `721 – 790 µs`, `980 µs – 1.02 ms`, `1.48 – > 2.00 s`; an end that
/// is not known is a `?`.
pub(crate) fn interval(lower_ns: Option<Bounded>, upper_ns: Option<Bounded>) -> String {
    let scaled_end = |ns: Bounded| {
        let (number, unit) = scaled_time(ns.value() as f64);
        (sign(ns).to_owned() + &number, unit)
    };
    match (lower_ns.map(scaled_end), upper_ns.map(scaled_end)) {
        (Some((lower, unit)), Some((upper, same))) if unit == same => {
            format!("{lower} – {upper} {unit}")
        }
        (lower, upper) => {
            let end = |end: Option<(String, &str)>| {
                end.map_or_else(
                    || "?".to_owned(),
                    |(number, unit)| format!("{number} {unit}"),
                )
            };
            format!("{} – {}", end(lower), end(upper))
        }
    }
}

fn scaled_time(ns: f64) -> (String, &'static str) {
    scaled(ns, &TIMES, DIGITS)
}

/// Bytes in powers of 1 000: `0 B`, `4.80 MB`, `1.23 TB`.
pub(crate) fn bytes(n: f64) -> String {
    const UNITS: [(f64, &str); 6] = [
        (1.0, "B"),
        (1e3, "kB"),
        (1e6, "MB"),
        (1e9, "GB"),
        (1e12, "TB"),
        (1e15, "PB"),
    ];
    if n < 999.5 {
        return format!("{n:.0} B");
    }
    let (number, unit) = scaled(n, &UNITS, DIGITS);
    format!("{number} {unit}")
}

/// A share of one in percent: `0 %`, `0.0050 %`, `1.20 %`, `100 %`.
///
/// What is not all is never printed as all.
pub(crate) fn share(share: f64) -> String {
    let percent = share * 100.0;
    if (99.95..100.0).contains(&percent) {
        return "99.9 %".to_owned();
    }
    format!("{} %", significant(percent, DIGITS))
}

/// A rate per second as measured: `0.200/s`, `90.5/s`, `138 412/s`.
pub(crate) fn rate(per_second: f64) -> String {
    format!("{}/s", significant(per_second, DIGITS))
}

/// A rate per second as asked for, without trailing zeros: `0.2/s`, `1.5/s`, `2 000/s`.
pub(crate) fn asked_rate(per_second: f64) -> String {
    let thousandths = (per_second * 1e3).round() as u64;
    let fraction = format!("{:03}", thousandths % 1000);
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{}{point}{fraction}/s", count(thousandths / 1000))
}

/// A duration as one plans it: `250 ms`, `1.5 s`, `10 s`, `1 min 30 s`, `2 h`.
pub(crate) fn duration(duration: Duration) -> String {
    match duration {
        Duration::ZERO => "0 s".to_owned(),
        short if short < MINUTE => short_duration(short),
        long => in_minutes(long),
    }
}

/// A length of time as measured: `3.21 s`, `1 min 30 s`.
pub(crate) fn elapsed(length: Duration) -> String {
    if length < MINUTE {
        time(length.as_nanos() as f64)
    } else {
        in_minutes(length)
    }
}

fn in_minutes(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let parts = [
        (seconds / 3600, "h"),
        (seconds / 60 % 60, "min"),
        (seconds % 60, "s"),
    ];
    let parts = parts
        .iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, unit)| format!("{n} {unit}"));
    parts.collect::<Vec<_>>().join(" ")
}

fn short_duration(duration: Duration) -> String {
    let text = time(duration.as_nanos() as f64);
    let (number, unit) = text
        .split_once(' ')
        .expect("a time has a number and a unit");
    if !number.contains('.') {
        return text;
    }
    format!(
        "{} {unit}",
        number.trim_end_matches('0').trim_end_matches('.')
    )
}

/// A percentile's name: `p50`, `p99.9`.
pub(crate) fn percentile(percentile: f64) -> String {
    format!("p{percentile}")
}

/// What a check measured, as [`measured`]; a lower bound has its sign.
pub(crate) fn actual(check: &CheckResult) -> Option<String> {
    let sign = if check.is_at_least { "> " } else { "" };
    let text = |actual| format!("{sign}{}", measured(actual, check.bound));
    check.actual.map(text)
}

/// What a check measured, with as many digits as it takes to tell it from the bound.
pub(crate) fn measured(actual: Quantity, bound: Quantity) -> String {
    let differs = |digits: &usize| quantity(actual, *digits) != quantity(bound, *digits);
    let equal = actual.compare(bound).is_some_and(Ordering::is_eq);
    let digits = (DIGITS..=MOST_DIGITS).find(|digits| equal || differs(digits));
    quantity(actual, digits.unwrap_or(MOST_DIGITS))
}

fn quantity(quantity: Quantity, digits: usize) -> String {
    match quantity {
        Quantity::TimeNs(ns) => {
            let (number, unit) = scaled(ns, &TIMES, digits);
            format!("{number} {unit}")
        }
        Quantity::Share(share) => format!("{} %", significant(share * 100.0, digits)),
        Quantity::Count(n) => count(n),
        Quantity::PerSecond(per_second) => format!("{}/s", significant(per_second, digits)),
    }
}

/// The first unit that leaves fewer than four digits before the point, or else the last one.
fn scaled(value: f64, units: &[(f64, &'static str)], digits: usize) -> (String, &'static str) {
    let fits = |(size, _): &&(f64, &str)| value / size < 999.5;
    let (size, unit) = units
        .iter()
        .find(fits)
        .or(units.last())
        .expect("there are units");
    (significant(value / size, digits), unit)
}

/// So many significant digits, but all of those before the point, and hardly more after it.
fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let decimals = (digits as i32 - 1 - exponent(value, digits)).clamp(0, digits as i32 + 1);
    let rounded = format!("{value:.*}", decimals as usize);
    match rounded.split_once('.') {
        Some((whole, decimals)) => format!("{}.{decimals}", grouped(whole)),
        None => grouped(&rounded),
    }
}

/// The power of ten of the first digit, once the value is rounded.
fn exponent(value: f64, digits: usize) -> i32 {
    let scientific = format!("{value:.*e}", digits - 1);
    let exponent = scientific
        .split_once('e')
        .and_then(|(_, exponent)| exponent.parse().ok());
    exponent.expect("scientific notation has a whole exponent")
}

fn grouped(digits: &str) -> String {
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
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
    fn an_interval_has_its_unit_once_if_both_ends_have_the_same() {
        let ns = |ns| Some(Bounded::Exactly(ns));
        assert_eq!(interval(ns(721_000), ns(790_000)), "721 – 790 µs");
        assert_eq!(interval(ns(980_000), ns(1_020_000)), "980 µs – 1.02 ms");
        assert_eq!(interval(ns(504_000_000), None), "504 ms – ?");
        assert_eq!(interval(None, ns(1_000)), "? – 1.00 µs");
        let beyond = Some(Bounded::AtLeast(2_000_000_000));
        assert_eq!(interval(ns(1_480_000_000), beyond), "1.48 – > 2.00 s");
        assert_eq!(interval(beyond, None), "> 2.00 s – ?");
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
    fn what_misses_its_bound_by_little_does_not_look_like_it() {
        let shown = [
            (
                Quantity::PerSecond(989.6),
                Quantity::PerSecond(990.0),
                "989.6/s",
            ),
            (
                Quantity::PerSecond(12_000.3),
                Quantity::PerSecond(12_000.0),
                "12 000.3/s",
            ),
            (
                Quantity::TimeNs(50_016_000.0),
                Quantity::TimeNs(5e7),
                "50.02 ms",
            ),
            (
                Quantity::Share(0.001_000_1),
                Quantity::Share(0.001),
                "0.10001 %",
            ),
            (Quantity::Share(0.001), Quantity::Share(0.001), "0.100 %"),
            (
                Quantity::TimeNs(12_345_678.0),
                Quantity::TimeNs(5e7),
                "12.3 ms",
            ),
            (Quantity::Count(7), Quantity::Count(8), "7"),
        ];
        for (actual, bound, text) in shown {
            assert_eq!(measured(actual, bound), text);
        }
    }

    #[test]
    fn rates_as_measured_and_as_asked() {
        assert_eq!(rate(138_412.4), "138 412/s");
        assert_eq!(rate(90.52), "90.5/s");
        assert_eq!(asked_rate(2_000.0), "2 000/s");
        assert_eq!(asked_rate(0.2), "0.2/s");
        assert_eq!(asked_rate(1.5), "1.5/s");
        assert_eq!(asked_rate(5.0 / 3.0), "1.667/s");
    }

    #[test]
    fn durations_read_as_they_are_typed() {
        let shown = [
            (Duration::ZERO, "0 s"),
            (Duration::from_millis(250), "250 ms"),
            (Duration::from_millis(1_500), "1.5 s"),
            (Duration::from_secs(10), "10 s"),
            (Duration::from_secs(90), "1 min 30 s"),
            (Duration::from_secs(7_200), "2 h"),
        ];
        for (length, text) in shown {
            assert_eq!(duration(length), text);
        }
        assert_eq!(elapsed(Duration::from_millis(3_210)), "3.21 s");
        assert_eq!(elapsed(Duration::from_millis(90_400)), "1 min 30 s");
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
