//! Delays and drips: never early, and not much later than a busy machine makes them.

use crate::client::{Client, plain, start};
use loadline_testbed::{Config, Delay, Limit};
use std::time::{Duration, Instant};

/// A delay that is longer than any a busy machine causes.
const LATE: Duration = Duration::from_secs(2);

fn timed<T>(action: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let outcome = action();
    (outcome, start.elapsed())
}

fn assert_about(time: Duration, expected: Duration) {
    assert!(
        time >= expected && time < expected + LATE,
        "{time:?} instead of {expected:?}"
    );
}

#[test]
fn a_fixed_delay_is_waited() {
    let server = plain();
    let mut client = Client::connect(&server);
    for target in [
        "/?delay=30ms",
        "/?delay=30ms&trailers=1",
        "/echo?delay=30ms",
    ] {
        let (answer, time) = timed(|| client.get(target));
        assert_eq!(answer.status(), 200);
        assert_about(time, Duration::from_millis(30));
    }
    assert!(timed(|| client.get("/?delay=none")).1 < LATE);
}

#[test]
fn short_delays_are_not_rounded_to_milliseconds() {
    let server = plain();
    let mut client = Client::connect(&server);
    let delay = Duration::from_micros(200);
    let mut times: Vec<Duration> = (0..101)
        .map(|_| timed(|| client.get("/?delay=200us")).1)
        .collect();
    times.sort();
    assert!(times[0] >= delay, "{:?}", times[0]);
    // A timer of milliseconds would need at least one; the quartile is insensitive to a busy
    // machine.
    assert!(times[25] < Duration::from_millis(1), "{:?}", times[25]);
}

#[test]
fn delays_on_many_connections_pass_together() {
    let server = plain();
    let mut clients: Vec<_> = (0..50).map(|_| Client::connect(&server)).collect();
    let ((), time) = timed(|| {
        clients
            .iter_mut()
            .for_each(|client| client.send_get("/?delay=50ms"));
        clients
            .iter_mut()
            .for_each(|client| assert_eq!(client.answer().status(), 200));
    });
    assert_about(time, Duration::from_millis(50));
}

/// Returns the median of the differences between the times of `one` and `other`.
fn median_difference(one: &[Duration], other: &[Duration]) -> Duration {
    let mut apart: Vec<_> = one.iter().zip(other).map(|(a, b)| a.abs_diff(*b)).collect();
    apart.sort();
    apart[apart.len() / 2]
}

/// The draws themselves are tested where they are drawn; this test checks that they are the waits.
#[test]
fn random_delays_repeat_with_the_seed() {
    let times = |seed| -> Vec<Duration> {
        let mut config = Config {
            seed,
            ..Config::default()
        };
        config.defaults.delay = Some(Delay::Exponential(Duration::from_millis(5)));
        let server = start(config);
        let mut client = Client::connect(&server);
        (0..31).map(|_| timed(|| client.get("/")).1).collect()
    };
    let (one, same, foreign) = (times(5), times(5), times(6));
    let (near, far) = (
        median_difference(&one, &same),
        median_difference(&one, &foreign),
    );
    assert!(
        near < far / 2,
        "{near:?} apart with the same seed, {far:?} with another"
    );
}

#[test]
fn a_dripped_body_comes_in_its_pieces_and_its_time() {
    let server = plain();
    let mut client = Client::connect(&server);
    for (target, chunks) in [
        ("/?size=25&drip=10/20ms", &[][..]),
        ("/?size=25&drip=10/20ms&chunked=1", &[10, 10, 5]),
        ("/?size=25&drip=10/20ms&trailers=1", &[10, 10, 5]),
    ] {
        let (answer, time) = timed(|| client.get(target));
        assert_eq!(
            (answer.body.len(), answer.chunks.as_slice()),
            (25, chunks),
            "{target}"
        );
        assert_about(time, Duration::from_millis(40));
    }
    assert_eq!(server.stop().answers, 3);
}

#[test]
fn the_head_and_the_first_drip_come_at_once() {
    let server = plain();
    let mut client = Client::connect(&server);
    client.send_get("/?size=20&drip=10/20s");
    let (bytes, _) = client.read_to_end_within(Duration::from_secs(1));
    assert!(bytes.ends_with(b"\r\n\r\nxxxxxxxxxx"));
    assert_eq!(server.stop().answers, 0, "half an answer is none");
}

#[test]
fn requests_queue_behind_a_limit() {
    let limit = Limit {
        rate_per_s: 100.0,
        counters: 2,
    };
    let server = start(Config {
        limit: Some(limit),
        ..Config::default()
    });
    let mut clients: Vec<_> = (0..6).map(|_| Client::connect(&server)).collect();
    let ((), time) = timed(|| {
        clients.iter_mut().for_each(|client| client.send_get("/"));
        clients.iter_mut().for_each(|client| {
            client.answer();
        });
    });
    assert_about(time, Duration::from_millis(60));
}
