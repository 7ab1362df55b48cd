//! Written rows are read back exactly, for all inputs and all ends of a run.

use super::*;
use loadline_plan::{Plan, Request};
use loadline_record::{Environment, ErrorKind, Outcome};
use proptest::prelude::*;
use std::time::SystemTime;
use tempfile::TempDir;

/// The columns of a request, times as whole nanoseconds.
type Logged = (
    [i64; 7],
    Option<i64>,
    Option<u16>,
    Option<String>,
    [i64; 2],
    Option<u32>,
);

fn header() -> Header {
    let request = |name: &str, url: &str| Request {
        method: "GET".to_owned(),
        url: url.parse().unwrap(),
        headers: Vec::new(),
        body: Default::default(),
        weight: 1,
        name: Some(name.to_owned()),
    };
    let plan = Plan {
        requests: vec![
            request("home", "http://127.0.0.1/"),
            request("it's \"quoted\"", "http://127.0.0.1/a,b?c=%C3%BC"),
        ],
        ..Plan::default()
    };
    Header::new(&plan, Environment::default(), SystemTime::UNIX_EPOCH)
}

/// Returns a log that has begun.
fn begun() -> (TempDir, SqliteLog) {
    let folder = tempfile::tempdir().unwrap();
    let mut log = SqliteLog::new(folder.path().join("log.sqlite"));
    log.prepare().unwrap();
    log.begun(&header()).unwrap();
    (folder, log)
}

fn read(path: &Path) -> Vec<Logged> {
    let connection = open(path).unwrap();
    let mut select = connection
        .prepare("SELECT * FROM requests ORDER BY rowid")
        .unwrap();
    let rows = select.query_map([], |row| {
        let mut times = [0; 7];
        for (column, time) in times.iter_mut().enumerate() {
            *time = row.get(column)?;
        }
        let bytes = [row.get(10)?, row.get(11)?];
        Ok((
            times,
            row.get(7)?,
            row.get(8)?,
            row.get(9)?,
            bytes,
            row.get(12)?,
        ))
    });
    rows.unwrap().map(Result::unwrap).collect()
}

fn expected(exchange: &Exchange) -> Logged {
    let (status, error) = match exchange.outcome {
        Outcome::Answered { status } => (Some(status), None),
        Outcome::Failed(kind) => (None, Some(kind.name().to_owned())),
    };
    let times = [
        exchange.intended_ns,
        exchange.start_ns,
        exchange.response_ns(),
        exchange.service_ns(),
        exchange.blocked_ns(),
        exchange.lateness_ns(),
        exchange.dial_ns,
    ];
    let whole = |value: u64| i64::try_from(value).unwrap();
    (
        times.map(whole),
        exchange.first_byte_after_ns().map(whole),
        status,
        error,
        [whole(exchange.bytes_in), whole(exchange.bytes_out)],
        exchange.request,
    )
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        (100u16..1000).prop_map(|status| Outcome::Answered { status }),
        proptest::sample::select(ErrorKind::ALL.to_vec()).prop_map(Outcome::Failed),
    ]
}

