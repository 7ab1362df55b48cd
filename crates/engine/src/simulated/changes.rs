//! Loads that change while they run: every start follows the changed schedule on every worker, and
//! the planned arrivals are those sent and those unsent.

use super::plans::{MS, SECOND, closed, open, shaped, staged, stages, time};
use super::ran::Ran;
use super::world::World;
use crate::EndReason;
use loadline_plan::{Arrivals, Level, Plan, Rate, Shape};
use loadline_schedule::{self as schedule, Law, Schedule, Share, Stripe};

/// Creates a world with changes at these instants, each ordered 150 ms before.
fn changing(plan: Plan, changes: &[(u64, Level)]) -> World {
    let mut world = World::new(plan);
    for (at_ns, level) in changes.iter().copied() {
        let told_ns = at_ns.saturating_sub(150 * MS);
        world = world.at(told_ns, move |hands| {
            hands.handle.change_at(at_ns, level);
        });
    }
    world
}

/// Runs the plan with one to four workers, on a server that takes 1 ms, and calls `hold` with each
/// result.
fn by_any_workers(plan: &Plan, changes: &[(u64, Level)], hold: impl Fn(&Ran)) {
    for threads in 1..=4 {
        let plan = Plan {
            threads,
            ..plan.clone()
        };
        hold(&changing(plan, changes).serves_in(MS).run());
    }
}

fn assert_intended(ran: &Ran, expected_ms: &[u64]) {
    let intended = ran.each(|exchange| exchange.intended_ns);
    let expected: Vec<u64> = expected_ms.iter().map(|at_ms| at_ms * MS).collect();
    assert_eq!(intended, expected);
    assert_eq!(ran.each(|exchange| exchange.start_ns), expected);
    let all = expected.len() as u64;
    assert_eq!(ran.counts(), [all, all, all, 0, 0]);
    assert_eq!(ran.left(), [0, 0, 0]);
}

#[test]
fn a_rate_is_halved_and_doubled_at_its_instants_by_any_number_of_workers() {
    let changes = [
        (450 * MS, Level::Share(500)),
        (950 * MS, Level::Share(2_000)),
    ];
    by_any_workers(&open(10, 8, 1_195 * MS), &changes, |ran| {
        // Half of an arrival is missing at 450 ms, none at 950 ms.
        let halved = [550, 750];
        let doubled = [950, 1_000, 1_050, 1_100, 1_150];
        let planned = [0, 100, 200, 300, 400];
        let expected: Vec<u64> = planned.into_iter().chain(halved).chain(doubled).collect();
        assert_intended(ran, &expected);
        assert_eq!(ran.reason, EndReason::Duration);
    });
}

#[test]
fn a_pause_plans_nothing_and_what_is_under_way_finishes() {
    let changes = [(300 * MS, Level::Paused), (700 * MS, Level::Share(1_000))];
    for threads in 1..=3 {
        let plan = Plan {
            threads,
            ..open(100, 30, SECOND)
        };
        let mut world = changing(plan, &changes).serves_in(99 * MS);
        world.interval_ns = 100 * MS;
        let ran = world.run();
        let intervals = ran.intervals.iter();
        let counts = intervals.map(|one| (one.counts.planned, one.counts.answered));
        let expected = [
            (10, 0),
            (10, 10),
            (10, 10),
            (0, 10),
            (0, 0),
            (0, 0),
            (0, 0),
            (10, 0),
            (10, 10),
            (10, 10),
        ];
        assert_eq!(counts.collect::<Vec<_>>(), expected);
        assert_eq!(ran.counts(), [60, 60, 50, 0, 10]);
        assert_eq!(ran.accepted, 30, "connections are kept in a pause");
    }
}

#[test]
fn a_pause_across_the_end_leaves_nothing_unsent() {
    for drain in [0, 400 * MS] {
        let mut plan = open(100, 4, SECOND);
        plan.connection.drain = time(drain);
        by_any_workers(&plan, &[(295 * MS, Level::Paused)], |ran| {
            let expected: Vec<u64> = (0..30).map(|k| 10 * k).collect();
            assert_intended(ran, &expected);
            assert_eq!(
                (ran.total.end_ns, ran.reason),
                (SECOND, EndReason::Duration)
            );
        });
    }
}

