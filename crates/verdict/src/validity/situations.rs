//! Situations and their grades: the tables of its modules define them.
//!
//! Each row is a run as a recorder would have seen it: when requests were due, how long they waited
//! for a connection, how late Loadline sent them, how long the target took, and what the machine
//! did.

mod generator;
mod limits;
mod runs;

use super::*;
use generator::{busy_without_effect, delayed, delayed_with_checks, healthy};
use limits::{closed_loads, limits_of_the_plan, never_sent};
use loadline_record::{Summary, Uncut};
use runs::busy;
pub(super) use runs::*;

/// A run, the grade that it deserves, and the kinds of what is found, the gravest first.
type Situation = (&'static str, Summary, Grade, &'static [&'static str]);

#[test]
fn every_situation_has_the_grade_that_it_deserves() {
    use Grade::{Invalid, Suspect, Valid};
    let table: Vec<Situation> = [
        healthy(),
        delayed(),
        delayed_with_checks(),
        busy_without_effect(),
        limits_of_the_plan(),
        never_sent(),
        closed_loads(),
    ]
    .concat();
    let mut wrong = Vec::new();
    for (name, summary, grade, kinds) in table {
        let found = validity(&summary);
        let names: Vec<&str> = found.list.iter().map(|f| f.cause.name()).collect();
        if (found.grade(), &names[..]) != (grade, kinds) {
            wrong.push(format!("{name}: {:?} {:?}", found.grade(), found.list));
        }
    }
    assert_eq!(wrong, [""; 0], "{:?}", [Valid, Suspect, Invalid]);
}

#[test]
fn who_had_the_core_is_said_where_it_was_watched() {
    let by_target = |summary: &Summary| {
        let findings = validity(summary).list;
        findings.iter().any(|found| {
            matches!(
                found.cause,
                Cause::Crowded {
                    by_target: true,
                    ..
                }
            )
        })
    };
    let crowded = busy(closed(50, 10_000, 9_900 * US), 0.3, 0.4);
    assert!(!by_target(&crowded));
    assert!(by_target(&watched_beside_target(crowded)));
}

#[test]
fn a_figure_is_told_with_and_without_our_delay() {
    let late = open(200, 2, |number| {
        (0, one_in_100(number, 20 * US, 458 * US), 224 * US)
    });
    let p99 = own_delay(&late, Statistic::Percentile(99.0)).expect("an affected p99");
    let near = |ns: f64, expected: f64| (ns - expected).abs() < expected / 500.0;
    assert!(
        near(p99.with_ns, 682e3) && near(p99.without_ns, 224e3),
        "{p99:?}"
    );
    assert_eq!(own_delay(&late, Statistic::Percentile(50.0)), None);
    assert_eq!(
        own_delay(&closed(2, 100, MS), Statistic::Percentile(99.0)),
        None
    );
}

#[test]
fn a_wait_that_the_plan_made_is_told_apart_from_the_service() {
    let limited = through_50_connections();
    let p50 = plan_wait(&limited, Statistic::Percentile(50.0)).expect("an affected p50");
    assert!(p50.with_ns > 169e6 && p50.without_ns < 112e6, "{p50:?}");
    assert_eq!(plan_wait(&freezing(), Statistic::Percentile(99.0)), None);
}

#[test]
fn our_delay_in_the_beginning_that_was_left_out_may_decide_a_check_too() {
    let slow = open(100, 10, |_| (0, 100 * MS, 5 * MS));
    let mut summary = checked_by(open(100, 10, at_ease), "p99<50ms");
    assert_eq!(validity(&summary).grade(), Grade::Valid);
    summary.uncut = Some(Box::new(Uncut {
        rated_ns: slow.rated_ns(),
        total: slow.total,
        response_blocks: slow.response_blocks,
        service_blocks: slow.service_blocks,
    }));
    let Cause::Decisive { effect, passed } = validity(&summary).list[0].cause else {
        panic!("{:?}", validity(&summary));
    };
    assert!(!passed);
    assert!(
        effect.with_ns > 100e6 && effect.without_ns < 6e6,
        "{effect:?}"
    );
}
