//! Situations and what is said of them: the table at the end is the definition of the grades.
//!
//! Each row is a run as a recorder would have seen it: when requests were due, how long they waited
//! for a connection, how late Loadline sent them, how long the target took, and what the machine
//! did.

use super::*;
use loadline_plan::{Arrivals, Check, Load, Plan, Rate};
use loadline_record::watched::{HostUsage, TreeUsage, Watched, WatchedHost, WatchedTree};
use loadline_record::{
    Ages, Dial, Distribution, Ended, Environment, Exchange, Header, HostCounters, Outcome,
    Recorder, Summary, Uncut, Workers,
};
use std::time::{Duration, SystemTime};

pub(super) const US: u64 = 1_000;
pub(super) const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;

/// How a request went: nanoseconds of waiting for a connection, of lateness, of service.
pub(super) type Went = (u64, u64, u64);

/// An open load of a rate for this many seconds, on one core.
pub(super) fn open(rate: u64, seconds: u64, went: impl Fn(u64) -> Went) -> Summary {
    let shape = Shape::Rate {
        rate: Rate::each_second(rate),
        arrivals: Arrivals::Constant,
    };
    let mut summary = Summary::new(header(shape, 50, 1_000));
    let mut recorder = Recorder::new(Model::Open);
    let gap_ns = SECOND / rate;
    for second in 0..seconds {
        recorder.planned(rate);
        for number in second * rate..(second + 1) * rate {
            let (blocked_ns, lateness_ns, service_ns) = went(number);
            let intended_ns = number * gap_ns;
            let (ready_ns, start_ns) = (
                intended_ns + blocked_ns,
                intended_ns + blocked_ns + lateness_ns,
            );
            recorder.begin();
            recorder.end(&exchange(intended_ns, ready_ns, start_ns, service_ns));
        }
        let mut interval = recorder.take((second + 1) * SECOND);
        interval.workers = workers(0.3, 0.0);
        summary.observe(&interval);
    }
    ended(summary)
}

/// A closed load of this many users for two seconds, each request of which took so long.
fn closed(users: u32, answered: u64, service_ns: u64) -> Summary {
    let mut summary = Summary::new(header(Shape::Closed, users, users));
    let mut recorder = Recorder::new(Model::Closed);
    for number in 0..answered {
        let start_ns = 2 * SECOND / answered.max(1) * number;
        recorder.begin();
        recorder.end(&exchange(start_ns, start_ns, start_ns, service_ns));
    }
    recorder.dialled(&Dial {
        connect_ns: 50 * US,
        tls_ns: None,
    });
    let mut interval = recorder.take(2 * SECOND);
    interval.workers = workers(0.5, 0.0);
    summary.observe(&interval);
    ended(summary)
}

fn exchange(intended_ns: u64, ready_ns: u64, start_ns: u64, service_ns: u64) -> Exchange {
    Exchange {
        intended_ns,
        ready_ns,
        start_ns,
        dial_ns: 0,
        resolve_ns: 0,
        tls_ns: 0,
        sent_ns: start_ns,
        first_byte_ns: start_ns + service_ns,
        end_ns: start_ns + service_ns,
        wakeup_ns: 5 * US,
        bytes_in: 100,
        bytes_out: 50,
        outcome: Outcome::Answered { status: 200 },
    }
}

fn header(shape: Shape, connections: u32, max_connections: u32) -> Header {
    let plan = Plan {
        requests: Vec::new(),
        load: Load {
            shape,
            connections,
            max_connections,
        },
        duration: Some(Duration::from_secs(2)),
        ..Plan::default()
    };
    Header::new(&plan, Environment::default(), SystemTime::UNIX_EPOCH)
}

fn ended(mut summary: Summary) -> Summary {
    summary.host = HostCounters {
        cpu_ticks: 2_000,
        segments: 4_000,
        ..HostCounters::default()
    };
    summary.finish(Ended::Duration, Unfinished::default());
    summary
}

/// A worker that used the CPU and waited for it for these shares of a second.
fn workers(cpu: f64, queued: f64) -> Workers {
    let times = WorkerTimes {
        wall_ns: SECOND,
        cpu_ns: (cpu * 1e9) as u64,
        queued_ns: (queued * 1e9) as u64,
        ..WorkerTimes::default()
    };
    [(0, times)].into()
}

