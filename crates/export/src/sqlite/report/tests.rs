//! The report of a saved run, and rows of arbitrary numbers, read back.

use super::*;
use crate::sqlite::check_replaceable;
use loadline_json::{Counts, Interval, PerSecond, Quantiles, Seconds, Us};
use loadline_record::RunFile;
use proptest::prelude::*;
use std::path::Path;

/// Reads a saved run.
fn saved() -> RunResult {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../record/src/saved/tests/version-2.run");
    RunResult::new(RunFile::read(&path).unwrap().into_summary())
}

fn number(connection: &Connection, query: &str) -> Option<f64> {
    connection.query_row(query, [], |row| row.get(0)).unwrap()
}

#[test]
fn the_tables_say_what_the_json_says() {
    let result = saved();
    let connection = filled(std::slice::from_ref(&result)).unwrap();
    let json = loadline_report::document(&result);
    let summary = &json.summary;
    let is =
        |query: &str, value: f64| assert_eq!(number(&connection, query), Some(value), "{query}");
    is("SELECT answered FROM runs", summary.counts.answered as f64);
    is("SELECT rate FROM runs", summary.counts.rate.0);
    is("SELECT duration_ns / 1e9 FROM runs", summary.duration_s.0);
    is(
        "SELECT count(*) FROM intervals",
        json.intervals.len() as f64,
    );
    is(
        "SELECT sum(sent) FROM intervals",
        summary.counts.sent as f64,
    );
    is(
        "SELECT sum(count) FROM histogram",
        summary.response_time_us.count as f64,
    );
    is(
        "SELECT sum(count) FROM statuses",
        summary.counts.answered as f64,
    );
    let text = connection.query_row("SELECT plan, version FROM runs", [], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
    });
    let (plan, version) = text.unwrap();
    assert_eq!(
        serde_json::from_str::<loadline_plan::Plan>(&plan).unwrap(),
        json.plan
    );
    assert_eq!(version, json.version);
}

#[test]
fn a_percentile_of_too_few_samples_is_null_everywhere() {
    let result = saved();
    let count = result.summary.response().len();
    let connection = filled(&[result]).unwrap();
    let mut select = connection
        .prepare("SELECT percentile, value_ns FROM percentiles WHERE time = 'response'")
        .unwrap();
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    let rows: Vec<(f64, Option<i64>)> = rows.unwrap().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 7);
    for (percentile, value) in rows {
        let is_enough = count >= loadline_verdict::samples_needed(percentile);
        assert_eq!(value.is_some(), is_enough, "p{percentile} of {count}");
    }
    let tail = "SELECT response_p99_9_ns FROM runs";
    assert_eq!(number(&connection, tail), None);
}

#[test]
fn each_run_of_a_series_has_its_rows() {
    let runs = [saved(), saved(), saved()];
    let connection = filled(&runs).unwrap();
    for table in ["runs", "intervals", "times", "percentiles", "statuses"] {
        let of = |run: &str| {
            let key = if table == "runs" { "id" } else { "run" };
            number(
                &connection,
                &format!("SELECT count(*) FROM {table} WHERE {key} = {run}"),
            )
        };
        assert!(of("1") > Some(0.0), "{table}");
        assert_eq!(of("1"), of("3"), "{table}");
        assert_eq!(of("4"), Some(0.0), "{table}");
    }
}

#[test]
fn the_bytes_are_a_database_that_the_next_report_may_replace() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.db");
    std::fs::write(&path, report(&[saved()]).unwrap()).unwrap();
    check_replaceable(&path).unwrap();
    let connection = crate::sqlite::open(&path).unwrap();
    let healthy = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0));
    assert_eq!(healthy, Ok("ok".to_owned()));
    let strays = "SELECT count(*) FROM pragma_foreign_key_check";
    assert_eq!(number(&connection, strays), Some(0.0));
    report(&[]).unwrap();
}

fn time() -> impl Strategy<Value = Option<Us>> {
    // A time of at most an hour, as in the JSON.
    proptest::option::of(0u64..3_600_000_000_000).prop_map(|ns| Some(Us(ns? as f64 / 1e3)))
}

fn quantiles() -> impl Strategy<Value = Quantiles> {
    (time(), time(), time(), time()).prop_map(|(p50, p90, p99, max)| Quantiles {
        p50,
        p90,
        p99,
        max,
    })
}

prop_compose! {
    fn interval()(
        start_ns in 0u64..1 << 50,
        length_ns in 0u64..1 << 32,
        counted in [0..=u64::MAX, 0..=u64::MAX, 0..=u64::MAX],
        rate in 0.0f64..1e9,
        response_time_us in quantiles(),
        service_time_us in quantiles(),
    ) -> Interval {
        let [planned, sent, bytes_in] = counted;
        Interval {
            start_s: Seconds(start_ns as f64 / 1e9),
            end_s: Seconds((start_ns + length_ns) as f64 / 1e9),
            counts: Counts {
                planned,
                sent,
                bytes_in,
                rate: PerSecond(rate),
                ..Counts::default()
            },
            in_flight_mean: Some(rate),
            in_flight_max: Some(sent),
            response_time_us,
            service_time_us,
            users: Some((sent >> 40) as u32),
            iterations: Some(planned),
            watch: None,
        }
    }
}

proptest! {
    #[test]
    fn every_number_of_an_interval_is_read_back_exactly(interval in interval()) {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(schema::REPORT).unwrap();
        connection.pragma_update(None, "foreign_keys", "OFF").unwrap();
        runs::insert_intervals(&connection, 1, std::slice::from_ref(&interval)).unwrap();
        let whole = |column: &str| -> Option<i64> {
            let query = format!("SELECT {column} FROM intervals");
            connection.query_row(&query, [], |row| row.get(0)).unwrap()
        };
        let kept = |count: u64| Some(i64::try_from(count).unwrap_or(i64::MAX));
        let ns = |time: Option<Us>| time.map(|Us(us)| (us * 1e3).round() as i64);
        prop_assert_eq!(whole("start_ns").map(|ns| ns as f64 / 1e9), Some(interval.start_s.0));
        prop_assert_eq!(whole("end_ns").map(|ns| ns as f64 / 1e9), Some(interval.end_s.0));
        prop_assert_eq!(whole("planned"), kept(interval.counts.planned));
        prop_assert_eq!(whole("sent"), kept(interval.counts.sent));
        prop_assert_eq!(whole("bytes_in"), kept(interval.counts.bytes_in));
        let rate = number(&connection, "SELECT rate FROM intervals");
        prop_assert_eq!(rate, Some(interval.counts.rate.0));
        prop_assert_eq!(whole("response_p50_ns"), ns(interval.response_time_us.p50));
        prop_assert_eq!(whole("response_max_ns"), ns(interval.response_time_us.max));
        prop_assert_eq!(whole("service_p90_ns"), ns(interval.service_time_us.p90));
        prop_assert_eq!(whole("service_p99_ns"), ns(interval.service_time_us.p99));
    }
}
