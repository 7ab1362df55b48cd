//! Searches and series on agents: judged by what all of them measured together.

use super::{Agent, Bus, Run, url};
use crate::rig::{CommandOutput, loadline, serve, serve_with};
use loadline_testbed::{Limit, Server};
use serde_json::Value;
use std::thread::sleep;
use std::time::Duration;

/// A server that carries this rate and no more.
fn limited(rate_per_s: f64) -> Server {
    serve_with(|config| {
        config.limit = Some(Limit {
            rate_per_s,
            counters: 2,
        });
    })
}

/// The flags of a search of some seconds.
const QUICK: [&str; 16] = [
    "-d",
    "500ms",
    "--warmup",
    "500ms",
    "--trials",
    "1",
    "--precision",
    "30%",
    "--min-rate",
    "50",
    "--max-rate",
    "1600",
    "--budget",
    "90s",
    "-o",
    "json",
];

/// Begins a search on three agents, with as many threads.
fn begin(bus: &Bus, more: &[&str]) -> Run {
    let nats = bus.url();
    let front = ["capacity", "--nats", &nats, "--agents", "3", "-t", "3"];
    super::begin(&[&front[..], &QUICK, more].concat())
}

/// The trials of a search that were discarded.
fn set_aside(report: &Value) -> usize {
    let trials = report["trials"].as_array().expect("trials");
    trials
        .iter()
        .filter(|trial| trial["set_aside"] == true)
        .count()
}

#[test]
fn the_load_line_is_found_by_agents_too() {
    let (bus, server) = (Bus::start(&[]), limited(400.0));
    let _agents = Agent::three(&bus);
    let run = begin(&bus, &["--check", "p99<300ms", &url(&server)]);
    let (report, stderr, code) = super::report(run.coordinator);
    assert_eq!(code, Some(0), "{stderr}");
    let level = report["answer"]["level"].as_f64().expect(&stderr);
    assert!((250.0..=450.0).contains(&level), "{level}: {stderr}");
    assert!(!stderr.contains("floor"), "{stderr}");
    bus.await_free(3);
}

#[test]
fn a_trial_in_which_an_agent_is_lost_does_not_count_and_the_others_go_on() {
    let (bus, server) = (Bus::start(&[]), limited(400.0));
    let mut agents = Agent::three(&bus);
    let run = begin(
        &bus,
        &["--check", "p99<300ms", "--no-progress", &url(&server)],
    );
    sleep(Duration::from_millis(4_500));
    agents[1].0.kill().unwrap();
    let (report, stderr, code) = super::report(run.coordinator);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(
        stderr.contains("The search goes on with 2 agents."),
        "{stderr}"
    );
    let void = "This trial does not count, and is made again.";
    let voided = stderr.matches(void).count();
    // It may have been lost between two trials, and a machine that is short of CPU time voids more.
    assert!(voided <= 1, "{stderr}");
    assert!(set_aside(&report) >= voided, "{stderr}");
    let level = report["answer"]["level"].as_f64().expect(&stderr);
    assert!((250.0..=450.0).contains(&level), "{level}: {stderr}");
}

#[test]
fn a_search_for_users_begins_with_one_agent() {
    let (bus, server) = (Bus::start(&[]), serve());
    let _agents = Agent::three(&bus);
    let nats = bus.url();
    let said = loadline(&[
        "capacity",
        "--users",
        "--max-users",
        "4",
        "--nats",
        &nats,
        "--agents",
        "3",
        "-t",
        "3",
        "-d",
        "200ms",
        "--warmup",
        "0",
        "--trials",
        "1",
        "--budget",
        "60s",
        "--allow-invalid",
        &url(&server),
    ]);
    // Nothing limits it but the number of users.
    assert_eq!(said.code, Some(2), "{}{}", said.stdout, said.stderr);
    assert!(said.stderr.contains("on 1 agent:"), "{}", said.stderr);
    assert!(said.stderr.contains("on 3 agents"), "{}", said.stderr);
    assert!(said.stdout.contains("at least 4 users"), "{}", said.stdout);
}

/// A report of several runs.
fn series(said: &CommandOutput) -> Value {
    serde_json::from_str(&said.stdout).unwrap_or_else(|_| panic!("{}", said.stderr))
}

#[test]
fn repeats_and_turns_of_two_targets_run_on_agents() {
    let (bus, server) = (Bus::start(&[]), serve());
    let _agents = Agent::three(&bus);
    let (nats, url) = (bus.url(), url(&server));
    let front = ["--nats", &nats, "--agents", "3", "-t", "3", "-o", "json"];
    let load = ["-r", "300", "-d", "1s", "--repeat", "2", "--allow-invalid"];
    let said = loadline(&[&front[..], &load, &[&url]].concat());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert_eq!(series(&said)["runs"].as_array().map(Vec::len), Some(2));
    let words = [&["versus"], &front[..], &load, &[&url, &url]].concat();
    let said = loadline(&words);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert_eq!(series(&said)["runs"].as_array().map(Vec::len), Some(4));
    assert_eq!(server.stop().answers, 6 * 300);
}

#[test]
fn what_has_no_meaning_on_agents_is_refused() {
    let bus = Bus::start(&[]);
    let _agent = Agent::start(&bus.url(), "one", &[]);
    let nats = bus.url();
    let target = "http://127.0.0.1:9/";
    for (words, said) in [
        (&["--floor", target][..], "--floor is what this machine"),
        (
            &["capacity", "--users", "-f", "a.py"],
            "capacity without a locustfile",
        ),
    ] {
        let on_agents = ["--nats", &nats, "--agents", "1"];
        let found = loadline(&[words, &on_agents].concat());
        assert_eq!(found.code, Some(2), "{words:?}: {}", found.stderr);
        assert!(found.stderr.contains(said), "{words:?}: {}", found.stderr);
    }
    let found = loadline(&["--nats", &nats, "--agents", "1001", target]);
    assert_eq!(found.code, Some(2), "{}", found.stderr);
    assert!(
        found
            .stderr
            .contains("--agents 1001 is 1001 agents, and a run has at most 1000"),
        "{}",
        found.stderr
    );
}
