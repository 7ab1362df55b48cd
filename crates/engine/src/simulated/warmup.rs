//! The warm-up drives the same load and leaves no trace in any figure.

use super::plans::{MS, SECOND, US, closed, open, staged, stages, time};
use super::ran::Ran;
use super::server::Reply;
use super::world::World;
use crate::EndReason;
use loadline_plan::{Arrivals, Plan, Rate, Shape};

const ANSWER_BYTES: u64 = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".len() as u64;
const REQUEST_BYTES: u64 = "GET / HTTP/1.1\r\nHost: 10.0.0.1\r\n\r\n".len() as u64;

fn warmed(plan: Plan, service_ns: u64) -> Ran {
    let warmup = time(50 * MS);
    World::new(Plan { warmup, ..plan })
        .serves_in(service_ns)
        .run()
}

#[test]
fn a_rate_is_that_of_the_answers_that_ended_in_the_window() {
    let mut plan = closed(20, 5 * SECOND);
    plan.warmup = time(2 * SECOND);
    let mut world = World::new(plan).serves_in(499 * MS);
    world.latency_ns = 500 * US;
    let ran = world.run();
    let counts = ran.total.counts;
    // Rounds of 500 ms: a response that ends with the warm-up belongs to it.
    assert_eq!(ran.counts(), [200, 200, 200, 0, 0]);
    assert_eq!(counts.completed, 200);
    // All twenty are in flight all the time.
    assert_eq!(counts.flight_ns, 20 * 5 * SECOND);
}

#[test]
fn answers_to_requests_of_the_warm_up_are_of_the_window_in_which_they_ended() {
    let mut plan = closed(20, 5_200 * MS);
    plan.warmup = time(1_800 * MS);
    let mut world = World::new(plan).serves_in(499 * MS);
    world.latency_ns = 500 * US;
    let counts = world.run().total.counts;
    // They end 200 ms after zero and so on: eleven rounds, of which the first began before it.
    assert_eq!(
        (counts.sent, counts.answered, counts.in_flight),
        (200, 200, 0)
    );
    assert_eq!(counts.completed, 220);
    assert_eq!(counts.flight_ns, 20 * 5_200 * MS);
}

#[test]
fn what_is_in_flight_on_average_does_not_depend_on_when_one_looks() {
    let mut world = World::new(open(10, 5, 10 * SECOND)).serves_in(49 * MS);
    world.latency_ns = 500 * US;
    let ran = world.run();
    assert_eq!(ran.counts(), [100, 100, 100, 0, 0]);
    assert_eq!(ran.total.counts.flight_ns, 100 * 50 * MS);
}

#[test]
fn closed_loads_count_from_the_end_of_the_warm_up() {
    let ran = warmed(closed(2, 100 * MS), 7 * MS);
    // Rounds of 9 ms from 50 ms before zero on: the first counted begins at 54 - 50 ms.
    let starts: Vec<u64> = (0..10).map(|k| (4 + 9 * k) * MS).collect();
    let of_each_user = |user: usize| {
        let log = ran.log();
        let own = log.iter().skip(user).step_by(2);
        own.map(|exchange| exchange.start_ns).collect::<Vec<_>>()
    };
    assert_eq!([of_each_user(0), of_each_user(1)], [starts.clone(), starts]);
    assert_eq!(ran.counts(), [22, 22, 20, 0, 2]);
    assert_eq!(ran.left(), [2, 0, 6 * MS]);
    assert_eq!((ran.total.start_ns, ran.total.end_ns), (0, 100 * MS));
    assert_eq!(ran.total.counts.bytes_in, 20 * ANSWER_BYTES);
    assert_eq!(ran.total.counts.bytes_out, 22 * REQUEST_BYTES);
    // At the server the warm-up is visible: six more rounds.
    assert_eq!(ran.arrivals().len(), 34);
    assert_eq!(ran.reason, EndReason::Duration);
}

#[test]
fn open_loads_count_from_the_end_of_the_warm_up() {
    for threads in 1..=3 {
        let plan = Plan {
            threads,
            ..open(100, 6, 95 * MS)
        };
        let ran = warmed(plan, MS);
        let intended: Vec<u64> = (0..10).map(|k| k * 10 * MS).collect();
        assert_eq!(ran.each(|exchange| exchange.intended_ns), intended);
        assert_eq!(ran.counts(), [10, 10, 10, 0, 0]);
        assert_eq!(ran.total.end_ns, 95 * MS);
        let arrivals: Vec<u64> = (0..15).map(|k| (10 * k + 1) * MS).collect();
        assert_eq!(ran.arrivals(), arrivals);
    }
}

