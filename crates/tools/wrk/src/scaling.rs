//! Numbers in wrk's columns: scaled to a few digits, with aligned decimals.
//!
//! A value is divided by the step of its units as long as it is at least 0.85 of the step and a
//! larger unit is left, so that `850us` is shown as `0.85ms`. wrk never reaches the last unit of
//! its own lists; the lists below end one unit earlier, to the same effect.

/// Formats a time in microseconds: `us`, `ms`, from a second on `s`, from 51 seconds on `m`.
pub(super) fn time_us(value_us: f64) -> String {
    if value_us >= 1e6 {
        return scaled(value_us / 1e6, 60.0, &["s", "m"], 2);
    }
    scaled(value_us, 1e3, &["us", "ms"], 2)
}

/// Formats a whole time in seconds for the banner: `30s`, `1m`, `60m`.
pub(super) fn duration_s(value_s: u64) -> String {
    scaled(value_s as f64, 60.0, &["s", "m"], 0)
}

/// Formats a number by thousands: `1.50k`.
pub(super) fn metric(value: f64) -> String {
    scaled(value, 1e3, &["", "k", "M", "G", "T"], 2)
}

/// Formats a number of bytes by 1024: `1.50K`; the caller adds a `B`.
pub(super) fn binary(value: f64) -> String {
    scaled(value, 1024.0, &["", "K", "M", "G", "T"], 2)
}

/// Formats a number with this many decimals. NaN has the sign that it has in C on x86.
pub(super) fn number(value: f64, decimals: usize) -> String {
    if value.is_nan() {
        return "-nan".to_owned();
    }
    format!("{value:.decimals$}")
}

fn scaled(mut value: f64, step: f64, units: &[&str], decimals: usize) -> String {
    const ENOUGH: f64 = 0.85;
    let mut unit = 0;
    while value >= ENOUGH * step && unit + 1 < units.len() {
        value /= step;
        unit += 1;
    }
    number(value, decimals) + units[unit]
}

/// Formats a column of this width: the number is right-aligned (and cut), and blanks replace the
/// missing letters of a unit shorter than two letters.
pub(super) fn cell(text: &str, width: usize) -> String {
    let letters = text
        .chars()
        .rev()
        .take(2)
        .filter(char::is_ascii_alphabetic)
        .count();
    let (pad, width) = (2 - letters, width - (2 - letters));
    let cut: String = text.chars().take(width).collect();
    format!("{cut:>width$}{:pad$}", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_change_their_unit_before_they_are_full() {
        for (value_us, text) in [
            (0.0, "0.00us"),
            (237.6, "237.60us"),
            (849.99, "849.99us"),
            (850.0, "0.85ms"),
            (900.0, "0.90ms"),
            (900_000.0, "900.00ms"),
            (999_999.0, "1000.00ms"),
            (1e6, "1.00s"),
            (50.99e6, "50.99s"),
            (51e6, "0.85m"),
            (7_200e6, "120.00m"),
            (f64::NAN, "-nanus"),
        ] {
            assert_eq!(time_us(value_us), text, "{value_us}");
        }
    }

    #[test]
    fn the_banner_rounds_half_to_even() {
        for (value_s, text) in [
            (1, "1s"),
            (50, "50s"),
            (51, "1m"),
            (89, "1m"),
            (90, "2m"),
            (150, "2m"),
            (3_600, "60m"),
        ] {
            assert_eq!(duration_s(value_s), text, "{value_s}");
        }
    }

    #[test]
    fn counts_and_bytes_have_their_steps() {
        for (value, text) in [
            (849.0, "849.00"),
            (850.0, "0.85k"),
            (40_620.0, "40.62k"),
            (2e6, "2.00M"),
            (3e9, "3.00G"),
            (4e12, "4.00T"),
            (5e15, "5000.00T"),
        ] {
            assert_eq!(metric(value), text);
        }
        for (value, text) in [
            (870.0, "870.00"),
            (870.4, "0.85K"),
            (1_000.0, "0.98K"),
            (31.94 * 1024.0 * 1024.0, "31.94M"),
        ] {
            assert_eq!(binary(value), text);
        }
    }

    #[test]
    fn decimals_stand_under_each_other() {
        for (text, column) in [
            ("237.60us", "  237.60us"),
            ("2.00s", "    2.00s "),
            ("13.14k", "   13.14k "),
            ("0.00", "    0.00  "),
            ("-nan", "      -nan"),
        ] {
            assert_eq!(cell(text, 10), column);
        }
        assert_eq!(cell("12345.00ms", 8), "12345.00");
    }
}
