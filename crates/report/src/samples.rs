//! Made-up runs for the tests: exchanges on a virtual clock, through real recorders.

mod recording;
mod warnings;

use loadline_metrics::{
    CustomRecorder, Key, MetricKind, MetricUnit, RequestOutcome, SeriesId, SeriesRecorder,
    SeriesTable,
};
use loadline_plan::{
    Arrivals, Body, Clock, Connection, IpVersion, Load, Plan, Rate, Request, Shape, Tls,
};
use loadline_record::watched::{
    Change, Figure, GENERATOR, HostUsage, Missing, Pressure, TcpStates, Traffic, TreeUsage,
    Watched, WatchedHost, WatchedTree, Why,
};
use loadline_record::{
    Dial, Ended, ErrorKind, ErrorResponse, ErrorResponses, Exception, Exceptions, Exchange,
    Innermost, MOST_EXCEPTIONS, Outcome, Snapshot, Summary, Trace, Traced, TracedRequest,
    Transient,
};
use loadline_verdict::{CheckResult, RunResult};
use recording::{Dice, Run};
use std::collections::BTreeMap;
use std::time::Duration;

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000_000_000;
const OK: Outcome = Outcome::Answered { status: 200 };

/// The result of a run, with these results of checks in place of its own.
pub(crate) fn result(summary: &Summary, checks: Vec<CheckResult>) -> RunResult {
    RunResult {
        checks,
        ..RunResult::new(summary.clone())
    }
}

/// 50 connections in a closed loop for 2 s.
pub(crate) fn closed() -> Summary {
    let mut dice = Dice(1);
    let mut run = Run::new(closed_plan(50, 2), 2 * SECOND);
    run.dials = (0..50)
        .map(|_| Dial {
            connect_ns: dice.skewed(60 * US),
            tls_ns: None,
        })
        .collect();
    for _ in 0..50 {
        let mut now_ns = dice.below(100 * US);
        while now_ns < 2 * SECOND {
            let service_ns = dice.skewed(350 * US);
            run.exchanges.push(Exchange {
                wakeup_ns: dice.skewed(9 * US),
                ..sent_at(now_ns, service_ns, OK)
            });
            now_ns += service_ns + 2 * US;
        }
    }
    run.summary(Ended::Duration)
}

/// A run of two seconds with requests of two names, and some beyond them.
pub(crate) fn named() -> Summary {
    let mut table = SeriesTable::new(2);
    for name in ["login", "GET /articles"] {
        table.intern(&Key::new(name).unwrap());
    }
    let mut recorder = SeriesRecorder::new(table);
    let mut summary = closed();
    for second in 0..2 {
        for request in 0..40 + 10 * second {
            let id = [SeriesId(0), SeriesId(1), SeriesId(1), SeriesId::OVERFLOW];
            let outcome = RequestOutcome::Answered { status: 200 };
            let time_ns = MS + request * 10 * US;
            recorder.record(id[request as usize % 4], outcome, time_ns, true);
        }
        let interval = Snapshot {
            start_ns: second * SECOND,
            end_ns: (second + 1) * SECOND,
            series: recorder.take(),
            ..Snapshot::default()
        };
        summary.total.series.merge(&interval.series);
        summary.names.observe(&interval, &summary.total.series);
    }
    summary
}

/// A run of two names whose requests carried traces, one of which timed out.
pub(crate) fn traced() -> Summary {
    let keys = ["login", "GET /articles"].map(|name| Key::new(name).unwrap());
    let request = |number: u64| TracedRequest {
        trace: Trace {
            id: u128::from(number).wrapping_mul(0x0f1e_2d3c_4b5a_6978_8796_a5b4_c3d2_e1f0),
            span: number,
            is_sampled: true,
        },
        response_ns: 30 * MS - number * number * 10 * US,
        end_ns: number * 70 * MS,
        status: (number != 3).then_some(200),
    };
    let requests = (1..=20).map(|number| {
        let key = keys[number as usize % 2].clone();
        (Some(key), request(number))
    });
    let mut summary = named();
    summary.total.traced = Traced::of_requests(requests.collect());
    summary
}

