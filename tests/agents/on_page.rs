use super::{Agent, Bus, url};
use crate::browser::Tab;
use crate::live_page::Running;
use crate::rig::{beside_others, serve};
use serde_json::Value;

/// A run on all agents of a bus that lasts until it is stopped, with its page.
fn begin(bus: &Bus, agents: usize, more: &[&str]) -> Running {
    let (nats, agents) = (bus.url(), agents.to_string());
    let front = ["--web=0", "--nats", &nats, "--agents", &agents, "-d", "1h"];
    Running::begin(&[&front[..], more].concat())
}

/// The agents that a state lists.
fn listed(state: &Value) -> &[Value] {
    let agents = state["figures"]["agents"].as_array();
    agents.expect("a list")
}

fn answered(agents: &[Value]) -> u64 {
    let each = agents.iter().map(|agent| agent["answered"].as_u64());
    each.map(|count| count.expect("a count")).sum()
}

fn is_silent(state: &Value, name: &str) -> bool {
    let agent = listed(state).iter().find(|agent| agent["name"] == name);
    agent.is_some_and(|agent| agent["is_silent"] == true)
}

#[test]
fn each_agent_is_on_the_page_with_its_responses_and_who_is_killed_says_nothing() {
    let (bus, server) = (Bus::start(&[]), serve());
    let _beside_others = beside_others();
    let mut agents = Agent::three(&bus);
    let words = ["-t", "3", "-r", "150", &url(&server)];
    let running = begin(&bus, 3, &words);
    let state = running.await_that(|state| state["figures"]["answered"].as_u64() > Some(300));
    let names: Vec<&Value> = listed(&state).iter().map(|agent| &agent["name"]).collect();
    assert_eq!(names, ["one", "three", "two"]);
    assert_eq!(state["figures"]["agents_total"], 3);
    let sum = answered(listed(&state));
    assert_eq!(state["figures"]["answered"], sum, "{state:#}");
    for agent in listed(&state) {
        assert_eq!(agent["failed"], 0, "{agent:#}");
        assert!(agent["p99_us"].as_f64() > Some(0.0), "{agent:#}");
    }
    let (status, all) = running.request("GET", "/api/v1/agents", "", "");
    let all: Vec<Value> = serde_json::from_str(&all).unwrap();
    assert_eq!((status, all.len()), (200, 3));
    agents[1].0.kill().unwrap();
    let state = running.await_that(|state| is_silent(state, "two"));
    assert_eq!(listed(&state).len(), 3, "{state:#}");
    if let Some(mut tab) = Tab::open(&running.url) {
        let rows = "[...document.querySelectorAll('table.agents tbody th')]\
                    .map(row => row.textContent.trim()).join()";
        tab.await_that(&format!("{rows} === 'one,three,two says nothing'"));
    }
    running.command("stop", "");
    assert_eq!(running.interrupt().0, Some(2));
}

#[test]
#[ignore = "soak: starts 66 agents, which need the machine alone"]
fn of_more_than_sixty_four_agents_all_are_known_by_their_responses() {
    const AGENTS: usize = 66;
    let (bus, server) = (Bus::start(&[]), serve());
    let nats = bus.url();
    let mut agents: Vec<Agent> = (0..AGENTS)
        .map(|number| Agent::start(&nats, &format!("agent-{number:02}"), &[]))
        .collect();
    let words = ["-t", "66", "-c", "66", "-r", "660", &url(&server)];
    let running = begin(&bus, AGENTS, &words);
    let state = running.await_that(|state| state["figures"]["answered"].as_u64() > Some(2_000));
    assert_eq!(listed(&state).len(), 64);
    assert_eq!(state["figures"]["agents_total"], AGENTS);
    let (_, all) = running.request("GET", "/api/v1/agents", "", "");
    let all: Vec<Value> = serde_json::from_str(&all).unwrap();
    assert_eq!(all.len(), AGENTS);
    for agent in &all {
        assert!(agent["answered"].as_u64() > Some(0), "{agent:#}");
        assert_eq!(
            (&agent["failed"], &agent["p99_us"]),
            (&Value::Null, &Value::Null)
        );
    }
    // Those that say nothing have a row before others.
    agents[65].0.kill().unwrap();
    running.await_that(|state| is_silent(state, "agent-65"));
    running.command("stop", "");
    assert_eq!(running.interrupt().0, Some(2));
}
