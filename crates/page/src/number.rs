//! Numbers in few characters: four significant digits are enough for a screen.

use serde::Serializer;
use serde::ser::SerializeSeq;

/// The number of significant digits of a number that is drawn.
const DIGITS: usize = 4;

/// Returns the number rounded to four significant digits.
pub(crate) fn rounded(number: f64) -> f64 {
    format!("{number:.*e}", DIGITS - 1)
        .parse()
        .unwrap_or(number)
}

/// Writes a rounded number; one that is not finite as `null`.
pub(crate) fn one<S: Serializer>(number: &f64, to: S) -> Result<S::Ok, S::Error> {
    let short = rounded(*number);
    if !short.is_finite() {
        to.serialize_none()
    } else if is_whole(short) {
        to.serialize_i64(short as i64)
    } else {
        to.serialize_f64(short)
    }
}

/// Writes a rounded number that may be absent.
pub(crate) fn maybe<S: Serializer>(number: &Option<f64>, to: S) -> Result<S::Ok, S::Error> {
    match number {
        Some(number) => one(number, to),
        None => to.serialize_none(),
    }
}

/// Writes rounded numbers that may be absent.
pub(crate) fn gaps<S: Serializer>(numbers: &[Option<f64>], to: S) -> Result<S::Ok, S::Error> {
    let mut list = to.serialize_seq(Some(numbers.len()))?;
    for number in numbers {
        list.serialize_element(&number.map(Short))?;
    }
    list.end()
}

/// Writes rounded numbers.
pub(crate) fn all<S: Serializer>(numbers: &[f64], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(numbers.iter().copied().map(Short))
}

/// A number that is written rounded.
struct Short(f64);

impl serde::Serialize for Short {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        one(&self.0, to)
    }
}

/// Rounds seconds to milliseconds: with four digits, the seconds of an hour would not be distinct.
pub(crate) fn milliseconds(second: f64) -> f64 {
    (second * 1e3).round() / 1e3
}

/// Writes numbers with all their digits, whole numbers without a decimal point.
pub(crate) fn exact<S: Serializer>(numbers: &[f64], to: S) -> Result<S::Ok, S::Error> {
    let mut list = to.serialize_seq(Some(numbers.len()))?;
    for number in numbers {
        match is_whole(*number) {
            true => list.serialize_element(&(*number as i64))?,
            false => list.serialize_element(number)?,
        }
    }
    list.end()
}

/// True if the number is an integer that a double represents exactly.
fn is_whole(number: f64) -> bool {
    const WHOLE: f64 = 9_007_199_254_740_992.0;
    number.fract() == 0.0 && number.abs() < WHOLE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(number: f64) -> String {
        serde_json::to_string(&Short(number)).unwrap()
    }

    #[test]
    fn numbers_are_short() {
        for (number, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (123_456.0, "123500"),
            (0.123_456, "0.1235"),
            (99_999.6, "100000"),
            (f64::NAN, "null"),
            (f64::INFINITY, "null"),
        ] {
            assert_eq!(written(number), text);
        }
    }
}