/// A run of two names whose error responses were kept.
pub(crate) fn with_bodies() -> Summary {
    let mut summary = named();
    let response = |status, end_ns, body: &str| ErrorResponse {
        end_ns,
        status,
        body: body.to_owned(),
        is_cut: status == 500,
    };
    let key = |name: &str| Some(Key::new(name).unwrap());
    summary.total.error_responses = ErrorResponses::of_responses(vec![
        (
            key("login"),
            response(401, 20 * MS, "{\"error\":\"expired\"}"),
        ),
        (key("login"), response(200, 30 * MS, "no basket")),
        (
            key("GET /articles"),
            response(500, 50 * MS, "<h1>out of\nmemory</h1>"),
        ),
    ]);
    summary
}

/// A run whose script raised exceptions, more than there was room for.
pub(crate) fn with_exceptions() -> Summary {
    let mut summary = named();
    let mut exceptions = Exceptions::default();
    let python = "  File \"shop.py\", line 12, in buy\n    pay(basket[\"id\"])";
    let stack = "at pay (file:///shop.js:7:9)\nat default (file:///shop.js:3:3)";
    let each = [
        Exception::new("KeyError", "'id'", python, Innermost::Last),
        Exception::new("TypeError", "no \u{1b}[31mbasket", stack, Innermost::First),
        Exception::new("", "stop it", "", Innermost::First),
    ];
    for exception in each.iter().chain(&each[..2]).chain(&each[..1]) {
        exceptions.record(exception.clone());
    }
    exceptions.note_part("agent b");
    summary.total.exceptions = exceptions.begun_at(summary.total.start_ns + 20 * MS);
    let mut others = Exceptions::default();
    for line in 0..MOST_EXCEPTIONS {
        let trace = format!("  File \"shop.py\", line {line}, in rare");
        others.record(Exception::new("RareError", "", &trace, Innermost::Last));
    }
    let others = others.begun_at(summary.total.start_ns + 90 * MS);
    summary.total.exceptions.merge(&others);
    summary
}

/// A run whose script counted a metric of each kind, and more than there was room for.
pub(crate) fn counted() -> Summary {
    let mut recorder = CustomRecorder::new(4);
    let mut add = |name: &str, kind, unit, values: &[f64]| {
        let tags = match name {
            "payload" => BTreeMap::from([("size".to_owned(), "big".to_owned())]),
            _ => BTreeMap::new(),
        };
        let key = Key::tagged(name, tags).unwrap();
        let id = recorder.define(&key, kind, unit).unwrap();
        values.iter().for_each(|value| recorder.add(id, *value, 1));
    };
    let payload: Vec<f64> = (1..=400).map(|k| f64::from(k) * 100.0).collect();
    add("payload", MetricKind::Trend, MetricUnit::Bytes, &payload);
    add("logins", MetricKind::Counter, MetricUnit::None, &[1.0; 120]);
    add(
        "cache_hits",
        MetricKind::Rate,
        MetricUnit::None,
        &[1.0, 1.0, 0.0, 1.0],
    );
    add(
        "queue_ms",
        MetricKind::Gauge,
        MetricUnit::Milliseconds,
        &[12.5, 3.25],
    );
    add("unheard", MetricKind::Gauge, MetricUnit::None, &[1.0]);
    let mut summary = closed();
    summary.total.metrics = recorder.take();
    summary
}

/// 2 000/s for 10 s over 50 connections; the server stalls from 5 s to 6 s.
pub(crate) fn stalled() -> Summary {
    let run = open_run(10 * SECOND, 50, |start_ns, service_ns| {
        let frozen = 5 * SECOND..6 * SECOND;
        let end_ns = start_ns + service_ns;
        if frozen.contains(&end_ns) {
            frozen.end + service_ns - start_ns
        } else {
            service_ns
        }
    });
    run.summary(Ended::Duration)
}

/// The stalled run, in which connections may grow to as many as wait at the same time.
pub(crate) fn stalled_while_growing() -> Summary {
    let frozen = 5 * SECOND..6 * SECOND;
    let mut run = open_run(10 * SECOND, 3_000, |start_ns, service_ns| {
        if frozen.contains(&(start_ns + service_ns)) {
            frozen.end + service_ns - start_ns
        } else {
            service_ns
        }
    });
    run.plan.load.max_users = 3_000;
    let mut summary = run.summary(Ended::Duration);
    let mut places = [0; 50];
    for exchange in &run.exchanges {
        match places
            .iter_mut()
            .find(|free_ns| **free_ns <= exchange.start_ns)
        {
            Some(free_ns) => *free_ns = exchange.end_ns,
            None => summary.total.times.omitted.record_ns(exchange.service_ns()),
        }
    }
    summary
}

