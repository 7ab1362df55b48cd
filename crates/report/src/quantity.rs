//! Recorded quantities as text: times that may be lower bounds, intervals, what a check measured.

use loadline_record::Bounded;
use loadline_units::{
    MOST_DIGITS, SIGNIFICANT_DIGITS, count, number_to, rate_to, share_to, split_time, time,
    time_cell, time_to,
};
use loadline_verdict::{CheckResult, Quantity};
use std::cmp::Ordering;

/// A time in nanoseconds that may be a lower bound: `1.02 ms`, `> 1.02 ms`.
pub(crate) fn bounded_time(ns: Bounded<f64>) -> String {
    sign(ns).to_owned() + &time(ns.value())
}

/// As [`bounded_time`], with units of one width.
pub(crate) fn bounded_cell(ns: Bounded<f64>) -> String {
    sign(ns).to_owned() + &time_cell(ns.value())
}

/// Returns the sign before a lower bound.
pub(crate) fn sign<T: Copy>(bounded: Bounded<T>) -> &'static str {
    match bounded {
        Bounded::Exactly(_) => "",
        Bounded::AtLeast(_) => "> ",
    }
}

/// An interval of times in nanoseconds: `721 – 790 µs`, `980 µs – 1.02 ms`, `1.48 – > 2.00 s`; an
/// end that is not known is a `?`.
pub(crate) fn interval(lower_ns: Option<Bounded>, upper_ns: Option<Bounded>) -> String {
    let scaled_end = |ns: Bounded| {
        let (number, unit) = split_time(ns.value() as f64);
        (sign(ns).to_owned() + &number, unit)
    };
    match (lower_ns.map(scaled_end), upper_ns.map(scaled_end)) {
        (Some((lower, unit)), Some((upper, same))) if unit == same => {
            format!("{lower} – {upper} {unit}")
        }
        (lower, upper) => {
            let end = |end: Option<(String, &str)>| {
                end.map_or_else(
                    || "?".to_owned(),
                    |(number, unit)| format!("{number} {unit}"),
                )
            };
            format!("{} – {}", end(lower), end(upper))
        }
    }
}

/// A percentile's name: `p50`, `p99.9`.
pub(crate) fn percentile(percentile: f64) -> String {
    format!("p{percentile}")
}

/// Returns the measured value of a check, as [`measured`] does; a lower bound has its sign.
pub(crate) fn actual(check: &CheckResult) -> Option<String> {
    let sign = if check.is_at_least { "> " } else { "" };
    let text = |actual| format!("{sign}{}", measured(actual, check.bound));
    check.actual.map(text)
}

/// Returns the measured value of a check, with as many digits as distinguish it from the bound.
pub(crate) fn measured(actual: Quantity, bound: Quantity) -> String {
    let differs = |digits: &usize| quantity(actual, *digits) != quantity(bound, *digits);
    let equal = actual.compare(bound).is_some_and(Ordering::is_eq);
    let digits = (SIGNIFICANT_DIGITS..=MOST_DIGITS).find(|digits| equal || differs(digits));
    quantity(actual, digits.unwrap_or(MOST_DIGITS))
}

fn quantity(quantity: Quantity, digits: usize) -> String {
    match quantity {
        Quantity::TimeNs(ns) => time_to(ns, digits),
        Quantity::Share(share) => share_to(share, digits),
        Quantity::Count(n) => count(n),
        Quantity::PerSecond(per_second) => rate_to(per_second, digits),
        Quantity::Number(number) => number_to(number, digits),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_has_its_unit_once_if_both_ends_have_the_same() {
        let ns = |ns| Some(Bounded::Exactly(ns));
        assert_eq!(interval(ns(721_000), ns(790_000)), "721 – 790 µs");
        assert_eq!(interval(ns(980_000), ns(1_020_000)), "980 µs – 1.02 ms");
        assert_eq!(interval(ns(504_000_000), None), "504 ms – ?");
        assert_eq!(interval(None, ns(1_000)), "? – 1.00 µs");
        let beyond = Some(Bounded::AtLeast(2_000_000_000));
        assert_eq!(interval(ns(1_480_000_000), beyond), "1.48 – > 2.00 s");
        assert_eq!(interval(beyond, None), "> 2.00 s – ?");
    }

    #[test]
    fn what_misses_its_bound_by_little_does_not_look_like_it() {
        let shown = [
            (
                Quantity::PerSecond(989.6),
                Quantity::PerSecond(990.0),
                "989.6/s",
            ),
            (
                Quantity::PerSecond(12_000.3),
                Quantity::PerSecond(12_000.0),
                "12 000.3/s",
            ),
            (
                Quantity::TimeNs(50_016_000.0),
                Quantity::TimeNs(5e7),
                "50.02 ms",
            ),
            (
                Quantity::Share(0.001_000_1),
                Quantity::Share(0.001),
                "0.10001 %",
            ),
            (Quantity::Share(0.001), Quantity::Share(0.001), "0.100 %"),
            (
                Quantity::TimeNs(12_345_678.0),
                Quantity::TimeNs(5e7),
                "12.3 ms",
            ),
            (Quantity::Count(7), Quantity::Count(8), "7"),
        ];
        for (actual, bound, text) in shown {
            assert_eq!(measured(actual, bound), text);
        }
    }
}
