//! An open load opens another connection exactly when an arrival finds none free.

use super::plans::{MS, SECOND, open, shaped, time};
use super::ran::Ran;
use super::world::World;
use loadline_plan::{Plan, Shape};

/// Runs 100 arrivals per second on one connection and up to `most`, each taking `service` and 2 ms.
fn grown(most: u32, service: u64, arrivals: u64) -> Ran {
    let mut plan = open(100, 1, 10 * MS * arrivals - MS);
    plan.load.max_users = most;
    World::new(plan).serves_in(service).run()
}

#[test]
fn a_connection_that_is_free_in_time_is_enough() {
    let ran = grown(3, 7 * MS, 20);
    assert_eq!(ran.accepted, 1);
    assert_eq!(ran.each(|exchange| exchange.dial_ns), [0; 20]);
}

#[test]
fn an_arrival_that_finds_none_free_opens_one() {
    // 15 ms each: every other arrival finds the first connection taken.
    let ran = grown(3, 13 * MS, 10);
    assert_eq!(ran.accepted, 2);
    let dials = ran.each(|exchange| exchange.dial_ns / MS);
    assert_eq!(dials[..3], [0, 2, 0]);
    assert!(dials[2..].iter().all(|dial| *dial == 0));
    assert_eq!(ran.total.times.blocked.max_ns(), 0);
    assert_eq!(ran.total.times.lateness.max_ns(), 0);

    // 25 ms each: the second and the third arrival open one each, the fourth finds the first free.
    let ran = grown(5, 23 * MS, 10);
    assert_eq!(ran.accepted, 3);
    assert_eq!(ran.total.counts.connections, 3);
    assert_eq!(
        ran.each(|exchange| exchange.dial_ns / MS)[..4],
        [0, 2, 2, 0]
    );
    assert_eq!(ran.total.times.blocked.max_ns(), 0);
}

#[test]
fn a_server_that_is_slow_all_the_time_is_as_slow_for_a_closed_loop() {
    // 45 ms each: the only initial user would have taken every fifth.
    let ran = grown(8, 43 * MS, 100);
    let closed_loop = ran.total.times.closed_loop();
    let [_, _, answered, _, in_flight] = ran.counts();
    assert_eq!((answered, in_flight), (96, 4));
    assert_eq!(closed_loop.len(), 20);
    let shortest_ns = ran.total.times.service.min_ns();
    assert_eq!(closed_loop.min_ns(), shortest_ns);
    assert_eq!(closed_loop.percentile_ns(99.0) / MS, 45);
}

#[test]
fn there_are_never_more_than_allowed() {
    let ran = grown(2, 43 * MS, 10);
    assert_eq!(ran.accepted, 2);
    // 45 ms each, and 2 ms for dialling the second.
    assert_eq!(ran.each(|exchange| exchange.start_ns / MS), [0, 10, 45]);
    // Those due at 30 and 40 ms are in flight, since 57 and 90 ms.
    assert_eq!(ran.counts(), [10, 5, 3, 0, 2]);
    assert_eq!(ran.left(), [2, 5, 69 * MS]);
}

#[test]
fn a_burst_opens_what_it_needs_at_once() {
    let shape = Shape::Burst {
        size: 6,
        every: time(100 * MS),
    };
    for threads in 1..=2 {
        let mut plan = Plan {
            threads,
            ..shaped(shape.clone(), 2, 250 * MS)
        };
        plan.load.max_users = 4;
        let ran = World::new(plan).serves_in(8 * MS).run();
        assert_eq!(ran.accepted, 4);
        // Two go at once, two after dialling, and two wait 10 ms for the first to be answered.
        let starts = ran.each(|exchange| exchange.start_ns / MS);
        assert_eq!(starts[..6], [0, 0, 0, 0, 10, 10]);
        let ends = ran.each(|exchange| exchange.end_ns / MS);
        assert_eq!(ends[..6], [10, 10, 12, 12, 20, 20]);
        // The second burst finds four connections.
        assert_eq!(starts[6..12], [100, 100, 100, 100, 110, 110]);
        assert_eq!(ends[6..12], [110, 110, 110, 110, 120, 120]);
    }
}

#[test]
fn workers_grow_by_their_own_share() {
    let mut plan = Plan {
        threads: 3,
        ..open(1_000, 3, SECOND)
    };
    plan.load.max_users = 8;
    // A tenth of a second each: all allowed connections are needed.
    let ran = World::new(plan).serves_in(98 * MS).run();
    assert_eq!(ran.accepted, 8);
    assert_eq!(ran.total.counts.connections, 8);
}
