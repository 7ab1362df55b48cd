//! Times of the progress, padded to the width of the longest expected time.

use std::time::Duration;

/// Formats a time in tenths of a second, as wide as `longest` would be: `0m01.0s` of `1m30s`.
pub(super) fn padded(time: Duration, longest: Duration) -> String {
    let (hours, minutes, seconds) = split(longest.as_secs());
    let tenths = time.as_millis() / 100;
    let (h, m, s) = split((tenths / 10) as u64);
    let tenth = tenths % 10;
    if hours > 0 {
        let width = digits(hours);
        format!("{h:0width$}h{m:02}m{s:02}.{tenth}s")
    } else if minutes > 0 {
        let (width, m) = (digits(minutes), h * 60 + m);
        format!("{m:0width$}m{s:02}.{tenth}s")
    } else {
        let (width, s) = (digits(seconds), h * 3600 + m * 60 + s);
        format!("{s:0width$}.{tenth}s")
    }
}

fn split(seconds: u64) -> (u64, u64, u64) {
    (seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// Returns the number of decimal digits.
pub(super) fn digits(number: u64) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_as_wide_as_the_longest() {
        for (longest, text) in [
            (2, "1.0s"),
            (30, "01.0s"),
            (90, "0m01.0s"),
            (600, "00m01.0s"),
            (630, "00m01.0s"),
            (7200, "0h00m01.0s"),
            (0, "1.0s"),
        ] {
            let longest = Duration::from_secs(longest);
            assert_eq!(padded(Duration::from_millis(1_049), longest), text);
        }
        let left = Duration::from_secs(74);
        assert_eq!(padded(left, Duration::from_secs(75)), "1m14.0s");
    }
}
