//! The probability that a healthy run is suspect: lateness as on a quiet machine of two cores,
//! counted over many seeds.

use super::situations::{US, open};
use super::*;
use crate::comparison::tests::Dice;

const RUNS: u64 = 200;

/// Service times of 60 µs in the median and 300 µs in the p99, with a tail of Pareto up to 3 ms.
fn service_ns(dice: &mut Dice) -> u64 {
    let beyond = 1.0 - dice.roll();
    let us = if beyond < 0.01 {
        (300.0 * (0.01 / beyond).sqrt()).min(3_000.0)
    } else {
        60.0 * (0.5 / beyond).powf(0.411)
    };
    (us * US as f64) as u64
}

/// Most requests are late by a few microseconds, one in a hundred by 50 to 600 µs: half as many by
/// twice as much, as late wake-ups are.
fn lateness_ns(dice: &mut Dice) -> u64 {
    let us = if dice.roll() < 0.01 {
        (50.0 / (1.0 - dice.roll())).min(600.0)
    } else {
        10.0 * dice.roll().powi(2)
    };
    (us * US as f64) as u64
}

fn suspects(rate: u64, lateness_ns: impl Fn(&mut Dice) -> u64) -> usize {
    let is_suspect = |seed: &u64| {
        let dice = std::cell::RefCell::new(Dice(seed.wrapping_mul(0x9e37_79b9)));
        let summary = open(rate, 1, |_| {
            let dice = &mut dice.borrow_mut();
            (0, lateness_ns(dice), service_ns(dice))
        });
        validity(&summary).grade() == Grade::Suspect
    };
    (0..RUNS).filter(is_suspect).count()
}

#[test]
fn a_healthy_run_of_a_thousand_requests_is_seldom_suspect() {
    let found = suspects(1_000, lateness_ns);
    assert!(found <= 2, "{found} of {RUNS}");
}

#[test]
fn a_run_of_which_most_requests_are_late_is_suspect() {
    let found = suspects(200, |dice| 400 * US + lateness_ns(dice));
    assert!(found >= 198, "{found} of {RUNS}");
}
