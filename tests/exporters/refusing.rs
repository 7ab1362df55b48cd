//! Receivers that are away, slow, or refuse: the load is untouched, and what is missing is said.

use super::bodies::Bodies;
use super::run_with;
use crate::rig::{free_port, serve, url};
use serde_json::Value;
use std::time::{Duration, Instant};

/// The report of a run of two seconds with this output, and how long the command lasted.
fn ran(output: &str, variables: &[(&str, &str)]) -> (Value, String, Duration) {
    let target = serve();
    let target_url = url(&target, "");
    let words = [
        "-c",
        "1",
        "-t",
        "1",
        "-n",
        "200",
        "--rate",
        "100/s",
        "--no-watch",
        "--allow-invalid",
        "--no-progress",
        "-o",
        "json",
    ];
    let began = Instant::now();
    let said = run_with(
        &[&words[..], &["-o", output, &target_url]].concat(),
        variables,
    );
    let lasted = began.elapsed();
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let report: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(report["summary"]["sent"], 200, "{}", report["summary"]);
    assert_eq!(report["summary"]["answered"], 200);
    (report, said.stderr, lasted)
}

fn warning(report: &Value) -> &str {
    let warnings = report["summary"]["warnings"].as_array().unwrap();
    let found = warnings.iter().find(|one| one["kind"] == "not_delivered");
    found.map_or("", |one| one["text"].as_str().unwrap())
}

#[test]
fn a_receiver_that_is_away_costs_a_sentence() {
    let output = format!(
        "prometheus-rw=http://user:hidden@127.0.0.1:{}/w",
        free_port()
    );
    let interval = [("LOADLINE_PROMETHEUS_RW_PUSH_INTERVAL", "300ms")];
    let (report, stderr, lasted) = ran(&output, &interval);
    assert!(lasted < Duration::from_secs(40), "{lasted:?}");
    let sentence = "not delivered: nothing listens there";
    assert!(warning(&report).contains(sentence), "{report:#}");
    assert!(
        stderr.contains("nothing listens there; it is tried again"),
        "{stderr}"
    );
    assert!(stderr.contains(sentence), "{stderr}");
    assert!(!format!("{report}{stderr}").contains("hidden"));
}

#[test]
fn answers_of_every_kind_leave_the_load_alone() {
    for (options, sentence) in [
        ("status=500", "it answered 500"),
        ("status=429", "it answered 429"),
        ("status=401", "which is about the user or the token"),
        ("status=302&location=http://127.0.0.1:1/", "a redirect"),
        ("delay=1h", "it did not answer in time"),
        ("fault=close-in-head", "not delivered: "),
    ] {
        let receiver = serve();
        let address = url(&receiver, options);
        let output = format!("prometheus-rw={address}");
        let interval = [("LOADLINE_PROMETHEUS_RW_PUSH_INTERVAL", "500ms")];
        let (report, stderr, _) = ran(&output, &interval);
        assert!(
            warning(&report).contains(sentence),
            "{options}: {}",
            warning(&report)
        );
        let is_told_at_once = options.starts_with("status");
        assert!(
            !is_told_at_once || stderr.contains("the run goes on"),
            "{options}: {stderr}"
        );
    }
}

#[test]
fn every_format_says_what_its_receiver_refused() {
    let receiver = serve();
    let address = |options: &str| url(&receiver, options);
    let user = ", which is about the user or the token";
    for (output, sentence) in [
        (format!("otlp={}", address("status=401")), user),
        (format!("otlp={}", address("status=503")), "it answered 503"),
        (format!("webhook={}", address("status=403")), user),
        (
            // Nobody takes points there.
            format!("influxdb=http://{}/no/such?org=a&bucket=b", free()),
            "nothing listens there",
        ),
        (
            format!("otlp-grpc=http://{}", free()),
            "nothing listens there",
        ),
        (
            format!("otlp-grpc=http://{}", receiver.addr()),
            "has no status of gRPC",
        ),
    ] {
        let (report, stderr, _) = ran(&output, &[("OTEL_METRIC_EXPORT_INTERVAL", "500")]);
        let warning = warning(&report);
        assert!(warning.contains(sentence), "{output}: {warning}: {stderr}");
    }
}

/// What is refused is sent again after the pause that the receiver asks for, even if the run ends
/// meanwhile; half a response, in its head or in its body, is none.
#[test]
fn a_pause_that_is_asked_for_is_kept_and_half_a_response_is_none() {
    let busy = "HTTP/1.1 429 Busy\r\nRetry-After: 2\r\nContent-Length: 0\r\n\r\n";
    let half = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf";
    for (answers, least, sentence) in [
        (&[busy][..], 2_000, "it answered 429"),
        // The end of the run shortens a pause that nobody asked for.
        (&[half, half], 0, "it is tried again"),
        (&["HTTP/1.1 200 O"], 0, "it is tried again"),
        (&[busy, half], 2_000, "it answered 429"),
    ] {
        let receiver = Bodies::answering(answers);
        let output = format!("otlp=http://{}", receiver.address);
        let (report, stderr, _) = ran(&output, &[("OTEL_METRIC_EXPORT_INTERVAL", "500")]);
        assert!(stderr.contains(sentence), "{answers:?}: {stderr}");
        assert_eq!(warning(&report), "", "{answers:?}: {stderr}");
        let arrivals = receiver.arrivals();
        let pause = arrivals[1] - arrivals[0];
        assert!(
            pause >= Duration::from_millis(least),
            "{answers:?}: {pause:?}"
        );
        assert!(!receiver.taken().is_empty());
    }
}

fn free() -> String {
    format!("127.0.0.1:{}", free_port())
}

#[test]
fn a_receiver_that_refuses_for_a_while_has_everything_in_the_end() {
    // Every second request is refused.
    let receiver = serve();
    let address = url(&receiver, "status=503&every=2");
    let output = format!("prometheus-rw={address}");
    let interval = [("LOADLINE_PROMETHEUS_RW_PUSH_INTERVAL", "300ms")];
    let (report, stderr, _) = ran(&output, &interval);
    assert_eq!(warning(&report), "", "{stderr}");
    assert!(
        stderr.contains("it answered 503") && stderr.contains("it is tried again"),
        "{stderr}"
    );
}
