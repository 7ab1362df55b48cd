//! Requests that are traces: what nginx has of them in its log, beside what the report and the
//! exporters say.

use super::prometheus::{HISTOGRAMS, prometheus};
use super::{Receiver, get_json, list, run_with};
use crate::nginx::binary;
use crate::rig::{count, free_port, loadline, serve, summary, text, url};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tempfile::TempDir;

/// An nginx whose log has the path and the trace of each request.
struct Witness {
    server: Receiver,
    http2: u16,
    folder: TempDir,
}

impl Witness {
    fn start() -> Witness {
        let (folder, http2) = (tempfile::tempdir().unwrap(), free_port());
        let kept = folder.path().display().to_string();
        let server = Receiver::start(text(&binary()), |folder, port| {
            let config = folder.join("nginx.conf");
            let place = folder.display();
            let written = format!(
                "daemon off; master_process off; pid {place}/pid; error_log {place}/error.log;
                events {{ worker_connections 200; }}
                http {{
                  log_format traces '$uri $http_traceparent'; access_log {kept}/log traces;
                  client_body_temp_path {place}/t1; proxy_temp_path {place}/t2;
                  fastcgi_temp_path {place}/t3; uwsgi_temp_path {place}/t4;
                  scgi_temp_path {place}/t5;
                  server {{
                    listen 127.0.0.1:{port}; listen 127.0.0.1:{http2} http2;
                    location / {{ return 200 'here'; }}
                    location = /moved {{ return 302 /there; }}
                  }}
                }}"
            );
            std::fs::write(&config, written).unwrap();
            vec!["-c".to_owned(), config.display().to_string()]
        });
        Witness {
            server,
            http2,
            folder,
        }
    }

    /// As [`seen`](Self::seen), where a warm-up had more, or the clock cut the last ones off.
    fn seen_at_least(&self, requests: usize) -> BTreeMap<String, String> {
        let lines = || self.log().lines().count();
        self.server.wait_until(|| lines() >= requests);
        std::thread::sleep(Duration::from_millis(200));
        self.seen(lines())
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap()
    }

    /// The paths of so many requests by the text of their trace.
    fn seen(&self, requests: usize) -> BTreeMap<String, String> {
        let lines = || self.log().lines().count();
        self.server.wait_until(|| lines() >= requests);
        let log = self.log();
        assert_eq!(log.lines().count(), requests);
        let pair = |line: &str| {
            let (path, trace) = line.split_once(' ').unwrap();
            (trace.to_owned(), path.to_owned())
        };
        let seen: BTreeMap<String, String> = log.lines().map(pair).collect();
        assert_eq!(seen.len(), requests, "no trace is there twice");
        seen.keys().for_each(|trace| assert_trace(trace));
        std::fs::write(self.folder.path().join("log"), "").unwrap();
        seen
    }
}

/// By the standard: version, identifier of the trace, of the span, and flags.
fn assert_trace(trace: &str) {
    let parts: Vec<&str> = trace.split('-').collect();
    assert_eq!((parts.len(), parts[0]), (4, "00"), "{trace}");
    for (part, length) in parts[1..].iter().zip([32, 16, 2]) {
        let is_hex = part.bytes().all(|byte| b"0123456789abcdef".contains(&byte));
        assert!(is_hex && part.len() == length, "{trace}");
    }
    assert!(matches!(parts[3], "00" | "01"), "{trace}");
}

/// The traces of a report by their identifiers, as the server saw them.
fn slowest(report: &Value) -> Vec<(String, Option<String>)> {
    let all = report["slowest_traces"].as_array().unwrap();
    let times = all.iter().map(|one| one["response_us"].as_f64().unwrap());
    assert!(times.rev().is_sorted(), "{all:#?}");
    let of = |one: &Value| {
        let [trace, span] = ["trace_id", "span_id"].map(|key| one[key].as_str().unwrap());
        let name = one["name"].as_str().map(str::to_owned);
        (format!("00-{trace}-{span}-01"), name)
    };
    all.iter().map(of).collect()
}

#[test]
fn the_report_names_the_slowest_traces_that_the_server_saw() {
    let witness = Witness::start();
    let folder = tempfile::tempdir().unwrap();
    let of = |path: &str| witness.server.url(path);
    let urls = list(&folder, &[("one", of("/a")), ("two", of("/b"))]);
    let saved = folder.path().join("a.run");
    let words = ["-n", "300", "-c", "4", "-t", "1", "--seed", "7"];
    let rest = [
        "--traceparent",
        "--save",
        text(&saved),
        "--urls",
        text(&urls),
    ];
    let words = [&words[..], &rest].concat();
    let first = summary(&words);
    let seen = witness.seen(300);
    let named = slowest(&first);
    assert_eq!(named.len(), 10);
    for (trace, name) in &named {
        let expected = if seen[trace] == "/a" { "one" } else { "two" };
        assert_eq!(name.as_deref(), Some(expected), "{trace}");
    }
    // Again by the same seed, and from the file.
    let report = loadline(&["report", text(&saved), "--allow-invalid", "-o", "json"]);
    let report: Value = serde_json::from_str(&report.stdout).unwrap();
    assert_eq!(report["summary"]["slowest_traces"], first["slowest_traces"]);
    let shown = loadline(&["report", text(&saved), "--allow-invalid"]);
    assert!(shown.stdout.contains("Slowest traces"), "{}", shown.stdout);
    summary(&words);
    let again: BTreeSet<String> = witness.seen(300).into_keys().collect();
    assert_eq!(again, seen.into_keys().collect());
}

