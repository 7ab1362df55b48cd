//! The stall oracle: a frozen server gives percentiles that are known beforehand.
//!
//! At a constant rate a server that stands still for D of T seconds makes a share D/T of all
//! requests wait, evenly from 0 to D: quantile q of the response time is D·(1 − (1−q)·T/D) for
//! 1−q < D/T. A tool whose figure at p99 is near the usual one has left out what it should measure.

use crate::rig::{count, serve_with, summary_alone, url};
use loadline_testbed::Freeze;
use serde_json::Value;
use std::time::Duration;

/// A machine whose neighbours take its cores away for tens of milliseconds adds that to the truth.
/// A tool that is wrong is wrong each time.
const ATTEMPTS: usize = 3;

#[test]
fn a_second_of_ten_frozen_shows_in_the_percentiles_as_it_must() {
    let mut strays = Vec::new();
    for _ in 0..ATTEMPTS {
        let summary = run();
        assert_eq!(count(&summary, "planned"), 20_000);
        assert_eq!(count(&summary, "failed"), 0);
        let stray = strays_of(&summary);
        if stray.is_empty() {
            return;
        }
        strays.push(stray);
    }
    panic!("{strays:#?}");
}

/// Ten seconds at 2 000 a second, one of them frozen.
fn run() -> Value {
    let freeze = Freeze {
        length: Duration::from_secs(1),
        every: None,
        first_at: Duration::from_millis(4500),
    };
    let server = serve_with(|config| config.freeze = Some(freeze));
    let url = url(&server, "");
    summary_alone(&["-r", "2000", "-c", "50", "-t", "1", "-d", "10s", &url])
}

/// Which figures are not where the formula has them, in microseconds.
fn strays_of(summary: &Value) -> Vec<String> {
    let us = |time: &str, name: &str| summary[time][name].as_f64().expect("a figure");
    let expected = [
        ("response_time_us", "p99", 882e3..918e3),
        // The formula lets the backlog drain at once. A thousand requests are in front of this one.
        ("response_time_us", "p95", 490e3..600e3),
        ("response_time_us", "p50", 0.0..500.0),
        // What a closed-loop tool would have shown: fifty of twenty thousand saw the stall.
        ("service_time_us", "p99", 0.0..100e3),
        // The wait was for the server, and is not taken for our own lateness.
        ("blocked_us", "p99", 700e3..918e3),
        ("lateness_us", "p99", 0.0..100e3),
    ];
    let strays = expected
        .iter()
        .filter(|(time, name, range)| !range.contains(&us(time, name)));
    strays
        .map(|(time, name, range)| format!("{time} {name}: {} in {range:?}", us(time, name)))
        .collect()
}
