//! Runs of so many agents that some of them join the reports of others. Each agent is a process, so
//! that `make soak` runs them.

use super::{Agent, Bus, assert_sums, end, start, url};
use crate::rig::{count, serve, url as with_options};
use std::thread::sleep;
use std::time::Duration;

/// The agents: two more than report to the command themselves. They have three groups of 22.
const AGENTS: usize = 66;
/// The requests a second, and the length of the load in seconds.
const RATE: u64 = 660;
const SECONDS: u64 = 14;

/// Starts the agents, in the order of their names.
fn agents(bus: &Bus) -> Vec<Agent> {
    let nats = bus.url();
    let numbers = 0..AGENTS;
    numbers
        .map(|number| Agent::start(&nats, &format!("agent-{number:02}"), &[]))
        .collect()
}

/// The words of an open load.
fn words(url: &str) -> Vec<String> {
    let (agents, rate, length) = (AGENTS.to_string(), RATE.to_string(), format!("{SECONDS}s"));
    let words = [
        "-t", &agents, "-c", &agents, "-r", &rate, "-d", &length, url,
    ];
    words.map(str::to_owned).into()
}

fn begin(bus: &Bus, words: &[String]) -> super::Run {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    start(bus, &AGENTS.to_string(), &words)
}

#[test]
#[ignore = "soak: starts 66 agents, which need the machine alone"]
fn what_agents_join_of_others_is_exactly_what_all_of_them_sent() {
    let (bus, server) = (Bus::start(&[]), serve());
    let _agents = agents(&bus);
    let (found, stderr, code) = end(begin(&bus, &words(&url(&server))));
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(assert_sums(&found), 0);
    for key in ["planned", "sent", "answered"] {
        assert_eq!(count(&found, key), RATE * SECONDS, "{key}: {found:#}");
    }
    assert_eq!(found["response_time_us"]["count"], RATE * SECONDS);
    assert_eq!(server.stop().answers, RATE * SECONDS);
    bus.await_free(AGENTS);
}

/// Kills these agents one after another in the middle of an open load, and asserts that the sums
/// add up.
fn lose(victims: &[usize]) {
    let (bus, server) = (Bus::start(&[]), serve());
    let mut agents = agents(&bus);
    let run = begin(&bus, &words(&url(&server)));
    // They are gathered, and begin a second later.
    bus.await_busy(AGENTS);
    sleep(Duration::from_millis(4_500));
    for victim in victims {
        agents[*victim].0.kill().unwrap();
        sleep(Duration::from_millis(700));
    }
    let (found, stderr, code) = end(run);
    assert_eq!(code, Some(2), "{stderr}");
    for victim in victims {
        let said = format!("gent agent-{victim:02} said nothing for 3 s");
        assert!(stderr.contains(&said), "{said}: {stderr}");
    }
    let lost = assert_sums(&found);
    assert_eq!(count(&found, "planned"), RATE * SECONDS, "{found:#}");
    assert_eq!(count(&found, "sent") + lost, RATE * SECONDS, "{found:#}");
    // Ten requests a second of each, for as long as it was not heard.
    let most = 10 * 7 * victims.len() as u64;
    assert!((10..=most).contains(&lost), "{lost}: {stderr}");
    assert_eq!(count(&found, "failed"), 0, "{found:#}");
    assert!(server.stop().answers >= count(&found, "answered"));
    bus.await_free(AGENTS - victims.len());
}

#[test]
#[ignore = "soak: starts 66 agents, which need the machine alone"]
fn an_agent_of_a_group_is_lost_and_the_sums_add_up() {
    lose(&[30]);
}

#[test]
#[ignore = "soak: starts 66 agents, which need the machine alone"]
fn an_agent_that_joins_the_reports_of_others_is_lost_and_the_sums_add_up() {
    // The first of a group joins its reports, and then the second one.
    lose(&[22, 0, 23]);
}

#[test]
#[ignore = "soak: starts 66 agents, which need the machine alone"]
fn a_number_of_requests_is_begun_exactly_although_who_joins_reports_is_lost() {
    let (bus, server) = (Bus::start(&[]), serve());
    let mut agents = agents(&bus);
    let url = with_options(&server, "delay=200ms");
    let number = AGENTS.to_string();
    let words = ["-t", &number, "-c", &number, "-n", "3300", &url];
    let run = begin(&bus, &words.map(str::to_owned));
    bus.await_busy(AGENTS);
    sleep(Duration::from_millis(4_500));
    agents[22].0.kill().unwrap();
    let (found, stderr, code) = end(run);
    assert_eq!(code, Some(2), "{stderr}");
    assert_eq!(assert_sums(&found), 0);
    assert_eq!(count(&found, "sent"), 3_300, "{found:#}{stderr}");
    assert_eq!(count(&found, "failed"), 0, "{found:#}");
    assert!(server.stop().answers >= count(&found, "answered"));
    bus.await_free(AGENTS - 1);
}