/// The stalled run, with a target that was restarted and can't be read in full.
pub(crate) fn watched() -> Summary {
    let mut summary = stalled();
    for second in 1..=10 {
        let restarted = (second == 7).then_some(Change::Restarted);
        let look = look(second, restarted);
        summary.watch.observe(&look, second * SECOND);
    }
    summary
}

/// A second in which the generator used `second` hundredths of a core, the target half a core.
pub(crate) fn look(second: u64, change: Option<Change>) -> Watched {
    let unread = |figure, why| Missing { figure, why };
    Watched {
        length_ns: SECOND,
        host: WatchedHost {
            cores: Some(2),
            memory_bytes: Some(8_000_000_000),
            interface: Some("eth0".to_owned()),
            link_bits_per_s: Some(1_000_000_000),
            usage: host_usage(second),
            missing: Vec::new(),
        },
        trees: vec![
            WatchedTree {
                name: GENERATOR.to_owned(),
                command: Some("loadline".to_owned()),
                pid: Some(4_711),
                usage: tree_usage(second * 10 * MS),
                ..WatchedTree::default()
            },
            WatchedTree {
                name: ":8080".to_owned(),
                command: Some("nginx".to_owned()),
                pid: Some(800 + (second / 7) as u32),
                change,
                machine: None,
                usage: TreeUsage {
                    pss_bytes: None,
                    sockets: None,
                    tcp: None,
                    ..tree_usage(500 * MS)
                },
                missing: vec![
                    unread(Figure::Pss, Why::Rights),
                    unread(Figure::Sockets, Why::Rights),
                    unread(Figure::TcpStates, Why::Rights),
                ],
            },
        ],
    }
}

fn host_usage(second: u64) -> HostUsage {
    HostUsage {
        cpu_ns: Some(600 * MS),
        steal_ns: Some(20 * MS),
        memory_used_bytes: Some(2_000_000_000 + second),
        pressure: Pressure {
            cpu_pressure_ns: Some(120 * MS),
            memory_pressure_ns: Some(0),
            io_pressure_ns: Some(MS),
        },
        traffic: Some(Traffic {
            net_in_bytes: 1_000_000,
            net_out_bytes: 12_500_000,
            net_in_packets: 4_000,
            net_out_packets: 5_000,
        }),
        retransmits: Some(second % 2),
        listen_overflows: Some(1),
    }
}

fn tree_usage(cpu_ns: u64) -> TreeUsage {
    TreeUsage {
        processes: 3,
        cpu_ns: Some(cpu_ns),
        rss_bytes: Some(12_000_000),
        pss_bytes: Some(9_500_000),
        threads: Some(5),
        open_files: Some(70),
        sockets: Some(60),
        tcp: Some(TcpStates {
            established: 50,
            listening: 1,
            ..TcpStates::default()
        }),
        voluntary_switches_per_s: Some(2_000.0),
        involuntary_switches_per_s: Some(12.5),
    }
}

/// The same without a stall.
pub(crate) fn steady() -> Summary {
    open_run(10 * SECOND, 50, |_, service_ns| service_ns).summary(Ended::Duration)
}

/// The steady run, as one that ended when its median was precise, and whose beginning was left out.
pub(crate) fn settled() -> Summary {
    let mut summary = steady();
    summary.plan.settle = true;
    summary.plan.until = "p50±5%".parse().ok();
    summary.ended = Ended::Precise;
    summary.transient = Some(Transient::Cut { intervals: 2 });
    summary
}

/// An open run of 10 s that was stopped after 3.21 s.
pub(crate) fn interrupted() -> Summary {
    let length_ns = 3_210 * MS;
    open_run(length_ns, 50, |_, service_ns| service_ns).summary(Ended::Interrupted)
}

/// An open run in which the server stalls from 2.5 s on, cut off at 3 s.
pub(crate) fn frozen_at_the_end() -> Summary {
    let run = open_run(3 * SECOND, 50, |start_ns, service_ns| {
        if start_ns + service_ns > 2_500 * MS {
            SECOND
        } else {
            service_ns
        }
    });
    run.summary(Ended::Duration)
}

