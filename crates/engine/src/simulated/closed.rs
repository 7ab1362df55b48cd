//! Closed loads: a user sends as soon as its last request was answered.

use super::plans::{MS, SECOND, closed, staged, stages, time};
use super::ran::Ran;
use super::world::World;
use crate::EndReason;
use loadline_plan::{Plan, Shape, Think};
use loadline_record::Outcome;

/// Returns the starts of a user that is active from `from` to before `to`, one every `period`.
fn starts(from: u64, to: u64, period: u64) -> Vec<u64> {
    (from..to).step_by(period as usize).collect()
}

fn sorted(mut times: Vec<u64>) -> Vec<u64> {
    times.sort_unstable();
    times
}

#[test]
fn each_user_sends_again_when_it_is_answered() {
    let mut world = World::new(closed(3, 100 * MS)).serves_in(7 * MS);
    world.interval_ns = 25 * MS;
    let ran = world.run();
    // 7 ms and twice the latency of 1 ms make 9 ms a round: the twelfth is under way at the end.
    assert_eq!(ran.counts(), [36, 36, 33, 0, 3]);
    assert_eq!(ran.left(), [3, 0, MS]);
    assert_eq!(ran.reason, EndReason::Duration);
    let ended = sorted(starts(0, 99 * MS, 9 * MS).repeat(3));
    assert_eq!(ran.each(|exchange| exchange.start_ns), ended);
    let begun = sorted(starts(MS, 101 * MS, 9 * MS).repeat(3));
    assert_eq!(ran.arrivals(), begun);
    for exchange in ran.log() {
        assert_eq!(exchange.intended_ns, exchange.start_ns);
        assert_eq!(exchange.service_ns(), 9 * MS);
        assert_eq!(exchange.first_byte_ns, exchange.end_ns);
        assert_eq!((exchange.dial_ns, exchange.wakeup_ns), (0, 0));
        assert_eq!(exchange.outcome, Outcome::Answered { status: 200 });
    }
    let of_intervals = |count: fn(&loadline_record::Counts) -> u64| {
        let intervals = ran.intervals.iter();
        intervals
            .map(|interval| count(&interval.counts))
            .collect::<Vec<_>>()
    };
    assert_eq!(of_intervals(|counts| counts.sent), [9, 9, 9, 9]);
    assert_eq!(of_intervals(|counts| counts.answered), [6, 9, 9, 9]);
    assert_eq!(of_intervals(|counts| counts.in_flight), [3, 3, 3, 3]);
    assert_eq!(of_intervals(|counts| counts.connections), [3, 0, 0, 0]);
    assert_eq!(ran.total.end_ns, 100 * MS);
    assert_eq!(ran.accepted, 3);
}

#[test]
fn bytes_are_counted_as_they_pass() {
    let ran = World::new(closed(1, 10 * MS)).serves_in(MS).run();
    let request = "GET / HTTP/1.1\r\nHost: 10.0.0.1\r\n\r\n".len() as u64;
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".len() as u64;
    assert_eq!(ran.counts(), [4, 4, 3, 0, 1]);
    assert_eq!(ran.total.counts.bytes_out, 4 * request);
    assert_eq!(ran.total.counts.bytes_in, 3 * answer);
    for exchange in ran.log() {
        assert_eq!((exchange.bytes_out, exchange.bytes_in), (request, answer));
    }
}

/// Runs until `limit` requests have ended, for a second at most.
fn limited(limit: u64, connections: u32, threads: u32) -> Ran {
    let plan = Plan {
        request_limit: Some(limit),
        threads,
        ..closed(connections, SECOND)
    };
    World::new(plan).serves_in(7 * MS).run()
}