#[test]
fn a_paused_load_that_is_stopped_ends_at_once() {
    let ran = changing(open(100, 4, 10 * SECOND), &[(295 * MS, Level::Paused)])
        .at(SECOND, |hands| hands.handle.stop())
        .run();
    assert_eq!(ran.counts(), [30, 30, 30, 0, 0]);
    assert_eq!(ran.reason, EndReason::Stopped);
    assert!(ran.total.end_ns < 1_200 * MS);
}

#[test]
fn a_slow_rate_does_not_wait_for_the_start_that_it_had_planned() {
    let rate = Rate {
        count: 1,
        per_ns: 60 * SECOND,
    };
    let arrivals = Arrivals::Constant;
    let plan = shaped(Shape::Rate { rate, arrivals }, 4, 1_950 * MS);
    let level = Level::Rate(Rate::each_second(10));
    by_any_workers(&plan, &[(SECOND, level)], |ran| {
        // A sixtieth of an arrival had passed at 1 s.
        let behind = (0..10).map(|k| 1_000 * MS + 98_333_333 + 100 * MS * k);
        let expected: Vec<u64> = [0].into_iter().chain(behind).collect();
        let intended = ran.each(|exchange| exchange.intended_ns);
        assert_eq!(intended, expected[..intended.len()]);
        assert_eq!(ran.counts()[..2], [10, 10]);
        assert_eq!(ran.each(|exchange| exchange.start_ns), intended);
    });
}

#[test]
fn random_arrivals_are_those_of_the_changed_schedule() {
    let (rate, arrivals) = (Rate::each_second(500), Arrivals::Poisson);
    let share = |per_mille| schedule::Level::Share(Share { per_mille });
    let mut expected = Schedule::constant(rate, Law::Poisson, 77);
    expected.change(400 * MS, share(300));
    expected.change(800 * MS, schedule::Level::Paused);
    expected.change(900 * MS, share(1_100));
    let expected: Vec<u64> = expected
        .arrivals(Stripe::WHOLE)
        .map(|arrival| arrival.at_ns)
        .take_while(|at_ns| *at_ns < SECOND)
        .collect();
    let changes = [
        (400 * MS, Level::Share(300)),
        (800 * MS, Level::Paused),
        (900 * MS, Level::Share(1_100)),
    ];
    let mut plan = Plan {
        seed: 77,
        ..shaped(Shape::Rate { rate, arrivals }, 40, SECOND)
    };
    plan.connection.drain = time(100 * MS);
    by_any_workers(&plan, &changes, |ran| {
        assert_eq!(ran.each(|exchange| exchange.intended_ns), expected);
        let all = expected.len() as u64;
        assert_eq!(ran.counts(), [all, all, all, 0, 0]);
    });
}

#[test]
fn a_ramp_goes_on_below_its_changes() {
    let shape = Shape::RateStages {
        start: Rate::ZERO,
        stages: stages([(2 * SECOND, Rate::each_second(8))]),
        arrivals: Arrivals::Constant,
    };
    // N(t) = 2t² in seconds, and half of the growth after 1 s.
    by_any_workers(&staged(shape, 4), &[(SECOND, Level::Share(500))], |ran| {
        let intended = ran.each(|exchange| exchange.intended_ns / MS);
        assert_eq!(intended, [0, 707, 1_000, 1_414, 1_732]);
        assert_eq!(ran.counts(), [5, 5, 5, 0, 0]);
    });
}

#[test]
fn bursts_change_their_size() {
    let shape = Shape::Burst {
        size: 4,
        every: time(200 * MS),
    };
    let changes = [(300 * MS, Level::Share(500)), (700 * MS, Level::Paused)];
    by_any_workers(&shaped(shape, 16, 1_195 * MS), &changes, |ran| {
        assert_intended(ran, &[0, 0, 0, 0, 200, 200, 200, 200, 400, 400, 600, 600]);
    });
}

