//! Numbers, times, bytes and shares as k6 prints them.

use crate::Contains;

/// A common unit for all times of a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
}

impl TimeUnit {
    /// Returns the unit of this option: `s`, `ms` or `us`.
    pub fn parse(text: &str) -> Option<TimeUnit> {
        match text {
            "s" => Some(TimeUnit::Seconds),
            "ms" => Some(TimeUnit::Milliseconds),
            "us" => Some(TimeUnit::Microseconds),
            _ => None,
        }
    }

    /// Returns the option for this unit.
    pub fn option(self) -> &'static str {
        match self {
            TimeUnit::Seconds => "s",
            TimeUnit::Milliseconds => "ms",
            TimeUnit::Microseconds => "us",
        }
    }
}

/// Formats a value of a metric with this unit.
pub(super) fn value(value: f64, contains: Contains, unit: Option<TimeUnit>) -> String {
    match contains {
        Contains::Default => number(value),
        Contains::Data => data(value),
        Contains::Time => time(value, unit),
    }
}

/// Formats a number with at most 6 decimals, without trailing zeros.
pub(super) fn number(value: f64) -> String {
    let rounded: f64 = format!("{value:.6}").parse().unwrap_or(value);
    // Zero is printed without a sign.
    format!("{}", rounded + 0.0)
}

/// Formats bytes in units of 1000, with a decimal below ten of a unit.
fn data(bytes: f64) -> String {
    const UNITS: [&str; 6] = ["B", "kB", "MB", "GB", "TB", "PB"];
    let (mut amount, mut unit) = (bytes, 0);
    while amount.abs() >= 1000.0 && unit + 1 < UNITS.len() {
        amount /= 1000.0;
        unit += 1;
    }
    match unit > 0 && amount.abs() < 10.0 {
        true => format!("{amount:.1} {}", UNITS[unit]),
        false => format!("{amount:.0} {}", UNITS[unit]),
    }
}

fn time(ms: f64, unit: Option<TimeUnit>) -> String {
    match unit {
        Some(TimeUnit::Seconds) => format!("{:.2}s", ms / 1e3),
        Some(TimeUnit::Milliseconds) => format!("{ms:.2}ms"),
        Some(TimeUnit::Microseconds) => format!("{:.2}µs", ms * 1e3),
        None => time_in_its_unit(ms),
    }
}

fn time_in_its_unit(ms: f64) -> String {
    let magnitude = ms.abs();
    match () {
        () if ms == 0.0 => "0s".to_owned(),
        () if magnitude < 1e-3 => format!("{}ns", cut(ms * 1e6)),
        () if magnitude < 1.0 => format!("{}µs", cut(ms * 1e3)),
        () if magnitude < 1e3 => format!("{}ms", cut(ms)),
        () if magnitude < 60e3 => format!("{}s", cut(ms / 1e3)),
        () => minutes(ms),
    }
}

fn minutes(ms: f64) -> String {
    let sign = if ms < 0.0 { "-" } else { "" };
    let all_s = (ms.abs() / 1e3) as u64;
    let (h, m, s) = (all_s / 3600, all_s / 60 % 60, all_s % 60);
    match h {
        0 => format!("{sign}{m}m{s}s"),
        _ => format!("{sign}{h}h{m}m{s}s"),
    }
}

/// Truncates a number to two decimals.
fn cut(value: f64) -> f64 {
    (value * 100.0).trunc() / 100.0
}

/// Formats a share as a percentage, truncated to two decimals.
pub(super) fn share(share: f64) -> String {
    // 0.29 * 100 is slightly less than 29.
    let hundredths = (share * 1e4 * (1.0 + 1e-15)).trunc();
    format!("{:.2}%", hundredths / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_their_unit_and_are_cut() {
        let times = [
            0.0,
            0.0004,
            0.260908,
            42.8039,
            5999.9,
            941_250.25,
            3_700_000.0,
        ];
        let shown = times.map(|ms| time(ms, None));
        let expected = [
            "0s", "400ns", "260.9µs", "42.8ms", "5.99s", "15m41s", "1h1m40s",
        ];
        assert_eq!(shown, expected);
        assert_eq!(time(0.0004, Some(TimeUnit::Milliseconds)), "0.00ms");
    }

    #[test]
    fn bytes_are_in_units_of_1000() {
        let shown = [0.0, 870.0, 1434.0, 3286.9, 12_345.0].map(data);
        assert_eq!(shown, ["0 B", "870 B", "1.4 kB", "3.3 kB", "12 kB"]);
    }

    #[test]
    fn numbers_and_shares_end_early() {
        assert_eq!(number(1_234.567_8), "1234.5678");
        assert_eq!(number(41_152_261.541_152_4), "41152261.541152");
        assert_eq!(
            [0.555_55, 1.0, 0.29].map(share),
            ["55.55%", "100.00%", "29.00%"]
        );
    }
}
