//! Made-up plans, exchanges and snapshots for the tests.

use crate::{
    Dial, Environment, ErrorKind, Exchange, Header, Model, Outcome, Recorder, Snapshot, WorkerTimes,
};
use loadline_metrics::{Key, SeriesSet, SeriesTable};
use loadline_plan::{
    Arrivals, Body, Clock, Connection, Header as Field, IpVersion, Load, Plan, Rate, Request,
    Shape, Tls,
};
use proptest::prelude::*;
use std::time::{Duration, SystemTime};

pub(crate) fn plan() -> Plan {
    Plan {
        requests: vec![Request {
            method: "GET".to_owned(),
            url: "http://127.0.0.1:8080/a?b=ü".parse().unwrap(),
            headers: vec![Field {
                name: "Accept".to_owned(),
                value: "*/*".to_owned(),
            }],
            body: Body::None,
            weight: 1,
            name: None,
        }],
        load: load(),
        duration: Some(Duration::from_secs(10)),
        seed: 7,
        connection: connection(),
        ..Plan::default()
    }
}

fn load() -> Load {
    Load {
        users: 50,
        max_users: 100,
        shape: Shape::Rate {
            rate: Rate {
                count: 2000,
                per_ns: 1_000_000_000,
            },
            arrivals: Arrivals::Constant,
        },
    }
}

fn connection() -> Connection {
    Connection {
        keepalive: true,
        pipeline: 1,
        timeout: Duration::from_secs(30),
        connect_timeout: Duration::from_secs(5),
        tls: Tls::default(),
        unix_socket: None,
        connect_to: Vec::new(),
        ip_version: IpVersion::Any,
        local_addresses: Vec::new(),
        clock: Clock::Kernel,
        ..Connection::default()
    }
}

pub(crate) fn environment() -> Environment {
    Environment {
        kernel: Some("6.1.0".to_owned()),
        cpu_model: Some("Fast CPU".to_owned()),
        cores: Some(2),
        usable_cores: Some(2),
        memory_bytes: Some(8 << 30),
        open_files: Some(1024),
        load_average: Some([0.1, 0.25, 1.0]),
        ..Environment::default()
    }
}

/// 2026-01-02T03:04:05.000000006Z and this many seconds.
pub(crate) fn started_at(seconds: f64) -> SystemTime {
    let fixed = SystemTime::UNIX_EPOCH + Duration::new(1_767_323_045, 6);
    fixed + Duration::from_secs_f64(seconds)
}

pub(crate) fn header() -> Header {
    Header::new(&plan(), environment(), started_at(0.0))
}

/// Returns an exchange without delay or failure.
pub(crate) fn exchange(intended_ns: u64, service_ns: u64) -> Exchange {
    Exchange {
        intended_ns,
        ready_ns: intended_ns,
        start_ns: intended_ns,
        dial_ns: 0,
        resolve_ns: 0,
        tls_ns: 0,
        sent_ns: intended_ns,
        first_byte_ns: intended_ns + service_ns,
        end_ns: intended_ns + service_ns,
        wakeup_ns: 0,
        bytes_in: 60,
        bytes_out: 40,
        outcome: Outcome::Answered { status: 200 },
        request: None,
    }
}

pub(crate) fn failure(kind: ErrorKind, service_ns: u64) -> Exchange {
    Exchange {
        outcome: Outcome::Failed(kind),
        ..exchange(1_000, service_ns)
    }
}

/// Returns the times of a worker that computed for half of a second.
fn busy() -> WorkerTimes {
    let mut times = WorkerTimes {
        wall_ns: 1_000_000_000,
        cpu_ns: 500_000_000,
        queued_ns: 1_000_000,
        answered: 3,
        connections: 1,
        bytes_in: 180,
        bytes_out: 200,
        cores: [1].into(),
        timer_slack_ns: Some(1),
        ..WorkerTimes::default()
    };
    times.add_loop_iterations(20_000, 5_000);
    times.add_loop_iterations(60_000_000, 1);
    times
}

