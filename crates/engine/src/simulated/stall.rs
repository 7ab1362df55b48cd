//! Stalls: of the server, which the target causes, and of the worker, which Loadline causes.

use super::plans::{MS, SECOND, US, closed, open, shaped, time};
use super::ran::Ran;
use super::server::Reply;
use super::world::World;
use loadline_plan::{Clock, Plan, Shape};
use loadline_record::{Counts, Distribution};

/// Runs 2 000 arrivals per second for 10 s, with the server frozen for the second in the middle.
fn frozen_for_a_second(connections: u32, most: u32, threads: u32) -> Ran {
    let mut plan = Plan {
        threads,
        ..open(2_000, connections, 10 * SECOND)
    };
    plan.load.max_users = most;
    let freeze = 4_500 * MS..5_500 * MS;
    let mut world = World::new(plan);
    world.latency_ns = 5 * US;
    world.at(0, move |hands| hands.server.freeze(freeze)).run()
}

/// At the end of the second nothing of the freeze is left in flight except the requests sent in
/// that instant; its maximum and its mean show it.
#[test]
fn a_freeze_shows_in_what_is_in_flight_in_its_second() {
    for threads in [1, 2] {
        let mut plan = Plan {
            threads,
            ..open(200, 50, 5 * SECOND)
        };
        plan.load.max_users = 1_000;
        let mut world = World::new(plan);
        world.latency_ns = 5 * US;
        let freeze = 2_300 * MS..2_800 * MS;
        let ran = world.at(0, move |hands| hands.server.freeze(freeze)).run();
        let of_seconds = |of: fn(&Counts) -> u64| -> Vec<u64> {
            let counts = ran.intervals.iter().map(|interval| interval.counts);
            counts.map(|counts| of(&counts)).collect()
        };
        let left = of_seconds(|counts| counts.in_flight);
        assert!(left.iter().all(|left| *left <= 1), "{left:?}");
        let most = of_seconds(|counts| counts.in_flight_max);
        assert!((99..=101).contains(&most[2]), "{most:?}");
        let others = [0, 1, 3, 4].map(|second: usize| most[second]);
        assert!(
            others.iter().all(|most| *most <= u64::from(threads)),
            "{most:?}"
        );
        // A hundred requests, which waited for half of the freeze on average.
        let mean = of_seconds(|counts| counts.in_flight_ns / MS);
        assert!((24_500..=25_500).contains(&mean[2]), "{mean:?}");
    }
}

#[test]
fn what_waits_for_a_server_that_froze_for_good_keeps_its_age() {
    for threads in [1, 2] {
        let plan = Plan {
            threads,
            ..open(2_000, 50, 10 * SECOND)
        };
        let mut world = World::new(plan);
        world.latency_ns = 5 * US;
        let for_good = 8 * SECOND..100 * SECOND;
        let ran = world
            .at(0, move |hands| hands.server.freeze(for_good))
            .run();
        assert_eq!(ran.counts(), [20_000, 16_050, 16_000, 0, 50]);
        assert_eq!(ran.left(), [50, 3_950, 2 * SECOND]);
        assert_eq!(ran.causes(), [3_950, 0, 0], "every connection is in use");
        let ages = &ran.unfinished.ages;
        // One each half millisecond of the last two seconds.
        for percentile in [1.0, 25.0, 50.0, 99.0] {
            let expected_ns = 2e9 * percentile / 100.0;
            let age_ns = ages.response.percentile_ns(percentile) as f64;
            assert!((age_ns - expected_ns).abs() <= 0.002 * expected_ns + 5e5);
        }
        assert!(
            ages.service.min_ns() >= 1_970 * MS,
            "the fifty that were sent"
        );
    }
}

#[test]
fn a_plan_with_too_few_connections_for_a_target_at_ease_is_the_cause_of_what_is_unsent() {
    let mut world = World::new(open(100, 1, SECOND)).serves_in(20 * MS);
    world.latency_ns = 5 * US;
    let ran = world.run();
    assert_eq!(ran.counts(), [100, 50, 49, 0, 1]);
    assert_eq!(ran.causes(), [0, 50, 0]);
}

#[test]
fn what_fell_due_while_the_worker_stood_still_is_its_own_doing() {
    let mut world = World::new(open(500, 4, 5 * SECOND));
    world.latency_ns = 5 * US;
    let ran = world
        .at(3_201 * MS, |hands| hands.sim.stall(3 * SECOND))
        .run();
    let [planned, sent, ..] = ran.counts();
    assert_eq!((planned, ran.causes()), (2_500, [0, 0, 2_500 - sent]));
    assert!(sent < 1_610, "{sent}");
}

