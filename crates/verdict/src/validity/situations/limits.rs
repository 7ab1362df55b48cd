//! Runs that the plan limited, or whose arrivals were never sent, and closed loads.

use super::Situation;
use super::runs::*;
use loadline_findings::Grade;

pub(crate) fn limits_of_the_plan() -> Vec<Situation> {
    use Grade::{Suspect, Valid};
    vec![
        (
            "400/s of 110 ms through 50 connections",
            through_50_connections(),
            Suspect,
            &["plan_limit"],
        ),
        (
            "the same through 500",
            open(400, 4, |_| (0, 500, 110 * MS)),
            Valid,
            &[],
        ),
        (
            "more asked than the plan's connections carry",
            unsent(through_50_connections(), 0, 200, 0),
            Suspect,
            &["plan_limit"],
        ),
        (
            "a target that keeps all connections busy",
            unsent(open(500, 4, at_ease), 200, 0, 0),
            Suspect,
            &["unsent"],
        ),
    ]
}

pub(crate) fn never_sent() -> Vec<Situation> {
    use Grade::{Invalid, Valid};
    vec![
        (
            "a process that was stopped until its run was over",
            unsent(open(500, 5, at_ease), 0, 0, 898),
            Invalid,
            &["unsent"],
        ),
        (
            "a process that was stopped from 2 s on, and went on at 6 s",
            stalled(unsent(open(500, 3, at_ease), 0, 0, 501), 4 * SECOND),
            Invalid,
            &["unsent", "stood_still"],
        ),
        (
            "a handful that fell due at the very end",
            unsent(open(500, 5, at_ease), 0, 0, 3),
            Valid,
            &[],
        ),
    ]
}

pub(crate) fn closed_loads() -> Vec<Situation> {
    use Grade::{Invalid, Suspect, Valid};
    let quick = || closed(100, 400_000, 490 * US);
    let unix = with(busy(quick(), 0.86, 0.0), |summary| {
        summary.plan.connection.unix_socket = Some("s".into());
    });
    vec![
        (
            "a saturated worker, stamped by the kernel",
            busy(quick(), 0.86, 0.0),
            Valid,
            &["limit"],
        ),
        (
            "a saturated worker with our own clock",
            busy(with_user_clock(quick()), 0.86, 0.0),
            Suspect,
            &["unstamped", "limit"],
        ),
        (
            "a saturated worker over a Unix socket",
            unix,
            Suspect,
            &["unstamped", "limit"],
        ),
        (
            "an idle worker with our own clock",
            with_user_clock(closed(50, 10_000, 9_900 * US)),
            Valid,
            &[],
        ),
        (
            "seven of ten users with the target",
            closed(10, 7_000, 2 * MS),
            Valid,
            &["own_queue"],
        ),
        (
            "seven of ten users with the target, and three that think",
            thinking(closed(10, 7_000, 2 * MS)),
            Valid,
            &[],
        ),
        (
            "half of the users in a last round of a number of requests",
            limited(closed(50, 75, SECOND)),
            Valid,
            &[],
        ),
        (
            "seven of ten users with the target, of a number of requests",
            limited(closed(10, 7_000, 2 * MS)),
            Valid,
            &["own_queue"],
        ),
        (
            "a target that hangs",
            in_flight(closed(2, 0, 0), &[2 * SECOND; 2]),
            Valid,
            &[],
        ),
        (
            "a target that hangs after three quarters of the run",
            in_flight(closed(50, 30_000, 2_400 * US), &[SECOND / 2; 50]),
            Valid,
            &[],
        ),
        (
            "a target on the same machine that takes the cores",
            watched_beside_target(busy(closed(50, 10_000, 9_900 * US), 0.3, 0.4)),
            Valid,
            &["crowded"],
        ),
        (
            "a process that was stopped for a quarter of a closed load",
            stalled(closed(50, 10_000, 9_900 * US), SECOND / 4),
            Invalid,
            &["stood_still"],
        ),
    ]
}
