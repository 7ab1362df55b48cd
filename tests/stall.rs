//! The stall oracle: a frozen server gives percentiles that are known beforehand.
//!
//! At a constant rate a server that stalls for D of T seconds makes a share D/T of all requests
//! wait, evenly from 0 to D: quantile q of the response time is D·(1 − (1−q)·T/D) for 1−q < D/T. A
//! tool whose figure at p99 is near the usual one has left out what it should measure.

use crate::rig::{count, loadline, serve_with, summary_alone, text, url};
use crate::witness::Witness;
use loadline_testbed::Freeze;
use serde_json::Value;
use std::time::Duration;

/// A machine whose neighbours take its cores away for tens of milliseconds adds that to the truth,
/// so figures count only if it was calm. A tool that is wrong is wrong each time.
const ATTEMPTS: usize = 4;

/// This many attempts on a calm machine are enough to be called wrong by.
const STRAYED: usize = 2;

/// The figures may be off by this share of the stall.
const SLACK: f64 = 0.02;

/// The formula lets the backlog drain at once. This machine answers this many a second at least.
const DRAINED_PER_S: f64 = 10_000.0;

/// A run in which the server stalls.
struct Stalled {
    rate: u32,
    length: Duration,
    freeze: Duration,
    /// Flags that say how many connections there are, at most twenty streams.
    connections: &'static [&'static str],
}

const HTTP1: &[&str] = &["-c", "20", "--max-connections", "20"];
const HTTP2: &[&str] = &[
    "--http",
    "2",
    "--streams",
    "10",
    "-c",
    "2",
    "--max-connections",
    "2",
];

#[test]
fn a_second_of_ten_frozen_shows_in_the_percentiles_as_it_must() {
    Stalled {
        rate: 2_000,
        length: Duration::from_secs(10),
        freeze: Duration::from_secs(1),
        connections: HTTP1,
    }
    .shows();
}

#[test]
fn a_second_of_ten_frozen_shows_as_it_must_over_http2() {
    Stalled {
        rate: 2_000,
        length: Duration::from_secs(10),
        freeze: Duration::from_secs(1),
        connections: HTTP2,
    }
    .shows();
}

#[test]
fn a_slower_rate_and_a_shorter_stall_show_as_they_must() {
    Stalled {
        rate: 1_000,
        length: Duration::from_secs(4),
        freeze: Duration::from_millis(600),
        connections: HTTP1,
    }
    .shows();
}

#[test]
fn a_faster_rate_and_a_stall_of_a_fifth_of_a_second_show_as_they_must() {
    Stalled {
        rate: 4_000,
        length: Duration::from_secs(2),
        freeze: Duration::from_millis(200),
        connections: HTTP1,
    }
    .shows();
}

impl Stalled {
    #[expect(clippy::print_stderr, reason = "what could not be judged is told")]
    fn shows(&self) {
        let mut strays = Vec::new();
        for _ in 0..ATTEMPTS {
            let witness = Witness::start();
            let (summary, report) = self.run();
            let taken = witness.taken();
            self.is_not_hidden(&summary);
            let mut stray = self.strays_of(&summary);
            if !report.contains("what a closed-loop tool would have shown") {
                stray.push(report);
            }
            if stray.is_empty() {
                return;
            }
            if taken.longest < self.freeze.mul_f64(SLACK) {
                strays.push(stray);
                assert!(strays.len() < STRAYED, "{strays:#?}");
            }
            eprintln!("off, while this was taken from a core: {taken:?}");
        }
        eprintln!("only that nothing is hidden was judged: the machine was never calm");
    }

    /// What no neighbour can take away: time that others take only adds to the response.
    fn is_not_hidden(&self, summary: &Value) {
        let planned = f64::from(self.rate) * self.length.as_secs_f64();
        assert_eq!(count(summary, "planned"), planned as u64);
        assert_eq!(count(summary, "failed"), 0);
        for (name, quantile) in [("p99", 0.99), ("p95", 0.95)] {
            let shown_us = summary["response_time_us"][name].as_f64();
            let least_us = self.expected(quantile).start;
            assert!(shown_us.expect("a figure") >= least_us, "{name}: {summary}");
        }
    }

    /// The run's summary, and its report as text.
    fn run(&self) -> (Value, String) {
        let freeze = Freeze {
            length: self.freeze,
            every: None,
            first_at: self.length.mul_f64(0.45),
        };
        let server = serve_with(|config| config.freeze = Some(freeze));
        let url = url(&server, "");
        let folder = tempfile::tempdir().unwrap();
        let saved = folder.path().join("a.run");
        let (rate, length) = (self.rate.to_string(), self.length.as_secs().to_string());
        let load = [
            &["-r", &rate, "-t", "1", "-d", &length] as &[&str],
            self.connections,
        ]
        .concat();
        let summary = summary_alone(&[&load[..], &["--save", text(&saved), &url]].concat());
        let report = loadline(&["report", "--allow-invalid", text(&saved)]);
        assert_eq!(report.code, Some(0), "{}", report.stderr);
        (summary, report.stdout)
    }

    /// Which figures are not where the formula has them, in microseconds.
    fn strays_of(&self, summary: &Value) -> Vec<String> {
        let us = |time: &str, name: &str| summary[time][name].as_f64().expect("a figure");
        let freeze_us = self.freeze.as_secs_f64() * 1e6;
        let expected = [
            ("response_time_us", "p99", self.expected(0.99)),
            ("response_time_us", "p95", self.expected(0.95)),
            ("response_time_us", "p50", 0.0..1_000.0),
            // What a closed-loop tool would have shown: twenty of thousands saw the stall.
            ("service_time_us", "p99", 0.0..freeze_us / 10.0),
            // The wait was for the server, and is not taken for our own lateness.
            (
                "blocked_us",
                "p99",
                0.7 * freeze_us..self.expected(0.99).end,
            ),
            ("lateness_us", "p99", 0.0..freeze_us / 10.0),
        ];
        let strays = expected
            .iter()
            .filter(|(time, name, range)| !range.contains(&us(time, name)));
        strays
            .map(|(time, name, range)| format!("{time} {name}: {} in {range:?}", us(time, name)))
            .collect()
    }

    /// Where a quantile of the response time has to lie, in microseconds.
    fn expected(&self, quantile: f64) -> std::ops::Range<f64> {
        let (freeze_s, length_s) = (self.freeze.as_secs_f64(), self.length.as_secs_f64());
        let exact_s = freeze_s * (1.0 - (1.0 - quantile) * length_s / freeze_s);
        // Those who came before it in the stall are answered before it.
        let in_front = f64::from(self.rate) * (freeze_s - exact_s);
        let drained_s = in_front / DRAINED_PER_S;
        let slack_s = SLACK * freeze_s;
        (exact_s - slack_s) * 1e6..(exact_s + drained_s + slack_s) * 1e6
    }
}
