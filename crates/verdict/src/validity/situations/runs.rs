//! The runs of the situations, as a recorder would have seen them.

use crate::validity::*;
use loadline_plan::{Arrivals, Check, Load, Plan, Rate, Think};
use loadline_record::watched::{HostUsage, TreeUsage, Watched, WatchedHost, WatchedTree};
use loadline_record::{
    Ages, Dial, Distribution, Ended, Environment, Exchange, Header, HostCounters, Outcome,
    Recorder, Summary, Workers,
};
use std::time::{Duration, SystemTime};

pub(crate) const US: u64 = 1_000;
pub(crate) const MS: u64 = 1_000_000;
pub(crate) const SECOND: u64 = 1_000_000_000;

/// The times of a request in nanoseconds: the wait for a connection, the lateness, the service.
pub(crate) type Went = (u64, u64, u64);

/// An open load of a rate for this many seconds, on one core.
pub(crate) fn open(rate: u64, seconds: u64, went: impl Fn(u64) -> Went) -> Summary {
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
            recorder.begin(start_ns);
            recorder.end(&exchange(intended_ns, ready_ns, start_ns, service_ns));
        }
        let mut interval = recorder.take((second + 1) * SECOND);
        interval.workers = workers(0.3, 0.0);
        summary.observe(&interval);
    }
    ended(summary)
}

/// A closed load of this many users for two seconds, whose requests each took this long.
pub(crate) fn closed(users: u32, answered: u64, service_ns: u64) -> Summary {
    let mut summary = Summary::new(header(Shape::Closed, users, users));
    let mut recorder = Recorder::new(Model::Closed);
    for number in 0..answered {
        let start_ns = 2 * SECOND / answered.max(1) * number;
        recorder.begin(start_ns);
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

pub(crate) fn exchange(
    intended_ns: u64,
    ready_ns: u64,
    start_ns: u64,
    service_ns: u64,
) -> Exchange {
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
        request: None,
    }
}

pub(crate) fn header(shape: Shape, connections: u32, max_connections: u32) -> Header {
    let plan = Plan {
        requests: Vec::new(),
        load: Load {
            shape,
            users: connections,
            max_users: max_connections,
        },
        duration: Some(Duration::from_secs(2)),
        ..Plan::default()
    };
    Header::new(&plan, Environment::default(), SystemTime::UNIX_EPOCH)
}

pub(crate) fn ended(mut summary: Summary) -> Summary {
    summary.host = HostCounters {
        cpu_ticks: 2_000,
        segments: 4_000,
        ..HostCounters::default()
    };
    summary.finish(Ended::Duration, Unfinished::default());
    summary
}

/// A worker that used the CPU and waited for it for these shares of a second.
pub(crate) fn workers(cpu: f64, queued: f64) -> Workers {
    let times = WorkerTimes {
        wall_ns: SECOND,
        cpu_ns: (cpu * 1e9) as u64,
        queued_ns: (queued * 1e9) as u64,
        ..WorkerTimes::default()
    };
    [(0, times)].into()
}

pub(crate) fn with(mut summary: Summary, change: impl FnOnce(&mut Summary)) -> Summary {
    change(&mut summary);
    summary
}

pub(crate) fn busy(summary: Summary, cpu: f64, queued: f64) -> Summary {
    with(summary, |summary| {
        summary.total.workers = workers(cpu, queued)
    })
}

/// The same with a tail: the last in a hundred has another value.
pub(crate) fn one_in_100(number: u64, usual: u64, rare: u64) -> u64 {
    if number % 100 >= 98 { rare } else { usual }
}

/// Returns the times at low load: no wait, half a microsecond of lateness, 200 µs of service.
pub(crate) fn at_ease(_: u64) -> Went {
    (0, 500, 200 * US)
}

/// The service of a target of 60 µs whose last hundredth spreads out: two in a thousand requests
/// lie between 0.4 and 2 ms.
pub(crate) fn sparse_tail(number: u64) -> u64 {
    match number % 1_000 {
        rank @ 0..20 => (2_000 / (rank + 1)) * US,
        _ => 60 * US,
    }
}

/// A thousand requests to such a target; three of them were late by half a millisecond.
pub(crate) fn three_late() -> Summary {
    open(1_000, 1, |number| match number {
        700..703 => (0, 500 * US, sparse_tail(number)),
        _ => (0, 500, sparse_tail(number)),
    })
}

/// This many arrivals were never sent, because no connection was free or for another reason.
pub(crate) fn unsent(summary: Summary, by_target: u64, by_plan: u64, by_loadline: u64) -> Summary {
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

pub(crate) fn limited(summary: Summary) -> Summary {
    with(summary, |summary| {
        summary.plan.request_limit = Some(summary.total.counts.answered);
    })
}

pub(crate) fn thinking(summary: Summary) -> Summary {
    with(summary, |summary| {
        summary.plan.think = Some(Think::Constant(Duration::from_millis(1)));
    })
}

pub(crate) fn in_flight(summary: Summary, ages_ns: &[u64]) -> Summary {
    with(summary, |summary| {
        summary.total.counts.in_flight = ages_ns.len() as u64;
        summary.unfinished = Unfinished {
            in_flight: ages_ns.len() as u64,
            ages: ages(ages_ns, ages_ns),
            ..Unfinished::default()
        };
    })
}

pub(crate) fn ages(response: &[u64], service: &[u64]) -> Ages {
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
pub(crate) fn through_50_connections() -> Summary {
    let summary = open(400, 4, |_| (60 * MS, 500, 110 * MS));
    with(summary, |summary| summary.plan.load.max_users = 50)
}

/// Half a second in each ten in which the target stalls, with connections to spare.
pub(crate) fn freezing() -> Summary {
    open(500, 10, |number| match number % 5_000 {
        late @ 0..250 => (0, 500, (250 - late) * 2 * MS),
        _ => at_ease(number),
    })
}

/// A machine of two cores on which the target used most of one and a half.
pub(crate) fn watched_beside_target(summary: Summary) -> Summary {
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

pub(crate) fn checked_by(summary: Summary, check: &str) -> Summary {
    let check: Check = check.parse().expect("a check");
    with(summary, |summary| summary.plan.checks = vec![check])
}

pub(crate) fn with_user_clock(summary: Summary) -> Summary {
    with(summary, |summary| {
        summary.plan.connection.clock = Clock::User;
    })
}

pub(crate) fn stalled(summary: Summary, stalled_ns: u64) -> Summary {
    with(summary, |summary| {
        let worker = summary.total.workers.entry(0).or_default();
        worker.add_loop_iterations(stalled_ns, 1);
    })
}
