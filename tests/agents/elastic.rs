//! Agents that join a run while it lasts.

use super::{Agent, Bus, assert_sums, start, url};
use crate::rig::{count, loadline, serve, text, url as with_options};
use serde_json::Value;
use std::thread::sleep;
use std::time::Duration;

#[test]
fn agents_that_come_later_take_a_share_and_the_rate_stays() {
    let (bus, server) = (Bus::start(&[]), serve());
    let nats = bus.url();
    let mut agents: Vec<Agent> = ["one", "two"]
        .map(|name| Agent::start(&nats, name, &[]))
        .into();
    let url = url(&server);
    let words = [
        "--elastic",
        "-t",
        "2",
        "-c",
        "8",
        "-r",
        "400",
        "-d",
        "14s",
        &url,
    ];
    let run = start(&bus, "2", &words);
    sleep(Duration::from_millis(4_000));
    agents.extend(["three", "four"].map(|name| Agent::start(&nats, name, &[])));
    let output = run.coordinator.wait_with_output().expect("an end");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let found = &report["summary"];
    assert_eq!(assert_sums(found), 0);
    for key in ["planned", "sent", "answered"] {
        assert_eq!(count(found, key), 5_600, "{key}: {found:#}");
    }
    // Each arrival was sent once, by whoever had it then.
    assert_eq!(server.stop().answers, 5_600);
    let notes = found["notes"].to_string();
    for said in ["joins, 3 agents", "joins, 4 agents"] {
        assert!(notes.contains(said), "{notes} {stderr}");
    }
    let intervals = report["intervals"].as_array().expect("intervals");
    for interval in intervals {
        let planned = count(interval, "planned");
        assert!((396..=404).contains(&planned), "{interval:#}");
    }
    bus.await_free(4);
}

#[test]
fn an_agent_that_joined_and_is_lost_leaves_its_share_to_the_others() {
    let (bus, server) = (Bus::start(&[]), serve());
    let nats = bus.url();
    let _one = Agent::start(&nats, "one", &[]);
    let url = url(&server);
    let words = [
        "--elastic",
        "-t",
        "1",
        "-c",
        "8",
        "-r",
        "300",
        "-d",
        "16s",
        &url,
    ];
    let run = start(&bus, "1", &words);
    sleep(Duration::from_millis(3_000));
    let mut late = Agent::start(&nats, "late", &[]);
    sleep(Duration::from_millis(5_000));
    late.0.kill().unwrap();
    let (found, stderr, code) = super::end(run);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(
        stderr.contains("gent late said nothing for 3 s"),
        "{stderr}"
    );
    let lost = assert_sums(&found);
    assert_eq!(count(&found, "planned"), 4_800, "{found:#}");
    assert_eq!(count(&found, "sent") + lost, 4_800, "{found:#}");
    // Half of the rate, from its last report until others took it over.
    assert!((150..=1_050).contains(&lost), "{lost}: {stderr}");
}

#[test]
fn agents_that_come_later_take_a_share_of_the_users() {
    let (bus, server) = (Bus::start(&[]), serve());
    let nats = bus.url();
    let _agents = ["one", "two"].map(|name| Agent::start(&nats, name, &[]));
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("a.run");
    // Each of eight users has a response every 50 ms.
    let url = with_options(&server, "delay=50ms");
    let words = ["--elastic", "-t", "2", "-c", "8", "-d", "12s", "--save"];
    let run = start(&bus, "2", &[&words[..], &[text(&saved), &url]].concat());
    sleep(Duration::from_millis(4_000));
    let _late = Agent::start(&nats, "late", &[]);
    let (found, stderr, code) = super::end(run);
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(assert_sums(&found), 0);
    assert_eq!(count(&found, "failed"), 0, "{found:#}");
    // A machine that is busy sends less, and nobody sends more than eight users can.
    let sent = count(&found, "sent");
    assert!((960..=8 * 12 * 20).contains(&sent), "{sent}: {found:#}");
    assert!(server.stop().answers >= count(&found, "answered"));
    let said = loadline(&["report", "-o", "json", text(&saved)]);
    assert!(
        said.stdout.contains("Agent late joins, 3 agents"),
        "{}",
        said.stdout
    );
}

#[test]
fn a_load_without_shares_takes_nobody_in() {
    let bus = Bus::start(&[]);
    let _agent = Agent::start(&bus.url(), "one", &[]);
    let front = ["--nats", &bus.url(), "--agents", "1", "--elastic"];
    for (words, said) in [
        (
            &["-c", "4", "-n", "8", "http://127.0.0.1:9/"][..],
            "give a rate (-r)",
        ),
        (
            &["ab", "-n", "4", "http://127.0.0.1:9/"],
            "Loadline's own runs",
        ),
    ] {
        let found = loadline(&[&front[..], words].concat());
        assert_eq!(found.code, Some(if words[0] == "ab" { 22 } else { 2 }));
        assert!(found.stderr.contains(said), "{}", found.stderr);
    }
}
