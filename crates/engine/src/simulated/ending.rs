//! The ends of runs: stopped, broken off, cut off; and the unfinished rest.

use super::plans::{MS, SECOND, US, closed, open, staged, stages, time};
use super::ran::Ran;
use super::world::{Hands, World};
use crate::EndReason;
use loadline_plan::{Plan, Shape};

/// The instant of an order. Workers check for orders every 100 ms from 2 ms before the load's begin
/// on: an order of 150 ms is obeyed at 198 ms.
const ORDERED: u64 = 150 * MS;
const OBEYED: u64 = 198 * MS;

fn stop(hands: &Hands) {
    hands.handle.stop();
}

fn abort(hands: &Hands) {
    hands.handle.abort();
}

#[test]
fn a_stop_lets_what_is_in_flight_end() {
    let ran = World::new(closed(2, SECOND))
        .serves_in(8 * MS)
        .at(ORDERED, stop)
        .run();
    // Rounds of 10 ms: the last ones begin at 190 ms.
    assert_eq!(ran.counts(), [40, 40, 40, 0, 0]);
    assert_eq!(ran.left(), [0, 0, 0]);
    assert_eq!((ran.total.end_ns, ran.reason), (OBEYED, EndReason::Stopped));
}

#[test]
fn a_stop_that_is_seen_after_the_end_makes_the_window_no_longer() {
    let ran = World::new(closed(2, SECOND))
        .serves_in(8 * MS)
        .at(950 * MS, stop)
        .at(950 * MS, |hands| hands.sim.stall(200 * MS))
        .run();
    assert_eq!((ran.total.end_ns, ran.reason), (SECOND, EndReason::Stopped));
}

#[test]
fn an_abort_ends_at_once() {
    let ran = World::new(closed(2, SECOND))
        .serves_in(8 * MS)
        .at(ORDERED, abort)
        .run();
    assert_eq!(ran.counts(), [40, 40, 38, 0, 2]);
    assert_eq!(ran.left(), [2, 0, 8 * MS]);
    assert_eq!((ran.total.end_ns, ran.reason), (OBEYED, EndReason::Stopped));
}

#[test]
fn an_abort_ends_a_stop_that_takes_too_long() {
    let ran = World::new(closed(2, SECOND))
        .serves_in(400 * MS)
        .at(ORDERED, stop)
        .at(ORDERED + 100 * MS, abort)
        .run();
    assert_eq!(ran.counts(), [2, 2, 0, 0, 2]);
    assert_eq!(ran.left(), [2, 0, OBEYED + 100 * MS]);
    // The wait for what was in flight is no part of the measured time.
    assert_eq!((ran.total.end_ns, ran.reason), (OBEYED, EndReason::Stopped));
}

#[test]
fn a_stop_begins_nothing_new_and_plans_nothing_more() {
    // 65 ms each on one connection, from 0, 65 and 130 ms on.
    let mut world = World::new(open(100, 1, SECOND)).serves_in(63 * MS);
    world.interval_ns = 61 * MS;
    let ran = world.at(ORDERED, stop).run();
    // The worker checks its orders at the end of the third interval, at 183 ms.
    assert_eq!(ran.each(|exchange| exchange.start_ns / MS), [0, 65, 130]);
    assert_eq!(ran.counts(), [19, 3, 3, 0, 0]);
    // The oldest was due at 30 ms.
    assert_eq!(ran.left(), [0, 16, 165 * MS]);
    assert_eq!(
        (ran.total.end_ns, ran.reason),
        (183 * MS, EndReason::Stopped)
    );
    let planned: Vec<u64> = ran.intervals.iter().map(|i| i.counts.planned).collect();
    assert_eq!(planned, [7, 6, 6, 0]);
}

#[test]
fn an_abort_leaves_the_queue_and_what_is_in_flight() {
    let ran = World::new(open(100, 1, SECOND))
        .serves_in(63 * MS)
        .at(ORDERED, abort)
        .run();
    assert_eq!(ran.counts(), [20, 4, 3, 0, 1]);
    assert_eq!(ran.left(), [1, 16, OBEYED - 30 * MS]);
    assert_eq!((ran.total.end_ns, ran.reason), (OBEYED, EndReason::Stopped));
}

#[test]
fn a_stop_with_nothing_in_flight_ends_at_once() {
    for order in [stop, abort] {
        let ran = World::new(open(100, 3, SECOND))
            .serves_in(MS)
            .at(ORDERED, order)
            .run();
        assert_eq!(ran.counts(), [20, 20, 20, 0, 0]);
        assert_eq!(ran.left(), [0, 0, 0]);
        assert_eq!((ran.total.end_ns, ran.reason), (OBEYED, EndReason::Stopped));
    }
}

