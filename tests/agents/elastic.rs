//! Agents that join a run while it lasts.

use super::{Agent, Bus, assert_sums, start, url};
use crate::rig::{command, count, loadline, serve, text, url as with_options};
use serde_json::Value;
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

#[test]
fn agents_that_come_later_take_a_share_and_the_rate_stays() {
    let (bus, server) = (Bus::start(&[]), serve());
    let nats = bus.url();
    let mut agents: Vec<Agent> = ["one", "two"]
        .map(|name| Agent::start(&nats, name, &[]))
        .into();
    let url = url(&server);
    let words = [
        "--elastic",
        "-t",
        "2",
        "-c",
        "8",
        "-r",
        "400",
        "-d",
        "14s",
        &url,
    ];
    let run = start(&bus, "2", &words);
    sleep(Duration::from_millis(4_000));
    agents.extend(["three", "four"].map(|name| Agent::start(&nats, name, &[])));
    let output = run.coordinator.wait_with_output().expect("an end");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let found = &report["summary"];
    assert_eq!(assert_sums(found), 0);
    for key in ["planned", "sent", "answered"] {
        assert_eq!(count(found, key), 5_600, "{key}: {found:#}");
    }
    // Each arrival was sent once, by whoever had it then.
    assert_eq!(server.stop().answers, 5_600);
    let notes = found["notes"].to_string();
    for said in ["joins, 3 agents", "joins, 4 agents"] {
        assert!(notes.contains(said), "{notes} {stderr}");
    }
    let intervals = report["intervals"].as_array().expect("intervals");
    for interval in intervals {
        let planned = count(interval, "planned");
        assert!((396..=404).contains(&planned), "{interval:#}");
    }
    bus.await_free(4);
}

#[test]
fn an_agent_that_joined_and_is_lost_leaves_its_share_to_the_others() {
    let (bus, server) = (Bus::start(&[]), serve());
    let nats = bus.url();
    let _one = Agent::start(&nats, "one", &[]);
    let url = url(&server);
    let words = [
        "--elastic",
        "-t",
        "1",
        "-c",
        "8",
        "-r",
        "300",
        "-d",
        "16s",
        &url,
    ];
    let run = start(&bus, "1", &words);
    sleep(Duration::from_millis(3_000));
    let mut late = Agent::start(&nats, "late", &[]);
    sleep(Duration::from_millis(5_000));
    late.0.kill().unwrap();
    let (found, stderr, code) = super::end(run);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(
        stderr.contains("gent late said nothing for 3 s"),
        "{stderr}"
    );
    let lost = assert_sums(&found);
    assert_eq!(count(&found, "planned"), 4_800, "{found:#}");
    assert_eq!(count(&found, "sent") + lost, 4_800, "{found:#}");
    // Half of the rate, from its last report until others took it over.
    assert!((150..=1_050).contains(&lost), "{lost}: {stderr}");
}

#[test]
fn agents_that_come_later_take_a_share_of_the_users() {
    let (bus, server) = (Bus::start(&[]), serve());
    let nats = bus.url();
    let _agents = ["one", "two"].map(|name| Agent::start(&nats, name, &[]));
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("a.run");
    // Each of eight users has a response every 50 ms.
    let url = with_options(&server, "delay=50ms");
    let words = ["--elastic", "-t", "2", "-c", "8", "-d", "12s", "--save"];
    let run = start(&bus, "2", &[&words[..], &[text(&saved), &url]].concat());
    sleep(Duration::from_millis(4_000));
    let _late = Agent::start(&nats, "late", &[]);
    let (found, stderr, code) = super::end(run);
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(assert_sums(&found), 0);
    assert_eq!(count(&found, "failed"), 0, "{found:#}");
    // A machine that is busy sends less, and nobody sends more than eight users can.
    let sent = count(&found, "sent");
    assert!((960..=8 * 12 * 20).contains(&sent), "{sent}: {found:#}");
    assert!(server.stop().answers >= count(&found, "answered"));
    let said = loadline(&["report", "-o", "json", text(&saved)]);
    assert!(
        said.stdout.contains("Agent late joins, 3 agents"),
        "{}",
        said.stdout
    );
}

/// Starts a tool on one agent that another one joins after three seconds. Returns what it prints,
/// and the requests that the server has answered.
fn joined(words: &[&str], files: &[(&str, &str)]) -> (String, u64) {
    let (bus, server) = (Bus::start(&[]), serve());
    let nats = bus.url();
    let _one = Agent::start(&nats, "one", &[]);
    let folder = tempfile::tempdir().unwrap();
    let target = with_options(&server, "delay=20ms");
    for (name, contents) in files {
        let contents = contents.replace("URL", &target);
        std::fs::write(folder.path().join(name), contents).unwrap();
    }
    let front = ["--nats", &nats, "--agents", "1", "--elastic"];
    let words: Vec<&str> = words
        .iter()
        .map(|word| if *word == "URL" { &target } else { *word })
        .collect();
    let run = command(&[&front[..], &words].concat())
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command");
    sleep(Duration::from_secs(3));
    let _late = Agent::start(&nats, "late", &[]);
    let output = run.wait_with_output().expect("an end");
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stdout}{stderr}");
    (format!("{stdout}{stderr}"), server.stop().answers)
}

