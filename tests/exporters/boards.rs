//! k6's scripts with k6's outputs: the queries of the boards that are published for them.

use super::influxdb::{influxdb, select};
use super::prometheus::{HISTOGRAMS, prometheus, query};
use crate::k6::Scripts;
use crate::rig::{beside_others, command, serve, url};
use std::process::Output;

/// What the board 19665, *k6 Prometheus*, asks for.
const OF_GAUGES: [&str; 25] = [
    "sum(k6_vus{testid=~\"$testid\"})",
    "avg(k6_http_req_duration_$quantile_stat{testid=~\"$testid\"})",
    "sum(irate(k6_http_reqs_total{testid=~\"$testid\"}[$__rate_interval]))",
    "avg(round(k6_http_req_failed_rate{testid=~\"$testid\"}, 0.1)*100)",
    "sum(irate(k6_http_reqs_total{testid=~\"$testid\", expected_response=\"false\"}\
     [$__rate_interval]))",
    "sum(k6_http_reqs_total{testid=~\"$testid\"})",
    "sum(k6_http_reqs_total{testid=~\"$testid\", expected_response=\"false\"})",
    "avg(irate(k6_data_sent_total{testid=~\"$testid\"}[$__rate_interval]))",
    "avg(irate(k6_data_received_total{testid=~\"$testid\"}[$__rate_interval]))",
    "avg(k6_iteration_duration_$quantile_stat{testid=~\"$testid\"})",
    "avg(k6_dropped_iterations_total{testid=~\"$testid\"})",
    "avg(k6_http_req_blocked_$quantile_stat{testid=~\"$testid\"})",
    "avg(k6_http_req_tls_handshaking_$quantile_stat{testid=~\"$testid\"})",
    "avg(k6_http_req_sending_$quantile_stat{testid=~\"$testid\"})",
    "avg(k6_http_req_waiting_$quantile_stat{testid=~\"$testid\"})",
    "avg(k6_http_req_receiving_$quantile_stat{testid=~\"$testid\"})",
    "avg(k6_http_req_duration_$quantile_stat{testid=~\"$testid\", expected_response=\"true\"})",
    "avg(k6_http_req_duration_$quantile_stat{testid=~\"$testid\", expected_response=\"false\"})",
    "sum(irate(k6_http_reqs_total{testid=~\"$testid\", expected_response=\"true\"}\
     [$__rate_interval]))",
    "avg by(name, method, status) (k6_http_req_duration_min{testid=~\"$testid\"})",
    "avg by(name, method, status) (k6_http_req_duration_max{testid=~\"$testid\"})",
    "avg by(name, method, status) (k6_http_req_duration_p95{testid=~\"$testid\"})",
    "avg by(name, method, status) (k6_http_req_duration_p99{testid=~\"$testid\"})",
    "round(k6_checks_rate{testid=~\"$testid\"}, 0.1)",
    "avg(round(k6_checks_rate{testid=~\"$testid\"}, 0.1)*100)",
];

/// What the board 18030, *k6 Prometheus (Native Histograms)*, asks for besides.
const OF_HISTOGRAMS: [&str; 12] = [
    "histogram_quantile($quantile, sum by (le) (rate(k6_http_req_duration_seconds\
     {testid=~\"$testid\"}[$__rate_interval])))",
    "histogram_quantile($quantile, sum by(le) (rate(k6_iteration_duration_seconds\
     {testid=~\"$testid\"}[$__rate_interval])))",
    "histogram_quantile($quantile, sum by(le) (rate(k6_http_req_blocked_seconds\
     {testid=~\"$testid\"}[$__rate_interval])))",
    "histogram_quantile($quantile, sum by(le) (rate(k6_http_req_tls_handshaking_seconds\
     {testid=~\"$testid\"}[$__rate_interval])))",
    "histogram_quantile($quantile, sum by(le) (rate(k6_http_req_sending_seconds\
     {testid=~\"$testid\"}[$__rate_interval])))",
    "histogram_quantile($quantile, sum by(le) (rate(k6_http_req_receiving_seconds\
     {testid=~\"$testid\"}[$__rate_interval])))",
    "histogram_quantile($quantile, sum by(le) (rate(k6_http_req_waiting_seconds\
     {testid=~\"$testid\", expected_response=\"true\"}[$__rate_interval])))",
    "histogram_quantile($quantile, sum by(le) (rate(k6_http_req_waiting_seconds\
     {testid=~\"$testid\", expected_response=\"false\"}[$__rate_interval])))",
    "histogram_quantile(0, sum by(le, name, method, status) (rate(k6_http_req_duration_seconds\
     {testid=~\"$testid\"}[$__rate_interval])))",
    "histogram_quantile(1, sum by(le, name, method, status) (rate(k6_http_req_duration_seconds\
     {testid=~\"$testid\"}[$__rate_interval])))",
    "histogram_quantile(0.95, sum by(le, name, method, status) (rate(k6_http_req_duration_seconds\
     {testid=~\"$testid\"}[$__rate_interval])))",
    "histogram_quantile(0.99, sum by(le, name, method, status) (rate(k6_http_req_duration_seconds\
     {testid=~\"$testid\"}[$__rate_interval])))",
];