#[test]
fn a_stopped_batch_that_was_not_complete_is_unsent() {
    let mut plan = open(100, 1, SECOND);
    plan.connection.pipeline = 7;
    let ran = World::new(plan).at(ORDERED, stop).run();
    // Two batches at 60 and 130 ms; of the third, due at 200 ms, six starts had fallen due.
    assert_eq!(ran.counts(), [20, 14, 14, 0, 0]);
    assert_eq!(ran.left(), [0, 6, 58 * MS]);
}

#[test]
fn a_stop_does_not_wait_for_users_that_would_come_again() {
    let shape = Shape::ClosedStages {
        start: 1,
        stages: stages([(197 * MS, 1), (0, 0), (800 * MS, 0), (0, 1), (100 * MS, 1)]),
    };
    let ran = World::new(staged(shape, 1))
        .serves_in(8 * MS)
        .at(ORDERED, stop)
        .run();
    assert_eq!(ran.counts(), [20, 20, 20, 0, 0]);
    assert_eq!((ran.total.end_ns, ran.reason), (OBEYED, EndReason::Stopped));
}

#[test]
fn a_stop_in_the_warm_up_leaves_nothing() {
    for order in [stop, abort] {
        let plan = Plan {
            warmup: time(300 * MS),
            threads: 2,
            ..open(100, 2, SECOND)
        };
        let ran = World::new(plan).serves_in(43 * MS).at(ORDERED, order).run();
        assert_eq!(ran.counts(), [0; 5]);
        assert_eq!(ran.left(), [0; 3]);
        assert_eq!((ran.total.end_ns, ran.reason), (0, EndReason::Stopped));
    }
}

#[test]
fn every_worker_stops() {
    let plan = Plan {
        threads: 3,
        ..open(100, 9, SECOND)
    };
    let ran = World::new(plan).serves_in(9 * MS).at(ORDERED, stop).run();
    // They check a tenth of a millisecond after each other; the last arrival is then in flight.
    assert_eq!(ran.counts(), [20, 20, 20, 0, 0]);
    assert_eq!(ran.total.end_ns, OBEYED + 200 * US);
    assert_eq!(ran.reason, EndReason::Stopped);
}

#[test]
fn workers_that_break_off_in_different_intervals_all_count() {
    let plan = Plan {
        threads: 3,
        ..closed(6, SECOND)
    };
    let mut world = World::new(plan).serves_in(8 * MS);
    world.interval_ns = 45 * MS;
    // Ordered when the second worker reports its second interval: the third obeys before it reports
    // its own, the others later.
    let told = std::cell::Cell::new(0);
    let ran = world
        .on_interval(move |hands, worker| {
            if worker == 1 && told.replace(told.get() + 1) == 1 {
                hands.handle.abort();
            }
        })
        .run();
    let ends: Vec<u64> = ran.intervals.iter().map(|i| i.end_ns).collect();
    assert_eq!(ends, [45 * MS, 90 * MS, 135 * MS]);
    let in_flight: Vec<u64> = ran.intervals.iter().map(|i| i.counts.in_flight).collect();
    assert_eq!(in_flight, [6, 6, 6]);
    assert_eq!(ran.counts()[4], 6);
}

#[test]
fn a_worker_that_oversleeps_the_end_tells_of_every_interval() {
    let mut world = World::new(closed(1, 130 * MS)).serves_in(MS);
    world.interval_ns = 40 * MS;
    let ran = world.at(75 * MS, |hands| hands.sim.stall(90 * MS)).run();
    let ends: Vec<u64> = ran.intervals.iter().map(|i| i.end_ns / MS).collect();
    assert_eq!(ends, [40, 80, 120, 130]);
}

#[test]
fn what_is_left_of_a_batch_is_as_old_as_its_own_start() {
    let mut plan = open(100, 1, 65 * MS);
    plan.connection.pipeline = 3;
    let ran: Ran = World::new(plan).serves_in(20 * MS).run();
    // Sent at 20 ms, answered at 42, 62 and 82 ms: the third was due at 20 ms.
    assert_eq!(ran.each(|exchange| exchange.end_ns / MS), [42, 62]);
    assert_eq!(ran.counts(), [7, 3, 2, 0, 1]);
    assert_eq!(ran.left(), [1, 4, 45 * MS]);
}
