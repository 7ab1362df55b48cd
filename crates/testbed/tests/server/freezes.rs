//! Freezes of the whole server.

use crate::client::{Client, start, wait_until};
use loadline_testbed::{Config, Freeze};
use std::time::{Duration, Instant};

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Returns the longest time of a sequence of requests, and the time at which that request began.
fn longest_wait(
    client: &mut Client<std::net::TcpStream>,
    during: Duration,
) -> (Duration, Duration) {
    let start = Instant::now();
    let mut longest = (Duration::ZERO, Duration::ZERO);
    while start.elapsed() < during {
        let asked = Instant::now();
        assert_eq!(client.get("/").status(), 200);
        longest = longest.max((asked.elapsed(), asked - start));
    }
    longest
}

#[test]
fn a_freeze_holds_up_everything_and_then_all_goes_on() {
    for threads in [1, 2] {
        let freeze = Freeze {
            length: ms(300),
            every: None,
            first_at: ms(100),
        };
        let server = start(Config {
            threads,
            freeze: Some(freeze),
            ..Config::default()
        });
        let mut clients = [(); 2].map(|()| Client::connect(&server));
        let [first, second] = &mut clients;
        let waits = std::thread::scope(|scope| {
            let other = scope.spawn(|| longest_wait(second, ms(600)));
            [
                longest_wait(first, ms(600)),
                other.join().expect("no panic"),
            ]
        });
        for (wait, began) in waits {
            assert!((ms(250)..ms(2_000)).contains(&wait), "waited {wait:?}");
            assert!((ms(50)..ms(600)).contains(&began), "froze at {began:?}");
        }
        assert_eq!(server.stop().freezes, 1);
    }
}

#[test]
fn nothing_is_accepted_or_read_in_a_freeze() {
    let server = start(Config::default());
    let mut freezing = Client::connect(&server);
    freezing.send_get("/?freeze-now=1s");
    wait_until(|| server.counts().freezes > 0);
    let mut other = Client::connect(&server);
    other.send_get("/");
    std::thread::sleep(ms(50));
    let during = server.counts();
    assert_eq!(
        (during.connections, during.requests, during.answers),
        (1, 1, 0)
    );
    let asked = Instant::now();
    assert_eq!(other.answer().status(), 200);
    assert!(asked.elapsed() > ms(100), "only {:?}", asked.elapsed());
    assert_eq!(freezing.answer().status(), 200);
    let after = server.stop();
    assert_eq!(
        (after.connections, after.requests, after.answers),
        (2, 2, 2)
    );
}

#[test]
fn freezes_come_again_counted_from_the_first_request() {
    let freeze = Freeze {
        length: ms(20),
        every: Some(ms(100)),
        first_at: ms(0),
    };
    let server = start(Config {
        freeze: Some(freeze),
        ..Config::default()
    });
    std::thread::sleep(ms(150));
    assert_eq!(server.counts().freezes, 0, "no request has come");
    let begun = Instant::now();
    Client::connect(&server).get("/");
    wait_until(|| server.counts().freezes >= 4);
    let fourth = begun.elapsed();
    assert!(
        (ms(299)..ms(2_000)).contains(&fourth),
        "the fourth began after {fourth:?}"
    );
}

#[test]
fn a_frozen_server_stops_at_once() {
    let server = start(Config {
        threads: 2,
        ..Config::default()
    });
    let mut client = Client::connect(&server);
    client.send_get("/?freeze-now=60s");
    wait_until(|| server.counts().freezes > 0);
    let told = Instant::now();
    server.stop();
    assert!(told.elapsed() < Duration::from_secs(5));
}

#[test]
fn every_limits_freezes() {
    let server = start(Config::default());
    let mut client = Client::connect(&server);
    for _ in 0..10 {
        client.get("/?freeze-now=1ms&every=5");
    }
    assert_eq!(server.stop().freezes, 2);
}
