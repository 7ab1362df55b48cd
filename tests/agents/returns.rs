//! An agent that is lost while a run lasts, and back before its end: it is said, and nothing that
//! it has sent is added. While it stands still, its process of the part ends by itself.

use super::overheard::overhear;
use super::{Agent, Bus, Run, assert_sums, end, signal, start};
use crate::rig::{count, serve, url};
use std::fs;
use std::sync::mpsc::channel;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The longest wait for the loss of an agent on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Stops the second agent in the middle of a run, until the coordinator has given it up.
fn lose_for_a_while(bus: &Bus, agents: &[Agent; 3]) {
    let (send, given_up) = channel();
    overhear(bus, &["loadline.run.*.*.down"], move |_, message| {
        // A number of four bytes, and the kind: `e` is an end.
        if message.get(4) == Some(&b'e') {
            let _ = send.send(());
        }
        None
    });
    sleep(Duration::from_millis(2_500));
    assert!(has_running_child(agents[1].0.id()));
    signal(&agents[1].0, "STOP");
    let lost = given_up.recv_timeout(PATIENCE);
    let has_ended = lost.is_ok() && await_end_of_part(&agents[1]);
    signal(&agents[1].0, "CONT");
    assert!(has_ended, "{lost:?}");
}

/// Waits until the process with the part of a stopped agent has ended. Returns false if it goes on.
fn await_end_of_part(agent: &Agent) -> bool {
    let since = Instant::now();
    while since.elapsed() < PATIENCE {
        if !has_running_child(agent.0.id()) {
            return true;
        }
        sleep(Duration::from_millis(50));
    }
    false
}

/// True if a process has a child that runs: nobody takes notice of the end of one of a stopped
/// process.
fn has_running_child(process: u32) -> bool {
    let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
    let children = children.expect("the children of a process");
    children.split_whitespace().any(|child| {
        let stat = fs::read_to_string(format!("/proc/{child}/stat"));
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    })
}

/// Runs 300 requests a second on three agents, of which one is lost and back.
fn run(more: &[&str]) -> (serde_json::Value, String) {
    let (bus, server) = (Bus::start(&[]), serve());
    let agents = Agent::three(&bus);
    let url = url(&server, "");
    let load = ["-t", "3", "-r", "300", "-d", "14s", &url];
    let run: Run = start(&bus, "3", &[more, &load].concat());
    bus.await_busy(3);
    lose_for_a_while(&bus, &agents);
    let (found, stderr, code) = end(run);
    assert_eq!(code, Some(2), "{stderr}");
    assert_eq!(count(&found, "planned"), 4_200, "{found:#}");
    assert!(assert_sums(&found) > 0, "{found:#}");
    bus.await_free(3);
    (found, stderr)
}

fn assert_said(found: &serde_json::Value, stderr: &str, load: &str) {
    let notes = found["notes"].to_string();
    assert!(notes.contains("Agent two is back after "), "{notes}");
    assert!(notes.contains(load), "{notes}");
    let said = " s later, and had no part of the run any more.";
    assert!(stderr.contains(" agent two was back "), "{stderr}");
    assert!(stderr.contains(said), "{stderr}");
}

#[test]
fn an_agent_that_is_back_leaves_its_load_to_the_others_and_it_is_said() {
    let (found, stderr) = run(&[]);
    assert_said(&found, &stderr, "; the others keep its load");
}

#[test]
fn an_agent_that_is_back_has_no_load_if_losses_are_kept() {
    let (found, stderr) = run(&["--on-loss", "keep"]);
    assert_said(&found, &stderr, "; nobody sends its load");
}

#[cfg(feature = "k6")]
#[test]
fn an_agent_of_a_k6_script_that_is_back_is_named() {
    use crate::rig::{beside_others, command, text};
    let (bus, server) = (Bus::start(&[]), serve());
    let agents = Agent::three(&bus);
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("a.js");
    let url = url(&server, "delay=50ms");
    let source = format!(
        "import http from 'k6/http';\nexport const options = {{ vus: 6, duration: '14s' }};\n\
         export default function () {{ http.get('{url}'); }}\n"
    );
    fs::write(&script, source).unwrap();
    let (nats, script) = (bus.url(), text(&script).to_owned());
    let words = ["--nats", &nats, "--agents", "3", "k6", "run", "--quiet"];
    let _beside_others = beside_others();
    let coordinator = command(&[&words[..], &[&script]].concat()).spawn();
    let coordinator = coordinator.expect("the command");
    bus.await_busy(3);
    lose_for_a_while(&bus, &agents);
    let output = coordinator.wait_with_output().expect("an end");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains(" agent two was back "), "{stderr}");
    assert!(!output.status.success());
}
