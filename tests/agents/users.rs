//! The users of an agent that is lost, whom the others take over.

use super::{Agent, Bus, assert_sums, end, start};
use crate::rig::{count, serve, url};
use std::thread::sleep;
use std::time::Duration;

#[test]
fn the_users_of_an_agent_that_is_killed_go_to_the_others() {
    let (bus, server) = (Bus::start(&[]), serve());
    let mut agents = Agent::three(&bus);
    // Each of six users has a response every 50 ms.
    let url = url(&server, "delay=50ms");
    let words = ["-t", "3", "-c", "6", "-n", "1200", &url];
    let run = start(&bus, "3", &words);
    sleep(Duration::from_millis(4_000));
    agents[1].0.kill().unwrap();
    let (found, stderr, code) = end(run);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(
        stderr.contains(" s, from when on the others send it."),
        "{stderr}"
    );
    assert_eq!(assert_sums(&found), 0);
    assert_eq!(count(&found, "sent"), 1_200, "{found:#}");
    assert_eq!(count(&found, "planned"), 1_200, "{found:#}");
    assert_eq!(count(&found, "failed"), 0, "{found:#}");
    assert!(server.stop().answers >= count(&found, "answered"));
    bus.await_free(2);
}

#[test]
fn users_that_nobody_takes_over_leave_a_number_of_requests_short_and_it_is_said() {
    let (bus, server) = (Bus::start(&[]), serve());
    let mut agents = Agent::three(&bus);
    let url = url(&server, "delay=50ms");
    let words = ["--on-loss", "keep", "-t", "3", "-c", "6", "-n", "900", &url];
    let run = start(&bus, "3", &words);
    sleep(Duration::from_millis(4_000));
    agents[1].0.kill().unwrap();
    let (found, stderr, code) = end(run);
    assert_eq!(code, Some(2), "{stderr}");
    let missing = 900 - count(&found, "sent");
    assert!(missing > 0, "{found:#}");
    let said = format!("{missing} of its requests were not sent by anybody else.");
    assert!(stderr.contains(&said), "{said} {stderr}");
}

#[cfg(feature = "k6")]
mod k6 {
    use super::*;
    use crate::rig::{beside_others, command, text};
    use std::fs;
    use std::process::Output;

    /// Runs a script with these options on three agents, of which one is killed after four seconds.
    /// Returns what was printed.
    fn run(options: &str) -> (String, String) {
        let (bus, server) = (Bus::start(&[]), serve());
        let mut agents = Agent::three(&bus);
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("a.js");
        let url = url(&server, "delay=50ms");
        let source = format!(
            "import http from 'k6/http';\nexport const options = {options};\n\
             export default function () {{ http.get('{url}'); }}\n"
        );
        fs::write(&script, source).unwrap();
        let nats = bus.url();
        let words = [
            "--nats",
            &nats,
            "--agents",
            "3",
            "k6",
            "run",
            "--quiet",
            text(&script),
        ];
        let _beside_others = beside_others();
        let coordinator = command(&words).spawn().expect("the command");
        sleep(Duration::from_millis(4_000));
        agents[1].0.kill().unwrap();
        let Output { stdout, stderr, .. } = coordinator.wait_with_output().expect("an end");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&stdout), text(&stderr))
    }

    /// The number of a counter in k6's summary.
    fn counter(stdout: &str, name: &str) -> u64 {
        let line = stdout.lines().find(|line| line.trim().starts_with(name));
        let words = line
            .and_then(|line| line.split_once(':'))
            .map(|(_, rest)| rest);
        let number = words.and_then(|rest| rest.split_whitespace().next());
        number
            .and_then(|number| number.parse().ok())
            .unwrap_or_else(|| panic!("no {name}: {stdout}"))
    }

    #[test]
    fn iterations_that_users_share_add_up_when_an_agent_is_killed() {
        let executor = "{ scenarios: { a: { executor: 'shared-iterations', vus: 6, \
                        iterations: 1200, maxDuration: '2m' } } }";
        let (stdout, stderr) = run(executor);
        assert!(stderr.contains("gent two said nothing for 3 s"), "{stderr}");
        // The lost agent had two iterations under way.
        let done = counter(&stdout, "iterations");
        assert!((1_196..=1_200).contains(&done), "{done}: {stdout}{stderr}");
    }

    #[test]
    fn users_of_an_agent_that_is_killed_are_not_counted_beside_those_in_their_place() {
        let executor =
            "{ scenarios: { a: { executor: 'constant-vus', vus: 6, duration: '14s' } } }";
        let (stdout, stderr) = run(executor);
        assert!(stderr.contains("gent two said nothing for 3 s"), "{stderr}");
        for name in ["vus", "vus_max"] {
            let line = stdout.lines().find(|line| {
                let named = line.trim().split_once('.');
                named.is_some_and(|(before, _)| before == name)
            });
            let line = line.unwrap_or_else(|| panic!("no {name}: {stdout}"));
            assert_eq!(counter(&stdout, &format!("{name}.")), 6, "{line}");
            assert!(line.ends_with("max=6"), "{line}");
        }
    }

    #[test]
    fn iterations_of_each_user_add_up_when_an_agent_is_killed() {
        let executor = "{ scenarios: { a: { executor: 'per-vu-iterations', vus: 6, \
                        iterations: 200, maxDuration: '2m' } } }";
        let (stdout, stderr) = run(executor);
        assert!(stderr.contains("gent two said nothing for 3 s"), "{stderr}");
        let done = counter(&stdout, "iterations");
        assert!((1_196..=1_200).contains(&done), "{done}: {stdout}{stderr}");
    }
}
