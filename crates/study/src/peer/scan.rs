//! Numbers in reports written for people.

/// Returns the rest of the first line that begins with this text, ignoring blanks around it.
pub(super) fn after<'a>(report: &'a str, begin: &str) -> Option<&'a str> {
    let mut lines = report.lines().map(str::trim);
    lines
        .find_map(|line| line.strip_prefix(begin))
        .map(str::trim)
}

/// Returns the number that a text begins with.
pub(super) fn number(text: &str) -> Option<f64> {
    let text = text.trim_start();
    let end = text.find(|char: char| !char.is_ascii_digit() && char != '.');
    text[..end.unwrap_or(text.len())].parse().ok()
}

/// Returns the whole number that a text begins with.
pub(super) fn count(text: &str) -> Option<u64> {
    let text = text.trim_start();
    let end = text.find(|char: char| !char.is_ascii_digit());
    text[..end.unwrap_or(text.len())].parse().ok()
}

/// Returns the whole number before this word, as in `5 failed`.
pub(super) fn count_before(text: &str, word: &str) -> Option<u64> {
    let words: Vec<&str> = text
        .split([' ', ','])
        .filter(|word| !word.is_empty())
        .collect();
    let at = words.iter().position(|known| *known == word)?;
    words[at.checked_sub(1)?].parse().ok()
}

/// Returns a time with its unit, such as `87.00us` or `1.20m`, in microseconds.
pub(super) fn time_us(text: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 6] = [
        ("us", 1.0),
        ("µs", 1.0),
        ("ms", 1e3),
        ("s", 1e6),
        ("m", 60e6),
        ("h", 3_600e6),
    ];
    let text = text.trim();
    let split = |(unit, us): (&str, f64)| {
        let number = text.strip_suffix(unit)?.trim_end();
        number.parse::<f64>().ok().map(|number| number * us)
    };
    UNITS
        .into_iter()
        .find_map(split)
        .filter(|us| us.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        for (text, us) in [
            ("87.00us", 87.0),
            ("1.20ms", 1_200.0),
            ("0.50s", 5e5),
            ("2.00m", 120e6),
            ("1.00h", 3_600e6),
        ] {
            assert_eq!(time_us(text), Some(us), "{text}");
        }
        for text in ["", "us", "1.0", "nanus", "-nan%", "1x"] {
            assert_eq!(time_us(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_end_where_something_else_begins() {
        assert_eq!(number(" 12.5 [#/sec]"), Some(12.5));
        assert_eq!(count("10 requests"), Some(10));
        assert_eq!((number("n/a"), count("")), (None, None));
        assert_eq!(
            count_before("3 done, 2 failed, 0 errored", "failed"),
            Some(2)
        );
        assert_eq!(count_before("failed", "failed"), None);
    }
}