/// Returns a second of a normal run: responses, a failure, a new connection, one exchange left in
/// flight.
pub(crate) fn second(index: u64) -> Snapshot {
    let mut recorder = Recorder::new(Model::Open);
    let start_ns = index * 1_000_000_000;
    recorder.take(start_ns);
    recorder.planned(5);
    recorder.resolved(70_000);
    recorder.dialled(&Dial {
        connect_ns: 30_000,
        tls_ns: (index == 0).then_some(900_000),
    });
    for number in 0..3 {
        recorder.begin(start_ns + number);
        recorder.arrived(start_ns + number, start_ns + 25_000_000 * number, 1);
        recorder.end(&Exchange {
            wakeup_ns: 1_500 * number,
            ..exchange(start_ns + number, 120_000 + 7_777 * (number + index))
        });
    }
    recorder.begin(start_ns);
    recorder.failure_example(ErrorKind::Read, || "closed »early«\n".to_owned());
    recorder.end(&failure(ErrorKind::Read, 5_000));
    recorder.received(180);
    recorder.transmitted(200);
    recorder.reconnected();
    if index == 0 {
        recorder.begin(start_ns);
    }
    let mut snapshot = recorder.take(start_ns + 1_000_000_000);
    snapshot.counts.in_flight = 1;
    snapshot.workers = [(0, busy())].into();
    snapshot
}

/// Generates exchanges with all parts in their natural order, short and long.
pub(crate) fn any_exchange() -> impl Strategy<Value = Exchange> {
    let length = || prop_oneof![Just(0_u64), 0..5_000_u64, 0..100_000_000_u64];
    let parts = (
        0..1_u64 << 40,
        [length(), length(), length(), length(), length()],
    );
    (parts, length(), any_outcome(), 0..2_000_u64).prop_map(
        |((intended_ns, parts), wakeup_ns, outcome, bytes)| {
            let [blocked, late, dial_ns, wait, rest] = parts;
            let ready_ns = intended_ns + blocked;
            let start_ns = ready_ns + late;
            let first_byte_ns = start_ns + dial_ns + wait;
            Exchange {
                intended_ns,
                ready_ns,
                start_ns,
                dial_ns,
                resolve_ns: 0,
                tls_ns: dial_ns / 2,
                sent_ns: start_ns + dial_ns,
                first_byte_ns,
                end_ns: first_byte_ns + rest,
                wakeup_ns,
                bytes_in: bytes,
                bytes_out: bytes / 2,
                outcome,
                request: None,
            }
        },
    )
}

fn any_outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        3 => (100..1000_u16).prop_map(|status| Outcome::Answered { status }),
        3 => Just(Outcome::Answered { status: 200 }),
        1 => prop::sample::select(&ErrorKind::ALL).prop_map(Outcome::Failed),
    ]
}

/// Returns the snapshot of a worker with these exchanges, and with this many more in flight.
pub(crate) fn recorded(exchanges: &[Exchange], in_flight: u64, until_ns: u64) -> Snapshot {
    let mut recorder = Recorder::new(Model::Open);
    for exchange in exchanges {
        recorder.planned(1);
        recorder.begin(exchange.start_ns);
        recorder.received(exchange.bytes_in);
        recorder.transmitted(exchange.bytes_out);
        recorder.end(exchange);
    }
    (0..in_flight).for_each(|_| recorder.begin(0));
    recorder.take(until_ns)
}

pub(crate) fn any_snapshot() -> impl Strategy<Value = Snapshot> {
    let exchanges = prop::collection::vec(any_exchange(), 0..20);
    (exchanges, 0..5_u64, 0..1_u64 << 40).prop_map(|(exchanges, in_flight, until_ns)| Snapshot {
        series: series_of(&exchanges),
        ..recorded(&exchanges, in_flight, until_ns)
    })
}

/// Returns the series of these exchanges, which have three names in turn.
fn series_of(exchanges: &[Exchange]) -> SeriesSet {
    let mut table = SeriesTable::new(2_000);
    let names = ["a", "b", "c"].map(|name| Key::new(name).expect("a name"));
    let ids = names.map(|name| table.intern(&name));
    let mut recorder = Recorder::new(Model::Open).with_series(table);
    for (exchange, id) in exchanges.iter().zip(ids.into_iter().cycle()) {
        recorder.count_in_series(id, exchange);
    }
    recorder.take(0).series
}
