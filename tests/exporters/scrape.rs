//! The endpoint that Prometheus scrapes, looked at by its own checker.

use super::prometheus::{HISTOGRAMS, prometheus_with, query, value};
use crate::rig::{beside_others, command, free_port, serve, url};
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What the endpoint says.
pub(crate) fn scraped(port: u16) -> Option<String> {
    let address = format!("http://127.0.0.1:{port}/metrics");
    let said = Command::new("curl")
        .args(["-sf", &address])
        .output()
        .unwrap();
    said.status
        .success()
        .then(|| String::from_utf8(said.stdout).unwrap())
}

#[test]
fn promtool_finds_nothing_wrong_with_what_is_scraped() {
    let (server, port) = (serve(), free_port());
    let _beside_others = beside_others();
    let target = url(&server, "delay=5ms");
    let output = format!("scrape=127.0.0.1:{port}");
    let words = [
        "-c",
        "2",
        "-d",
        "60s",
        "--rate",
        "100/s",
        "--no-watch",
        "--allow-invalid",
        "-q",
        "-o",
        &output,
        &target,
    ];
    let mut run = command(&words).spawn().unwrap();
    let patience = Instant::now() + Duration::from_secs(60);
    let text = loop {
        assert!(Instant::now() < patience, "nothing is scraped");
        if let Some(text) = scraped(port).filter(|text| text.contains("_bucket")) {
            break text;
        }
        std::thread::sleep(Duration::from_millis(100));
    };
    run.kill().unwrap();
    run.wait().unwrap();
    let mut promtool = Command::new("promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("promtool is installed: apt-get install prometheus");
    promtool
        .stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    let said = promtool.wait_with_output().unwrap();
    let complaints = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(
        said.status.success() && complaints.is_empty(),
        "{complaints}\n{text}"
    );
    assert!(
        text.contains("loadline_requests_total{outcome=\"answered\"} "),
        "{text}"
    );
}

#[test]
fn prometheus_scrapes_native_histograms_and_fixed_bounds() {
    let (server, target) = (serve(), free_port());
    let config = format!(
        "scrape_configs:\n- job_name: load\n  scrape_interval: 1s\n  scrape_timeout: 1s\n  \
         static_configs:\n  - targets: ['127.0.0.1:{target}']\n"
    );
    let receivers = [
        prometheus_with(&config, &[HISTOGRAMS]),
        prometheus_with(&config, &[]),
    ];
    let output = format!("scrape=127.0.0.1:{target}");
    let target = url(&server, "delay=20ms");
    let words = [
        "-c",
        "2",
        "-d",
        "6s",
        "--rate",
        "100/s",
        "--no-watch",
        "--allow-invalid",
        "-q",
    ];
    let said = super::run_with(&[&words[..], &["-o", &output, &target]].concat(), &[]);
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    let [with, without] = &receivers;
    // Its functions over time leave native histograms out: the last one is read by its instant.
    let stored = query(with, "loadline_response_seconds[5m]");
    let last = stored[0]["histograms"].as_array().unwrap().last().unwrap();
    let last = format!("loadline_response_seconds @ {}", last[0]);
    let native = format!("histogram_quantile(0.5, {last})");
    assert!((0.02..0.2).contains(&value(with, &native)));
    assert!(value(with, &format!("histogram_count({last})")) > 100.0);
    let bounds = "histogram_quantile(0.5, last_over_time(loadline_response_seconds_bucket[5m]))";
    assert!((0.01..0.2).contains(&value(without, bounds)));
}
