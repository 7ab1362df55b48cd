//! Runs on agents that end before their time.

use super::{Agent, Bus, assert_sums, end, start};
use crate::rig::{count, serve};
use std::thread::sleep;
use std::time::Duration;

#[test]
fn a_run_ends_once_a_percentile_of_all_agents_is_precise() {
    let (bus, server) = (Bus::start(&[]), serve());
    let _agents = Agent::three(&bus);
    let url = super::url(&server) + "?delay=20ms";
    let words = [
        "-t", "3", "-r", "150", "-d", "60s", "--until", "p50±30%", &url,
    ];
    let (found, stderr, code) = end(start(&bus, "3", &words));
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(found["ended"], "precise", "{found:#}");
    let seconds = found["duration_s"].as_f64().unwrap();
    assert!((8.0..60.0).contains(&seconds), "{seconds}");
    assert_eq!(assert_sums(&found), 0);
}

#[test]
fn agents_that_are_lost_together_leave_their_load_to_nobody() {
    let (bus, server) = (Bus::start(&[]), serve());
    let mut agents = Agent::three(&bus);
    let url = super::url(&server);
    let words = ["-t", "3", "-r", "300", "-d", "20s", &url];
    let run = start(&bus, "3", &words);
    sleep(Duration::from_secs(4));
    for agent in &mut agents {
        agent.0.kill().unwrap();
    }
    let (found, stderr, code) = end(run);
    assert_eq!(code, Some(2), "{stderr}");
    assert_eq!(
        stderr.matches("of the load is lost from there on.").count(),
        3,
        "{stderr}"
    );
    assert!(!stderr.contains("the others send it"), "{stderr}");
    assert!(
        stderr.contains("No agent was left, so the run ended."),
        "{stderr}"
    );
    let notes = found["notes"].to_string();
    assert!(notes.contains("is lost, none is left"), "{notes}");
    assert!(!notes.contains("The other agents send"), "{notes}");
    assert_eq!(count(&found, "planned"), 6_000, "{found:#}");
    assert!(assert_sums(&found) > 0, "{found:#}");
}
