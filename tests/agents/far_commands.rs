//! Commands that run on an agent's machine.

use super::{Agent, Bus, signal};
use crate::rig::{CommandOutput, command, loadline, program, text};
use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

fn on(bus: &Bus, agent: &str, words: &[&str]) -> CommandOutput {
    let front = ["agents", "--nats", &bus.url(), "--on", agent, "--"];
    loadline(&[&front[..], words].concat())
}

#[test]
fn a_command_runs_on_the_agent_that_allows_it_and_on_no_other() {
    let bus = Bus::start(&[]);
    let allows = ["--allow-commands", "--label", "role=db"];
    let _agents = [
        Agent::start(&bus.url(), "db-1", &allows),
        Agent::start(&bus.url(), "db-2", &["--label", "role=web"]),
        Agent::start(&bus.url(), "db-3", &["--label", "role=web"]),
    ];
    for name in ["db-1", "role=db"] {
        let said = on(&bus, name, &["sh", "-c", "echo out; echo err >&2; exit 7"]);
        assert_eq!(said.code, Some(7), "{}", said.stderr);
        assert_eq!((&*said.stdout, &*said.stderr), ("out\n", "err\n"));
    }
    for (name, said_by) in [
        (
            "db-2",
            "agent db-2 does not run it: it was started without --allow-commands",
        ),
        ("db-4", "no such agent waits on the bus"),
        ("role=web", "is 2 agents, and a command runs on one"),
    ] {
        let said = on(&bus, name, &["echo", "out"]);
        assert_eq!(said.code, Some(2), "{}", said.stderr);
        assert!(said.stderr.contains(said_by), "{}", said.stderr);
        assert_eq!(said.stdout, "");
    }
    let said = on(&bus, "db-1", &["/no/such/program"]);
    assert_eq!(said.code, Some(2));
    assert!(
        said.stderr.contains("/no/such/program can't be run"),
        "{}",
        said.stderr
    );
}

fn is_there(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_ok()
}

fn await_that(what: &str, is_so: impl Fn() -> bool) {
    let since = Instant::now();
    while !is_so() {
        assert!(since.elapsed() < Duration::from_secs(20), "{what}");
        sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_command_ends_with_who_has_sent_it() {
    let bus = Bus::start(&[]);
    let _agent = Agent::start(&bus.url(), "db-1", &["--allow-commands"]);
    let port = crate::rig::free_port();
    let listen = format!("127.0.0.1:{port}");
    let own = program();
    for end in ["TERM", "KILL"] {
        let front = ["agents", "--nats", &bus.url(), "--on", "db-1", "--"];
        let serve = [text(&own), "serve", "--listen", &listen];
        let mut sent = command(&[&front[..], &serve].concat()).spawn().unwrap();
        await_that("it serves", || is_there(port));
        signal(&sent, end);
        sent.wait().unwrap();
        // At once, or after the agent has heard nothing for three seconds.
        await_that("it is ended", || !is_there(port));
    }
}

/// A study whose target is on the machine of an agent.
fn study(folder: &Path, bus: &Bus, port: u16) -> std::path::PathBuf {
    let own = program();
    let (own, nats) = (text(&own), bus.url());
    let text = format!(
        r#"
repeats = 1
pause = "0s"
[[target]]
name = "far"
url = "http://127.0.0.1:{port}/"
start = [
    "loadline", "agents", "--nats", "{nats}", "--on", "db-1", "--",
    "{own}", "serve", "--listen", "127.0.0.1:{port}",
]
[[runs]]
tool = "loadline"
connections = 4
rate = "4000"
duration = "4s"
"--nats" = "{nats}"
"--agents" = "2"
"--watch-agents" = "1"
"#
    );
    let path = folder.join("far.toml");
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn a_study_starts_its_target_on_an_agent_and_sends_its_load_from_others() {
    let bus = Bus::start(&[]);
    let port = crate::rig::free_port();
    let watch = format!(":{port}");
    let allows = ["--allow-commands", "--watch", &watch];
    let _agents = [
        Agent::start(&bus.url(), "db-1", &allows),
        Agent::start(&bus.url(), "one", &[]),
        Agent::start(&bus.url(), "two", &[]),
    ];
    let folder = tempfile::tempdir().unwrap();
    let file = study(folder.path(), &bus, port);
    let results = folder.path().join("results");
    let said = loadline(&["study", text(&file), "--results", text(&results)]);
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    let table = fs::read_to_string(results.join("results.csv")).unwrap();
    let mut lines = table
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>());
    let (names, row) = (lines.next().expect("names"), lines.next().expect(&table));
    let of = |name: &str| {
        let index = names.iter().position(|column| *column == name);
        row[index.unwrap_or_else(|| panic!("{name}: {table}"))]
    };
    for figure in ["target_avg_cpu", "target_avg_memory"] {
        assert!(
            of(figure).parse::<f64>().is_ok_and(|value| value > 0.0),
            "{table}"
        );
    }
    assert!(!is_there(port), "the study has ended its target");
}
