//! Prometheus remote write, with and without native histograms.

use super::{Receiver, get_json, list, listed, run_with};
use crate::rig::{serve, url};
use serde_json::Value;

const WRITE: &str = "/api/v1/write";

/// A Prometheus that takes remote write.
pub(super) fn prometheus(features: &[&str]) -> Receiver {
    prometheus_with("", features)
}

/// The same with this configuration.
pub(super) fn prometheus_with(configuration: &str, features: &[&str]) -> Receiver {
    let features: Vec<String> = features.iter().map(|word| (*word).to_owned()).collect();
    let started = Receiver::start("prometheus", |folder, port| {
        let config = folder.join("prometheus.yml");
        std::fs::write(&config, configuration).unwrap();
        let mut words = vec![
            format!("--config.file={}", config.display()),
            format!("--storage.tsdb.path={}", folder.join("data").display()),
            format!("--web.listen-address=127.0.0.1:{port}"),
            "--web.enable-remote-write-receiver".to_owned(),
        ];
        words.extend(features);
        words
    });
    let ready = started.url("/-/ready");
    started.wait_until(|| {
        let said = std::process::Command::new("curl")
            .args(["-sSf", &ready])
            .output();
        said.unwrap().status.success()
    });
    started
}

pub(super) const HISTOGRAMS: &str = "--enable-feature=native-histograms";

/// The results of a query, over the last hour.
pub(super) fn query(prometheus: &Receiver, expression: &str) -> Vec<Value> {
    let answer = get_json(&prometheus.url("/api/v1/query"), &[("query", expression)]);
    let results = answer["data"]["result"].as_array();
    results
        .unwrap_or_else(|| panic!("{expression}: {answer}"))
        .clone()
}

/// The only value of a query.
pub(super) fn value(prometheus: &Receiver, expression: &str) -> f64 {
    let results = query(prometheus, expression);
    assert_eq!(results.len(), 1, "{expression}: {results:?}");
    results[0]["value"][1].as_str().unwrap().parse().unwrap()
}

#[test]
fn a_run_is_seen_in_prometheus_as_histograms_counters_and_gauges() {
    let (server, prometheus) = (serve(), prometheus(&[HISTOGRAMS]));
    let folder = tempfile::tempdir().unwrap();
    let (fast, slow) = (url(&server, "delay=5ms"), url(&server, "delay=80ms"));
    let urls = list(&folder, &[("fast", fast), ("slow", slow)]);
    let output = format!("prometheus-rw={}", prometheus.url(WRITE));
    let said = run_with(
        &listed(&urls, "4s", &output),
        &[
            ("LOADLINE_PROMETHEUS_RW_PUSH_INTERVAL", "1s"),
            ("LOADLINE_PROMETHEUS_RW_STALE_MARKERS", "false"),
        ],
    );
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    let of = |expression: &str| value(&prometheus, expression);
    let answered = of("loadline_requests_total{outcome=\"answered\"}");
    assert!(answered > 100.0, "{answered}");
    assert_eq!(
        of("sum(loadline_responses_total{status=\"200\"})"),
        answered
    );
    assert_eq!(
        of("sum(histogram_count(loadline_response_seconds))"),
        answered
    );
    for (name, low, high) in [("fast", 0.005, 0.08), ("slow", 0.08, 0.4)] {
        let quantile =
            format!("histogram_quantile(0.5, loadline_response_seconds{{name=\"{name}\"}})");
        let (histogram, gauge) = (
            of(&quantile),
            of(&format!("loadline_response_p50{{name=\"{name}\"}}")),
        );
        assert!((low..high).contains(&gauge), "{name}: {gauge}");
        // The bucket of schema 5 that has the median is 2.2 % wide.
        assert!(
            (histogram / gauge - 1.0).abs() < 0.045,
            "{histogram} {gauge}"
        );
    }
    assert!(of("sum(rate(loadline_responses_total[1m]))") > 1.0);
}

#[test]
fn series_end_with_the_run_and_a_receiver_without_histograms_has_the_rest() {
    let (server, prometheus) = (serve(), prometheus(&[]));
    let output = format!("prometheus-rw={}", prometheus.url(WRITE));
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
        "-q",
    ];
    let said = run_with(
        &[&words[..], &["-o", &output, &target]].concat(),
        &[("LOADLINE_PROMETHEUS_RW_PUSH_INTERVAL", "500ms")],
    );
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let sentence = "it takes no native histograms, so that only gauges and counters are sent";
    assert_eq!(said.stderr.matches(sentence).count(), 1, "{}", said.stderr);
    assert!(!said.stderr.contains("not delivered"), "{}", said.stderr);
    let sent = "loadline_requests_total{outcome=\"sent\"}";
    assert_eq!(query(&prometheus, sent), Vec::<Value>::new());
    assert!(value(&prometheus, &format!("last_over_time({sent}[5m])")) > 50.0);
    assert!(value(&prometheus, "last_over_time(loadline_response_p99[5m])") > 0.0);
}
