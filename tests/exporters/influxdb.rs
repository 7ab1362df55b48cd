//! InfluxDB's line protocol, to the real InfluxDB 1.

use super::{Receiver, get_json, list, listed, run_with};
use crate::rig::{serve, text, url};
use serde_json::Value;
use std::net::UdpSocket;
use std::process::Command;

/// An InfluxDB 1 without databases.
pub(super) fn influxdb() -> Receiver {
    influxdb_with("", "")
}

/// The same with these lines in the section of its HTTP server, and with these sections.
fn influxdb_with(http: &str, sections: &str) -> Receiver {
    let started = Receiver::start("influxd", |folder, port| {
        let config = folder.join("influxdb.conf");
        let rpc = crate::rig::free_port();
        let place = folder.display();
        let written = format!(
            "reporting-disabled = true\nbind-address = \"127.0.0.1:{rpc}\"\n\
             [meta]\ndir = \"{place}/meta\"\n\
             [data]\ndir = \"{place}/data\"\nwal-dir = \"{place}/wal\"\n\
             [http]\nbind-address = \"127.0.0.1:{port}\"\nlog-enabled = false\n{http}\n\
             {sections}\n"
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
    let answer = get_json(&influxdb.url("/query"), &pairs);
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

/// A port of UDP that is free.
fn free_udp_port() -> u16 {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.local_addr().unwrap().port()
}

#[test]
fn datagrams_reach_influxdb_with_the_same_points() {
    let (server, udp) = (serve(), free_udp_port());
    let section = format!(
        "[[udp]]\nenabled = true\nbind-address = \"127.0.0.1:{udp}\"\ndatabase = \"runs\"\n\
         batch-size = 5\nbatch-timeout = \"100ms\"\nread-buffer = 1048576\n"
    );
    let influxdb = influxdb_with("", &section);
    let folder = tempfile::tempdir().unwrap();
    let urls = list(&folder, &[("slow, one", url(&server, "delay=20ms"))]);
    let output = format!("influxdb=udp://127.0.0.1:{udp}");
    let words = listed(&urls, "4s", &output);
    let said = run_with(&[&words[..], &["-o", "json"]].concat(), &[]);
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    let report: Value = serde_json::from_str(&said.stdout).unwrap();
    let answered = report["summary"]["answered"].as_f64().unwrap();
    // Who sends datagrams does not learn when they were written.
    let stored = |query: &str| {
        let series = select(&influxdb, "runs", query);
        series.first().and_then(|one| one["values"][0][1].as_f64())
    };
    let requests = "SELECT sum(value) FROM loadline_requests WHERE outcome = 'answered'";
    let times = "SELECT sum(count) FROM loadline_response WHERE \"name\" = 'slow, one'";
    influxdb.wait_until(|| {
        [requests, times]
            .iter()
            .all(|one| stored(one) == Some(answered))
    });
    let p50 = stored("SELECT max(p50) FROM loadline_response").unwrap();
    assert!((0.02..0.4).contains(&p50), "{p50}");
}

/// Has a user of InfluxDB do something that changes it.
fn change(influxdb: &Receiver, user: &str, statement: &str) {
    let statement = format!("q={statement}");
    let said = Command::new("curl")
        .args(["-sSf", "-u", user, &influxdb.url("/query")])
        .args(["--data-urlencode", &statement])
        .output();
    let said = said.unwrap();
    assert!(said.status.success(), "{statement}: {said:?}");
}

#[test]
fn a_wrong_user_and_a_database_of_others_are_said_and_the_run_goes_on() {
    let (server, influxdb) = (serve(), influxdb_with("auth-enabled = true", ""));
    let root = "CREATE USER root WITH PASSWORD 'secret-1' WITH ALL PRIVILEGES";
    change(&influxdb, "root:secret-1", root);
    change(&influxdb, "root:secret-1", "CREATE DATABASE runs");
    change(
        &influxdb,
        "root:secret-1",
        "CREATE USER guest WITH PASSWORD 'secret-2'",
    );
    let target = url(&server, "");
    let output = format!("influxdb={}", influxdb.url("/runs"));
    let words = [
        "-n",
        "50",
        "--rate",
        "50/s",
        "-c",
        "1",
        "--no-watch",
        "--allow-invalid",
    ];
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("a.run");
    let rest = [
        "-q",
        "-o",
        &output,
        "-o",
        "json",
        "--save",
        text(&saved),
        &target,
    ];
    let words = [&words[..], &rest].concat();
    for (user, password, sentence) in [
        ("guest", "secret-3", "it answered 401 ("),
        ("guest", "secret-2", "it answered 403 ("),
        ("root", "secret-1", ""),
    ] {
        let variables = [
            ("LOADLINE_INFLUXDB_USERNAME", user),
            ("LOADLINE_INFLUXDB_PASSWORD", password),
        ];
        let said = run_with(&words, &variables);
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        let report: Value = serde_json::from_str(&said.stdout).unwrap();
        assert_eq!(report["summary"]["answered"], 50);
        match sentence {
            "" => assert_eq!(said.stderr, ""),
            sentence => {
                assert!(said.stderr.contains(sentence), "{}", said.stderr);
                let about = "which is about the user or the token";
                assert!(said.stderr.contains(about), "{}", said.stderr);
            }
        }
        let kept = std::fs::read_to_string(&saved).unwrap();
        let all = [said.stdout, said.stderr, kept];
        assert!(all.iter().all(|text| !text.contains("secret-")));
    }
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
