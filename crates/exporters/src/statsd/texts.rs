//! The texts of numbers. The same ones come again in each interval, and to write one takes longer
//! than all else of its line.

use std::collections::HashMap;

/// The most texts that are kept; beyond it they are made anew.
const MOST_TEXTS: usize = 8_192;
/// The digits of a rate: it says counts up to some thousand millions exactly.
const RATE_DIGITS: usize = 10;

/// Texts of values, and of the counts that they stand for.
#[derive(Default)]
pub(super) struct Texts {
    values: HashMap<u64, String>,
    rates: HashMap<u64, String>,
}

impl Texts {
    /// Returns the text of a value, and the field that says how many values it stands for, which is
    /// empty for one.
    pub(super) fn of(&mut self, value: f64, count: u64) -> (&str, &str) {
        if self.values.len() + self.rates.len() > MOST_TEXTS {
            *self = Texts::default();
        }
        let text = self.values.entry(value.to_bits());
        let text = text.or_insert_with(|| with_six_digits(value));
        let rate = self.rates.entry(count).or_insert_with(|| match count {
            1 => String::new(),
            _ => format!("|@{}", sample_rate(count)),
        });
        (text, rate)
    }
}

/// Returns a value rounded to six digits, a millionth, in a bucket that is 2.2 % wide.
fn with_six_digits(value: f64) -> String {
    let rounded = format!("{value:.5e}").parse().unwrap_or(value);
    rounded.to_string()
}

/// Returns the sample rate of a value that stands for so many, rounded down. Receivers round its
/// reciprocal down, which must not be less than the count.
fn sample_rate(count: u64) -> String {
    let rate = 1.0 / count as f64;
    let text = cut(rate);
    // Where a short decimal is exact, such as 0.00032, dividing by it may end below the count.
    match text
        .parse()
        .is_ok_and(|rate: f64| 1.0 / rate >= count as f64)
    {
        true => text,
        false => cut(rate * (1.0 - 1e-9)),
    }
}

/// Returns the first digits of a number from 0 to 1.
fn cut(number: f64) -> String {
    let exact = format!("{number:.30}");
    let begin = exact.find(|digit| !matches!(digit, '0' | '.'));
    let end = exact.len().min(begin.unwrap_or_default() + RATE_DIGITS);
    exact[..end].trim_end_matches('0').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_that_rounds_down_counts_every_value() {
        for count in 2..100_000 {
            let rate: f64 = sample_rate(count).parse().unwrap();
            assert_eq!((1.0 / rate).trunc() as u64, count);
        }
    }

    #[test]
    fn texts_are_short() {
        let mut texts = Texts::default();
        assert_eq!(texts.of(0.25, 8), ("0.25", "|@0.125"));
        assert_eq!(texts.of(2.0 / 3.0, 3), ("0.666667", "|@0.3333333333"));
        assert_eq!(texts.of(123_456_789.0, 1), ("123457000", ""));
        assert_eq!(texts.of(-4.5, 2), ("-4.5", "|@0.5"));
        assert_eq!(texts.of(0.0, 1), ("0", ""));
    }

    #[test]
    fn texts_have_a_limit() {
        let mut texts = Texts::default();
        for number in 0..100_000_u32 {
            let value = f64::from(number % 20_000);
            assert_eq!(texts.of(value, 1).0, value.to_string());
            assert!(texts.values.len() <= MOST_TEXTS);
        }
    }
}