#[test]
fn agents_that_come_later_take_a_share_of_the_users_of_k6() {
    let script = r#"
        import http from "k6/http";
        import exec from "k6/execution";
        export const options = { scenarios: {
            all: { executor: "constant-vus", vus: 6, duration: "10s", gracefulStop: "5s" } } };
        export default function () {
            const response = http.get("URL");
            if (exec.scenario.iterationInTest > 1e11) {
                console.log(`late ${exec.vu.idInTest}`);
            }
        }
    "#;
    let words = ["k6", "run", "--no-color", "s.js"];
    let (said, answers) = joined(&words, &[("s.js", script)]);
    assert!(said.contains("late 1000001"), "{said}");
    assert!(
        said.contains(&format!("http_reqs......................: {answers} ")),
        "{said}"
    );
    // Each of six users has a response every 20 ms, and nobody has more.
    assert!(
        (1_200..=6 * 50 * 10 + 6).contains(&answers),
        "{answers}: {said}"
    );
}

#[test]
fn agents_that_come_later_take_a_share_of_a_script_in_lua() {
    let script = r#"
        local number = 0
        function setup(thread) thread:set("id", number); number = number + 1 end
        request = function()
            return wrk.format("GET", "/?delay=20ms", { ["X-Thread"] = 1 + id })
        end
    "#;
    let words = ["wrk", "-t1", "-c6", "-d10s", "-s", "s.lua", "URL"];
    let (said, answers) = joined(&words, &[("s.lua", script)]);
    let count = said
        .lines()
        .find_map(|line| line.trim().split_once(" requests in "));
    let count: u64 = count
        .and_then(|(count, _)| count.parse().ok())
        .expect(&said);
    assert!(
        (answers - 6..=answers).contains(&count),
        "{answers}: {said}"
    );
    assert!(
        (1_200..=6 * 50 * 10 + 6).contains(&answers),
        "{answers}: {said}"
    );
}

#[test]
fn agents_that_come_later_take_a_share_of_the_rate_of_oha() {
    let words = [
        "oha",
        "--no-tui",
        "--output-format",
        "json",
        "-q",
        "200",
        "-z",
        "10s",
        "URL",
    ];
    let (said, answers) = joined(&words, &[]);
    let json = said.find('{').expect(&said);
    let end = said.rfind('}').expect(&said);
    let report: Value = serde_json::from_str(&said[json..=end]).expect(&said);
    let counted = report["statusCodeDistribution"]["200"]
        .as_u64()
        .expect(&said);
    assert!((1_990..=2_000).contains(&counted), "{counted}: {said}");
    assert!((counted..=2_000).contains(&answers), "{answers}: {said}");
}

#[test]
fn a_load_without_shares_takes_nobody_in() {
    let bus = Bus::start(&[]);
    let _agent = Agent::start(&bus.url(), "one", &[]);
    let front = ["--nats", &bus.url(), "--agents", "1", "--elastic"];
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, options: &str| {
        let path = folder.path().join(name);
        let script = format!("export const options = {options}; export default function () {{}}");
        std::fs::write(&path, script).unwrap();
        text(&path).to_owned()
    };
    let each = file("each.js", "{ vus: 2, iterations: 4 }");
    let rps = file("rps.js", "{ vus: 2, duration: '1s', rps: 10 }");
    let url = "http://127.0.0.1:9/";
    for (words, code, said) in [
        (
            &["-c", "4", "-n", "8", url][..],
            2,
            "give a rate (-r), or a duration (-d)",
        ),
        (
            &["ab", "-n", "4", url],
            1,
            "ab: --elastic gives agents that come later a share",
        ),
        (
            &["oha", "-n", "4", url],
            2,
            "give a duration (-z), or leave --elastic out",
        ),
        (
            &["k6", "run", &each],
            255,
            "an executor with a duration, such as constant-vus",
        ),
        (
            &["k6", "run", &rps],
            255,
            "the option rps is divided among the agents",
        ),
    ] {
        let found = loadline(&[&front[..], words].concat());
        assert_eq!(found.code, Some(code), "{words:?}: {}", found.stderr);
        assert!(found.stderr.contains(said), "{words:?}: {}", found.stderr);
    }
}
