//! InfluxDB's line protocol, to the real InfluxDB 1.

use super::{Receiver, ask, list, listed, run_with};
use crate::rig::{serve, url};
use serde_json::Value;

/// An InfluxDB 1 without databases.
pub(super) fn influxdb() -> Receiver {
    let started = Receiver::start("influxd", |folder, port| {
        let config = folder.join("influxdb.conf");
        let rpc = super::free_port();
        let place = folder.display();
        let written = format!(
            "reporting-disabled = true\nbind-address = \"127.0.0.1:{rpc}\"\n\
             [meta]\ndir = \"{place}/meta\"\n\
             [data]\ndir = \"{place}/data\"\nwal-dir = \"{place}/wal\"\n\
             [http]\nbind-address = \"127.0.0.1:{port}\"\nlog-enabled = false\n"
        );
        std::fs::write(&config, written).unwrap();
        vec!["-config".to_owned(), config.display().to_string()]
    });
    let ping = started.url("/ping");
    started.wait_until(|| {
        let said = std::process::Command::new("curl")
            .args(["-sSf", &ping])
            .output();
        said.unwrap().status.success()
    });
    started
}

/// The series that a query finds in a database.
pub(super) fn select(influxdb: &Receiver, database: &str, query: &str) -> Vec<Value> {
    let pairs = [("db", database), ("q", query)];
    let answer = ask(&influxdb.url("/query"), &pairs);
    assert!(answer["results"][0]["error"].is_null(), "{query}: {answer}");
    answer["results"][0]["series"]
        .as_array()
        .cloned()
        .unwrap_or_default()
}

/// The number in the first row of a query, behind its time.
fn number(influxdb: &Receiver, query: &str) -> f64 {
    let series = select(influxdb, "runs", query);
    let found = series.first().and_then(|one| one["values"][0][1].as_f64());
    found.unwrap_or_else(|| panic!("{query}: {series:?}"))
}

#[test]
fn a_run_is_seen_in_influxdb_each_second() {
    let (server, influxdb) = (serve(), influxdb());
    let folder = tempfile::tempdir().unwrap();
    let (fast, slow) = (url(&server, "delay=5ms"), url(&server, "delay=80ms"));
    let urls = list(&folder, &[("fast, one", fast), ("slow", slow)]);
    let output = format!("influxdb={}", influxdb.url("/runs"));
    let said = run_with(&listed(&urls, "4s", &output), &[]);
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    let answered = "SELECT sum(value) FROM loadline_requests WHERE outcome = 'answered'";
    let answered = number(&influxdb, answered);
    assert!(answered > 100.0, "{answered}");
    let counts = "SELECT sum(count) FROM loadline_response";
    assert_eq!(number(&influxdb, counts), answered);
    let p50 = "SELECT max(p50) FROM loadline_response WHERE \"name\" = 'slow'";
    assert!((0.08..0.4).contains(&number(&influxdb, p50)));
    let points = "SELECT count(p99) FROM loadline_response WHERE \"name\" = 'fast, one'";
    assert!(number(&influxdb, points) >= 4.0);
}

#[test]
fn a_database_that_may_not_be_written_is_said_and_the_run_goes_on() {
    let (server, influxdb) = (serve(), influxdb());
    let output = format!("influxdb={}", influxdb.url("/a?retention=none"));
    let target = url(&server, "");
    let words = [
        "-c",
        "1",
        "-d",
        "2s",
        "--rate",
        "50/s",
        "--no-watch",
        "--allow-invalid",
    ];
    let said = run_with(
        &[&words[..], &["-o", &output, "-o", "json", &target]].concat(),
        &[],
    );
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let report: Value = serde_json::from_str(&said.stdout).unwrap();
    assert!(report["summary"]["answered"].as_u64().unwrap() > 50);
    let warnings = report["summary"]["warnings"].as_array().unwrap();
    let warning = warnings.iter().find(|one| one["kind"] == "not_delivered");
    let sentence = warning.unwrap()["text"].as_str().unwrap();
    assert!(
        sentence.contains("batches were not delivered: it answered"),
        "{sentence}"
    );
    assert!(
        sentence.contains("retention policy not found"),
        "{sentence}"
    );
}
