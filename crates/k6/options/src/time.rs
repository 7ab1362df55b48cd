//! Durations as Go writes them, with days: `1d2h3m4.5s`.

use std::fmt;
use std::time::Duration;

const NS_PER_MS: i64 = 1_000_000;
const NS_PER_S: i64 = 1_000_000_000;

/// A duration in whole nanoseconds; may be negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct GoDuration(pub i64);

/// The error for a text that is not a duration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidDuration {
    /// The text is no duration at all.
    #[error("time: invalid duration {0:?}")]
    Invalid(String),
    /// A number has no unit.
    #[error("time: missing unit in duration {0:?}")]
    NoUnit(String),
    /// A unit is unknown.
    #[error("time: unknown unit {unit:?} in duration {text:?}")]
    UnknownUnit {
        /// The unit.
        unit: String,
        /// The text.
        text: String,
    },
}

impl GoDuration {
    /// Creates a duration of this number of seconds.
    pub const fn seconds(seconds: i64) -> Self {
        GoDuration(seconds * NS_PER_S)
    }

    /// Creates a duration of this number of milliseconds.
    pub fn milliseconds(milliseconds: f64) -> Self {
        GoDuration((milliseconds * NS_PER_MS as f64) as i64)
    }

    /// Converts a duration; a longer one becomes the maximum.
    pub fn of(duration: Duration) -> Self {
        GoDuration(i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX))
    }

    /// Converts to a duration; a negative one becomes zero.
    pub fn duration(self) -> Duration {
        Duration::from_nanos(self.0.max(0) as u64)
    }

    /// Parses a duration that has a unit, unless it is 0.
    ///
    /// # Errors
    /// If the text is not a duration.
    pub fn parse_with_unit(text: &str) -> Result<Self, InvalidDuration> {
        match text.parse::<f64>() {
            Ok(number) if number != 0.0 => Err(InvalidDuration::NoUnit(text.to_owned())),
            _ => Self::parse(text),
        }
    }

    /// Parses a duration; a number without a unit is in milliseconds.
    ///
    /// # Errors
    /// If the text is not a duration.
    pub fn parse(text: &str) -> Result<Self, InvalidDuration> {
        if let Ok(milliseconds) = text.parse::<f64>()
            && milliseconds.is_finite()
        {
            return Ok(Self::milliseconds(milliseconds));
        }
        let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
        if unsigned.is_empty() {
            return Err(InvalidDuration::Invalid(text.to_owned()));
        }
        let mut rest = unsigned;
        let mut ns = 0.0;
        while !rest.is_empty() {
            let (part, behind) = part_of(rest, text)?;
            ns += part;
            rest = behind;
        }
        let ns = if ns.abs() < i64::MAX as f64 {
            ns.round() as i64
        } else {
            return Err(InvalidDuration::Invalid(text.to_owned()));
        };
        Ok(GoDuration(if text.starts_with('-') { -ns } else { ns }))
    }
}

/// Parses the first number and unit of a text, and returns the nanoseconds and the rest of the
/// text.
fn part_of<'a>(rest: &'a str, whole: &str) -> Result<(f64, &'a str), InvalidDuration> {
    let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, behind) = rest.split_at(digits.unwrap_or(rest.len()));
    let number: f64 = number
        .parse()
        .map_err(|_| InvalidDuration::Invalid(whole.to_owned()))?;
    let end = behind.find(|c: char| c.is_ascii_digit() || c == '.');
    let (unit, behind) = behind.split_at(end.unwrap_or(behind.len()));
    let per_unit = match unit {
        "ns" => 1.0,
        "us" | "µs" | "μs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        "m" => 60e9,
        "h" => 3_600e9,
        "d" => 86_400e9,
        "" => return Err(InvalidDuration::NoUnit(whole.to_owned())),
        unit => {
            return Err(InvalidDuration::UnknownUnit {
                unit: unit.to_owned(),
                text: whole.to_owned(),
            });
        }
    };
    Ok((number * per_unit, behind))
}

impl fmt::Display for GoDuration {
    /// Formats as Go's `Duration.String`: `0s`, `1.5s`, `300ms`, `1h0m5s`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 0 {
            f.write_str("-")?;
        }
        let ns = self.0.unsigned_abs();
        match ns {
            0 => f.write_str("0s"),
            1..1_000 => write!(f, "{ns}ns"),
            1_000..1_000_000 => write!(f, "{}µs", Decimal(ns, 1_000)),
            1_000_000..1_000_000_000 => write!(f, "{}ms", Decimal(ns, 1_000_000)),
            _ => {
                let (minutes, seconds) = (ns / 60_000_000_000, ns % 60_000_000_000);
                if minutes >= 60 {
                    write!(f, "{}h", minutes / 60)?;
                }
                if minutes > 0 {
                    write!(f, "{}m", minutes % 60)?;
                }
                write!(f, "{}s", Decimal(seconds, 1_000_000_000))
            }
        }
    }
}

/// A quotient of whole numbers, printed without trailing zeros.
struct Decimal(u64, u64);

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0 / self.1)?;
        let fraction = self.0 % self.1;
        if fraction == 0 {
            return Ok(());
        }
        let width = self.1.ilog10() as usize;
        let digits = format!("{fraction:0width$}");
        write!(f, ".{}", digits.trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_and_printed_as_go_does() {
        for (text, printed) in [
            ("1d2h3m4.5s", "26h3m4.5s"),
            ("300ms", "300ms"),
            ("1.5s", "1.5s"),
            ("90s", "1m30s"),
            ("10m", "10m0s"),
            ("1h", "1h0m0s"),
            ("0", "0s"),
            ("1500", "1.5s"),
            ("-1s", "-1s"),
            ("1us", "1µs"),
            ("1.25ms", "1.25ms"),
        ] {
            let read = GoDuration::parse(text).expect(text);
            assert_eq!(read.to_string(), printed, "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused_in_gos_words() {
        for (text, refusal) in [
            ("abc", "time: invalid duration \"abc\""),
            ("", "time: invalid duration \"\""),
            ("1s2", "time: missing unit in duration \"1s2\""),
            ("3x", "time: unknown unit \"x\" in duration \"3x\""),
        ] {
            let refused = GoDuration::parse(text).expect_err(text);
            assert_eq!(refused.to_string(), refusal);
        }
    }
}