/// What the boards 2587, 4411 and 10553 for InfluxDB ask for.
const OF_INFLUXDB: [&str; 11] = [
    "SELECT mean(\"value\") FROM \"vus\" WHERE $timeFilter GROUP BY time(1s) fill(none)",
    "SELECT sum(\"value\") FROM \"http_reqs\" WHERE $timeFilter GROUP BY time(1s) fill(none)",
    "SELECT max(\"value\") FROM \"http_req_duration\" WHERE $timeFilter GROUP BY time(1s)",
    "SELECT percentile(\"value\", 95) FROM \"http_req_duration\" WHERE $timeFilter \
     GROUP BY time(1s)",
    "SELECT percentile(\"value\", 99) FROM \"http_req_blocked\" WHERE $timeFilter \
     GROUP BY time(1s)",
    "SELECT mean(\"value\") FROM /^http_req_(duration|waiting|sending|receiving)$/ \
     WHERE $timeFilter AND value > 0 GROUP BY time(1s) fill(none)",
    "SELECT sum(\"value\") FROM \"checks\" WHERE $timeFilter GROUP BY time(1s), \"check\"",
    "SELECT count(\"value\") FROM \"http_req_duration\" WHERE $timeFilter GROUP BY \"status\"",
    "SELECT percentile(\"value\", 95) FROM \"http_req_duration\" WHERE $timeFilter \
     GROUP BY \"name\", \"method\"",
    "SELECT sum(\"value\") FROM \"data_received\" WHERE $timeFilter GROUP BY time(1s)",
    "SELECT sum(\"value\") FROM \"iterations\" WHERE $timeFilter GROUP BY \"scenario\"",
];

/// A test with checks, failed requests and dropped iterations.
const SCRIPT: &str = "
    import http from 'k6/http';
    import { check, sleep } from 'k6';
    export const options = { scenarios: {
        steady: { executor: 'constant-vus', vus: 2, duration: '5s', exec: 'steady' },
        burst: { executor: 'constant-arrival-rate', rate: 20, timeUnit: '1s', duration: '5s',
            preAllocatedVUs: 1, maxVUs: 1, exec: 'burst' },
    } };
    export function steady() {
        const response = http.get(__ENV.GOOD, { tags: { name: 'good' } });
        check(response, { 'is good': (response) => response.status === 200 });
        http.get(__ENV.BAD, { tags: { name: 'bad' } });
        sleep(0.05);
    }
    export function burst() { http.get(__ENV.SLOW, { tags: { name: 'slow' } }); }";

/// Runs the script with this output and these variables.
fn run(output: &str, variables: &[(&str, &str)]) -> Output {
    let server = serve();
    let scripts = Scripts::new(&[("test.js", SCRIPT)]);
    let _beside_others = beside_others();
    let ran = command(&["k6", "run", "--out", output, "--tag", "testid=7", "test.js"])
        .current_dir(scripts.path())
        .env("GOOD", url(&server, "delay=2ms"))
        .env("BAD", url(&server, "status=500"))
        .env("SLOW", url(&server, "delay=400ms"))
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(0), "{stderr}");
    assert!(!stderr.contains("delivered"), "{stderr}");
    ran
}

fn filled(query: &str) -> String {
    let query = query
        .replace("$testid", "7")
        .replace("$__rate_interval", "1m");
    query
        .replace("$quantile_stat", "p99")
        .replace("$quantile", "0.99")
}

#[test]
fn k6s_output_to_prometheus_fills_both_published_boards() {
    let prometheus = prometheus(&[HISTOGRAMS]);
    let ran = run(
        "experimental-prometheus-rw",
        &[
            (
                "K6_PROMETHEUS_RW_SERVER_URL",
                &prometheus.url("/api/v1/write"),
            ),
            ("K6_PROMETHEUS_RW_TREND_STATS", "p(95),p(99),min,max"),
            ("K6_PROMETHEUS_RW_PUSH_INTERVAL", "1s"),
        ],
    );
    let header = String::from_utf8_lossy(&ran.stdout);
    assert!(
        header.contains("output: Prometheus remote write (http://127.0.0.1:"),
        "{header}"
    );
    for expression in OF_GAUGES.into_iter().chain(OF_HISTOGRAMS) {
        let results = query(&prometheus, &filled(expression));
        assert!(!results.is_empty(), "{expression} finds nothing");
        for result in &results {
            let value: f64 = result["value"][1].as_str().unwrap().parse().unwrap();
            assert!(value.is_finite(), "{expression}: {result}");
        }
    }
}

#[test]
fn k6s_output_to_influxdb_fills_the_published_boards() {
    let influxdb = influxdb();
    let ran = run(&format!("influxdb={}", influxdb.url("/mine")), &[]);
    let header = String::from_utf8_lossy(&ran.stdout);
    assert!(
        header.contains("output: InfluxDBv1 (http://127.0.0.1:"),
        "{header}"
    );
    for query in OF_INFLUXDB {
        let query = query.replace("$timeFilter", "time > now() - 5m");
        let series = select(&influxdb, "mine", &query);
        assert!(!series.is_empty(), "{query} finds nothing");
    }
    let slow = "SELECT min(value) FROM http_req_duration WHERE \"name\" = 'slow'";
    let found = select(&influxdb, "mine", slow);
    assert!(
        found[0]["values"][0][1].as_f64().unwrap() >= 400.0,
        "{found:?}"
    );
    // Addresses are a field, so that the number of series does not grow with them.
    let keys = select(&influxdb, "mine", "SHOW TAG KEYS FROM http_req_duration");
    let keys = keys[0]["values"].to_string();
    assert!(keys.contains("testid") && !keys.contains("url"), "{keys}");
}
