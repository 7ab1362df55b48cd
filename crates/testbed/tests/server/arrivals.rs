//! Deviations and gaps of arrivals over the network. Their exact values are tested where they are
//! computed; these tests check that arrivals are recorded, each once and at its time.

use crate::client::{Client, plain, start};
use loadline_testbed::{Config, EvenSchedule};
use std::time::{Duration, Instant};

#[test]
fn the_gap_header_tells_the_time_since_the_last_arrival() {
    let server = plain();
    let (mut one, mut other) = (Client::connect(&server), Client::connect(&server));
    let gap = |answer: crate::client::Answer| -> Duration {
        let gap_ns = answer
            .header("x-arrival-gap-ns")
            .expect("a gap")
            .parse()
            .expect("a number");
        Duration::from_nanos(gap_ns)
    };
    assert_eq!(gap(one.get("/")), Duration::ZERO);
    let before = Instant::now();
    std::thread::sleep(Duration::from_millis(20));
    let second = gap(other.get("/?trailers=1"));
    assert!(
        second >= Duration::from_millis(20)
            && second < before.elapsed() + Duration::from_millis(200)
    );
}

#[test]
fn every_arrival_is_measured_even_in_a_pipeline() {
    let schedule = EvenSchedule {
        rate_per_s: 1_000.0,
        skip: Duration::ZERO,
    };
    let server = start(Config {
        arrivals: Some(schedule),
        ..Config::default()
    });
    let mut client = Client::connect(&server);
    client.send("GET / HTTP/1.1\r\nHost: here\r\n\r\n".repeat(100));
    for _ in 0..100 {
        client.answer();
    }
    let report = server.arrivals().expect("a report");
    assert_eq!(
        (report.measured, report.skipped, report.unstored),
        (100, 0, 0)
    );
    // All at once, or nearly: the schedule's hundred milliseconds are deviation.
    assert!(report.gap.p50 < Duration::from_millis(1), "{report:?}");
    assert!(
        report.deviation.max >= Duration::from_millis(30),
        "{report:?}"
    );
    assert!(plain().arrivals().is_none());
}

#[test]
fn arrivals_are_measured_behind_what_is_skipped() {
    let schedule = EvenSchedule {
        rate_per_s: 100.0,
        skip: Duration::from_millis(95),
    };
    let server = start(Config {
        arrivals: Some(schedule),
        ..Config::default()
    });
    let mut client = Client::connect(&server);
    let begun = Instant::now();
    for k in 0..40 {
        let due = begun + Duration::from_millis(10) * k;
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        client.get("/");
    }
    let report = server.arrivals().expect("a report");
    assert_eq!(report.measured + report.skipped, 40);
    assert!(report.skipped >= 1 && report.measured >= 1, "{report:?}");
    // However late the machine makes some of them, they are spread over the whole time.
    let half = Duration::from_millis(200);
    assert!(report.deviation.p50 < half, "{report:?}");
}