fn with(mut summary: Summary, change: impl FnOnce(&mut Summary)) -> Summary {
    change(&mut summary);
    summary
}

fn busy(summary: Summary, cpu: f64, queued: f64) -> Summary {
    with(summary, |summary| {
        summary.total.workers = workers(cpu, queued)
    })
}

/// The same with a tail: the last in a hundred has another value.
fn one_in_100(number: u64, usual: u64, rare: u64) -> u64 {
    if number % 100 >= 98 { rare } else { usual }
}

/// What the load at low load is: no wait, half a microsecond late, 200 µs of service.
pub(super) fn at_ease(_: u64) -> Went {
    (0, 500, 200 * US)
}

/// The service of a target of 60 µs whose last hundredth spreads out: two in a thousand requests
/// lie between 0.4 and 2 ms.
fn sparse_tail(number: u64) -> u64 {
    match number % 1_000 {
        rank @ 0..20 => (2_000 / (rank + 1)) * US,
        _ => 60 * US,
    }
}

/// A thousand requests to such a target, of which three were late by half a millisecond.
fn three_late() -> Summary {
    open(1_000, 1, |number| match number {
        700..703 => (0, 500 * US, sparse_tail(number)),
        _ => (0, 500, sparse_tail(number)),
    })
}

/// This many arrivals were never sent, for want of a connection or not.
fn unsent(summary: Summary, by_target: u64, by_plan: u64, by_loadline: u64) -> Summary {
    with(summary, |summary| {
        let unsent = by_target + by_plan + by_loadline;
        summary.total.counts.sent -= unsent;
        summary.total.counts.answered -= unsent;
        summary.unfinished = Unfinished {
            unsent,
            by_target,
            by_plan,
            by_loadline,
            ages: ages(&vec![SECOND; unsent as usize], &[]),
            ..Unfinished::default()
        };
    })
}

fn limited(summary: Summary) -> Summary {
    with(summary, |summary| {
        summary.plan.request_limit = Some(summary.total.counts.answered);
    })
}

fn in_flight(summary: Summary, ages_ns: &[u64]) -> Summary {
    with(summary, |summary| {
        summary.total.counts.in_flight = ages_ns.len() as u64;
        summary.unfinished = Unfinished {
            in_flight: ages_ns.len() as u64,
            ages: ages(ages_ns, ages_ns),
            ..Unfinished::default()
        };
    })
}

fn ages(response: &[u64], service: &[u64]) -> Ages {
    let of = |ages_ns: &[u64]| {
        let mut ages = Distribution::default();
        ages_ns.iter().for_each(|ns| ages.record_ns(*ns));
        ages
    };
    Ages {
        response: of(response),
        service: of(service),
        ..Ages::default()
    }
}

/// Two connections' worth of a plan: a rate of 400/s to a target that takes 110 ms for each.
fn through_50_connections() -> Summary {
    let summary = open(400, 4, |_| (60 * MS, 500, 110 * MS));
    with(summary, |summary| summary.plan.load.max_connections = 50)
}

/// Half a second in each ten in which the target stalls, with connections to spare.
fn freezing() -> Summary {
    open(500, 10, |number| match number % 5_000 {
        late @ 0..250 => (0, 500, (250 - late) * 2 * MS),
        _ => at_ease(number),
    })
}

/// A machine of two cores on which the target used most of one and a half.
fn watched_beside_target(summary: Summary) -> Summary {
    with(summary, |summary| {
        let tree = |name: &str, cpu_ns| WatchedTree {
            name: name.to_owned(),
            usage: TreeUsage {
                cpu_ns: Some(cpu_ns),
                ..TreeUsage::default()
            },
            ..WatchedTree::default()
        };
        let watched = Watched {
            length_ns: SECOND,
            host: WatchedHost {
                cores: Some(2),
                usage: HostUsage {
                    cpu_ns: Some(1_950 * MS),
                    ..HostUsage::default()
                },
                ..WatchedHost::default()
            },
            trees: vec![tree(GENERATOR, 600 * MS), tree("port:8080", 1_300 * MS)],
        };
        summary.observe_watched(&watched);
    })
}

pub(super) fn checked_by(summary: Summary, check: &str) -> Summary {
    let check: Check = check.parse().expect("a check");
    with(summary, |summary| summary.plan.checks = vec![check])
}

