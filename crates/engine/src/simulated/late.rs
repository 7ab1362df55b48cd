//! Arrivals that the worker handles late: they are late, and dropped only if no user was free when
//! they fell due.

use super::interrupted::{Waiting, dropping};
use super::plans::{MS, open};
use super::world::World;
use loadline_plan::Plan;
use proptest::prelude::*;

/// A second of 100 arrivals, or a little more, so that late arrivals can be begun.
const WINDOW: u64 = 1_000 * MS;

/// Runs users that wait in each iteration, while the worker stalls at each `(at, for)`.
fn stalled(plan: Plan, users: &Waiting, stalls: &[(u64, u64)]) {
    let mut world = World::new(dropping(plan));
    for (at_ns, for_ns) in stalls.iter().copied() {
        world = world.at(at_ns, move |hands| hands.sim.stall(for_ns));
    }
    world.run_sending_nothing(users.clone());
}

/// Returns the number of iterations begun, and of arrivals dropped.
fn fate(users: &Waiting) -> (usize, u64) {
    (users.passes.borrow().len(), users.dropped.get())
}

#[test]
fn a_worker_that_begins_late_drops_nothing() {
    for late_ns in [MS, 30 * MS, 300 * MS] {
        let users = Waiting::new(MS);
        stalled(open(10, 5, WINDOW), &users, &[(0, late_ns)]);
        assert_eq!(fate(&users), (10, 0), "late by {late_ns} ns");
    }
}

#[test]
fn what_falls_due_while_the_only_user_is_busy_is_dropped_however_late_the_worker_is() {
    // The user is busy from 0 to 100 ms, and so on: one of ten arrivals finds it free.
    let plan = || open(100, 1, WINDOW);
    let prompt = Waiting::new(99 * MS);
    stalled(plan(), &prompt, &[]);
    assert_eq!(fate(&prompt), (10, 90));
    let late = Waiting::new(99 * MS);
    stalled(plan(), &late, &[(15 * MS, 80 * MS), (415 * MS, 5 * MS)]);
    assert_eq!(fate(&late), (10, 90));
}

#[test]
fn of_what_falls_due_in_a_stall_the_part_is_dropped_that_found_nobody() {
    // One of two users is free when the worker stalls, and busy from the end of the stall, at 66
    // ms.
    let users = Waiting::new(400 * MS);
    stalled(open(100, 2, 300 * MS), &users, &[(5 * MS, 61 * MS)]);
    // The arrivals up to 60 ms were due while it was free.
    assert_eq!(users.dropped.get(), 23);
    let begun: Vec<u64> = users.passes.borrow().iter().map(|pass| pass.1).collect();
    assert_eq!(begun, [0, 66 * MS]);
}

/// Returns the same numbers for arrivals every 10 ms, if users are busy for this long and nothing
/// is late.
fn without_lateness(arrivals: u64, users: usize, busy_ns: u64) -> (usize, u64) {
    let mut free_from_ns = vec![0; users];
    let (mut begun, mut dropped) = (0, 0);
    for at_ns in (0..arrivals).map(|index| 10 * MS * index) {
        match free_from_ns.iter_mut().find(|from_ns| **from_ns <= at_ns) {
            Some(from_ns) => {
                *from_ns = at_ns + busy_ns;
                begun += 1;
            }
            None => dropped += 1,
        }
    }
    (begun, dropped)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_dropped_while_users_are_free(
        users in 1_u32..6,
        // The sum of all stalls ends within the window, in which late arrivals can be begun.
        stalls in prop::collection::vec((0..500 * MS, MS..90 * MS), 0..5),
    ) {
        let waiting = Waiting::new(0);
        stalled(open(100, users, WINDOW), &waiting, &stalls);
        prop_assert_eq!(fate(&waiting), (100, 0));
    }

    #[test]
    fn a_prompt_worker_drops_what_finds_no_user_and_nothing_else(
        users in 1_usize..6,
        // Never ends at the instant of an arrival, when either order would be right.
        busy_ns in (0..300_u64).prop_map(|ms| ms * MS + MS / 2),
    ) {
        let waiting = Waiting::new(busy_ns);
        stalled(open(100, users as u32, WINDOW), &waiting, &[]);
        prop_assert_eq!(fate(&waiting), without_lateness(100, users, busy_ns));
    }

    #[test]
    fn stalls_while_all_users_are_busy_change_nothing(
        users in 1_usize..4,
        stalls in prop::collection::vec((30..45_u64, 1..40_u64), 0..8),
    ) {
        // All are busy from 10 ms after each 100 ms on at the latest, for 95 ms in all.
        let busy_ns = 95 * MS;
        let waiting = Waiting::new(busy_ns);
        let within: Vec<(u64, u64)> = (0..).zip(&stalls)
            .map(|(index, (at, length))| ((100 * index + at) * MS, length * MS))
            .collect();
        stalled(open(100, users as u32, WINDOW), &waiting, &within);
        prop_assert_eq!(fate(&waiting), without_lateness(100, users, busy_ns));
    }
}
