//! Numbers for programs: plain decimals in one fixed unit each, without meaningless digits.

/// Converts nanoseconds to microseconds, exact to the nanosecond.
pub fn us(ns: f64) -> f64 {
    ns.round() / 1e3
}

/// Converts nanoseconds to seconds, exact to the nanosecond.
pub fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// Rounds a share of one to the millionth.
pub fn share(share: f64) -> f64 {
    (share * 1e6).round() / 1e6
}

/// Rounds a rate per second to the thousandth.
pub fn rate(per_second: f64) -> f64 {
    (per_second * 1e3).round() / 1e3
}

/// Returns a count in `length_ns` nanoseconds as a rate per second, rounded to the thousandth; zero
/// if the time is zero.
pub fn per_second(count: u64, length_ns: u64) -> f64 {
    if length_ns == 0 {
        return 0.0;
    }
    rate(count as f64 / seconds(length_ns))
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
