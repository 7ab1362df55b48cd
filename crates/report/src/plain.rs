//! Numbers as programs read them: plain decimals in one unit each.

use loadline_plan::Shape;
use loadline_record::Summary;

/// Nanoseconds as microseconds, exact to the nanosecond.
pub(crate) fn us(ns: f64) -> f64 {
    ns.round() / 1e3
}

/// Nanoseconds as seconds, exact to the nanosecond.
pub(crate) fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// A share, to the millionth.
pub(crate) fn share(share: f64) -> f64 {
    (share * 1e6).round() / 1e6
}

/// How many a second, to the thousandth; zero where no time passed.
pub(crate) fn per_second(count: u64, length_ns: u64) -> f64 {
    if length_ns == 0 {
        return 0.0;
    }
    rounded_rate(count as f64 / seconds(length_ns))
}

/// A rate, to the thousandth.
pub(crate) fn rounded_rate(per_second: f64) -> f64 {
    (per_second * 1e3).round() / 1e3
}

/// Arrivals a second that an open load asked for. What a load that changes asks for depends on how
/// far it came.
pub(crate) fn asked_per_second(summary: &Summary) -> f64 {
    match summary.plan.load.shape {
        Shape::Rate { rate, .. } => rate.per_second() * f64::from(summary.parts),
        _ => {
            let over_ns = summary.occupied_ns().unwrap_or(summary.duration_ns);
            per_second(summary.total.counts.planned, over_ns)
        }
    }
}

/// Answers a second.
pub(crate) fn achieved_per_second(summary: &Summary) -> f64 {
    summary.answers_per_s()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rates_have_three_decimals_and_no_infinity() {
        assert_eq!(per_second(1, 3_000_000_000), 0.333);
        assert_eq!(per_second(5, 0), 0.0);
    }

    proptest! {
        #[test]
        fn microseconds_print_with_three_decimals_at_most(ns in 0u64..3_600_000_000_000) {
            let printed = us(ns as f64).to_string();
            let decimals = printed.split_once('.').map_or(0, |(_, decimals)| decimals.len());
            prop_assert!(decimals <= 3, "{}", printed);
            let read: f64 = printed.parse().unwrap();
            prop_assert_eq!((read * 1e3).round() as u64, ns);
        }
    }
}