/// A steady run in which 3 % of the requests of its last two seconds had no response at its end.
pub(crate) fn cut_off() -> Summary {
    let mut summary = steady();
    let ages = &mut summary.unfinished.ages;
    (0..120).for_each(|n| ages.response.record_ns(n * 2_000 * MS / 120));
    ages.service = ages.response.clone();
    let requests = ages.response.len();
    summary.unfinished.in_flight = requests;
    summary.unfinished.oldest_ns = summary.unfinished.ages.response.max_ns();
    summary.total.counts.in_flight += requests;
    summary.total.counts.sent += requests;
    summary.total.counts.planned += requests;
    summary
}

/// An open run in which we come later and later.
pub(crate) fn late() -> Summary {
    let mut run = open_run(2 * SECOND, 50, |_, service_ns| service_ns);
    for (index, exchange) in run.exchanges.iter_mut().enumerate() {
        let lateness_ns = index as u64 * 2 * US;
        exchange.start_ns += lateness_ns;
        exchange.first_byte_ns += lateness_ns;
        exchange.end_ns += lateness_ns;
    }
    run.summary(Ended::Duration)
}

/// The kinds of failures that may be the target's.
const THEIR_FAULTS: [ErrorKind; 8] = [
    ErrorKind::Resolve,
    ErrorKind::Connect,
    ErrorKind::Tls,
    ErrorKind::Write,
    ErrorKind::Read,
    ErrorKind::Protocol,
    ErrorKind::Timeout,
    ErrorKind::Aborted,
];

/// A closed run with failures of every kind that may be the target's and some odd statuses.
pub(crate) fn failing() -> Summary {
    let mut dice = Dice(3);
    let mut run = Run::new(closed_plan(8, 2), 2 * SECOND);
    for index in 0..4_000_u64 {
        let outcome = match index % 100 {
            kind @ 0..8 if index < 800 || kind == 6 => Outcome::Failed(THEIR_FAULTS[kind as usize]),
            20 => Outcome::Answered { status: 503 },
            21 => Outcome::Answered { status: 301 },
            _ => OK,
        };
        let timeout = outcome == Outcome::Failed(ErrorKind::Timeout);
        let service_ns = if timeout {
            SECOND
        } else {
            dice.skewed(900 * US)
        };
        run.exchanges
            .push(sent_at(index * 250 * US, service_ns, outcome));
    }
    run.examples = vec![
        (
            ErrorKind::Resolve,
            "no address for nowhere.example: Name or service not known",
        ),
        (
            ErrorKind::Connect,
            "127.0.0.1:8080: Connection refused (os error 111)",
        ),
        (ErrorKind::Tls, "invalid peer certificate: UnknownIssuer"),
        (
            ErrorKind::Write,
            "Broken pipe (os error 32) after 65 536 of 1 000 000 bytes",
        ),
        (
            ErrorKind::Read,
            "the connection ended after 512 of 1 024 bytes of the body",
        ),
        (
            ErrorKind::Protocol,
            "the status line is not HTTP/1.x: \"\x1b[2J\x07SSH-2.0-OpenSSH_9.2p1 \
             Debian-2+deb12u3\\r\\n\"",
        ),
        (ErrorKind::Timeout, "no byte of a response within 1 s"),
    ];
    run.reconnects = 240;
    run.summary(Ended::Duration)
}

/// An open run whose server takes connections and never answers.
pub(crate) fn unanswered() -> Summary {
    let plan = open_plan(100, 10);
    let mut run = Run::new(plan, 5 * SECOND);
    run.due_ns = (0..500).map(|k| k * 10 * MS).collect();
    run.exchanges = run.due_ns[..10]
        .iter()
        .map(|&at| sent_at(at, 60 * SECOND, OK))
        .collect();
    run.summary(Ended::Duration)
}

/// Three requests, one after the other.
pub(crate) fn three() -> Summary {
    let mut plan = closed_plan(1, 1);
    plan.duration = None;
    plan.request_limit = Some(3);
    let mut run = Run::new(plan, 2_345 * US);
    run.exchanges = (0..3)
        .map(|k| sent_at(k * 750 * US, (500 + 100 * k) * US, OK))
        .collect();
    run.dials = vec![Dial {
        connect_ns: 45_678,
        tls_ns: Some(1_234_567),
    }];
    run.summary(Ended::Requests)
}

/// Nothing but pages that are not there.
pub(crate) fn not_found() -> Summary {
    let mut dice = Dice(5);
    let mut run = Run::new(closed_plan(1, 1), SECOND);
    let missing = Outcome::Answered { status: 404 };
    run.exchanges = (0..1_000)
        .map(|k| sent_at(k * MS, dice.skewed(400 * US), missing))
        .collect();
    run.summary(Ended::Duration)
}

