//! Loadline's own boards for Grafana: each panel's queries find something after a run.

use super::influxdb::{influxdb, select};
use super::prometheus::{HISTOGRAMS, prometheus, query};
use super::{list, listed, run_with};
use crate::rig::{serve, url};
use serde_json::Value;

fn board(text: &str) -> Vec<Value> {
    let board: Value = serde_json::from_str(text).unwrap();
    let panels = board["panels"].as_array().unwrap().clone();
    assert!(panels.len() > 10);
    panels
}

/// Each query of a board with the title of its panel.
fn queries(panels: &[Value], key: &str) -> Vec<(String, String)> {
    let mut queries = Vec::new();
    for panel in panels {
        for target in panel["targets"].as_array().unwrap() {
            let title = panel["title"].as_str().unwrap().to_owned();
            queries.push((title, target[key].as_str().unwrap().to_owned()));
        }
    }
    queries
}

/// Runs against two names, one of them with a status of 404, with this output.
fn run(output: &str, variables: &[(&str, &str)]) {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let (good, missing) = (url(&server, "delay=5ms"), url(&server, "status=404"));
    let urls = list(&folder, &[("good", good), ("missing", missing)]);
    let said = run_with(&listed(&urls, "4s", output), variables);
    assert!(!said.stderr.contains("delivered"), "{}", said.stderr);
}

#[test]
fn every_panel_of_the_board_for_prometheus_shows_something() {
    let prometheus = prometheus(&[HISTOGRAMS]);
    let output = format!("prometheus-rw={}", prometheus.url("/api/v1/write"));
    let variables = [
        ("LOADLINE_PROMETHEUS_RW_PUSH_INTERVAL", "1s"),
        ("LOADLINE_PROMETHEUS_RW_STALE_MARKERS", "false"),
    ];
    run(&output, &variables);
    let panels = board(include_str!(
        "../../examples/grafana/loadline-prometheus.json"
    ));
    for (title, expression) in queries(&panels, "expr") {
        let filled = expression
            .replace("$name", ".*")
            .replace("$__rate_interval", "1m");
        let results = query(&prometheus, &filled);
        assert!(!results.is_empty(), "{title}: {expression} finds nothing");
        for result in &results {
            let value: f64 = result["value"][1].as_str().unwrap().parse().unwrap();
            assert!(value.is_finite(), "{title}: {expression}: {result}");
        }
    }
}

#[test]
fn every_panel_of_the_board_for_influxdb_shows_something() {
    let influxdb = influxdb();
    run(&format!("influxdb={}", influxdb.url("/runs")), &[]);
    let panels = board(include_str!(
        "../../examples/grafana/loadline-influxdb.json"
    ));
    for (title, query) in queries(&panels, "query") {
        let filled = query
            .replace("$name", ".*")
            .replace("$timeFilter", "time > now() - 5m")
            .replace("$__interval", "5s");
        let series = select(&influxdb, "runs", &filled);
        assert!(!series.is_empty(), "{title}: {query} finds nothing");
    }
}