fn with_user_clock(summary: Summary) -> Summary {
    with(summary, |summary| {
        summary.plan.connection.clock = Clock::User;
    })
}

fn stood_still(summary: Summary, stalled_ns: u64) -> Summary {
    with(summary, |summary| {
        let worker = summary.total.workers.entry(0).or_default();
        worker.add_loop_iterations(stalled_ns, 1);
    })
}

/// A run, the grade that it deserves, and the kinds of what is found, the gravest first.
type Situation = (&'static str, Summary, Grade, &'static [&'static str]);

#[test]
fn every_situation_has_the_grade_that_it_deserves() {
    use Grade::{Invalid, Suspect, Valid};
    let table: Vec<Situation> = [
        healthy(),
        our_delay(),
        busy_without_effect(),
        limits_of_the_plan(),
        never_sent(),
        closed_loads(),
    ]
    .concat();
    let mut wrong = Vec::new();
    for (name, summary, grade, kinds) in table {
        let found = validity(&summary);
        let names: Vec<&str> = found.findings.iter().map(|f| f.reason.name()).collect();
        if (found.grade(), &names[..]) != (grade, kinds) {
            wrong.push(format!("{name}: {:?} {:?}", found.grade(), found.findings));
        }
    }
    assert_eq!(wrong, [""; 0], "{:?}", [Valid, Suspect, Invalid]);
}

fn healthy() -> Vec<Situation> {
    use Grade::Valid;
    vec![
        ("an open load at ease", open(500, 4, at_ease), Valid, &[]),
        (
            "a slow target at 100/s, with fifteen responses still to come",
            in_flight(open(100, 4, |_| (0, 500, 150 * MS)), &[75 * MS; 15]),
            Valid,
            &[],
        ),
        (
            "ten a second of 50 ms, none of them in flight where seconds end",
            open(10, 10, |_| (0, 500, 50 * MS)),
            Valid,
            &[],
        ),
        (
            "a target that stands still for a moment",
            freezing(),
            Valid,
            &[],
        ),
        (
            "a target that stalled for good and was given up on",
            in_flight(open(500, 4, at_ease), &[2 * SECOND; 400]),
            Valid,
            &[],
        ),
        (
            "a closed load whose users wait for the target alone",
            closed(50, 10_000, 9_900 * US),
            Valid,
            &[],
        ),
        (
            "a p99 that three late requests move by two ranks of a sparse tail",
            three_late(),
            Valid,
            &[],
        ),
        (
            "the same where a check names the mean",
            checked_by(three_late(), "mean<1ms"),
            Valid,
            &[],
        ),
        (
            "three milliseconds late where responses take half a second",
            open(100, 4, |_| (0, 3 * MS, 500 * MS)),
            Valid,
            &[],
        ),
    ]
}

fn our_delay() -> Vec<Situation> {
    use Grade::{Invalid, Suspect};
    let slow_core = |rate, late_ns, service_ns| {
        open(rate, 2, move |number| {
            (0, one_in_100(number, 20 * US, late_ns), service_ns)
        })
    };
    let two_hundred = || slow_core(200, 458 * US, 224 * US);
    vec![
        (
            "200/s, the p99 of which is mostly lateness",
            two_hundred(),
            Suspect,
            &["late"],
        ),
        (
            "2 000/s of the same kind",
            slow_core(2_000, 99 * US, 66 * US),
            Suspect,
            &["late"],
        ),
        (
            "8 000/s of the same kind",
            slow_core(8_000, 388 * US, 121 * US),
            Suspect,
            &["late"],
        ),
        (
            "100/s for 2 s, most of them late by half a millisecond",
            open(100, 2, |number| {
                (0, if number % 3 == 0 { 500 } else { 500 * US }, 200 * US)
            }),
            Suspect,
            &["late"],
        ),
        (
            "a stall of our own of 50 ms in a second",
            open(1_000, 1, |number| match number {
                500..550 => (0, (550 - number) * MS, sparse_tail(number)),
                _ => (0, 500, sparse_tail(number)),
            }),
            Suspect,
            &["late"],
        ),
        (
            "a mean that a stall of our own moved, and that a check names",
            checked_by(
                open(1_000, 1, |number| match number {
                    500..505 => (0, (505 - number) * 20 * MS, 200 * US),
                    _ => at_ease(number),
                }),
                "mean<1s",
            ),
            Suspect,
            &["late"],
        ),
        (
            "a check that three late requests break",
            checked_by(three_late(), "p99<200us"),
            Invalid,
            &["decisive"],
        ),
        (
            "a check that lateness alone breaks",
            checked_by(two_hundred(), "p99<500us"),
            Invalid,
            &["decisive", "late"],
        ),
        (
            "a check that lateness does not decide",
            checked_by(two_hundred(), "p99<10ms"),
            Suspect,
            &["late"],
        ),
        (
            "a p99.9 that is lateness, and that a check names",
            checked_by(
                open(1_000, 4, |number| {
                    let late_ns = if number % 200 == 0 { 2 * MS } else { 500 };
                    (0, late_ns, 200 * US)
                }),
                "p99.9<10ms",
            ),
            Suspect,
            &["late"],
        ),
        (
            "a process that was stopped for a second and made up for it",
            stood_still(
                open(500, 4, |number| match number {
                    500..1_000 => (0, (1_000 - number) * 2 * MS, 200 * US),
                    _ => at_ease(number),
                }),
                SECOND,
            ),
            Suspect,
            &["late", "stood_still"],
        ),
        (
            "an open load without stamps on a worker that has no time to look",
            busy(with_user_clock(open(500, 4, at_ease)), 0.91, 0.0),
            Suspect,
            &["unstamped", "busy"],
        ),
    ]
}

fn busy_without_effect() -> Vec<Situation> {
    use Grade::Valid;
    let fast = |rate| {
        open(rate, 1, |number| {
            (0, one_in_100(number, 300, 47 * US), 60 * US)
        })
    };
    let polled = with(fast(30_000), |summary| {
        let worker = summary.total.workers.entry(0).or_default();
        (worker.cpu_ns, worker.polled_ns) = (984 * MS, 700 * MS);
    });
    vec![
        (
            "30 000/s on a core that polls before each deadline",
            polled,
            Valid,
            &[],
        ),
        (
            "20 000/s on one core",
            busy(fast(20_000), 0.83, 0.0),
            Valid,
            &[],
        ),
        (
            "200 000/s on one core, all of it computed",
            busy(fast(200_000), 0.99, 0.0),
            Valid,
            &["busy"],
        ),
        (
            "responses of 50 ms on a core that is busy for 90 %",
            busy(open(1_000, 2, |_| (0, 20 * US, 50 * MS)), 0.9, 0.0),
            Valid,
            &["busy"],
        ),
        (
            "a laptop with other work",
            busy(open(500, 2, at_ease), 0.2, 0.31),
            Valid,
            &["crowded"],
        ),
        (
            "segments of a neighbour lost",
            with(open(500, 2, at_ease), |summary| {
                summary.host.retransmitted = 80;
            }),
            Valid,
            &["lost"],
        ),
        (
            "a hypervisor that takes its share",
            with(open(500, 2, at_ease), |summary| {
                summary.host.steal_ticks = 160;
            }),
            Valid,
            &["stolen"],
        ),
        (
            "arrivals displaced by less than shows in a figure",
            with(open(500, 2, at_ease), |summary| {
                (summary.arrivals.requests, summary.arrivals.displaced) = (1_000, 60);
            }),
            Valid,
            &["bunched"],
        ),
    ]
}

fn limits_of_the_plan() -> Vec<Situation> {
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

fn never_sent() -> Vec<Situation> {
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
            stood_still(unsent(open(500, 3, at_ease), 0, 0, 501), 4 * SECOND),
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

fn closed_loads() -> Vec<Situation> {
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
            stood_still(closed(50, 10_000, 9_900 * US), SECOND / 4),
            Invalid,
            &["stood_still"],
        ),
    ]
}

#[test]
fn who_had_the_core_is_said_where_it_was_watched() {
    let by_target = |summary: &Summary| {
        let findings = validity(summary).findings;
        findings.iter().any(|found| {
            matches!(
                found.reason,
                Reason::Crowded {
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
    let Reason::Decisive { effect, is_kept } = validity(&summary).findings[0].reason else {
        panic!("{:?}", validity(&summary));
    };
    assert!(!is_kept);
    assert!(
        effect.with_ns > 100e6 && effect.without_ns < 6e6,
        "{effect:?}"
    );
}
