//! What may happen to a run on agents, twenty times each: the sums are exact, and the run has ended
//! ten seconds after its load at the latest. `TIMES` is another number.

use super::clocks::{AHEAD_S, agent_ahead};
use super::measured::assert_four_begin_at_one_instant;
use super::{Agent, Bus, assert_sums, end, report, signal, start, url};
use crate::rig::{count, loadline, serve};
use loadline_bus::{Bus as Connection, BusAddress, Card, Labels};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

/// The load of a run: requests a second, and seconds.
const RATE: u64 = 300;
const SECONDS: u64 = 9;

/// The most requests that a busy machine may leave unsent, a tenth of a second's.
const MOST_UNSENT: u64 = RATE / 10;

/// The number of times that each of these happens.
pub(super) fn times() -> usize {
    std::env::var("TIMES").map_or(20, |text| text.parse().expect("a number"))
}

/// Runs an open load of three agents, to which this happens, so often. `most_lost` is the most
/// requests that may be lost, and at least one is if it is not 0.
fn often(happens: impl Fn(&mut Option<Bus>, &mut [Agent; 3]), most_lost: u64) {
    for time in 1..=times() {
        let (bus, server) = (Bus::start(&[]), serve());
        let mut agents = Agent::three(&bus);
        let length = format!("{SECONDS}s");
        let rate = RATE.to_string();
        let words = [
            "-t",
            "3",
            "-c",
            "30",
            "-r",
            &rate,
            "-d",
            &length,
            &url(&server),
        ];
        let run = start(&bus, "3", &words);
        bus.await_busy(3);
        let since = Instant::now();
        sleep(Duration::from_millis(3_000 + time as u64 * 37 % 1_000));
        let mut bus = Some(bus);
        happens(&mut bus, &mut agents);
        let (found, stderr, code) = end(run);
        let took = since.elapsed();
        assert!(
            took < Duration::from_secs(SECONDS + 10),
            "{time}: {took:?} {stderr}"
        );
        let lost = assert_sums(&found);
        assert_eq!(
            code,
            Some(if most_lost > 0 { 2 } else { 0 }),
            "{time}: {stderr}"
        );
        assert_eq!(
            count(&found, "planned"),
            RATE * SECONDS,
            "{time}: {found:#}"
        );
        // What falls due at the very end may find no time on a busy machine.
        let unsent = RATE * SECONDS - count(&found, "sent") - lost;
        assert!(unsent <= MOST_UNSENT, "{time}: {found:#}");
        assert!(
            lost <= most_lost && (lost > 0) == (most_lost > 0),
            "{time}: {lost} {stderr}"
        );
        let seen = server.stop().requests;
        assert!(
            seen >= count(&found, "answered"),
            "{time}: {seen} {found:#}"
        );
    }
}

/// The requests of one of three agents in the time until others take its load over.
const MOST_LOST: u64 = RATE / 3 * 7;

#[test]
#[ignore = "soak: minutes"]
fn an_agent_is_killed() {
    often(|_, agents| agents[1].0.kill().unwrap(), MOST_LOST);
}

/// Stops an agent for so long, in the background.
fn stop_for(seconds: u64) -> impl Fn(&mut Option<Bus>, &mut [Agent; 3]) {
    move |_, agents| {
        signal(&agents[1].0, "STOP");
        let pid = agents[1].0.id();
        thread::spawn(move || {
            sleep(Duration::from_secs(seconds));
            // It may be gone by then, and its number is nobody else's so soon.
            let _ = std::process::Command::new("kill")
                .args(["-s", "CONT", &pid.to_string()])
                .status();
        });
    }
}

#[test]
#[ignore = "soak: minutes"]
fn an_agent_is_stopped_for_five_seconds() {
    often(stop_for(5), MOST_LOST);
}

#[test]
#[ignore = "soak: minutes"]
fn an_agent_is_stopped_for_longer_than_the_run() {
    often(stop_for(60), MOST_LOST);
}

#[test]
#[ignore = "soak: minutes"]
fn the_bus_is_restarted() {
    let restart = |bus: &mut Option<Bus>, _: &mut [Agent; 3]| {
        let port = bus.take().expect("a bus").port;
        *bus = Some(Bus::start_at(port, &[]));
    };
    often(restart, 0);
}

#[test]
#[ignore = "soak: minutes"]
fn another_coordinator_looks_for_the_same_agents() {
    let another = |bus: &mut Option<Bus>, _: &mut [Agent; 3]| {
        let nats = bus.as_ref().expect("a bus").url();
        let words = ["--nats", &nats, "--agents", "3", "--agents-timeout", "1s"];
        let said = loadline(&[&words[..], &["http://127.0.0.1:9/"]].concat());
        assert_eq!(said.code, Some(2));
        assert!(said.stderr.contains("is busy with run"), "{}", said.stderr);
    };
    often(another, 0);
}

#[test]
#[ignore = "soak: minutes"]
fn the_disk_of_the_coordinator_is_full() {
    for _ in 0..times() {
        let (bus, server) = (Bus::start(&[]), serve());
        let _agents = Agent::three(&bus);
        let words = ["-t", "3", "-r", "300", "-d", "3s", "--save", "/dev/full"];
        let run = start(&bus, "3", &[&words[..], &[&url(&server)]].concat());
        let (found, stderr, code) = end(run);
        assert_eq!(code, Some(2), "{stderr}");
        assert!(stderr.contains("/dev/full"), "{stderr}");
        assert_eq!(assert_sums(&found), 0);
        assert_eq!(server.stop().answers, 900, "{stderr}");
    }
}

