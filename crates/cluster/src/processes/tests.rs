//! Children that are not Loadline: each is killed, and the error contains what it did.

use super::*;
use crate::assignment::shares;
use crate::frame::Frame;
use crate::line::{Remote, Source};
use crate::message::{FromChild, Ready};
use loadline_engine::Readiness;
use loadline_plan::HttpVersion;
use std::time::{Duration, Instant};

fn plan() -> Plan {
    Plan {
        threads: 2,
        ..Plan::default()
    }
}

/// Returns a command that sends a message.
fn send(json: &str) -> String {
    let escaped = json.replace('"', "\\042");
    format!("printf '\\000\\000\\000\\{:03o}m{escaped}'", json.len() + 1)
}

/// Returns the error of a run whose second child does this instead of its part.
fn refused(deed: &str) -> String {
    let script = |deed: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-c", deed]);
        shell
    };
    let calls = std::cell::Cell::new(0);
    let program = || match calls.replace(calls.get() + 1) {
        0 => script(&format!(
            "while true; do {}; sleep 0.1; done",
            send("\"alive\"")
        )),
        _ => script(deed),
    };
    let started = Processes::start(&plan(), 2, Detail::default(), &Users::default(), program);
    started.expect_err("no run").to_string()
}

#[test]
fn a_child_that_is_none_is_named_with_what_it_did() {
    let then_sleep = |json: &str| format!("{}; exec sleep 60", send(json));
    for (deed, said) in [
        (
            "exit 7".to_owned(),
            "process 2 of 2: ended with exit code 7",
        ),
        (
            "kill -9 $$".to_owned(),
            "process 2 of 2: was killed by signal 9",
        ),
        (
            "printf '\\000\\000\\000\\020m{'; kill -9 $$".to_owned(),
            "process 2 of 2: was killed by signal 9",
        ),
        (
            then_sleep("\"done\""),
            "process 2 of 2: ended before its connections",
        ),
        (
            "echo hello; exec sleep 60".to_owned(),
            "process 2 of 2: sent what is no message of the protocol",
        ),
        (
            "printf '\\000\\000\\000\\002r\\077'; exec sleep 60".to_owned(),
            "process 2 of 2: sent what is no message of the protocol (a report has version 63",
        ),
        (
            then_sleep("{\"hello\":{\"protocol\":99}}"),
            "process 2 of 2: speaks version 99 of the protocol, not 7",
        ),
        (
            send("{\"failed\":{\"reason\":\"no memory\"}}"),
            "process 2 of 2: no memory",
        ),
    ] {
        let found = refused(&deed);
        assert!(found.starts_with(said), "{deed}: {found}");
    }
}

#[test]
fn a_child_that_says_nothing_is_ended() {
    let since = Instant::now();
    let said = refused("exec sleep 60");
    assert_eq!(said, "process 2 of 2: said nothing for 3 s and was ended");
    assert!(since.elapsed() >= crate::SILENCE_TIMEOUT);
}

#[test]
fn workers_are_spread_evenly_and_none_is_left() {
    let spread = |workers, processes| shares(workers, processes).collect::<Vec<_>>();
    assert_eq!(spread(2, 2), [0..1, 1..2]);
    assert_eq!(spread(7, 3), [0..2, 2..4, 4..7]);
    assert_eq!(spread(5, 1), vec![0..5; 1]);
}

/// The messages of a process that is none.
struct Sent(Receiver<Frame>);

impl Source for Sent {
    fn next(&mut self) -> io::Result<Option<Frame>> {
        Ok(self.0.recv().ok())
    }
}

struct Nothing;

impl Remote for Nothing {
    fn kill(&mut self) {}

    fn ending(&mut self) -> Option<String> {
        Some("ended".to_owned())
    }
}

/// Returns the line to an agent whose clock is known to within 2 ms, and what sends there.
fn agent(name: &str) -> (Line, std::sync::mpsc::Sender<Frame>) {
    let (send, sent) = channel();
    let line = Line::here(
        format!("agent {name}"),
        Box::new(drop),
        Box::new(Sent(sent)),
        Box::new(Nothing),
    );
    let line = Line {
        agent: Some(name.to_owned()),
        clock_error_ns: 2_000_000,
        ..line
    };
    (line, send)
}

#[test]
fn how_far_off_the_begin_of_each_agent_is_and_who_has_no_timestamps_becomes_known() {
    let (lines, sending): (Vec<Line>, Vec<_>) = ["one", "two"].map(agent).into_iter().unzip();
    let readiness = Readiness {
        connected: 1,
        error: None,
        addresses: Vec::new(),
        left_out: Vec::new(),
        http: HttpVersion::V1_1,
        length_ns: u64::MAX,
    };
    let say = |part: usize, message: FromChild| {
        let frame = Frame::of(&message).expect("JSON");
        sending[part].send(frame).expect("a part");
    };
    say(1, FromChild::Unstamped);
    for part in 0..2 {
        say(part, FromChild::Ready(Ready::from(&readiness)));
    }
    let processes = Processes::start_on(
        &plan(),
        lines,
        Detail::default(),
        &Users::default(),
        &Machines::default(),
        None,
    );
    let processes = processes.expect("a run");
    let begins = |late_ns| {
        ["one", "two"].map(|agent| AgentBegin {
            agent: agent.to_owned(),
            late_ns: if agent == "two" { late_ns } else { 0 },
            clock_error_ns: 2_000_000,
        })
    };
    assert_eq!(processes.unstamped(), ["two"]);
    assert!(processes.unstamped().is_empty());
    assert_eq!(processes.begins(), begins(0));
    say(1, FromChild::Begun { late_ns: 7_000_000 });
    let due = Instant::now() + Duration::from_secs(30);
    while processes.begins() != begins(7_000_000) {
        assert!(Instant::now() < due, "{:?}", processes.begins());
        std::thread::sleep(Duration::from_millis(1));
    }
    drop(sending);
}
