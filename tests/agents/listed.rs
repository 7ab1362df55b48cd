//! The list of agents: whom it has, and what their machines can do.

use super::{Agent, Bus, end, start, url};
use crate::rig::{command, count, loadline, serve};
use serde_json::Value;

/// The list as JSON.
fn listed(bus: &Bus, more: &[&str]) -> Vec<Value> {
    let nats = bus.url();
    let words = ["agents", "--nats", &nats, "-o", "json"];
    let said = command(&[&words[..], more].concat())
        .output()
        .expect("the command");
    assert_eq!(said.status.code(), Some(0), "{said:?}");
    let list: Value = serde_json::from_slice(&said.stdout).expect("JSON");
    list["agents"].as_array().expect("a list").clone()
}

#[test]
fn each_agent_is_listed_with_what_its_machine_can_do() {
    let bus = Bus::start(&[]);
    let nats = bus.url();
    let labels = [("one", "region=eu"), ("two", "region=us")];
    let _agents = labels.map(|(name, label)| Agent::start(&nats, name, &["--label", label]));
    let own = std::process::id().to_string();
    let _watcher = Agent::start(&nats, "watcher", &["--watch", &own]);
    bus.await_free(3);
    let agents = listed(&bus, &[]);
    let names: Vec<&Value> = agents.iter().map(|agent| &agent["name"]).collect();
    assert_eq!(names, ["one", "two", "watcher"]);
    for agent in &agents[..2] {
        assert!(agent["cores"].as_u64() >= Some(1), "{agent}");
        assert!(agent["open_files"].as_u64() >= Some(64), "{agent}");
        assert!(agent["local_ports"].as_u64() >= Some(1), "{agent}");
        assert_eq!(agent["version"], env!("CARGO_PKG_VERSION"), "{agent}");
        assert!(agent["clock"]["error_ns"].as_u64().is_some(), "{agent}");
        assert_eq!(agent["state"], "free");
        let floor = &agent["floor"];
        assert!(floor["answers_per_s"].as_f64() > Some(0.0), "{agent}");
        assert!(floor["min_ns"].as_u64() > Some(0), "{agent}");
        assert!(
            floor["min_ns"].as_u64() <= floor["p50_ns"].as_u64(),
            "{agent}"
        );
    }
    // An agent on the target's machine sends no load, not even for this.
    assert_eq!(
        (&agents[2]["floor"], &agents[2]["state"]),
        (&Value::Null, &"watches".into())
    );
    // It is measured once.
    let again = listed(&bus, &[]);
    for (agent, again) in agents.iter().zip(&again) {
        assert_eq!(agent["floor"], again["floor"]);
    }
    let rows = bus.list();
    assert!(rows[0].contains("/s, "), "{rows:?}");
}

#[test]
fn a_label_picks_the_agents_that_are_listed() {
    let bus = Bus::start(&[]);
    let nats = bus.url();
    let labels = [
        (
            "one",
            &["--label", "region=eu", "--label", "size=large"][..],
        ),
        ("two", &["--label", "region=eu"]),
        ("three", &["--label", "region=us"]),
    ];
    let _agents = labels.map(|(name, labels)| Agent::start(&nats, name, labels));
    bus.await_free(3);
    let names = |more: &[&str]| -> Vec<String> {
        let name = |agent: &Value| agent["name"].as_str().expect("a name").to_owned();
        listed(&bus, more).iter().map(name).collect()
    };
    assert_eq!(names(&["--label", "region=eu"]), ["one", "two"]);
    let both = ["--label", "region=eu", "--label", "size=large"];
    assert_eq!(names(&both), ["one"]);
    assert_eq!(names(&["--label", "region=asia"]), [""; 0]);
    let none = loadline(&["agents", "--nats", &nats, "--label", "region=asia"]);
    assert_eq!(none.code, Some(0), "{}", none.stderr);
    let sentence = "No agent with region=asia waits there; start one with `loadline agent --label \
                    region=asia` and the same --nats.\n";
    assert_eq!(none.stdout, sentence);
    for (words, said) in [
        (&["--label", "eu"][..], "--label: "),
        (&["-o", "csv"], "agents are listed as text or json."),
        (&["--label", "a=b", "--on", "one", "--", "true"], "--label"),
    ] {
        let refused = loadline(&[&["agents", "--nats", &nats], words].concat());
        assert_eq!(refused.code, Some(2), "{words:?}: {}", refused.stderr);
        assert!(
            refused.stderr.contains(said),
            "{words:?}: {}",
            refused.stderr
        );
    }
}

#[test]
fn an_agent_that_is_busy_is_listed_without_a_floor_and_measures_it_later() {
    let (bus, server) = (Bus::start(&[]), serve());
    let _agent = Agent::start(&bus.url(), "one", &[]);
    let run = start(
        &bus,
        "1",
        &["-c", "2", "-r", "50", "-d", "6s", &url(&server)],
    );
    // The list would have it measure its floor before the run begins.
    bus.await_busy(1);
    let busy = listed(&bus, &[]);
    assert_eq!(
        (&busy[0]["state"], &busy[0]["floor"]),
        (&"busy".into(), &Value::Null)
    );
    let (found, stderr, code) = end(run);
    assert_eq!(
        (code, count(&found, "answered")),
        (Some(0), 300),
        "{stderr}"
    );
    bus.await_free(1);
    let free = listed(&bus, &[]);
    assert!(
        free[0]["floor"]["answers_per_s"].as_f64() > Some(0.0),
        "{free:?}"
    );
}