/// A run of about a trillion requests: the stalled one, doubled 26 times.
pub(crate) fn huge() -> Summary {
    let mut summary = stalled();
    for _ in 0..26 {
        let same = summary.total.clone();
        summary.total.merge(&same);
    }
    summary.plan.load.users = 1_000_000;
    summary.plan.load.max_users = 4_000_000_000;
    summary.plan.requests[0].url = format!("http://127.0.0.1:8080/{}?q=%C3%BC", "long/".repeat(30))
        .parse()
        .unwrap();
    summary
}

/// `GET http://127.0.0.1:8080/` in a closed loop.
pub(crate) fn closed_plan(connections: u32, threads: u32) -> Plan {
    plan(
        Load {
            users: connections,
            max_users: connections,
            shape: Shape::Closed,
        },
        threads,
    )
}

/// `GET http://127.0.0.1:8080/` at a constant rate for 10 s.
pub(crate) fn open_plan(per_second: u64, connections: u32) -> Plan {
    let rate = Rate {
        count: per_second,
        per_ns: SECOND,
    };
    let shape = Shape::Rate {
        rate,
        arrivals: Arrivals::Constant,
    };
    let mut plan = plan(
        Load {
            users: connections,
            max_users: connections,
            shape,
        },
        2,
    );
    plan.duration = Some(Duration::from_secs(10));
    plan
}

/// A request for this URL.
pub(crate) fn request(method: &str, url: &str) -> Request {
    Request {
        method: method.to_owned(),
        url: url.parse().unwrap(),
        headers: Vec::new(),
        body: Body::None,
        weight: 1,
        name: None,
    }
}

fn plan(load: Load, threads: u32) -> Plan {
    Plan {
        requests: vec![request("GET", "http://127.0.0.1:8080/")],
        load,
        threads,
        duration: Some(Duration::from_secs(2)),
        seed: 7,
        connection: Connection {
            keepalive: true,
            pipeline: 1,
            timeout: Duration::from_secs(1),
            connect_timeout: Duration::from_secs(5),
            tls: Tls::default(),
            unix_socket: None,
            connect_to: Vec::new(),
            ip_version: IpVersion::Any,
            local_addresses: Vec::new(),
            clock: Clock::Kernel,
            ..Connection::default()
        },
        ..Plan::default()
    }
}

/// An exchange that was sent when it was intended.
fn sent_at(start_ns: u64, service_ns: u64, outcome: Outcome) -> Exchange {
    let end_ns = start_ns + service_ns;
    let answered = matches!(outcome, Outcome::Answered { .. });
    Exchange {
        intended_ns: start_ns,
        ready_ns: start_ns,
        start_ns,
        dial_ns: 0,
        resolve_ns: 0,
        tls_ns: 0,
        sent_ns: start_ns,
        first_byte_ns: end_ns - if answered { service_ns / 10 } else { 0 },
        end_ns,
        wakeup_ns: 0,
        bytes_in: if answered { 240 } else { 0 },
        bytes_out: 60,
        outcome,
        request: None,
    }
}

/// 2 000/s over `connections`, each arrival on the connection that is free first; `service` turns
/// start and ordinary service time into the service time.
fn open_run(length_ns: u64, connections: usize, service: impl Fn(u64, u64) -> u64) -> Run {
    let mut dice = Dice(2);
    let mut run = Run::new(open_plan(2_000, 50), length_ns);
    run.due_ns = (0..)
        .map(|k| k * 500 * US)
        .take_while(|due_ns| *due_ns < length_ns)
        .collect();
    run.dials = (0..50)
        .map(|_| Dial {
            connect_ns: dice.skewed(60 * US),
            tls_ns: None,
        })
        .collect();
    let mut free_ns = vec![0; connections];
    for &intended_ns in &run.due_ns {
        let free = free_ns.iter_mut().min().unwrap();
        let ready_ns = intended_ns.max(*free);
        let start_ns = ready_ns + dice.skewed(3 * US);
        let exchange = sent_at(start_ns, service(start_ns, dice.skewed(150 * US)), OK);
        *free = exchange.end_ns;
        let wakeup_ns = dice.skewed(12 * US);
        run.exchanges.push(Exchange {
            intended_ns,
            ready_ns,
            wakeup_ns,
            ..exchange
        });
    }
    run
}
