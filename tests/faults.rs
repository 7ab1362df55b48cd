//! Every fault of the test server, with exact counts on both sides.
//!
//! One connection sends 200 requests, and each tenth that the server receives goes wrong. What the
//! client must say of that follows from two rules: a connection that served before and that the
//! server ended before it read the next request is replaced silently; every other failure counts.

use crate::rig::{count, failures, serve, serve_with, statuses, summary, url};
use serde_json::Value;
use std::time::{Duration, Instant};

const REQUESTS: u64 = 200;

/// What 200 requests over one connection, with these options, came to.
fn run(options: &str, flags: &[&str]) -> (Value, loadline_testbed::Counts) {
    run_some(REQUESTS, options, flags)
}

fn run_some(requests: u64, options: &str, flags: &[&str]) -> (Value, loadline_testbed::Counts) {
    let server = serve();
    let (url, requests) = (url(&server, options), requests.to_string());
    let summary = summary(&[&["-c", "1", "-n", &requests], flags, &[url.as_str()]].concat());
    (summary, server.stop())
}

/// The summary's answered, failed and reconnects.
fn ends(summary: &Value) -> (u64, u64, u64) {
    (
        count(summary, "answered"),
        count(summary, "failed"),
        count(summary, "reconnects"),
    )
}

#[test]
fn an_answer_that_never_begins_is_a_failure_to_read() {
    for fault in [
        "reset-before-head",
        "close-before-head",
        "half-close-before-head",
    ] {
        let (summary, server) = run(&format!("fault={fault}&every=10"), &[]);
        assert_eq!(ends(&summary), (180, 20, 0), "{fault}");
        assert_eq!(failures(&summary, "read"), 20, "{fault}");
        assert_eq!((server.requests, server.faults), (REQUESTS, 20), "{fault}");
    }
}

#[test]
fn an_answer_that_never_begins_on_a_new_connection_is_a_failure() {
    for fault in ["reset-before-head", "close-before-head"] {
        let options = format!("fault={fault}&every=10");
        let (summary, server) = run(&options, &["--no-keepalive"]);
        assert_eq!(ends(&summary), (180, 20, 0), "{fault}");
        assert_eq!(failures(&summary, "read"), 20, "{fault}");
        assert_eq!((server.requests, server.faults), (REQUESTS, 20), "{fault}");
    }
}

#[test]
fn an_answer_that_breaks_off_is_a_failure_to_read() {
    for fault in [
        "reset-in-head",
        "reset-after-head",
        "reset-in-body",
        "close-in-head",
        "close-after-head",
        "close-in-body",
        "half-close-in-body",
        "long-length",
    ] {
        let (summary, server) = run(&format!("fault={fault}&every=10"), &[]);
        assert_eq!(ends(&summary), (180, 20, 0), "{fault}");
        assert_eq!(failures(&summary, "read"), 20, "{fault}: {summary:#}");
        assert_eq!((server.requests, server.faults), (REQUESTS, 20), "{fault}");
    }
}

#[test]
fn an_answer_that_is_not_http_is_a_failure_of_the_protocol() {
    for fault in ["garbage", "bad-chunk", "huge-head"] {
        let (summary, server) = run(&format!("fault={fault}&every=10"), &[]);
        assert_eq!(ends(&summary), (180, 20, 0), "{fault}: {summary:#}");
        assert_eq!(failures(&summary, "protocol"), 20, "{fault}: {summary:#}");
        // Whether a fault was played to its end, which the server counts, is up to us who hang up.
        assert_eq!(server.requests, REQUESTS, "{fault}");
    }
}

#[test]
fn an_answer_that_stops_is_a_timeout_with_the_time_it_was_waited_for() {
    for fault in ["never-answer", "hang-in-head", "hang-in-body"] {
        let options = format!("fault={fault}&every=50");
        let (summary, server) = run(&options, &["--timeout", "500ms"]);
        assert_eq!(ends(&summary), (196, 4, 0), "{fault}");
        assert_eq!(failures(&summary, "timeout"), 4, "{fault}");
        assert_eq!(server.requests, REQUESTS, "{fault}");
        let longest_us = summary["response_time_us"]["max"].as_f64().unwrap();
        assert!(longest_us >= 500e3, "{fault}: {longest_us}");
    }
}

#[test]
fn an_answer_without_end_holds_up_neither_the_other_connections_nor_the_clock() {
    for (tls, flags) in [
        (false, &["-r", "200", "-c", "10", "-d", "4s"][..]),
        (true, &["-r", "200", "-c", "10", "-d", "4s", "--insecure"]),
    ] {
        let server = serve_with(|config| config.tls = tls);
        let scheme = if tls { "https" } else { "http" };
        let endless = format!("{scheme}://{}/?fault=endless&every=200", server.addr());
        let (before, begin) = (server.counts(), Instant::now());
        let words = [flags, &["-t", "1", "--timeout", "1s", &endless]].concat();
        let summary = summary(&words);
        assert!(begin.elapsed() < Duration::from_secs(15), "{flags:?}");
        let played = server.counts().faults - before.faults;
        assert!(played >= 3, "{flags:?}: {played}");
        assert!(failures(&summary, "timeout") >= 1, "{flags:?}: {summary:#}");
        let sent = count(&summary, "sent");
        assert!(sent > 400, "{flags:?}: only {sent} of 800 were sent");
    }
}

