//! Compares ramps with the definition, computed in fractions and searched by bisection: slow and
//! exact.

use super::*;
use proptest::prelude::*;

/// The definition in fractions, for rates per second: true if N(t) > k, with everything multiplied
/// by the denominators. Stages are (duration in ns, target per second).
fn has_passed(start: u64, stages: &[(u64, u64)], t_ns: u64, k: u64) -> bool {
    let per_arrival = 2 * i128::from(SECOND_NS);
    let (mut left_ns, mut level) = (i128::from(t_ns), i128::from(start));
    let mut missing = i128::from(k) * per_arrival;
    for (duration_ns, target) in stages {
        let (duration, target) = (i128::from(*duration_ns), i128::from(*target));
        if left_ns < duration {
            let area = 2 * level * left_ns * duration + (target - level) * left_ns * left_ns;
            return area > missing * duration;
        }
        missing -= (level + target) * duration;
        left_ns -= duration;
        level = target;
    }
    missing < 0
}

/// Returns the last nanosecond at which N has not passed k, by bisection of all the time.
fn reference_instant(start: u64, stages: &[(u64, u64)], k: u64) -> Option<u64> {
    let mut high: u64 = stages.iter().map(|(duration_ns, _)| duration_ns).sum();
    if !has_passed(start, stages, high, k) {
        return None;
    }
    let mut low = 0;
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if has_passed(start, stages, middle, k) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(low)
}

proptest! {
    /// Over hours, at up to a million a second, there is not a nanosecond of error.
    #[test]
    fn ramps_equal_the_reference(
        start in 0..1_000_000u64,
        drawn in prop::collection::vec(
            (
                prop_oneof![Just(0u64), 1..100u64, 1..3_600_000_000_000u64],
                prop_oneof![Just(0u64), 1..100u64, 1..1_000_000u64],
            ),
            1..6,
        ),
        index in 0..u32::MAX,
    ) {
        let stages: Vec<_> = drawn
            .iter()
            .map(|(duration_ns, target)| stage(*duration_ns, per_second(*target)))
            .collect();
        let schedule = Schedule::ramps(per_second(start), &stages, Law::Even, 0);
        // A wide stripe has arrivals all along the run.
        let total = schedule.due_before(u64::MAX);
        let of = u32::try_from(total / 7).unwrap_or(u32::MAX).max(1);
        let stripe = Stripe { index: index % of, of };
        let (mut seen, mut next) = (0, u64::from(stripe.index));
        for arrival in schedule.arrivals(stripe).take(20) {
            prop_assert_eq!(arrival.index, next);
            prop_assert_eq!(Some(arrival.at_ns), reference_instant(start, &drawn, next));
            seen += 1;
            next += u64::from(of);
        }
        if seen < 20 {
            prop_assert_eq!(reference_instant(start, &drawn, next), None);
        }
    }
}

/// Rates with unrelated periods have to be rounded; after hours they are still exact to a
/// microsecond.
#[test]
fn foreign_periods_stay_within_a_microsecond_over_hours() {
    let odd = |count, per_ns| Rate { count, per_ns };
    let [first, second, third] = [
        odd(999_983, 999_999_999_989),
        odd(5_000_011, 999_999_999_961),
        odd(700_001, 999_999_999_959),
    ];
    let hour_ns = 3_600 * SECOND_NS;
    let stages = [
        stage(hour_ns, first),
        stage(0, second),
        stage(hour_ns, second),
        stage(0, third),
        stage(hour_ns, third),
    ];
    let schedule = Schedule::ramps(first, &stages, Law::Even, 0);
    // The arrivals by the end of the second hour, as a fraction over the product of the two
    // denominators.
    let (n1, d1) = (i128::from(first.count), i128::from(first.per_ns));
    let (n2, d2) = (i128::from(second.count), i128::from(second.per_ns));
    let before = i128::from(hour_ns) * (n1 * d2 + n2 * d1);
    let last = schedule.due_before(u64::MAX) - 1;
    let stripe = Stripe {
        index: u32::try_from(last).unwrap(),
        of: u32::MAX,
    };
    let arrival = schedule.arrivals(stripe).next().unwrap();
    let missing = (i128::from(last) * d1 * d2 - before) as f64 / (d1 as f64 * d2 as f64);
    let expected_ns = missing * third.per_ns as f64 / third.count as f64;
    let at_ns = (arrival.at_ns - 2 * hour_ns) as f64;
    assert!(
        (at_ns - expected_ns).abs() < 1_000.0,
        "{at_ns} for {expected_ns}"
    );
    assert!(at_ns > 0.99 * hour_ns as f64);
}
