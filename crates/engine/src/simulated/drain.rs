//! The drain: unfinished exchanges at the end of the time are awaited, and nothing else is begun.

use super::plans::{MS, SECOND, US, closed, open, time};
use super::server::Reply;
use super::world::World;
use crate::EndReason;
use loadline_plan::Plan;

fn draining(mut plan: Plan, drain_ns: u64) -> World {
    plan.connection.drain = time(drain_ns);
    let mut world = World::new(plan);
    world.latency_ns = 5 * US;
    world
}

#[test]
fn slow_answers_are_waited_for_and_no_rate_is_taken_of_them() {
    // Every hundredth request takes 1.5 s.
    let mut plan = open(1_000, 100, 2 * SECOND);
    plan.load.max_users = 500;
    for threads in [1, 2] {
        let plan = Plan {
            threads,
            ..plan.clone()
        };
        let is_slow = |at_ns: u64| (at_ns / MS) % 100 == 50;
        let ran = draining(plan, 2 * SECOND)
            .script(move |seen| {
                let long = is_slow(seen.at_ns);
                Reply::ok().after(if long { 1_500 * MS } else { 0 })
            })
            .run();
        assert_eq!(ran.counts(), [2_000, 2_000, 2_000, 0, 0]);
        assert_eq!(ran.left(), [0, 0, 0]);
        // Fifteen of the twenty slow ones end after the window.
        assert_eq!(ran.total.counts.completed, 1_985);
        assert_eq!(ran.total.end_ns, 2 * SECOND);
        let drain = ran.intervals.last().unwrap();
        assert!(drain.drain && drain.counts.answered == 15);
        assert_eq!(ran.intervals.len(), 3);
        let response = &ran.total.times.response;
        assert_eq!(response.len() - response.count_up_to_ns(SECOND), 20);
        assert_eq!(ran.reason, EndReason::Duration);
    }
}

#[test]
fn a_drain_ends_at_its_bound() {
    let for_good = 8 * SECOND..100 * SECOND;
    let ran = draining(open(2_000, 50, 10 * SECOND), 200 * MS)
        .at(0, move |hands| hands.server.freeze(for_good))
        .run();
    assert_eq!(ran.counts(), [20_000, 16_050, 16_000, 0, 50]);
    assert_eq!(ran.left(), [50, 3_950, 2_200 * MS]);
    assert_eq!(ran.causes(), [3_950, 0, 0]);
    let drain = ran.intervals.last().unwrap();
    assert_eq!((drain.start_ns, drain.end_ns), (10 * SECOND, 10_200 * MS));
    // The youngest is as old as the drain is long.
    assert!(ran.unfinished.ages.response.min_ns() >= 199 * MS);
}

#[test]
fn a_drain_to_an_age_ends_when_the_youngest_has_it() {
    // The users' last requests begin at 800 ms at most; the window ends at 1 s.
    let frozen = |drains_to_age| {
        let mut plan = closed(4, SECOND);
        plan.connection.drains_to_age = drains_to_age;
        let for_good = 800 * MS..100 * SECOND;
        draining(plan, 500 * MS)
            .at(0, move |hands| hands.server.freeze(for_good))
            .run()
    };
    let (to_age, in_full) = (frozen(true), frozen(false));
    assert_eq!((to_age.left()[0], in_full.left()[0]), (4, 4));
    let end_ns = to_age.intervals.last().unwrap().end_ns;
    assert!((1_299 * MS..=1_300 * MS).contains(&end_ns), "{end_ns}");
    assert_eq!(in_full.intervals.last().unwrap().end_ns, 1_500 * MS);
    assert!(to_age.unfinished.ages.service.min_ns() >= 499 * MS);
}

#[test]
fn nothing_is_waited_for_that_is_older_than_the_age_already() {
    let mut plan = closed(4, SECOND);
    plan.connection.drains_to_age = true;
    let ran = draining(plan, 100 * MS)
        .at(0, |hands| hands.server.freeze(800 * MS..100 * SECOND))
        .run();
    assert_eq!(ran.left()[0], 4);
    assert_eq!(ran.intervals.last().unwrap().end_ns, SECOND);
}

#[test]
fn arrivals_that_waited_for_a_connection_are_sent_in_the_drain() {
    // One connection, 20 ms each, two due in that time.
    let ran = draining(open(100, 1, SECOND), 10 * SECOND)
        .serves_in(20 * MS - 10 * US)
        .run();
    assert_eq!(ran.counts(), [100, 100, 100, 0, 0]);
    assert_eq!(ran.total.counts.completed, 50);
    let response = &ran.total.times.response;
    assert_eq!(response.max_ns() / MS, 1_010);
    let drain = ran.intervals.last().unwrap();
    assert_eq!(
        drain.end_ns,
        2 * SECOND + 10 * US,
        "it ends with the last answer"
    );
}

#[test]
fn a_closed_load_begins_nothing_in_the_drain() {
    let ran = draining(closed(4, SECOND), SECOND)
        .serves_in(300 * MS - 10 * US)
        .run();
    assert_eq!(ran.counts(), [16, 16, 16, 0, 0]);
    assert_eq!(ran.total.counts.completed, 12);
    assert_eq!(ran.intervals.last().unwrap().end_ns, 1_200 * MS);
    assert_eq!(ran.total.counts.flight_ns, 4 * SECOND);
}

#[test]
fn a_stop_ends_the_drain() {
    let ran = draining(closed(4, SECOND), 10 * SECOND)
        .serves_in(5 * SECOND)
        .at(1_500 * MS, |hands| hands.handle.stop())
        .run();
    assert_eq!(ran.counts(), [4, 4, 0, 0, 4]);
    assert_eq!(ran.reason, EndReason::Stopped);
    let drain = ran.intervals.last().unwrap();
    assert!(drain.end_ns < 1_700 * MS, "{}", drain.end_ns);
}

#[test]
fn nothing_unfinished_is_waited_for_in_no_time() {
    let ran = draining(open(100, 4, SECOND), 10 * SECOND).run();
    assert_eq!(ran.counts(), [100, 100, 100, 0, 0]);
    assert_eq!(ran.intervals.last().unwrap().end_ns, SECOND);
}
