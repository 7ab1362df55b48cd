//! Open loads: arrivals occur as the schedule requires, on any worker.

use super::plans::{MS, SECOND, open, shaped, staged, stages, time};
use super::ran::Ran;
use super::world::{LATENCY, World};
use crate::EndReason;
use loadline_plan::{Arrivals, Plan, Rate, Shape};
use loadline_schedule::{Law, Schedule, Stripe};

/// Runs a plan with this many workers, on a server that takes 1 ms.
fn run_by(threads: u32, plan: &Plan) -> Ran {
    let plan = Plan {
        threads,
        ..plan.clone()
    };
    World::new(plan).serves_in(MS).run()
}

/// Asserts that every arrival occurs at its instant, with any number of workers, and that the run
/// lasts `end_ns`.
fn assert_arrivals(plan: &Plan, expected: &[u64], end_ns: u64) {
    for threads in 1..=4 {
        let ran = run_by(threads, plan);
        assert_eq!(ran.each(|exchange| exchange.intended_ns), expected);
        assert_eq!(ran.each(|exchange| exchange.start_ns), expected);
        let at_server: Vec<u64> = expected.iter().map(|at| at + LATENCY).collect();
        assert_eq!(ran.arrivals(), at_server);
        let all = expected.len() as u64;
        assert_eq!(ran.counts(), [all, all, all, 0, 0]);
        assert_eq!(ran.left(), [0, 0, 0]);
        assert_eq!(ran.total.end_ns, end_ns, "by {threads}");
        assert_eq!(ran.reason, EndReason::Duration);
        assert_eq!(ran.total.times.lateness.max_ns(), 0);
        assert_eq!(ran.total.times.blocked.max_ns(), 0);
    }
}

#[test]
fn even_arrivals_come_at_their_multiples() {
    let expected: Vec<u64> = (0..100).map(|k| k * 10 * MS).collect();
    assert_arrivals(&open(100, 8, SECOND), &expected, SECOND);
    // 3 a second is one every third of a second, rounded down to the nanosecond.
    let expected = [0, 333_333_333, 666_666_666, 1_000_000_000, 1_333_333_333];
    assert_arrivals(&open(3, 4, 1_500 * MS), &expected, 1_500 * MS);
}

#[test]
fn a_slow_rate_lasts_as_long_as_it_should() {
    let rate = Rate {
        count: 1,
        per_ns: 5 * SECOND,
    };
    let arrivals = Arrivals::Constant;
    let plan = shaped(Shape::Rate { rate, arrivals }, 4, 14 * SECOND);
    let expected = [0, 5 * SECOND, 10 * SECOND];
    assert_arrivals(&plan, &expected, 14 * SECOND);
}

#[test]
fn random_arrivals_do_not_depend_on_the_workers() {
    let (rate, arrivals) = (Rate::each_second(500), Arrivals::Poisson);
    let schedule = Schedule::constant(loadline_schedule::Rate::each_second(500), Law::Poisson, 77);
    let expected: Vec<u64> = schedule
        .arrivals(Stripe::WHOLE)
        .map(|arrival| arrival.at_ns)
        .take_while(|at_ns| *at_ns < SECOND)
        .collect();
    assert!((430..570).contains(&expected.len()));
    // The run ends in a gap that is long enough for the last response.
    let gap = (1..expected.len()).rfind(|k| expected[*k] - expected[k - 1] > 4 * MS);
    let expected = &expected[..gap.unwrap()];
    let end_ns = expected.last().unwrap() + 4 * MS;
    let plan = Plan {
        seed: 77,
        ..shaped(Shape::Rate { rate, arrivals }, 40, end_ns)
    };
    assert_arrivals(&plan, expected, end_ns);
}

#[test]
fn a_ramp_of_the_rate_is_its_integral() {
    let shape = Shape::RateStages {
        start: Rate::ZERO,
        stages: stages([
            (SECOND, Rate::each_second(100)),
            (0, Rate::ZERO),
            (SECOND, Rate::ZERO),
        ]),
        arrivals: Arrivals::Constant,
    };
    // 100 t² / 2 arrivals are due by t: arrival k comes at √(k / 50) s. Then a second of nothing.
    let square = |k: u128| k * 1_000_000_000_000_000_000 / 50;
    let expected: Vec<u64> = (0..50).map(|k| square(k).isqrt() as u64).collect();
    assert_arrivals(&staged(shape, 8), &expected, 2 * SECOND);
}

