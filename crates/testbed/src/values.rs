//! The values of response options: durations, sizes, counts, switches.
//!
//! Each reader returns `None` for a text that is not such a value; the option's help describes the
//! accepted values.

use loadline_units::{parse_count, parse_duration, parse_number};
use std::time::Duration;

/// The longest accepted duration, in seconds; a longer one is refused as a mistake.
const LONGEST_S: f64 = 1e6;

/// Reads `10s`, `500ms`, `1m30s`, `1.5ms`; a number without a unit is in seconds.
pub(crate) fn duration(text: &str) -> Option<Duration> {
    let duration = parse_duration(text).ok()?;
    (duration.as_secs_f64() <= LONGEST_S).then_some(duration)
}

/// Reads a whole number with an SI unit: `500`, `64k`, `1M`, `2G`.
pub(crate) fn count(text: &str) -> Option<u64> {
    parse_count(text).ok()
}

/// Reads `1` or `0`.
pub(crate) fn switch(text: &str) -> Option<bool> {
    match text {
        "1" => Some(true),
        "0" => Some(false),
        _ => None,
    }
}

/// Reads a number from 0 to 1.
pub(crate) fn probability(text: &str) -> Option<f64> {
    parse_number(text).filter(|share| *share <= 1.0)
}

/// Reads a positive number.
pub(crate) fn positive_number(text: &str) -> Option<f64> {
    parse_number(text).filter(|value| *value > 0.0)
}

/// Reads `none` as no value, and everything else with `read`.
pub(crate) fn optional<T>(text: &str, read: impl Fn(&str) -> Option<T>) -> Option<Option<T>> {
    if text == "none" {
        Some(None)
    } else {
        read(text).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn durations_have_units_or_are_seconds() {
        for (text, ns) in [
            ("10s", 10_000_000_000),
            ("500ms", 500_000_000),
            ("1m30s", 90_000_000_000),
            ("1h", 3_600_000_000_000),
            ("0.1ms", 100_000),
            ("250us", 250_000),
            ("7ns", 7),
            ("0.25", 250_000_000),
            ("0", 0),
        ] {
            assert_eq!(duration(text), Some(Duration::from_nanos(ns)), "{text}");
        }
        for text in [
            "",
            "s",
            "-1s",
            "1 s",
            "10x",
            "1m30",
            "1e3s",
            ".",
            "inf",
            "99999999h",
        ] {
            assert_eq!(duration(text), None, "{text}");
        }
    }

    #[test]
    fn counts_take_si_units() {
        for (text, value) in [("0", 0), ("500", 500), ("64k", 64_000), ("1M", 1_000_000)] {
            assert_eq!(count(text), Some(value), "{text}");
        }
        for text in ["", "k", "+1", "-1", "1.5", "10K", "1kM", "99999999999G"] {
            assert_eq!(count(text), None, "{text}");
        }
    }

    #[test]
    fn the_small_readers_are_strict() {
        assert_eq!(
            [switch("1"), switch("0"), switch("yes"), switch("")],
            [Some(true), Some(false), None, None]
        );
        assert_eq!(
            [probability("0.01"), probability("1"), probability("1.1")],
            [Some(0.01), Some(1.0), None]
        );
        assert_eq!(
            [positive_number("0.5"), positive_number("0")],
            [Some(0.5), None]
        );
        assert_eq!(optional("none", count), Some(None));
        assert_eq!(optional("5", count), Some(Some(5)));
        assert_eq!(optional("x", count), None);
    }

    proptest! {
        #[test]
        fn no_text_upsets_the_readers(text in "\\PC*") {
            let _ = (duration(&text), count(&text), probability(&text), positive_number(&text));
        }
    }
}
