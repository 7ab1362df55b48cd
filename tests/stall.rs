//! The stall oracle: a frozen server gives percentiles that are known beforehand.
//!
//! At a constant rate a server that stands still for D of T seconds makes a share D/T of all
//! requests wait, evenly from 0 to D: quantile q of the response time is D·(1 − (1−q)·T/D) for
//! 1−q < D/T. A tool whose figure at p99 is near the usual one has left out what it should measure.

use crate::rig::{count, serve_with, summary_alone, url};
use loadline_testbed::Freeze;
use std::time::Duration;

#[test]
fn a_second_of_ten_frozen_shows_in_the_percentiles_as_it_must() {
    let freeze = Freeze {
        length: Duration::from_secs(1),
        every: None,
        first_at: Duration::from_millis(4500),
    };
    let server = serve_with(|config| config.freeze = Some(freeze));
    let url = url(&server, "");
    let summary = summary_alone(&["-r", "2000", "-c", "50", "-t", "1", "-d", "10s", &url]);
    let response = |name: &str| summary["response_time_us"][name].as_f64().unwrap();
    let service = |name: &str| summary["service_time_us"][name].as_f64().unwrap();
    assert_eq!(count(&summary, "planned"), 20_000);
    assert_eq!(count(&summary, "failed"), 0);
    assert!(
        (response("p99") / 900e3 - 1.0).abs() < 0.02,
        "p99 {} µs",
        response("p99")
    );
    // The formula lets the backlog drain at once. A thousand requests are in front of this one.
    let p95_us = response("p95");
    assert!((490e3..600e3).contains(&p95_us), "p95 {p95_us} µs");
    assert!(response("p50") < 500.0, "p50 {} µs", response("p50"));
    // What a closed-loop tool would have shown: fifty requests of twenty thousand saw the stall.
    assert!(service("p99") < 100e3, "naive p99 {} µs", service("p99"));
    // The wait was for the server, and is not taken for our own lateness.
    assert!(summary["blocked_us"]["p99"].as_f64().unwrap() > 700e3);
    assert!(summary["lateness_us"]["p99"].as_f64().unwrap() < 100e3);
}
