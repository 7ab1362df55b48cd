//! Small schedules, every arrival asserted; larger ones in the modules.

use super::*;

mod changes;
mod properties;
mod reference;

const SECOND_NS: u64 = 1_000_000_000;

fn stage(duration_ns: u64, target: Rate) -> Stage<Rate> {
    Stage {
        duration_ns,
        target,
    }
}

fn per_second(count: u64) -> Rate {
    Rate::each_second(count)
}

fn ramps(start: u64, stages: &[(u64, u64)]) -> Schedule {
    let stages: Vec<_> = stages
        .iter()
        .map(|(seconds, target)| stage(seconds * SECOND_NS, per_second(*target)))
        .collect();
    Schedule::ramps(per_second(start), &stages, Law::Even, 0)
}

fn instants(schedule: &Schedule) -> Vec<u64> {
    let arrivals = schedule.arrivals(Stripe::WHOLE).take(1_000);
    arrivals.map(|arrival| arrival.at_ns).collect()
}

/// Returns the instants in milliseconds, rounded down.
fn instants_ms(schedule: &Schedule) -> Vec<u64> {
    let instants = instants(schedule).into_iter();
    instants.map(|at_ns| at_ns / 1_000_000).collect()
}

#[test]
fn a_flat_stage_equals_the_constant_rate() {
    let flat = ramps(3, &[(2, 3)]);
    assert_eq!(
        instants(&flat),
        [
            0,
            333_333_333,
            666_666_666,
            1_000_000_000,
            1_333_333_333,
            1_666_666_666
        ]
    );
    assert_eq!(flat.end_ns(), Some(2 * SECOND_NS));
    assert_eq!(flat.due_before(u64::MAX), 6);
}

#[test]
fn a_climb_from_zero_arrives_at_square_roots() {
    // N(t) = 2·t² in seconds: arrival k at √(k/2) s.
    let climb = ramps(0, &[(2, 8)]);
    assert_eq!(
        instants(&climb),
        [
            0,
            707_106_781,
            1_000_000_000,
            1_224_744_871,
            1_414_213_562,
            1_581_138_830,
            1_732_050_807,
            1_870_828_693,
        ]
    );
    assert_eq!(climb.due_before(SECOND_NS), 2);
    assert_eq!(climb.due_before(SECOND_NS + 1), 3);
}

#[test]
fn a_descent_to_zero_mirrors_the_climb() {
    // N(t) = 8 − 2·(2 − t)²: arrival k at 2 − √((8 − k)/2) s.
    assert_eq!(
        instants(&ramps(8, &[(2, 0)])),
        [
            0,
            129_171_306,
            267_949_192,
            418_861_169,
            585_786_437,
            775_255_128,
            1_000_000_000,
            1_292_893_218,
        ]
    );
}

#[test]
fn a_jump_changes_the_rate_at_once() {
    let jump = ramps(2, &[(1, 2), (0, 4), (1, 4)]);
    assert_eq!(instants_ms(&jump), [0, 500, 1_000, 1_250, 1_500, 1_750]);
}

#[test]
fn a_first_stage_without_duration_sets_the_start() {
    assert_eq!(instants_ms(&ramps(1_000, &[(0, 2), (1, 2)])), [0, 500]);
}

#[test]
fn a_rate_of_zero_emits_nothing_and_hands_over_the_next_arrival() {
    let pause = ramps(0, &[(3, 0), (0, 2), (1, 2), (0, 0), (4, 0), (0, 2), (1, 2)]);
    assert_eq!(instants_ms(&pause), [3_000, 3_500, 8_000, 8_500]);
    assert_eq!(pause.end_ns(), Some(9 * SECOND_NS));
}

#[test]
fn what_a_stage_leaves_of_an_arrival_counts_in_the_next() {
    // Half an arrival by 0.5 s, the rest of it at 4/s.
    let half = SECOND_NS / 2;
    let stages = [
        stage(half, per_second(1)),
        stage(0, per_second(4)),
        stage(half, per_second(4)),
    ];
    let schedule = Schedule::ramps(per_second(1), &stages, Law::Even, 0);
    assert_eq!(instants_ms(&schedule), [0, 625, 875]);
}