#[test]
fn what_the_warm_up_left_in_flight_holds_the_load_up_and_is_not_counted() {
    // 25 ms each on one connection: the warm-up's five take until 125 ms, 75 ms after zero.
    let ran = warmed(open(100, 1, 95 * MS), 23 * MS);
    assert_eq!(ran.each(|exchange| exchange.intended_ns), [] as [u64; 0]);
    assert_eq!(ran.counts(), [10, 1, 0, 0, 1]);
    assert_eq!(ran.left(), [1, 9, 95 * MS]);
}

#[test]
fn a_number_of_requests_is_that_of_the_measured_part() {
    for threads in 1..=3 {
        let limited = |plan| Plan {
            threads,
            request_limit: Some(7),
            ..plan
        };
        let ran = warmed(limited(closed(3, SECOND)), 7 * MS);
        assert_eq!(ran.counts(), [7, 7, 7, 0, 0]);
        assert_eq!(ran.reason, EndReason::Requests);
        let ran = warmed(limited(open(100, 3, SECOND)), 7 * MS);
        assert_eq!(ran.counts(), [7, 7, 7, 0, 0]);
        assert_eq!(
            (ran.total.end_ns, ran.reason),
            (69 * MS, EndReason::Requests)
        );
    }
}

#[test]
fn a_batch_that_spans_the_end_of_the_warm_up_is_counted_by_its_starts() {
    let mut plan = open(100, 1, 95 * MS);
    plan.connection.pipeline = 4;
    let ran = warmed(plan, MS);
    // The second batch has the last arrival of the warm-up and the first three of the run.
    let intended: Vec<u64> = (0..10).map(|k| 10 * k).collect();
    assert_eq!(ran.each(|exchange| exchange.intended_ns / MS), intended);
    let starts = [20, 20, 20, 60, 60, 60, 60, 90, 90, 90];
    assert_eq!(ran.each(|exchange| exchange.start_ns / MS), starts);
    assert_eq!(ran.counts(), [10, 10, 10, 0, 0]);
}

#[test]
fn stages_begin_behind_a_warm_up_at_their_first_level() {
    let shape = Shape::ClosedStages {
        start: 1,
        stages: stages([(40 * MS, 3), (20 * MS, 0)]),
    };
    let ran = warmed(staged(shape, 3), 19 * MS);
    // Rounds of 21 ms. User 0 continues from 8 ms before zero, user 1 arrives at 0, user 2 at 20
    // ms; they leave at 60, 53.3 and 46.7 ms.
    let starts = ran.each(|exchange| exchange.start_ns / MS);
    assert_eq!(starts, [0, 13, 20, 21, 34]);
    assert_eq!(ran.counts(), [8, 8, 5, 0, 3]);
    assert_eq!(ran.total.end_ns, 60 * MS);

    let shape = Shape::RateStages {
        start: Rate::each_second(100),
        stages: stages([
            (0, Rate::each_second(200)),
            (50 * MS, Rate::each_second(200)),
        ]),
        arrivals: Arrivals::Constant,
    };
    let ran = warmed(staged(shape, 3), MS);
    let at_server = [1, 11, 21, 31, 41, 51, 56, 61, 66, 71, 76, 81, 86, 91, 96];
    assert_eq!(ran.arrivals(), at_server.map(|at| at * MS));
    assert_eq!(ran.counts(), [10, 10, 10, 0, 0]);
}

#[test]
fn a_jump_down_at_the_beginning_leaves_the_warm_up_its_users() {
    let shape = Shape::ClosedStages {
        start: 3,
        stages: stages([(0, 1), (50 * MS, 1)]),
    };
    let ran = warmed(staged(shape, 3), 19 * MS);
    let at_server = [1, 1, 1, 22, 22, 22, 43, 43, 43, 64, 85];
    assert_eq!(ran.arrivals(), at_server.map(|at| at * MS));
    assert_eq!(ran.counts(), [2, 2, 1, 0, 1]);
}

#[test]
fn faults_of_the_warm_up_are_not_counted() {
    let warmup = time(50 * MS);
    let plan = Plan {
        warmup,
        ..closed(1, 50 * MS)
    };
    let ran = World::new(plan)
        .script(|seen| match seen.number {
            0..5 => Reply::raw("nonsense").close(),
            _ => Reply::ok(),
        })
        .run();
    assert_eq!(ran.errors(), []);
    assert_eq!(ran.total.counts.reconnects, 0);
    assert_eq!(ran.total.counts.failed, 0);
    // The connection that was dialled ahead is counted, those of the warm-up are not.
    assert_eq!((ran.total.counts.connections, ran.accepted), (1, 6));
}
