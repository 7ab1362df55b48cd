//! Significant digits, groups of three, and the unit that leaves few digits before the point.

/// The number of significant digits in values for people.
pub const SIGNIFICANT_DIGITS: usize = 3;
/// The largest number of significant digits, used where fewer would print two different values
/// alike.
pub const MOST_DIGITS: usize = 9;

/// Puts a space before each third digit from the right: `20 000`. Expects digits only.
pub fn grouped(digits: &str) -> String {
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

/// Returns the number in the first unit that leaves fewer than four digits before the point, or
/// else in the last unit.
pub(crate) fn scaled(
    value: f64,
    units: &[(f64, &'static str)],
    digits: usize,
) -> (String, &'static str) {
    let fits = |(size, _): &&(f64, &str)| value / size < 999.5;
    let (size, unit) = units
        .iter()
        .find(fits)
        .or(units.last())
        .expect("there are units");
    (significant(value / size, digits), unit)
}

/// Formats a value with this many significant digits, but with all digits before the point, and
/// with at most one more than `digits` after it.
pub(crate) fn significant(value: f64, digits: usize) -> String {
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

/// Returns the power of ten of the first digit, after rounding.
fn exponent(value: f64, digits: usize) -> i32 {
    let scientific = format!("{value:.*e}", digits - 1);
    let exponent = scientific
        .split_once('e')
        .and_then(|(_, exponent)| exponent.parse().ok());
    exponent.expect("scientific notation has a whole exponent")
}
