//! Numbers as wrk accepts them: `10`, `+10`, `1k`, `10 s`; whole, and never below 0.

const SECONDS: [(char, u64); 3] = [('s', 1), ('m', 60), ('h', 3_600)];
const METRIC: [(char, u64); 5] = [
    ('k', 1_000),
    ('m', 1_000_000),
    ('g', 1_000_000_000),
    ('t', 1_000_000_000_000),
    ('p', 1_000_000_000_000_000),
];

/// Parses a count: a whole number with k, M, G, T or P (powers of 1000) in either case.
pub(super) fn count(text: &str) -> Option<u64> {
    scaled(text, &METRIC)
}

/// Parses a time in seconds: a whole number with s, m or h in either case.
pub(super) fn seconds(text: &str) -> Option<u64> {
    scaled(text, &SECONDS)
}

/// Parses a number with a unit. Blanks may surround the number, and a plus may precede it. A minus
/// is refused: wrk reads `-5` as an extremely large number, which no user intends.
fn scaled(text: &str, units: &[(char, u64)]) -> Option<u64> {
    let text = text.trim();
    let text = text.strip_prefix('+').unwrap_or(text);
    let (digits, unit) = text.split_at(
        text.find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len()),
    );
    let number: u64 = digits.parse().ok()?;
    let mut unit = unit.trim_start().chars();
    let factor = match unit.next() {
        None => 1,
        Some(letter) => factor_of(letter, units)?,
    };
    unit.next().is_none().then(|| number.checked_mul(factor))?
}

fn factor_of(letter: char, units: &[(char, u64)]) -> Option<u64> {
    let letter = letter.to_ascii_lowercase();
    let found = units.iter().find(|(unit, _)| *unit == letter);
    found.map(|(_, factor)| *factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn counts_have_metric_units() {
        for (text, number) in [
            ("10", 10),
            ("1k", 1_000),
            ("1K", 1_000),
            ("1m", 1_000_000),
            ("2M", 2_000_000),
            ("1G", 1_000_000_000),
            ("1t", 1_000_000_000_000),
            ("1p", 1_000_000_000_000_000),
            (" 10 k", 10_000),
            ("+5", 5),
            (" +1k", 1_000),
            ("007", 7),
            ("0", 0),
        ] {
            assert_eq!(count(text), Some(number), "{text}");
        }
    }

    #[test]
    fn times_have_units_of_time() {
        for (text, number) in [
            ("10", 10),
            ("10s", 10),
            ("10 s", 10),
            ("2m", 120),
            ("1H", 3_600),
        ] {
            assert_eq!(seconds(text), Some(number), "{text}");
        }
    }

    #[test]
    fn what_wrk_refuses_is_refused() {
        for text in [
            "",
            "k",
            "0.5k",
            "1.5k",
            "1q",
            "1kk",
            "-5",
            "+",
            "++5",
            "+ 5",
            "+-5",
            "1e3",
            "1 k 2",
            "18446744073709551616",
            "99999P",
        ] {
            assert_eq!(count(text), None, "{text}");
        }
        for text in ["", "1.5s", "1x", "100ms", "1h30m", "5min", "5sec", "1k"] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_upsets_the_reader(text in "\\PC*") {
            let _ = (count(&text), seconds(&text));
        }

        #[test]
        fn whole_numbers_read_back(number in any::<u64>()) {
            prop_assert_eq!(count(&number.to_string()), Some(number));
        }
    }
}