#[test]
fn a_change_in_the_warm_up_holds_behind_it() {
    let mut plan = open(100, 8, 95 * MS);
    plan.warmup = time(400 * MS);
    by_any_workers(&plan, &[(200 * MS, Level::Share(500))], |ran| {
        assert_intended(ran, &[0, 20, 40, 60, 80]);
        // 20 of the first half of the warm-up, 10 of the second, and the counted ones.
        assert_eq!(ran.arrivals().len(), 35);
    });
}

#[test]
fn a_change_behind_the_end_or_in_the_drain_changes_nothing() {
    let mut plan = open(100, 1, 300 * MS);
    plan.connection.drain = time(2 * SECOND);
    for at_ns in [301 * MS, 600 * MS] {
        let ran = changing(plan.clone(), &[(at_ns, Level::Share(5_000))])
            .serves_in(23 * MS)
            .run();
        assert_eq!(ran.counts(), [30, 30, 30, 0, 0]);
    }
}

#[test]
fn a_number_of_requests_is_kept_whatever_changes() {
    let changes = [
        (200 * MS, Level::Share(3_000)),
        (300 * MS, Level::Paused),
        (500 * MS, Level::Share(700)),
    ];
    for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
        let rate = Rate::each_second(100);
        let plan = Plan {
            request_limit: Some(77),
            duration: None,
            ..shaped(Shape::Rate { rate, arrivals }, 8, SECOND)
        };
        by_any_workers(&plan, &changes, |ran| {
            assert_eq!(ran.counts(), [77, 77, 77, 0, 0]);
            assert_eq!(ran.reason, EndReason::Requests);
        });
    }
}

#[test]
fn workers_that_hear_of_a_change_too_late_lose_nothing_and_send_nothing_twice() {
    let levels = [
        Level::Share(3_000),
        Level::Share(100),
        Level::Paused,
        Level::Rate(Rate::each_second(400)),
    ];
    for (arrivals, level) in [Arrivals::Constant, Arrivals::Poisson]
        .into_iter()
        .flat_map(|arrivals| levels.map(|level| (arrivals, level)))
    {
        for threads in 1..=4 {
            let rate = Rate::each_second(300);
            let mut plan = Plan {
                threads,
                ..shaped(Shape::Rate { rate, arrivals }, 40, 2 * SECOND)
            };
            plan.connection.drain = time(SECOND);
            let mut world = World::new(plan).serves_in(MS).at(530 * MS, move |hands| {
                hands.handle.change_at(530 * MS, level);
                hands.handle.change_at(540 * MS, Level::Share(900));
                hands.handle.change_at(545 * MS, level);
            });
            world.interval_ns = 50 * MS;
            let ran = world.run();
            let [planned, sent, answered, ..] = ran.counts();
            assert_eq!((planned, sent), (answered, answered), "{level:?}");
            assert_eq!(ran.left()[1], 0);
        }
    }
}

#[test]
fn arrivals_that_wait_when_the_load_changes_are_still_sent() {
    // One connection takes 25 ms: arrivals due before the pause are sent in it.
    for threads in 1..=2 {
        let plan = Plan {
            threads,
            ..open(100, threads, 1_200 * MS)
        };
        let ran = changing(plan, &[(205 * MS, Level::Paused)])
            .serves_in(23 * MS)
            .run();
        assert_eq!(ran.counts(), [21, 21, 21, 0, 0]);
        assert_eq!(ran.left(), [0, 0, 0]);
    }
}

#[test]
fn a_batch_takes_what_is_left_of_it_again() {
    let mut plan = open(100, 2, 600 * MS);
    plan.connection.pipeline = 4;
    let ran = changing(plan, &[(215 * MS, Level::Share(500))]).run();
    let intended: Vec<u64> = (0..22)
        .map(|k| 10 * k)
        .chain([225, 245, 265, 285])
        .collect();
    let seen = ran.each(|exchange| exchange.intended_ns / MS);
    assert_eq!(seen[..26], intended);
    // The batch of 200 ms has two of its starts after the change.
    assert_eq!(
        ran.each(|exchange| exchange.start_ns / MS)[20..24],
        [245; 4]
    );
}