prop_compose! {
    fn exchange()(
        intended_ns in 0u64..1 << 50,
        parts in [0u64..1 << 40, 0u64..1 << 40, 0u64..1 << 40, 0u64..1 << 40, 0u64..1 << 40],
        bytes in [0u64..1 << 62, 0u64..1 << 62],
        outcome in outcome(),
        request in proptest::option::of(0u32..2),
    ) -> Exchange {
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
            tls_ns: 0,
            sent_ns: start_ns + dial_ns,
            first_byte_ns,
            end_ns: first_byte_ns + rest,
            wakeup_ns: 0,
            bytes_in: bytes[0],
            bytes_out: bytes[1],
            outcome,
            request,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn every_request_is_read_back_exactly_and_in_order(
        batches in proptest::collection::vec(proptest::collection::vec(exchange(), 0..40), 0..8),
    ) {
        let (_folder, mut log) = begun();
        for batch in &batches {
            log.exchanges(0, batch).unwrap();
            log.pass_on(Inserter::commit).unwrap();
        }
        log.finish().unwrap();
        let all: Vec<Logged> = batches.concat().iter().map(expected).collect();
        prop_assert_eq!(read(&log.path), all);
    }
}

/// Returns a response within a microsecond.
fn answer(request: Option<u32>) -> Exchange {
    Exchange {
        intended_ns: 1,
        ready_ns: 1,
        start_ns: 1,
        dial_ns: 0,
        resolve_ns: 0,
        tls_ns: 0,
        sent_ns: 1,
        first_byte_ns: 900,
        end_ns: 1001,
        wakeup_ns: 0,
        bytes_in: 60,
        bytes_out: 40,
        outcome: Outcome::Answered { status: 200 },
        request,
    }
}

#[test]
fn the_view_has_the_name_and_the_url_of_each_request() {
    let (_folder, mut log) = begun();
    let requests = [Some(1), None, Some(0)].map(answer);
    log.exchanges(0, &requests).unwrap();
    log.finish().unwrap();
    let connection = open(&log.path).unwrap();
    let mut select = connection
        .prepare("SELECT name, url, response_ns FROM log ORDER BY name")
        .unwrap();
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    let rows: Vec<(Option<String>, Option<String>, i64)> =
        rows.unwrap().map(Result::unwrap).collect();
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(
        rows,
        [
            (None, None, 1000),
            (text("home"), text("http://127.0.0.1/"), 1000),
            (
                text("it's \"quoted\""),
                text("http://127.0.0.1/a,b?c=%C3%BC"),
                1000
            ),
        ]
    );
}

#[test]
fn a_finished_log_is_one_plain_file() {
    let (folder, mut log) = begun();
    log.exchanges(0, &[answer(None)]).unwrap();
    log.finish().unwrap();
    let files = std::fs::read_dir(folder.path()).unwrap();
    assert_eq!(files.count(), 1);
}

#[test]
fn others_read_a_log_while_it_grows_and_do_not_disturb_its_end() {
    let (_folder, mut log) = begun();
    log.exchanges(0, &[answer(None); 3]).unwrap();
    log.pass_on(Inserter::commit).unwrap();
    let reader = open(&log.path).unwrap();
    let count = || reader.query_row("SELECT count(*) FROM log", [], |row| row.get::<_, i64>(0));
    // The thread commits at a time of its own.
    while count().unwrap() < 3 {
        std::thread::yield_now();
    }
    reader.execute_batch("BEGIN").unwrap();
    assert_eq!(count(), Ok(3));
    log.exchanges(0, &[answer(None); 2]).unwrap();
    log.finish().unwrap();
    assert_eq!(count(), Ok(3));
    reader.execute_batch("COMMIT").unwrap();
    assert_eq!(count(), Ok(5));
}

#[test]
fn a_run_that_could_not_be_ended_keeps_its_rows() {
    let (_folder, mut log) = begun();
    log.exchanges(0, &[answer(None); 7]).unwrap();
    let path = log.path.clone();
    drop(log);
    assert_eq!(read(&path).len(), 7);
}

#[test]
fn a_log_that_can_no_longer_be_written_says_so_in_place_of_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("full.db");
    let connection = empty_log(&path, &header()).unwrap();
    connection
        .execute_batch("PRAGMA max_page_count = 10")
        .unwrap();
    let mut log = SqliteLog::new(&path);
    log.inserter = Some(Inserter::start(&path, connection).unwrap());
    let mut told = (0..1000).map(|_| log.exchanges(0, &[answer(None); 100]));
    let said = match told.find(Result::is_err) {
        Some(said) => said.unwrap_err(),
        None => panic!("all was taken"),
    };
    assert!(said.to_string().contains("the disk is full"), "{said}");
    // Later calls do not report the error again.
    log.exchanges(0, &[answer(None)]).unwrap();
    log.finish().unwrap();
}

#[test]
fn an_earlier_log_is_replaced_and_a_run_that_does_not_begin_leaves_it() {
    let (_folder, mut log) = begun();
    log.exchanges(0, &[answer(None); 4]).unwrap();
    log.finish().unwrap();
    log.prepare().unwrap();
    log.reserved = None;
    assert_eq!(read(&log.path).len(), 4);
    log.prepare().unwrap();
    log.begun(&header()).unwrap();
    log.finish().unwrap();
    assert_eq!(read(&log.path).len(), 0);
}