#[test]
fn a_number_of_requests_is_dealt_out_without_loss() {
    for threads in 1..=4 {
        for limit in [1, 2, 7, 10, 33] {
            let ran = limited(limit, 4, threads);
            assert_eq!(
                ran.counts(),
                [limit, limit, limit, 0, 0],
                "{limit} by {threads}"
            );
            assert_eq!(ran.left(), [0, 0, 0]);
            assert_eq!(ran.reason, EndReason::Requests);
            assert_eq!(ran.arrivals().len() as u64, limit);
        }
    }
}

#[test]
fn a_run_of_some_requests_ends_with_the_last_of_them() {
    // Four users: three rounds of 9 ms, whichever user has the tenth request.
    assert_eq!(limited(10, 4, 1).total.end_ns, 27 * MS);
    // Shares of 4, 3 and 3 with 2, 1 and 1 users: the second and the third take three rounds.
    assert_eq!(limited(10, 4, 3).total.end_ns, 27 * MS);
    // Shares of 5 and 5 with 2 users each.
    assert_eq!(limited(10, 4, 2).total.end_ns, 27 * MS);
    assert_eq!(limited(12, 4, 4).total.end_ns, 27 * MS);
    assert_eq!(limited(13, 4, 4).total.end_ns, 36 * MS);
}

#[test]
fn what_comes_first_ends_a_run_time_or_requests() {
    let plan = |limit| Plan {
        request_limit: Some(limit),
        ..closed(2, 50 * MS)
    };
    let ran = World::new(plan(11)).serves_in(7 * MS).run();
    assert_eq!(ran.counts(), [11, 11, 10, 0, 1]);
    assert_eq!(ran.reason, EndReason::Duration);
    assert_eq!(ran.total.end_ns, 50 * MS);
    let ran = World::new(plan(9)).serves_in(7 * MS).run();
    assert_eq!(ran.counts(), [9, 9, 9, 0, 0]);
    assert_eq!(ran.reason, EndReason::Requests);
    assert_eq!(ran.total.end_ns, 45 * MS);
}

#[test]
fn a_pipeline_goes_out_at_once_and_waits_for_all_its_answers() {
    let mut plan = Plan {
        request_limit: Some(10),
        ..closed(1, SECOND)
    };
    plan.connection.pipeline = 4;
    let ran = World::new(plan).serves_in(2 * MS).run();
    // The server takes them one after the other: a batch of four takes 8 ms and twice 1 ms.
    let batch = |start: u64, count: u64| {
        (1..=count).map(move |place| (start * MS, (start + 2 + 2 * place) * MS))
    };
    let expected: Vec<_> = batch(0, 4)
        .chain(batch(10, 4))
        .chain(batch(20, 2))
        .collect();
    assert_eq!(
        ran.each(|exchange| (exchange.start_ns, exchange.end_ns)),
        expected
    );
    assert_eq!(ran.counts(), [10, 10, 10, 0, 0]);
    assert_eq!(ran.total.end_ns, 26 * MS);
    assert_eq!(ran.accepted, 1);
}

#[test]
fn answers_that_gather_end_when_they_came() {
    let mut plan = Plan {
        request_limit: Some(96),
        ..closed(3, SECOND)
    };
    plan.connection.pipeline = 8;
    let ends = |plan: &Plan| {
        let ran = World::new(plan.clone()).serves_in(2 * MS).run();
        assert_eq!(ran.counts(), [96, 96, 96, 0, 0]);
        ran.each(|exchange| (exchange.start_ns, exchange.end_ns))
    };
    let one_by_one = ends(&plan);
    plan.connection.gathers_batches = true;
    assert_eq!(ends(&plan), one_by_one);
}

