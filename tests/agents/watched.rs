//! Processes on the target's machine, which an agent there watches.

use super::{Agent, Bus, end, start, url};
use crate::rig::{beside_others, command, count, loadline, serve};
use serde_json::Value;
use std::process::Output;

fn watched_by<'a>(found: &'a Value, name: &str) -> Option<&'a Value> {
    let trees = found["watch"]["trees"].as_array().expect("trees");
    trees.iter().find(|tree| tree["name"] == name)
}

#[test]
fn what_an_agent_watches_is_in_the_report_of_a_run_elsewhere() {
    let (bus, server) = (Bus::start(&[]), serve());
    let port = format!(":{}", server.addr().port());
    let labels = ["--watch", &port, "--label", "role=db"];
    let _db = Agent::start(&bus.url(), "db-1", &labels);
    let _agents = ["one", "two"].map(|name| Agent::start(&bus.url(), name, &[]));
    assert!(
        bus.list()[0].contains(&format!("watches {port}  role=db")),
        "{:?}",
        bus.list()
    );
    let nats = bus.url();
    let _beside_others = beside_others();
    for (front, alone) in [(&["--agents", "2"][..], false), (&[], true)] {
        let own = ["--nats", &nats, "--watch-agents", "role=db", "--no-watch"];
        let load = ["-r", "400", "-d", "4s", "--allow-invalid", "-o", "json"];
        let url = url(&server);
        let words = [front, &own, &load, &[&url]].concat();
        let Output {
            status,
            stdout,
            stderr,
        } = command(&words).output().expect("the command");
        let stderr = String::from_utf8_lossy(&stderr).into_owned();
        assert_eq!(status.code(), Some(0), "{stderr}");
        let report: Value = serde_json::from_slice(&stdout).expect(&stderr);
        let tree = watched_by(&report["summary"], &format!("db-1 {port}"));
        let tree = tree.unwrap_or_else(|| panic!("{:#}", report["summary"]["watch"]));
        assert_eq!(tree["pid"], std::process::id(), "{tree:#}");
        for figure in ["cpu_percent", "rss_bytes", "sockets"] {
            assert!(
                tree[figure]["max"].as_f64() > Some(0.0),
                "{figure}: {tree:#}"
            );
        }
        assert_eq!(stderr.contains("on 2 agents: one, two."), !alone);
    }
}

#[test]
fn an_agent_that_watches_takes_no_part_and_says_what_it_can_not_watch() {
    let (bus, server) = (Bus::start(&[]), serve());
    // Nothing listens there.
    let _db = Agent::start(&bus.url(), "db-1", &["--watch", ":1"]);
    let nats = bus.url();
    let timeout = ["--agents-timeout", "1s"];
    let target = url(&server);
    let part = ["--nats", &nats, "--agents", "1"];
    let said = loadline(&[&part[..], &timeout, &[&target]].concat());
    assert_eq!(said.code, Some(2));
    assert!(
        said.stderr
            .contains("agent db-1 watches :1, and takes no part in runs"),
        "{}",
        said.stderr
    );
    let watch = ["--nats", &nats, "--watch-agents", "1", "-n", "10", &target];
    let said = loadline(&watch);
    assert_eq!(said.code, Some(2));
    assert!(
        said.stderr
            .contains("--watch-agents: agent db-1 can't watch :1: "),
        "{}",
        said.stderr
    );
    assert_eq!(server.stop().requests, 0);
}

#[test]
fn a_run_goes_on_when_the_agent_that_watches_is_gone() {
    let (bus, server) = (Bus::start(&[]), serve());
    let port = format!(":{}", server.addr().port());
    let mut db = Agent::start(&bus.url(), "db-1", &["--watch", &port]);
    let _agent = Agent::start(&bus.url(), "one", &[]);
    let url = url(&server);
    let words = ["--watch-agents", "1", "-r", "200", "-d", "12s", &url];
    let run = start(&bus, "1", &words);
    std::thread::sleep(std::time::Duration::from_secs(3));
    db.0.kill().unwrap();
    let (found, stderr, code) = end(run);
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(count(&found, "answered"), 2_400, "{stderr}");
    assert!(
        stderr.contains("Agent db-1 does not answer: what it watches is missing from here on."),
        "{stderr}"
    );
}
