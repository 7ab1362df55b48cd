//! Numbers as C's `atoi` reads them: leading blanks, a sign, digits; any other character ends the
//! number. A text without digits is 0. An overflow, which is undefined in C, gives the nearest
//! number.

/// Parses the number at the start of a text.
pub(super) fn atoi(text: &str) -> i64 {
    let text = text.trim_start_matches([' ', '\t', '\n', '\x0b', '\x0c', '\r']);
    let (sign, digits) = match text.as_bytes().first() {
        Some(b'-') => (-1, &text[1..]),
        Some(b'+') => (1, &text[1..]),
        _ => (1, text),
    };
    let value = digits
        .bytes()
        .take_while(u8::is_ascii_digit)
        .fold(0_i64, |value, digit| {
            value
                .saturating_mul(10)
                .saturating_add(i64::from(digit - b'0'))
        });
    sign * value.min(i64::from(i32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_end_where_digits_do() {
        for (text, value) in [
            ("", 0),
            ("12", 12),
            (" +7x", 7),
            ("-3", -3),
            ("x1", 0),
            ("1k", 1),
            ("- 1", 0),
            ("99999999999999999999", 2_147_483_647),
        ] {
            assert_eq!(atoi(text), value, "{text}");
        }
    }
}
