//! Artificial runs for the tests: seconds that are the same on every machine.

use crate::keys::Keys;
use crate::state::{State, ViewStyle};
use loadline_metrics::{Key, Series, SparseCounts};
use loadline_plan::{Arrivals, Load, Plan, Rate, Request, Shape};
use loadline_record::watched::{
    GENERATOR, HostUsage, TreeUsage, Watched, WatchedHost, WatchedTree,
};
use loadline_record::{Environment, ErrorKind, Failures, Header, LoadChange, Snapshot, Summary};
use std::time::{Duration, Instant, SystemTime};

const SECOND_NS: u64 = 1_000_000_000;
/// Of the buckets of times by name.
use loadline_metrics::BITS;
const MS: u64 = 1_000_000;

/// Returns a second with `completed` responses, each after `ms` milliseconds.
pub(crate) fn second(index: u64, completed: u64, ms: u64) -> Snapshot {
    let mut second = Snapshot::empty(index * SECOND_NS);
    second.end_ns = (index + 1) * SECOND_NS;
    second.counts.planned = completed;
    second.counts.sent = completed;
    second.counts.answered = completed;
    second.counts.completed = completed;
    second.times.response.record_many_ns(ms * MS, completed);
    second.times.service.record_many_ns(ms * MS, completed);
    second.statuses.insert(200, completed);
    second
}

/// Returns a second with 2 000 responses whose times spread over three decades; each seventh second
/// is slower.
pub(crate) fn busy_second(index: u64) -> Snapshot {
    let mut second = second(index, 0, 1);
    let slower = if index % 7 == 3 { 8 } else { 1 };
    for n in 0..2_000_u64 {
        let ns = (100_000 + n * n * 2) * slower;
        second.times.response.record_ns(ns);
        second.times.service.record_ns(ns);
    }
    second.counts.planned = 2_000;
    second.counts.sent = 2_000;
    second.counts.answered = 2_000;
    second.counts.completed = 2_000 - 100 * (index % 3);
    second.counts.in_flight = 7;
    second.counts.connections = if index == 0 { 50 } else { 0 };
    second.counts.bytes_in = 312_000;
    second.counts.bytes_out = 98_000;
    second.statuses.insert(200, 2_000);
    second
}

pub(crate) fn plan() -> Plan {
    Plan {
        requests: vec![Request {
            method: "GET".to_owned(),
            url: "http://127.0.0.1:8080/shop".parse().unwrap(),
            headers: Vec::new(),
            body: loadline_plan::Body::None,
            weight: 1,
            name: None,
        }],
        load: Load {
            users: 50,
            max_users: 50,
            shape: Shape::Rate {
                rate: Rate::each_second(2_000),
                arrivals: Arrivals::Constant,
            },
        },
        duration: Some(Duration::from_secs(30)),
        checks: vec!["p99<50ms".parse().unwrap(), "errors<1%".parse().unwrap()],
        ..Plan::default()
    }
}

/// A run that is passed to a view, second by second, on a clock of its own.
pub(crate) struct Shown {
    pub(crate) state: State,
    pub(crate) summary: Summary,
    pub(crate) now: Instant,
}

impl Shown {
    /// Creates a run of this plan that has just begun.
    pub(crate) fn begun(plan: &Plan, look: ViewStyle) -> Shown {
        let header = Header::new(plan, Environment::default(), SystemTime::UNIX_EPOCH);
        let now = Instant::now();
        let mut state = State::new(Keys::Load, look);
        state.begun(&header, "", now);
        Shown {
            state,
            summary: Summary::new(header),
            now,
        }
    }

    /// Adds a second that only the timeline receives.
    pub(crate) fn unseen(&mut self, second: &Snapshot) {
        self.now += Duration::from_secs(1);
        self.summary.observe(second);
        self.state.timeline.observe(second, 0);
    }

    /// Adds a second.
    pub(crate) fn second(&mut self, second: &Snapshot) {
        self.now += Duration::from_secs(1);
        self.summary.observe(second);
        self.summary.observe_watched(&look_at_processes());
        self.state.interval(second, &self.summary, self.now);
    }
}

fn look_at_processes() -> Watched {
    let tree = |name: &str, command: &str, cpu_ms| WatchedTree {
        name: name.to_owned(),
        command: Some(command.to_owned()),
        usage: TreeUsage {
            processes: 1,
            cpu_ns: Some(cpu_ms * MS),
            rss_bytes: Some(12_000_000),
            sockets: Some(51),
            ..TreeUsage::default()
        },
        ..WatchedTree::default()
    };
    Watched {
        length_ns: SECOND_NS,
        host: WatchedHost {
            cores: Some(2),
            usage: HostUsage {
                cpu_ns: Some(900 * MS),
                memory_used_bytes: Some(2_000_000_000),
                ..HostUsage::default()
            },
            ..WatchedHost::default()
        },
        trees: vec![
            tree(GENERATOR, "loadline", 180),
            tree(":8080", "nginx", 640),
        ],
    }
}

/// Returns a second with failures of two kinds, and a status that is no success.
pub(crate) fn failing_second(index: u64) -> Snapshot {
    let mut second = busy_second(index);
    let failures = |count, example: &str| Failures {
        count,
        example: example.to_owned(),
    };
    second.errors.insert(
        ErrorKind::Connect,
        failures(40, "127.0.0.1:8080: connection refused"),
    );
    second
        .errors
        .insert(ErrorKind::Timeout, failures(3, "no response within 1 s"));
    second.counts.failed = 43;
    second.counts.sent += 43;
    second.statuses.insert(503, 200);
    second
}

/// Returns a second whose requests have this many names.
pub(crate) fn named_second(index: u64, names: u64) -> Snapshot {
    let mut second = busy_second(index);
    for n in 0..names {
        let key = Key::new(&format!("http://127.0.0.1:8080/shop/item/{n}")).unwrap();
        let bucket = loadline_metrics::bucket((1 + n) * MS, BITS);
        let series = Series {
            times: SparseCounts::from_counts([(bucket, 100 - n)].into_iter()),
            max_ns: (1 + n) * MS,
            answered: 100 - n,
            completed: 100 - n,
            failed: u64::from(n == 2),
            ..Series::default()
        };
        second.series.add(&key, &series);
    }
    second
}

/// Returns a change of the load to this share of the plan, in thousandths.
pub(crate) fn changed(share: u32) -> LoadChange {
    LoadChange {
        at_ns: 2_000_000_000,
        level: loadline_plan::Level::Share(share),
        scenario: None,
    }
}