#[test]
fn a_connection_that_ends_after_an_answer_is_replaced() {
    for (fault, surplus) in [
        ("reset-after-answer", 0),
        ("close-after-answer", 0),
        ("short-length", 20),
    ] {
        // An end that crosses the next request may have met it at the server.
        let flags = ["--think", "5ms"];
        let (summary, server) = run(&format!("fault={fault}&every=10"), &flags);
        assert_eq!(count(&summary, "surplus"), surplus, "{fault}");
        let warnings = summary["warnings"].to_string();
        assert_eq!(
            warnings.contains("Content-Length"),
            surplus > 0,
            "{warnings}"
        );
        assert_eq!(
            warnings.contains("keepalive_requests"),
            surplus == 0,
            "{warnings}"
        );
        // Nothing follows the last one, so that it needs no new connection.
        assert_eq!(ends(&summary), (200, 0, 19), "{fault}");
        assert_eq!(
            (server.requests, server.connections),
            (REQUESTS, 20),
            "{fault}"
        );
    }
}

#[test]
fn a_server_that_announces_the_end_of_its_connections_is_obeyed() {
    for (options, connections) in [
        ("close=1", 200),
        ("close-after=10", 20),
        ("until-close=1", 200),
        ("version=1.0", 200),
        ("version=1.0&close=0", 1),
        ("chunked=1&close-after=100", 2),
    ] {
        let (summary, server) = run(options, &[]);
        assert_eq!(ends(&summary), (200, 0, connections - 1), "{options}");
        assert_eq!(
            (server.requests, server.connections),
            (REQUESTS, connections),
            "{options}"
        );
    }
}

#[test]
fn every_shape_of_a_good_answer_is_read_to_its_end() {
    for (options, flags) in [
        ("", &[][..]),
        ("size=0", &[]),
        ("size=1000000", &[]),
        ("chunked=1&size=100000", &[]),
        ("trailers=1", &[]),
        ("interim=103", &[]),
        ("interim=102,103&chunked=1", &[]),
        ("drip=20/1ms", &[]),
        ("status=204", &[]),
        ("status=304", &[]),
        ("size=5000", &["-X", "HEAD"]),
        ("", &["--pipeline", "4"]),
        ("chunked=1&size=10000", &["--pipeline", "16"]),
        ("", &["--clock", "user"]),
        ("", &["-b", "a body of some bytes"]),
    ] {
        let (summary, server) = run(options, flags);
        let sent = count(&summary, "sent");
        assert_eq!(ends(&summary), (sent, 0, 0), "{options} {flags:?}");
        assert_eq!(
            (server.requests, server.connections),
            (sent, 1),
            "{options} {flags:?}"
        );
    }
}

#[test]
fn statuses_are_counted_as_they_come() {
    let (summary, _) = run("status=503&every=10", &[]);
    assert_eq!(
        (statuses(&summary, "200"), statuses(&summary, "503")),
        (180, 20)
    );
    assert_eq!(count(&summary, "failed"), 0);
}

#[test]
fn a_pipeline_goes_on_behind_a_connection_that_ends() {
    let (summary, server) = run("close-after=10", &["--pipeline", "4"]);
    // Requests behind the announced end were not served, and go out again.
    assert_eq!(
        (count(&summary, "answered"), count(&summary, "failed")),
        (200, 0)
    );
    assert_eq!(server.answers, REQUESTS);
    assert_eq!(count(&summary, "reconnects"), 19);
}

#[test]
fn counts_balance_with_many_connections_and_a_mixture_of_faults() {
    for fault in [
        "reset-before-head",
        "reset-in-body",
        "garbage",
        "close-after-answer",
    ] {
        let server = serve();
        let url = url(&server, &format!("fault={fault}&probability=0.05"));
        let summary = summary(&["-c", "20", "-t", "2", "-n", "4000", &url]);
        let ended = count(&summary, "answered") + count(&summary, "failed");
        assert_eq!((count(&summary, "sent"), ended), (4000, 4000), "{fault}");
        let by_kind: u64 = ["read", "protocol", "write", "connect", "timeout"]
            .iter()
            .map(|kind| failures(&summary, kind))
            .sum();
        assert_eq!(by_kind, count(&summary, "failed"), "{fault}: {summary:#}");
        let counts = server.stop();
        assert!(counts.requests <= 4000, "{fault}: {counts:?}");
        assert!(counts.requests >= count(&summary, "answered"), "{fault}");
        if fault != "close-after-answer" {
            let book = (counts.requests, counts.faults);
            assert_eq!(book, (4000, count(&summary, "failed")), "{fault}");
        }
    }
}

#[test]
fn delays_that_are_drawn_are_waited_out_and_differ() {
    for delay in ["exp:20ms", "lognormal:20ms,0.8"] {
        let (summary, _) = run_some(50, &format!("delay={delay}"), &[]);
        assert_eq!(ends(&summary), (50, 0, 0), "{delay}");
        let us = |name: &str| summary["service_time_us"][name].as_f64().unwrap();
        // Of fifty several are well above the middle and several below, whatever the seed.
        assert!(us("p90") > 25e3, "{delay}: {}", us("p90"));
        assert!(us("min") < 20e3, "{delay}: {}", us("min"));
    }
}
