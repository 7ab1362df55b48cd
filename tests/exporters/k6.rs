//! k6's scripts on several processes, and under k6's names of StatsD: each request is counted once.

use super::influxdb::{influxdb, select};
use super::prometheus::{HISTOGRAMS, prometheus, value};
use super::statsd::StatsdExporter;
use crate::k6::Scripts;
use crate::rig::{beside_others, command, serve, url};

const SCRIPT: &str = "
    import http from 'k6/http';
    import { check } from 'k6';
    export const options = { vus: 4, iterations: 60 };
    export default function () {
        const response = http.get(__ENV.BASE, { tags: { name: 'one' } });
        check(response, { 'is good': (response) => response.status === 200 });
    }";

/// Runs the script on two processes, with these words and variables.
fn run(words: &[&str], variables: &[(&str, &str)]) {
    let server = serve();
    let scripts = Scripts::new(&[("test.js", SCRIPT)]);
    let _beside_others = beside_others();
    let all = [&["k6", "run", "--processes", "2"], words, &["test.js"]].concat();
    let ran = command(&all)
        .current_dir(scripts.path())
        .env("BASE", url(&server, "delay=20ms"))
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(0), "{stderr}");
    assert!(!stderr.contains("delivered"), "{stderr}");
    assert_eq!(server.counts().requests, 60);
}

#[test]
fn two_processes_send_each_request_once() {
    let (influxdb, prometheus) = (influxdb(), prometheus(&[HISTOGRAMS]));
    let to_influxdb = format!("influxdb={}", influxdb.url("/both"));
    let to_prometheus = format!(
        "experimental-prometheus-rw={}",
        prometheus.url("/api/v1/write")
    );
    run(&["--out", &to_influxdb, "--out", &to_prometheus], &[]);
    for query in [
        "SELECT sum(value) FROM http_reqs",
        "SELECT count(value) FROM http_req_duration",
        "SELECT sum(value) FROM iterations",
    ] {
        let series = select(&influxdb, "both", query);
        assert_eq!(series[0]["values"][0][1], 60, "{query}: {series:?}");
    }
    for query in [
        "sum(k6_http_reqs_total)",
        "sum(k6_iterations_total)",
        "sum(histogram_count(k6_http_req_duration_seconds))",
    ] {
        assert_eq!(value(&prometheus, query), 60.0, "{query}");
    }
}

#[test]
fn statsd_has_k6s_names_behind_its_namespace() {
    let receiver = StatsdExporter::start();
    let address = format!("127.0.0.1:{}", receiver.datagrams);
    let variables = [
        ("K6_STATSD_ADDR", address.as_str()),
        ("K6_STATSD_NAMESPACE", "mine."),
    ];
    run(&["--out", "statsd"], &variables);
    assert_eq!(receiver.value("mine_http_reqs"), 60.0);
    assert_eq!(receiver.value("mine_check_is_good_pass"), 60.0);
    assert_eq!(receiver.value("mine_http_req_duration_count"), 60.0);
    let mean = receiver.value("mine_http_req_duration_sum") / 60.0;
    assert!((0.02..0.5).contains(&mean), "{mean}");
}

#[test]
fn statsd_has_tags_without_those_that_are_blocked() {
    let receiver = StatsdExporter::start();
    let address = format!("127.0.0.1:{}", receiver.datagrams);
    let blocked = "vu,iter,url,method,proto,scenario,expected_response,group,status";
    let variables = [
        ("K6_STATSD_ADDR", address.as_str()),
        ("K6_STATSD_NAMESPACE", "mine."),
        ("K6_STATSD_ENABLE_TAGS", "true"),
        ("K6_STATSD_TAG_BLOCKLIST", blocked),
    ];
    run(&["--out", "statsd"], &variables);
    assert_eq!(receiver.value("mine_http_reqs{name=\"one\"}"), 60.0);
}
