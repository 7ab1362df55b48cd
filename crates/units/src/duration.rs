//! Durations: planned ones without trailing zeros, measured ones with three digits; both in hours,
//! minutes and whole seconds from one minute on.

use crate::time;
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

/// Formats a planned duration: `250 ms`, `1.5 s`, `10 s`, `1 min 30 s`, `2 h`.
pub fn duration(duration: Duration) -> String {
    match duration {
        Duration::ZERO => "0 s".to_owned(),
        short if short < MINUTE => without_idle_zeros(&time(short.as_nanos() as f64)),
        long => in_minutes(long),
    }
}

/// Formats a measured duration: `3.21 s`, `1 min 30 s`.
pub fn elapsed(length: Duration) -> String {
    if length < MINUTE {
        time(length.as_nanos() as f64)
    } else {
        in_minutes(length)
    }
}

fn in_minutes(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let parts = [
        (seconds / 3600, "h"),
        (seconds / 60 % 60, "min"),
        (seconds % 60, "s"),
    ];
    let parts = parts
        .iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, unit)| format!("{n} {unit}"));
    parts.collect::<Vec<_>>().join(" ")
}

fn without_idle_zeros(time: &str) -> String {
    let (number, unit) = time
        .split_once(' ')
        .expect("a time has a number and a unit");
    if !number.contains('.') {
        return time.to_owned();
    }
    let number = number.trim_end_matches('0').trim_end_matches('.');
    format!("{number} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_as_they_are_typed() {
        let shown = [
            (Duration::ZERO, "0 s"),
            (Duration::from_millis(250), "250 ms"),
            (Duration::from_millis(1_500), "1.5 s"),
            (Duration::from_secs(10), "10 s"),
            (Duration::from_secs(90), "1 min 30 s"),
            (Duration::from_secs(7_200), "2 h"),
        ];
        for (length, text) in shown {
            assert_eq!(duration(length), text);
        }
        assert_eq!(elapsed(Duration::from_millis(3_210)), "3.21 s");
        assert_eq!(elapsed(Duration::from_millis(90_400)), "1 min 30 s");
    }
}