#[test]
fn without_keep_alive_every_request_has_a_connection_of_its_own() {
    let mut plan = closed(2, 101 * MS);
    plan.connection.keepalive = false;
    let ran = World::new(plan.clone())
        .script(|_| super::server::Reply::ok().after(3 * MS).close())
        .run();
    // 2 ms for dialling, 5 ms for the exchange: 14 rounds end and one has just been sent at the
    // end.
    assert_eq!(ran.counts(), [30, 30, 28, 0, 2]);
    assert_eq!(
        ran.each(|exchange| exchange.start_ns),
        sorted(starts(0, 98 * MS, 7 * MS).repeat(2))
    );
    for exchange in ran.log() {
        assert_eq!((exchange.dial_ns, exchange.service_ns()), (2 * MS, 7 * MS));
        assert_eq!(exchange.wait_ns(), 5 * MS);
    }
    assert_eq!(ran.accepted, 30);
    assert_eq!(
        (ran.total.counts.connections, ran.total.counts.reconnects),
        (30, 0)
    );
    assert_eq!(ran.total.times.connect.len(), 30);

    // Nor does a user wait for a server that does not close: the server has 5 ms to do so.
    let ran = World::new(plan).serves_in(3 * MS).run();
    assert_eq!(ran.counts(), [30, 30, 28, 0, 2]);
    let ended = sorted(starts(13 * MS, 100 * MS, 7 * MS).repeat(2));
    assert_eq!(ran.ended[..ended.len()], ended);
}

/// Runs stages of a closed load with rounds of 3 ms, with a number of workers.
fn ramped(start: u32, list: &[(u64, u32)], threads: u32) -> Ran {
    let stages = stages(list.iter().copied());
    let most = stages.iter().map(|stage| stage.target).max().unwrap_or(0);
    let shape = Shape::ClosedStages { start, stages };
    let plan = Plan {
        threads,
        ..staged(shape, most.max(start))
    };
    World::new(plan).serves_in(MS).run()
}

#[test]
fn users_come_and_go_with_the_stages() {
    // User k arrives at 10 k ms and leaves at 100 - 10 k ms.
    let users = (0..4).flat_map(|k| starts(10 * k * MS, (100 - 10 * k) * MS, 3 * MS));
    let expected = sorted(users.collect());
    for threads in 1..=4 {
        let ran = ramped(0, &[(40 * MS, 4), (20 * MS, 4), (40 * MS, 0)], threads);
        assert_eq!(
            ran.arrivals(),
            expected.iter().map(|at| at + MS).collect::<Vec<_>>()
        );
        // The first user's last request, begun at 99 ms, is cut off.
        let all = expected.len() as u64;
        assert_eq!(ran.counts(), [all, all, all - 1, 0, 1]);
        assert_eq!(ran.left(), [1, 0, MS]);
        assert_eq!(
            ran.each(|exchange| exchange.start_ns),
            expected[..expected.len() - 1]
        );
        assert_eq!(
            (ran.total.end_ns, ran.reason),
            (100 * MS, EndReason::Duration)
        );
    }
}

#[test]
fn a_user_that_comes_again_uses_its_connection_again() {
    let ran = ramped(2, &[(0, 1), (10 * MS, 1), (0, 2), (10 * MS, 2)], 1);
    let expected = [starts(0, 20 * MS, 3 * MS), starts(10 * MS, 20 * MS, 3 * MS)];
    assert_eq!(
        ran.arrivals(),
        sorted(expected.concat().iter().map(|at| at + MS).collect())
    );
    assert_eq!(ran.accepted, 2);
}

#[test]
fn a_run_lasts_as_long_as_its_stages_whoever_is_active() {
    let ran = ramped(2, &[(9 * MS, 2), (0, 0), (20 * MS, 0)], 1);
    assert_eq!(ran.counts(), [6, 6, 6, 0, 0]);
    assert_eq!(ran.total.end_ns, 29 * MS);
    assert_eq!(ran.reason, EndReason::Duration);
}

#[test]
fn stages_end_early_when_the_requests_are_used_up() {
    let shape = Shape::ClosedStages {
        start: 2,
        stages: stages([(10 * MS, 2), (0, 0), (10 * MS, 0), (0, 2), (10 * MS, 2)]),
    };
    let plan = Plan {
        request_limit: Some(4),
        ..staged(shape, 2)
    };
    let ran = World::new(plan).serves_in(MS).run();
    assert_eq!(ran.counts(), [4, 4, 4, 0, 0]);
    assert_eq!(
        (ran.total.end_ns, ran.reason),
        (6 * MS, EndReason::Requests)
    );
}