#[test]
fn what_a_stall_of_the_worker_left_to_be_sent_is_its_own_doing_too() {
    let mut world = World::new(open(500, 4, 5 * SECOND)).serves_in(7 * MS);
    world.latency_ns = 5 * US;
    let ran = world
        .at(3_200 * MS, |hands| hands.sim.stall(1_700 * MS))
        .run();
    let unsent = ran.unfinished.unsent;
    assert!(unsent > 500, "{unsent}");
    assert_eq!(ran.causes(), [0, 0, unsent]);
}

/// Asserts the exact quantiles: response times of the tenth of all arrivals that met the stall are
/// uniform on 0 to 1 s, so the quantile q is D (1 - (1 - q) T / D), with D of 1 s and T of 10 s.
fn assert_truth(response: &Distribution) {
    for percentile in [91.0, 92.5, 95.0, 97.0, 99.0, 99.5, 99.9] {
        let share = 1.0 - percentile / 100.0;
        let expected = 1e9 * (1.0 - share * 10.0);
        let measured = response.percentile_ns(percentile) as f64;
        // A thousandth for the histogram, and the time in which the backlog drains.
        let allowed = measured / 1_000.0 + 500_000.0;
        assert!(
            (measured - expected).abs() <= allowed,
            "p{percentile}: {measured}"
        );
    }
    assert_eq!(response.percentile_ns(50.0), 10_007);
    assert_eq!(response.percentile_ns(89.9), 10_007);
    // The mean rises by D² / 2T, 50 ms.
    let mean_ns = response.mean_ns();
    assert!((mean_ns - 50e6).abs() < 0.1e6, "{mean_ns}");
}

#[test]
fn a_frozen_server_is_in_the_response_time_and_blocks() {
    for threads in [1, 2] {
        let ran = frozen_for_a_second(50, 50, threads);
        assert_eq!(ran.counts(), [20_000, 20_000, 20_000, 0, 0]);
        let times = &ran.total.times;
        assert_truth(&times.response);
        // All but those that were in flight at the freeze waited for a connection.
        let blocked = times.blocked.percentile_ns(99.0) as f64;
        assert!((blocked - 875e6).abs() <= 1e6, "{blocked}");
        assert_eq!(times.lateness.max_ns(), 0);
        // The view of a tool that counts from the send: fifty long ones, above the p99.
        assert_eq!(times.service.percentile_ns(99.7), 10_007);
        let long = times.service.len() - times.service.count_up_to_ns(MS);
        assert_eq!(long, 50);
        assert!(times.omitted.is_empty());
    }
}

/// Runs 2 000 arrivals per second for 10 s, with up to this many connections. The worker stalls for
/// a second in the middle, and the server is frozen in `freeze`.
fn stalled_for_a_second(connections: u32, most: u32, freeze: std::ops::Range<u64>) -> Ran {
    let mut plan = open(2_000, connections, 10 * SECOND);
    plan.load.max_users = most;
    let mut world = World::new(plan);
    world.latency_ns = 5 * US;
    world
        .at(0, move |hands| hands.server.freeze(freeze))
        .at(4_500 * MS, |hands| hands.sim.stall(SECOND))
        .run()
}

#[test]
fn what_connections_catch_up_with_after_a_stall_of_the_worker_is_late_not_blocked() {
    // From few connections, which take a while for the backlog, to many, which take no time.
    for (connections, most) in [(2, 2), (50, 50), (2, 3_000), (3_000, 3_000)] {
        let ran = stalled_for_a_second(connections, most, 0..0);
        assert_eq!(ran.counts(), [20_000, 20_000, 20_000, 0, 0]);
        let times = &ran.total.times;
        if connections >= 50 {
            assert_truth(&times.response);
        }
        let lateness = times.lateness.percentile_ns(99.0) as f64;
        assert!((lateness - 900e6).abs() <= 2e6, "{lateness}");
        // A backlog of 2 000 takes two connections 10 ms, in which another 20 fall due.
        let undelayed_ns = times.undelayed.max_ns();
        assert!(undelayed_ns < 11 * MS, "{connections}: {undelayed_ns}");
        assert!(times.blocked.percentile_ns(99.0) < MS);
    }
}