#[test]
fn users_come_and_go_at_the_instant() {
    let changes = [
        (400 * MS, Level::Users(5)),
        (600 * MS, Level::Share(500)),
        (800 * MS, Level::Paused),
        (900 * MS, Level::Share(1_000)),
    ];
    for threads in 1..=3 {
        let plan = Plan {
            threads,
            ..closed(4, SECOND)
        };
        let ran = changing(plan, &changes).serves_in(18 * MS).run();
        // 20 ms a round; a fifth user dials for 2 ms before its first.
        let begun_in = |from_ms: u64, to_ms: u64| {
            let starts = ran.each(|exchange| exchange.start_ns / MS).into_iter();
            starts.filter(|at| (from_ms..to_ms).contains(at)).count()
        };
        assert_eq!([begun_in(0, 400), begun_in(400, 600)], [80, 50]);
        assert_eq!([begun_in(600, 800), begun_in(800, 900)], [20, 0]);
        // Two of the four had ended: they dial again, and their fifth round ends too late.
        assert_eq!(begun_in(900, 1_000), 18);
        assert_eq!(ran.counts()[0], ran.counts()[1]);
    }
}

#[test]
fn users_that_were_taken_away_come_back() {
    let changes = [(300 * MS, Level::Users(1)), (600 * MS, Level::Users(3))];
    let ran = changing(closed(3, 900 * MS), &changes)
        .serves_in(8 * MS)
        .run();
    let starts = ran.each(|exchange| exchange.start_ns / MS);
    let begun_in = |from_ms: u64, to_ms: u64| {
        let starts = starts.iter();
        starts.filter(|at| (from_ms..to_ms).contains(at)).count()
    };
    assert_eq!([begun_in(0, 300), begun_in(300, 600)], [90, 30]);
    assert!((85..=90).contains(&begun_in(600, 900)), "two of them dial");
    assert_eq!(ran.accepted, 5);
}

#[test]
fn closed_stages_go_on_below_a_change() {
    let shape = Shape::ClosedStages {
        start: 4,
        stages: stages([(SECOND, 4)]),
    };
    let ran = changing(staged(shape, 4), &[(500 * MS, Level::Share(500))])
        .serves_in(8 * MS)
        .run();
    assert_eq!(ran.counts()[1], 4 * 50 + 2 * 50);
}

/// Checks the invariants of all runs for random changes of random loads, ordered in time or too
/// late, with a server that is sometimes too slow.
#[test]
fn whatever_changes_planned_is_sent_and_unsent() {
    for seed in 0..60 {
        let mut state = seed * 2 + 1;
        let mut draw = |below: u64| {
            state = u64::wrapping_mul(state, 6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        let arrivals = [Arrivals::Constant, Arrivals::Poisson][draw(2) as usize];
        let rate = Rate::each_second(1 + draw(400));
        let shape = match draw(4) {
            0 => Shape::Burst {
                size: 1 + draw(20),
                every: time((1 + draw(300)) * MS),
            },
            1 => Shape::RateStages {
                start: rate,
                stages: stages([(SECOND, Rate::each_second(draw(300))), (500 * MS, rate)]),
                arrivals,
            },
            _ => Shape::Rate { rate, arrivals },
        };
        let mut plan = Plan {
            seed,
            threads: 1 + draw(4) as u32,
            request_limit: (draw(4) == 0).then(|| 1 + draw(200)),
            ..shaped(shape, 4 + draw(20) as u32, 2 * SECOND)
        };
        plan.warmup = time(draw(2) * 300 * MS);
        plan.connection.drain = time(draw(2) * 500 * MS);
        plan.connection.pipeline = 1 + draw(2) as u32 * 3;
        let mut world = World::new(plan).serves_in((1 + draw(2) * 40) * MS);
        world.interval_ns = (50 + draw(200)) * MS;
        for _ in 0..1 + draw(6) {
            let (told_ns, ahead_ns) = (draw(2_200) * MS, draw(200) * MS);
            let level = [
                Level::Paused,
                Level::Share(1 + draw(3_000) as u32),
                Level::Rate(Rate::each_second(1 + draw(500))),
            ][draw(3) as usize];
            world = world.at(told_ns, move |hands| {
                hands.handle.change_at(told_ns + ahead_ns, level);
            });
        }
        world.run();
    }
}