#[test]
fn one_in_so_many_is_sampled_and_only_such_are_named() {
    let witness = Witness::start();
    let words = ["-n", "2000", "-c", "2", "--traceparent=1/10", "--seed", "1"];
    let report = summary(&[&words[..], &[&witness.server.url("/")]].concat());
    let seen = witness.seen(2_000);
    let sampled = seen.keys().filter(|trace| trace.ends_with("-01")).count();
    // Six standard deviations of a binomial count are 80.
    assert!((120..=280).contains(&sampled), "{sampled}");
    for (trace, name) in slowest(&report) {
        assert!(seen.contains_key(&trace), "{trace}");
        assert_eq!(name, None);
    }
}

#[test]
fn requests_of_every_kind_carry_traces() {
    let witness = Witness::start();
    let http1 = witness.server.url("/");
    let http2 = format!("http://127.0.0.1:{}/", witness.http2);
    let moved = witness.server.url("/moved");
    let warm = ["--warmup", "200ms", "-d", "1s", "--rate", "200/s"];
    for rest in [
        vec!["-n", "60", "--http", "2", "--streams", "5", &http2],
        vec!["-n", "60", "--pipeline", "4", &http1],
        vec!["-n", "60", "--body", "a body", &http1],
        vec!["-n", "60", "--follow-redirects", "1", "--cookies", &moved],
        [&warm[..], &[http1.as_str()]].concat(),
    ] {
        let words = ["-c", "5", "-t", "1", "--traceparent"];
        let report = summary(&[&words[..], &rest].concat());
        let seen = witness.seen_at_least(count(&report, "answered") as usize);
        let named = slowest(&report);
        assert_eq!(named.len(), 10, "{rest:?}");
        for (trace, _) in &named {
            assert!(seen.contains_key(trace), "{rest:?}: {trace}");
        }
    }
}

#[test]
fn requests_without_the_flag_carry_none() {
    let witness = Witness::start();
    let report = summary(&["-n", "20", "-c", "1", &witness.server.url("/")]);
    assert_eq!(report["slowest_traces"], Value::Null);
    let lines = || witness.log().lines().count();
    witness.server.wait_until(|| lines() == 20);
    let log = witness.log();
    assert!(log.lines().all(|line| line == "/ -"), "{log}");
}

#[test]
fn prometheus_keeps_exemplars_with_traces_that_the_server_saw() {
    let witness = Witness::start();
    let features = "--enable-feature=native-histograms,exemplar-storage";
    assert!(features.starts_with(HISTOGRAMS));
    let receiver = prometheus(&[features]);
    let output = format!("prometheus-rw={}", receiver.url("/api/v1/write"));
    let target = witness.server.url("/");
    let words = [
        "-n",
        "300",
        "--rate",
        "100/s",
        "-c",
        "1",
        "-t",
        "1",
        "--traceparent",
        "-q",
    ];
    let rest = ["--allow-invalid", "--no-watch", "-o", &output, &target];
    let said = run_with(
        &[&words[..], &rest].concat(),
        &[("LOADLINE_PROMETHEUS_RW_PUSH_INTERVAL", "500ms")],
    );
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    let seen = witness.seen(300);
    let answer = get_json(
        &receiver.url("/api/v1/query_exemplars"),
        &[
            ("query", "loadline_response_seconds"),
            ("start", "0"),
            ("end", "9999999999"),
        ],
    );
    let series = answer["data"].as_array().unwrap();
    assert_eq!(series.len(), 1, "{answer}");
    let exemplars = series[0]["exemplars"].as_array().unwrap();
    assert!(exemplars.len() >= 4, "{answer}");
    for one in exemplars {
        let [trace, span] = ["trace_id", "span_id"].map(|key| one["labels"][key].as_str().unwrap());
        let trace = format!("00-{trace}-{span}-01");
        assert!(seen.contains_key(&trace), "{trace}");
        let seconds: f64 = one["value"].as_str().unwrap().parse().unwrap();
        assert!((0.0..5.0).contains(&seconds), "{one}");
    }
}

#[test]
fn what_sets_the_trace_itself_is_refused_before_anything_is_sent() {
    let server = serve();
    let target = url(&server, "");
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("a.lua");
    std::fs::write(&script, "function request() return wrk.format() end").unwrap();
    for (rest, sentence) in [
        (vec!["-H", "TraceParent: 00-1-1-00"], "both set the trace"),
        (vec!["--script", text(&script)], "a script writes its own"),
    ] {
        let words = ["--traceparent", "-n", "1", "-c", "1", &target];
        let refused = loadline(&[&words[..], &rest].concat());
        assert_eq!(refused.code, Some(2), "{}", refused.stderr);
        assert!(refused.stderr.contains(sentence), "{}", refused.stderr);
    }
    assert_eq!(server.counts().requests, 0);
}