#[test]
fn a_stall_of_the_worker_excuses_no_freeze_of_the_server_after_it() {
    let ran = stalled_for_a_second(50, 50, 7_000 * MS..8_000 * MS);
    assert_eq!(ran.counts(), [20_000, 20_000, 20_000, 0, 0]);
    let times = &ran.total.times;
    let long = times.response.len() - times.response.count_up_to_ns(500 * MS);
    assert!((2_000..=2_010).contains(&long), "half of either second");
    assert_truth(&times.undelayed);
}

#[test]
fn a_stall_of_the_worker_in_the_midst_of_a_freeze_of_the_server_excuses_none_of_it() {
    let ran = stalled_for_a_second(50, 50, 3_000 * MS..7_000 * MS);
    assert_eq!(ran.counts(), [20_000, 20_000, 20_000, 0, 0]);
    let times = &ran.total.times;
    assert!(times.response.max_ns() > 3_900 * MS);
    assert_eq!(times.lateness.max_ns(), 0);
}

#[test]
fn with_connections_enough_a_frozen_server_is_in_the_service_time() {
    let ran = frozen_for_a_second(50, 3_000, 1);
    assert_eq!(ran.counts(), [20_000, 20_000, 20_000, 0, 0]);
    let times = &ran.total.times;
    assert_truth(&times.response);
    assert_truth(&times.service);
    assert_eq!((times.blocked.max_ns(), times.lateness.max_ns()), (0, 0));
    // One for each arrival of that second, and one for the first after it.
    assert_eq!(ran.accepted, 2_001);
    // The times that 50 users would have measured nevertheless: the long ones of a run that has no
    // more.
    let of_50 = frozen_for_a_second(50, 50, 1).total.times.service;
    let closed_loop = times.closed_loop();
    let long =
        |times: &Distribution| -> Vec<_> { times.steps().filter(|(ns, _)| *ns > MS).collect() };
    assert_eq!(long(&closed_loop), long(&of_50));
    assert_eq!(closed_loop.percentile_ns(99.7), 10_007);
    assert_eq!(closed_loop.len() + times.omitted.len(), 20_000);
}

/// Runs a plan with responses that take 20 ms, and 600 ms longer in each of two stalls in 4 s.
fn stalled_twice(plan: Plan) -> Ran {
    let mut world = World::new(plan).serves_in(20 * MS);
    world.latency_ns = 5 * US;
    let freeze = |hands: &super::world::Hands| {
        hands.server.freeze(1_000 * MS..1_600 * MS);
        hands.server.freeze(2_500 * MS..3_100 * MS);
    };
    world.at(0, freeze).run()
}

#[test]
fn what_a_closed_loop_would_have_timed_is_what_it_times() {
    // Five users make at most 250 requests a second of 20 ms, so at 200 they have some time left.
    let truth = stalled_twice(closed(5, 4 * SECOND)).total.times.service;
    let growing = {
        let mut plan = open(200, 5, 4 * SECOND);
        plan.load.max_users = 500;
        stalled_twice(plan).total.times
    };
    let fixed = stalled_twice(open(200, 5, 4 * SECOND)).total.times;
    let long = |times: &Distribution| times.len() - times.count_up_to_ns(100 * MS);
    assert!(long(&growing.service) > 200);
    for told in [growing.closed_loop(), fixed.closed_loop()] {
        // One for each user and stall, at any rate and with any length of the stall.
        assert_eq!([long(&truth), long(&told)], [10, 10]);
        for percentile in [50.0, 75.0, 90.0, 95.0, 99.0, 100.0] {
            let [truth_ns, told_ns] = [&truth, &told].map(|times| times.percentile_ns(percentile));
            // The position of a request in its 20 ms at the freeze differs from run to run.
            let allowed_ns = if percentile < 99.0 {
                truth_ns / 1_000
            } else {
                20 * MS
            };
            assert!(
                truth_ns.abs_diff(told_ns) <= allowed_ns,
                "p{percentile}: {told_ns}"
            );
        }
    }
}