#[test]
#[ignore = "soak: minutes"]
fn a_coordinator_is_killed_and_its_agents_are_free_for_the_next_one() {
    for _ in 0..times() {
        let (bus, server) = (Bus::start(&[]), serve());
        let _agents = Agent::three(&bus);
        let words = ["-t", "3", "-r", "300", "-d", "60s", &url(&server)];
        let mut run = start(&bus, "3", &words);
        bus.await_busy(3);
        sleep(Duration::from_secs(2));
        run.coordinator.kill().unwrap();
        let since = Instant::now();
        let _ = run.coordinator.wait();
        bus.await_free(3);
        assert!(
            since.elapsed() < Duration::from_secs(10),
            "{:?}",
            since.elapsed()
        );
    }
}

/// Has a run look for an agent of another version, which is refused in one sentence.
fn refuse_another_version() {
    let bus = Bus::start(&[]);
    let address = BusAddress {
        url: bus.url(),
        ..BusAddress::default()
    };
    let connection = Connection::connect(&address).expect("a bus");
    let mut card = Card::new("old".to_owned(), 1, 1_024, Labels::new());
    card.versions.protocol -= 1;
    thread::spawn(move || {
        loadline_bus::serve(&connection, &card, None, |_| {
            Err("it is not asked".to_owned())
        })
    });
    let since = Instant::now();
    while bus.list().is_empty() {
        assert!(since.elapsed() < Duration::from_secs(10), "no agent");
        sleep(Duration::from_millis(50));
    }
    let nats = bus.url();
    let words = ["--nats", &nats, "--agents", "1", "--agents-timeout", "1s"];
    let said = loadline(&[&words[..], &["http://127.0.0.1:9/"]].concat());
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    for part in [
        "agent old has Loadline",
        &format!("protocol {},", loadline_cluster::PROTOCOL - 1),
        "and this is",
        &format!("protocol {},", loadline_cluster::PROTOCOL),
    ] {
        assert!(said.stderr.contains(part), "{part}: {}", said.stderr);
    }
}

#[test]
fn an_agent_of_another_version_is_named_with_both_versions() {
    refuse_another_version();
}

#[test]
#[ignore = "soak: minutes"]
fn an_agent_of_another_version_is_refused_each_time() {
    (0..times()).for_each(|_| refuse_another_version());
}

#[test]
#[ignore = "soak: minutes"]
fn wrong_credentials_are_refused_and_disturb_no_run() {
    let bus = Bus::start(&["--user", "anna", "--pass", "secret"]);
    let of = |password: &str| format!("nats://anna:{password}@127.0.0.1:{}", bus.port);
    let (right, wrong) = (of("secret"), of("guess"));
    let _agents = ["one", "two", "three"].map(|name| Agent::start(&right, name, &[]));
    for time in 1..=times() {
        let server = serve();
        let url = url(&server);
        let front = ["--nats", &right, "--agents", "3", "--allow-invalid"];
        let load = ["-o", "json", "-t", "3", "-r", "300", "-d", "3s", &url];
        let run = super::begin(&[&front[..], &load].concat());
        let refused: &[&[&str]] = &[&["agent"], &["agents"], &["--agents", "3", &url]];
        for words in refused {
            let said = loadline(&[*words, &["--nats", &wrong][..]].concat());
            assert_eq!(said.code, Some(2), "{time}: {words:?}");
            let sentence = said.stderr.contains("refuses its user");
            assert!(sentence, "{time}: {words:?}: {}", said.stderr);
        }
        let (found, stderr, code) = end(run);
        assert_eq!(code, Some(0), "{time}: {stderr}");
        assert_eq!(assert_sums(&found), 0, "{time}: {stderr}");
        assert_eq!(count(&found, "planned"), 900, "{time}: {stderr}");
        assert_eq!(server.stop().answers, 900, "{time}: {stderr}");
    }
}

#[test]
#[ignore = "soak: minutes"]
fn clocks_of_agents_are_a_second_and_a_day_ahead() {
    let bus = Bus::start(&[]);
    let ahead = [("three", 1), ("four", AHEAD_S)].map(|(name, s)| agent_ahead(&bus, name, s));
    let Some(_ahead) = ahead.into_iter().collect::<Option<Vec<_>>>() else {
        return;
    };
    let _agents = ["one", "two"].map(|name| Agent::start(&bus.url(), name, &[]));
    for _ in 0..times() {
        assert_four_begin_at_one_instant(&bus, 400);
    }
}

#[test]
#[ignore = "soak: a load that needs the machine alone"]
fn four_agents_send_fifty_thousand_requests_each_and_the_server_counts_them() {
    let (bus, server) = (Bus::start(&[]), serve());
    let nats = bus.url();
    let _agents = ["one", "two", "three", "four"].map(|name| Agent::start(&nats, name, &[]));
    let words = [
        "-t",
        "4",
        "-c",
        "200",
        "-r",
        "10k",
        "-n",
        "200000",
        &url(&server),
    ];
    let run = start(&bus, "4", &words);
    let (report, stderr, code) = report(run.coordinator);
    let found = &report["summary"];
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(assert_sums(found), 0);
    for key in ["planned", "sent", "answered"] {
        assert_eq!(count(found, key), 200_000, "{key}: {stderr}");
    }
    assert_eq!(server.stop().answers, 200_000);
}
