//! Children that are not Loadline: each is killed, and the error contains what it did.

use super::*;
use std::time::Instant;

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
            "process 2 of 2: speaks version 99 of the protocol, not 5",
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