#[test]
fn rates_of_different_periods_mix() {
    let ninety_a_minute = Rate {
        count: 90,
        per_ns: 60 * SECOND_NS,
    };
    let one_in_five_seconds = Rate {
        count: 2,
        per_ns: 10 * SECOND_NS,
    };
    let stages = [
        stage(2 * SECOND_NS, ninety_a_minute),
        stage(0, one_in_five_seconds),
        stage(11 * SECOND_NS, one_in_five_seconds),
    ];
    let schedule = Schedule::ramps(ninety_a_minute, &stages, Law::Even, 0);
    assert_eq!(
        instants_ms(&schedule),
        [0, 666, 1_333, 2_000, 7_000, 12_000]
    );
}

#[test]
fn ramps_without_stages_or_rates_or_time_are_empty() {
    let empty = [
        ramps(100, &[]),
        ramps(0, &[(10, 0)]),
        ramps(5, &[(0, 100), (0, 7)]),
    ];
    let ends = empty.each_ref().map(|schedule| schedule.end_ns());
    assert_eq!(ends, [Some(0), Some(10 * SECOND_NS), Some(0)]);
    for schedule in empty {
        assert_eq!(instants(&schedule), []);
        assert_eq!(schedule.due_before(u64::MAX), 0);
    }
}

#[test]
fn a_stage_of_a_nanosecond_holds_its_share() {
    let many = Rate {
        count: 5,
        per_ns: 1,
    };
    let schedule = Schedule::ramps(many, &[stage(1, many), stage(1, many)], Law::Even, 0);
    assert_eq!(instants(&schedule), [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]);
}

#[test]
fn stages_may_fill_all_time() {
    let slow = Rate {
        count: 1,
        per_ns: 1 << 62,
    };
    let schedule = Schedule::ramps(slow, &[stage(u64::MAX, slow)], Law::Even, 0);
    assert_eq!(instants(&schedule), [0, 1 << 62, 1 << 63, 3 << 62]);
    assert_eq!(schedule.due_before(u64::MAX), 4);
    let longer = Schedule::ramps(
        slow,
        &[stage(u64::MAX, slow), stage(u64::MAX, slow)],
        Law::Even,
        0,
    );
    assert_eq!(longer.end_ns(), Some(u64::MAX));
    assert_eq!(instants(&longer), instants(&schedule));
}

#[test]
fn only_ramps_end() {
    let constant = Schedule::constant(per_second(1), Law::Poisson, 0);
    assert_eq!(constant.end_ns(), None);
    assert_eq!(Schedule::burst(1, 1).end_ns(), None);
}

#[test]
fn the_seed_moves_poisson_arrivals_alone() {
    let constant = |law, seed| Schedule::constant(per_second(1_000), law, seed);
    assert_eq!(
        instants(&constant(Law::Even, 1)),
        instants(&constant(Law::Even, 2))
    );
    assert_eq!(
        instants(&constant(Law::Poisson, 1)),
        instants(&constant(Law::Poisson, 1))
    );
    assert_ne!(
        instants(&constant(Law::Poisson, 1)),
        instants(&constant(Law::Poisson, 2))
    );
}

#[test]
fn nothing_follows_the_last_arrival() {
    for law in [Law::Even, Law::Poisson] {
        let stages = [stage(SECOND_NS, per_second(10))];
        let schedule = Schedule::ramps(per_second(10), &stages, law, 1);
        let mut arrivals = schedule.arrivals(Stripe::WHOLE);
        assert!(arrivals.by_ref().count() > 0);
        assert_eq!([arrivals.next(), arrivals.next()], [None, None]);
    }
}

#[test]
#[should_panic(expected = "a rate's period must be more than zero")]
fn ramps_through_a_rate_without_period_are_refused() {
    let none = Rate {
        count: 1,
        per_ns: 0,
    };
    Schedule::ramps(per_second(1), &[stage(0, none)], Law::Even, 0);
}

#[test]
#[should_panic(expected = "stripe 4 of 4 does not exist")]
fn a_stripe_that_does_not_exist_is_refused() {
    Schedule::burst(1, 1).arrivals(Stripe { index: 4, of: 4 });
}