#[test]
fn the_clock_of_intervals_is_that_of_the_run() {
    let mut world = World::new(closed(1, 90 * MS)).serves_in(MS);
    world.plan.threads = 1;
    world.interval_ns = 40 * MS;
    let ran = world.run();
    let bounds: Vec<_> = ran
        .intervals
        .iter()
        .map(|i| (i.start_ns, i.end_ns))
        .collect();
    assert_eq!(
        bounds,
        [(0, 40 * MS), (40 * MS, 80 * MS), (80 * MS, 90 * MS)]
    );
    assert_eq!(ran.total.length_ns(), time(90 * MS).as_nanos() as u64);
}

#[test]
fn users_think_between_two_iterations_and_nobody_waits_for_them_at_the_end() {
    for threads in [1, 2] {
        let plan = Plan {
            threads,
            think: Some(Think::Constant(time(20 * MS))),
            ..closed(2, 95 * MS)
        };
        let ran = World::new(plan).serves_in(8 * MS).run();
        // A request takes 10 ms: one begins each 30 ms, and that of 90 ms would end after the run.
        assert_eq!(ran.counts(), [8, 8, 6, 0, 2], "{threads} workers");
        let begun = sorted(starts(0, 70 * MS, 30 * MS).repeat(2));
        assert_eq!(ran.each(|exchange| exchange.start_ns), begun);
        for exchange in ran.log() {
            assert_eq!(exchange.intended_ns, exchange.start_ns);
            assert_eq!(exchange.response_ns(), 10 * MS);
        }
        assert_eq!(ran.total.end_ns, 95 * MS);
    }
}

#[test]
fn a_run_of_requests_ends_with_the_last_one_though_users_think() {
    let plan = Plan {
        think: Some(Think::Constant(time(50 * MS))),
        request_limit: Some(5),
        duration: None,
        ..closed(2, SECOND)
    };
    let ran = World::new(plan).serves_in(8 * MS).run();
    // The fifth begins at 120 ms; the other user thinks from 70 ms to 120 ms, and then no request
    // is left.
    assert_eq!(ran.counts(), [5, 5, 5, 0, 0]);
    assert_eq!(ran.reason, EndReason::Requests);
    assert_eq!(ran.total.end_ns, 130 * MS);
}

#[test]
fn think_times_are_those_of_the_user_whichever_worker_has_it() {
    let begun = |threads| {
        let plan = Plan {
            threads,
            think: Some(Think::Exponential(time(20 * MS))),
            ..closed(4, SECOND)
        };
        let ran = World::new(plan).serves_in(8 * MS).run();
        sorted(ran.each(|exchange| exchange.start_ns))
    };
    assert_eq!(begun(1), begun(2));
    // Four users, 30 ms an iteration on average: 133, with a standard deviation of about 8.
    assert!((105..=165).contains(&begun(1).len()), "{}", begun(1).len());
}

#[test]
fn a_window_that_ends_ends_the_thinking() {
    let shape = Shape::ClosedStages {
        start: 2,
        stages: stages([(50 * MS, 2), (0, 0), (50 * MS, 0), (0, 1), (100 * MS, 1)]),
    };
    let plan = Plan {
        think: Some(Think::Constant(time(SECOND))),
        ..staged(shape, 2)
    };
    let plan = Plan {
        duration: Some(time(200 * MS)),
        ..plan
    };
    let ran = World::new(plan).serves_in(8 * MS).run();
    let begun = ran.each(|exchange| exchange.start_ns);
    assert_eq!(
        begun,
        [0, 0, 100 * MS],
        "a user that is back begins at once"
    );
}
