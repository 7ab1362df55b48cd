//! Decimal numbers as typed, kept exact: `2.5`, `.75`, `90`, with an SI unit `k`, `M` or `G`.
//!
//! Rates, durations and counts are parsed here, so that no float ever rounds them.

/// The number `digits / 10^scale`; never negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    digits: u64,
    scale: u32,
}

/// The most decimals: more than nanoseconds of an hour could ever need, and few enough to keep
/// every product inside `u128`.
const MOST_DECIMALS: usize = 18;

impl Decimal {
    /// Splits `text` after the number at its beginning; `None` if there is no number, or it has too
    /// many digits.
    pub(crate) fn split(text: &str) -> Option<(Self, &str)> {
        let (whole, rest) = split_digits(text);
        let (decimals, rest) = match rest.strip_prefix('.') {
            Some(after) => split_digits(after),
            None => ("", rest),
        };
        let dotless = text.len() - rest.len() == whole.len();
        if decimals.is_empty() != dotless || (whole.is_empty() && decimals.is_empty()) {
            return None;
        }
        Some((
            Self::of_digits(whole, decimals.trim_end_matches('0'))?,
            rest,
        ))
    }

    fn of_digits(whole: &str, decimals: &str) -> Option<Self> {
        if decimals.len() > MOST_DECIMALS {
            return None;
        }
        let digits = format!("0{whole}{decimals}").parse().ok()?;
        Some(Self {
            digits,
            scale: decimals.len() as u32,
        })
    }

    /// Returns the number times `factor`, if that is whole and fits.
    pub(crate) fn times(self, factor: u64) -> Option<u64> {
        let (above, below) = self.fraction(factor);
        (above % below == 0).then(|| u64::try_from(above / below).ok())?
    }

    /// Returns the number times `factor` as a fraction: numerator and denominator.
    pub(crate) fn fraction(self, factor: u64) -> (u128, u128) {
        (
            u128::from(self.digits) * u128::from(factor),
            10u128.pow(self.scale),
        )
    }

    /// Returns the nearest float to the number divided by ten to the `power`.
    pub(crate) fn shifted(self, power: u32) -> f64 {
        self.digits as f64 / 10f64.powi((self.scale + power) as i32)
    }
}

/// Splits `text` after the SI unit at its beginning, if any, and returns the factor of the unit.
pub(crate) fn split_si(text: &str) -> (u64, &str) {
    const UNITS: [(char, u64); 3] = [('k', 1_000), ('M', 1_000_000), ('G', 1_000_000_000)];
    UNITS
        .iter()
        .find_map(|&(unit, factor)| Some((factor, text.strip_prefix(unit)?)))
        .unwrap_or((1, text))
}

fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_split_from_what_follows() {
        for (text, digits, scale, rest) in [
            ("12", 12, 0, ""),
            ("2.5k", 25, 1, "k"),
            (".75/s", 75, 2, "/s"),
            ("0.50", 5, 1, ""),
            ("0.0", 0, 0, ""),
            (".0", 0, 0, ""),
            ("1.2.3", 12, 1, ".3"),
        ] {
            assert_eq!(
                Decimal::split(text),
                Some((Decimal { digits, scale }, rest)),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in [
            "",
            ".",
            "1.",
            "1.s",
            "-1",
            "+1",
            "k",
            " 1",
            "99999999999999999999",
            "٣",
            "0.0000000000000000001",
        ] {
            assert_eq!(Decimal::split(text), None, "{text}");
        }
    }

    #[test]
    fn products_are_exact_or_refused() {
        let number = |text| Decimal::split(text).expect("a number").0;
        assert_eq!(number("2.5").times(1_000), Some(2_500));
        assert_eq!(number("0.1").times(1_000_000_000), Some(100_000_000));
        assert_eq!(number("0.0005").times(1_000), None);
        assert_eq!(number("18446744073709551615").times(1_000), None);
        assert_eq!(number("99.9").shifted(0), 99.9);
        assert_eq!(number("0.1").shifted(2), 0.001);
    }

    #[test]
    fn si_units_multiply_by_thousands() {
        assert_eq!(split_si("k/s"), (1_000, "/s"));
        assert_eq!(split_si("M"), (1_000_000, ""));
        assert_eq!(split_si("G"), (1_000_000_000, ""));
        assert_eq!(split_si("m"), (1, "m"));
    }
}