#[test]
fn a_worker_that_computes_is_late() {
    let world = World::new(open(100, 8, 195 * MS)).serves_in(MS);
    let ran = world.at(45 * MS, |hands| hands.sim.stall(30 * MS)).run();
    let late: Vec<(u64, u64)> = [(5, 25), (6, 15), (7, 5)].into();
    for (index, exchange) in ran.log().into_iter().enumerate() {
        let known = late.iter().find(|(late, _)| *late == index as u64);
        let expected = known.map_or(0, |(_, lateness)| lateness * MS);
        assert_eq!(exchange.lateness_ns(), expected);
        assert_eq!(exchange.blocked_ns(), 0);
        assert_eq!(exchange.start_ns, 10 * MS * index as u64 + expected);
        assert_eq!(exchange.service_ns(), 3 * MS);
    }
    assert_eq!(ran.counts(), [20, 20, 20, 0, 0]);
    assert_eq!(ran.total.times.lateness.max_ns(), recorded(25 * MS));
}

#[test]
fn what_is_in_flight_late_is_as_old_without_our_delay_as_it_was_in_flight() {
    let world = World::new(open(100, 8, 100 * MS)).serves_in(200 * MS);
    let ran = world.at(45 * MS, |hands| hands.sim.stall(30 * MS)).run();
    let ages = &ran.unfinished.ages;
    assert_eq!(ages.response.len(), ages.undelayed.len());
    // Due at 50 ms and begun at 75 ms, and the two following ones.
    let late_ns = ages.response.mean_ns() - ages.undelayed.mean_ns();
    let expected_ns = (25 + 15 + 5) as f64 * MS as f64 / ages.response.len() as f64;
    assert!((late_ns - expected_ns).abs() < 0.1 * MS as f64, "{late_ns}");
}

/// Returns a value as recorded by a histogram.
fn recorded(value_ns: u64) -> u64 {
    let mut distribution = Distribution::default();
    distribution.record_ns(value_ns);
    distribution.max_ns()
}

/// Runs one user with a latency of 10 ms; the worker computes from 15 to 45 ms.
fn read_late(clock: Clock, plan: Plan) -> Ran {
    let mut plan = plan;
    plan.connection.clock = clock;
    let mut world = World::new(plan);
    world.latency_ns = 10 * MS;
    world.at(15 * MS, |hands| hands.sim.stall(30 * MS)).run()
}

#[test]
fn the_kernels_clock_ends_an_exchange_that_is_read_late() {
    let ran = read_late(Clock::Kernel, closed(1, 60 * MS));
    let first = ran.log()[0];
    assert_eq!(
        (first.start_ns, first.first_byte_ns, first.end_ns),
        (0, 20 * MS, 20 * MS)
    );
    assert_eq!(first.wakeup_ns, 25 * MS);
    assert_eq!(ran.total.times.wakeup.len(), 1);
    assert_eq!(ran.left(), [1, 0, 15 * MS]);
}

#[test]
fn the_users_clock_ends_it_when_it_is_read() {
    let ran = read_late(Clock::User, closed(1, 60 * MS));
    let first = ran.log()[0];
    assert_eq!((first.first_byte_ns, first.end_ns), (45 * MS, 45 * MS));
    assert_eq!(first.wakeup_ns, 0);
    assert!(ran.total.times.wakeup.is_empty());
}

#[test]
fn an_arrival_behind_an_answer_that_is_read_late_is_late_not_blocked() {
    // The second arrival is due at 30 ms. Its connection was free from 20 ms on, as the kernel
    // knows; the worker saw that at 45 ms.
    let shape = Shape::Burst {
        size: 1,
        every: time(30 * MS),
    };
    let by_clock = |clock| {
        let second = read_late(clock, shaped(shape.clone(), 1, 80 * MS)).log()[1];
        assert_eq!((second.intended_ns, second.start_ns), (30 * MS, 45 * MS));
        (second.blocked_ns(), second.lateness_ns())
    };
    assert_eq!(by_clock(Clock::Kernel), (0, 15 * MS));
    // Without the kernel's clock the arrival of the response is unknown.
    assert_eq!(by_clock(Clock::User), (15 * MS, 0));
}

#[test]
fn a_slow_answer_is_split_at_its_first_byte() {
    let ran = World::new(closed(1, 30 * MS))
        .script(|_| Reply::ok().after(4 * MS).drip(10, 2 * MS))
        .run();
    // 40 bytes in four pieces: 2 ms of latency and 4 ms, then three pauses of 2 ms.
    for exchange in ran.log() {
        assert_eq!((exchange.wait_ns(), exchange.rest_ns()), (6 * MS, 6 * MS));
    }
    assert_eq!(ran.counts(), [3, 3, 2, 0, 1]);
}