#[test]
fn bursts_come_together() {
    let shape = Shape::Burst {
        size: 5,
        every: time(100 * MS),
    };
    let expected: Vec<u64> = (0..25).map(|k| k / 5 * 100 * MS).collect();
    // Five users in each worker: a worker has no influence on which arrivals it gets.
    assert_arrivals(&shaped(shape, 20, 450 * MS), &expected, 450 * MS);
}

#[test]
fn a_number_of_requests_ends_a_rate() {
    for threads in 1..=4 {
        let plan = Plan {
            request_limit: Some(7),
            ..open(100, 4, SECOND)
        };
        let ran = run_by(threads, &plan);
        assert_eq!(ran.counts(), [7, 7, 7, 0, 0]);
        assert_eq!(
            ran.each(|exchange| exchange.start_ns / MS),
            [0, 10, 20, 30, 40, 50, 60]
        );
        assert_eq!(
            (ran.total.end_ns, ran.reason),
            (63 * MS, EndReason::Requests)
        );
    }
}

#[test]
fn a_number_of_requests_beyond_the_end_changes_nothing() {
    let plan = Plan {
        request_limit: Some(11),
        ..open(100, 4, 95 * MS)
    };
    let expected: Vec<u64> = (0..10).map(|k| k * 10 * MS).collect();
    assert_arrivals(&plan, &expected, 95 * MS);
}

#[test]
fn arrivals_wait_for_the_only_connection() {
    let mut world = World::new(open(100, 1, 95 * MS)).serves_in(23 * MS);
    world.interval_ns = 40 * MS;
    let ran = world.run();
    // 25 ms each: those due at 0, 10 and 20 ms are answered, the next is in flight, six wait.
    assert_eq!(ran.each(|exchange| exchange.intended_ns / MS), [0, 10, 20]);
    assert_eq!(ran.each(|exchange| exchange.start_ns / MS), [0, 25, 50]);
    assert_eq!(ran.each(|exchange| exchange.blocked_ns() / MS), [0, 15, 30]);
    assert_eq!(
        ran.each(|exchange| exchange.response_ns() / MS),
        [25, 40, 55]
    );
    assert_eq!(ran.total.times.lateness.max_ns(), 0);
    assert_eq!(ran.counts(), [10, 4, 3, 0, 1]);
    assert_eq!(ran.left(), [1, 6, 65 * MS]);
    let planned: Vec<u64> = ran.intervals.iter().map(|i| i.counts.planned).collect();
    assert_eq!(planned, [4, 4, 2]);
}

#[test]
fn a_batch_goes_out_when_its_last_arrival_is_due() {
    let mut plan = open(100, 2, 95 * MS);
    plan.connection.pipeline = 4;
    let ran = World::new(plan).serves_in(2 * MS).run();
    let intended: Vec<u64> = (0..9).map(|k| k * 10).collect();
    assert_eq!(ran.each(|exchange| exchange.intended_ns / MS), intended);
    // Three batches: arrivals 0 to 3 at 30 ms, 4 to 7 at 70 ms, the last two at 90 ms.
    let starts = [30, 30, 30, 30, 70, 70, 70, 70];
    assert_eq!(ran.each(|exchange| exchange.start_ns / MS)[..8], starts);
    let blocked = [30, 20, 10, 0, 30, 20, 10, 0];
    assert_eq!(
        ran.each(|exchange| exchange.blocked_ns() / MS)[..8],
        blocked
    );
    let ends = [34, 36, 38, 40, 74, 76, 78, 80, 94];
    assert_eq!(ran.each(|exchange| exchange.end_ns / MS)[..9], ends);
    assert_eq!(
        ran.arrivals().iter().map(|at| at / MS).collect::<Vec<_>>()[8..],
        [91, 91]
    );
    // The last response would come at 96 ms.
    assert_eq!(ran.counts(), [10, 10, 9, 0, 1]);
    assert_eq!(ran.left(), [1, 0, 5 * MS]);
}
