//! Runs on agents of a real bus: counts that are exact at the server, and sums that add up when an
//! agent is lost.

/// The bundles that all agents of a run have in common.
mod bundles;
/// Agents whose clocks are not those of the coordinator.
mod clocks;
/// Each kind of credentials of a bus.
mod credentials;
/// Agents that join a run while it lasts.
mod elastic;
/// Runs that end before their time.
mod ends;
/// Commands that run on an agent's machine.
mod far_commands;
/// Groups of few agents, one of which joins the reports of the others.
mod grouped;
/// The list of agents: whom it has, and what their machines can do.
mod listed;
/// What is measured of agents: when they begin, how much they send.
mod measured;
/// So many agents that some of them join the reports of others.
mod merged;
/// Networks of their own for agents.
mod namespaces;
/// Agents on networks that are slow or cut.
mod networks;
/// The agent that measures other response times than the others.
mod odd;
/// Faults of a run, again and again.
mod often;
/// Agents on the live page of a run.
#[cfg(feature = "html")]
mod on_page;
/// Messages of agents and coordinators, heard by a client of the bus.
mod overheard;
/// Series of exporters with the figures of one agent each.
mod per_agent;
/// The README's commands.
mod readme;
/// Agents that are lost, and back.
mod returns;
/// Other tools, and scripts, on agents.
mod scripts;
/// Searches and series on agents.
mod searches;
/// A link that delays what passes it.
mod slow_link;
/// A thousand agents that are simulated.
mod thousand;
/// The users of an agent that is lost.
mod users;
/// Processes that an agent on the target's machine watches.
mod watched;

use crate::openssl::make_certificate;
use crate::rig::{beside_others, command, count, free_port, loadline, serve, text};
use loadline_bus::{Bus as Connection, BusAddress, Card};
use loadline_testbed::Server;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::RwLockReadGuard;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// A NATS server on a free port.
struct Bus {
    server: Child,
    port: u16,
}

impl Bus {
    fn start(more: &[&str]) -> Bus {
        Bus::start_at(free_port(), more)
    }

    fn start_at(port: u16, more: &[&str]) -> Bus {
        let server = Command::new("nats-server")
            .args(["-a", "127.0.0.1", "-p", &port.to_string()])
            .args(more)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("nats-server, which `make test` installs");
        let bus = Bus { server, port };
        let since = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            assert!(since.elapsed() < Duration::from_secs(10), "no bus");
            sleep(Duration::from_millis(10));
        }
        bus
    }

    fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// A connection to it.
    fn connect(&self) -> Connection {
        let address = BusAddress {
            url: self.url(),
            ..BusAddress::default()
        };
        Connection::connect(&address).expect("a bus")
    }

    /// The rows of the agents, without their heading.
    fn list(&self) -> Vec<String> {
        let listed = command(&["agents", "--nats", &self.url()]).output();
        let listed = listed.expect("the command");
        assert_eq!(listed.status.code(), Some(0), "{listed:?}");
        let text = String::from_utf8_lossy(&listed.stdout);
        text.lines().skip(1).map(str::to_owned).collect()
    }

    /// Waits until so many agents are free.
    fn await_free(&self, agents: usize) {
        self.await_state(|card| card.busy_with.is_none(), agents);
    }

    /// Waits until so many agents have a part of a run.
    fn await_busy(&self, agents: usize) {
        self.await_state(|card| card.busy_with.is_some(), agents);
    }

    /// Waits for a state. Unlike the list, this has no agent measure its floor.
    fn await_state(&self, has_it: impl Fn(&Card) -> bool, agents: usize) {
        let (bus, since) = (self.connect(), Instant::now());
        loop {
            let cards = loadline_bus::agents(&bus).expect("a bus");
            if cards.iter().filter(|card| has_it(card)).count() == agents {
                return;
            }
            assert!(since.elapsed() < Duration::from_secs(60), "{cards:?}");
            sleep(Duration::from_millis(100));
        }
    }
}

impl Drop for Bus {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// An agent on a bus.
struct Agent(Child);

impl Agent {
    /// Starts an agent and waits until it is there.
    fn start(url: &str, name: &str, more: &[&str]) -> Agent {
        let words = ["agent", "--nats", url, "--name", name];
        let child = command(&[&words[..], more].concat())
            .stderr(Stdio::null())
            .spawn();
        await_agent(child.expect("the command"))
    }

    /// Starts an agent that works in another folder than the run, and writes its own files there.
    fn start_in(folder: &Path, bus: &Bus, name: &str) -> Agent {
        let child = command(&["agent", "--nats", &bus.url(), "--name", name])
            .current_dir(folder)
            .env("TMPDIR", folder)
            .stderr(Stdio::null())
            .spawn();
        await_agent(child.expect("the command"))
    }

    fn three(bus: &Bus) -> [Agent; 3] {
        ["one", "two", "three"].map(|name| Agent::start(&bus.url(), name, &[]))
    }
}

/// Waits until the agent is there that a process is or has started.
fn await_agent(mut child: Child) -> Agent {
    let mut line = String::new();
    let stdout = child.stdout.take().expect("a pipe");
    BufReader::new(stdout).read_line(&mut line).unwrap();
    assert!(line.contains("waits for runs"), "{line}");
    Agent(child)
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn url(server: &Server) -> String {
    format!("http://{}/", server.addr())
}

/// A run on agents whose report is JSON.
struct Run {
    coordinator: Child,
    _beside_others: RwLockReadGuard<'static, ()>,
}

fn start(bus: &Bus, agents: &str, words: &[&str]) -> Run {
    let nats = bus.url();
    let front = ["--nats", &nats, "--agents", agents, "--allow-invalid"];
    begin(&[&front[..], &["-o", "json"], words].concat())
}

/// Begins a run or a search with these words.
fn begin(words: &[&str]) -> Run {
    let _beside_others = beside_others();
    let coordinator = command(words).spawn();
    Run {
        coordinator: coordinator.expect("the command"),
        _beside_others,
    }
}

/// The summary of a run that has ended, what it has printed beside, and its exit code.
fn end(run: Run) -> (Value, String, Option<i32>) {
    let (report, stderr, code) = report(run.coordinator);
    (report["summary"].clone(), stderr, code)
}

/// The report of a command that has ended, what it has printed beside, and its exit code.
fn report(coordinator: Child) -> (Value, String, Option<i32>) {
    let Output {
        status,
        stdout,
        stderr,
    } = coordinator.wait_with_output().expect("an end");
    let stderr = String::from_utf8_lossy(&stderr).into_owned();
    let report = serde_json::from_slice(&stdout);
    let report = report.unwrap_or_else(|error| panic!("{error}: {stderr}"));
    (report, stderr, status.code())
}

/// planned = sent + unsent + lost, and sent = answered + failed + in flight. Returns the lost ones.
fn assert_sums(found: &Value) -> u64 {
    let unfinished = &found["unfinished"];
    let of = |key: &str| unfinished[key].as_u64().unwrap_or(0);
    let sent = count(found, "sent");
    assert_eq!(
        count(found, "planned"),
        sent + of("unsent") + of("lost"),
        "{found:#}"
    );
    let ended = count(found, "answered") + count(found, "failed");
    assert_eq!(sent, ended + of("in_flight"), "{found:#}");
    of("lost")
}

fn signal(process: &Child, name: &str) {
    let pid = process.id().to_string();
    let sent = Command::new("kill").args(["-s", name, &pid]).status();
    assert!(sent.expect("kill").success());
}

#[test]
fn three_agents_send_exactly_what_one_process_would() {
    let (bus, server) = (Bus::start(&[]), serve());
    let _agents = Agent::three(&bus);
    let list = bus.list();
    assert_eq!(list.len(), 3, "{list:?}");
    assert!(
        list[0].starts_with("one ") && list[0].contains("±"),
        "{list:?}"
    );
    let url = url(&server);
    for words in [["-r", "600"], ["-c", "6"]] {
        let words = [&words[..], &["-t", "3", "-n", "1800", &url]].concat();
        let (found, stderr, code) = end(start(&bus, "3", &words));
        assert_eq!(code, Some(0), "{stderr}");
        assert!(
            stderr.contains("The load begins at one instant"),
            "{stderr}"
        );
        assert!(stderr.contains("on 3 agents: one, three, two."), "{stderr}");
        assert_eq!(assert_sums(&found), 0);
        let notes = found["notes"].to_string();
        let begin = "3 agents begin at one instant, known to within 0.";
        assert!(notes.contains(begin), "{notes}");
        for key in ["planned", "sent", "answered"] {
            assert_eq!(count(&found, key), 1_800, "{key}: {found:#}");
        }
        assert_eq!(found["response_time_us"]["count"], 1_800);
    }
    assert_eq!(server.stop().answers, 3_600);
    bus.await_free(3);
}

#[test]
fn the_load_of_an_agent_that_is_killed_goes_to_the_others_and_the_sums_add_up() {
    let (bus, server) = (Bus::start(&[]), serve());
    let mut agents = Agent::three(&bus);
    let since = Instant::now();
    let words = ["-t", "3", "-r", "300", "-d", "12s", &url(&server)];
    let run = start(&bus, "3", &words);
    sleep(Duration::from_millis(4_000));
    agents[1].0.kill().unwrap();
    let (found, stderr, code) = end(run);
    assert!(since.elapsed() < Duration::from_secs(24), "run + 10 s");
    assert_eq!(code, Some(2), "{stderr}");
    assert!(
        stderr.contains("gent two said nothing for 3 s and was ended"),
        "{stderr}"
    );
    let (_, told) = stderr
        .split_once("told is the interval up to ")
        .expect(&stderr);
    let (_, lost_to) = stderr
        .split_once("of the load is lost from there to ")
        .expect(&stderr);
    let seconds = |text: &str| {
        text.split(' ')
            .next()
            .and_then(|text| text.parse::<f64>().ok())
    };
    let silence_s = seconds(lost_to).expect(&stderr) - seconds(told).expect(&stderr);
    assert!(
        lost_to.contains(" s, from when on the others send it."),
        "{stderr}"
    );
    let notes = found["notes"].to_string();
    for said in [
        "Agent two is lost, 2 agents",
        "The other agents send the load of two",
    ] {
        assert!(notes.contains(said), "{said}: {notes}");
    }
    // A third of the rate for as long as that, and nothing of it from then on.
    let expected = (100.0 * silence_s) as u64;
    let lost = assert_sums(&found);
    assert!(
        lost.abs_diff(expected) <= 20,
        "{lost}, not {expected}: {stderr}"
    );
    assert_eq!(count(&found, "planned"), 3_600);
    assert_eq!(count(&found, "sent") + lost, 3_600, "{found:#}");
    let findings = found["validity"]["findings"].to_string();
    assert!(
        findings.contains("were lost with a process or an agent that ended"),
        "{findings}"
    );
    assert_eq!(count(&found, "failed"), 0, "{found:#}");
    assert!(server.stop().answers >= count(&found, "answered"));
    bus.await_free(2);
}

#[test]
fn the_load_of_an_agent_that_is_killed_may_stay_lost() {
    let (bus, server) = (Bus::start(&[]), serve());
    let mut agents = Agent::three(&bus);
    let url = url(&server);
    let words = [
        "--on-loss",
        "keep",
        "-t",
        "3",
        "-r",
        "300",
        "-d",
        "6s",
        &url,
    ];
    let run = start(&bus, "3", &words);
    sleep(Duration::from_millis(4_000));
    agents[1].0.kill().unwrap();
    let (found, stderr, code) = end(run);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(
        stderr.contains("33% of the load is lost from there on"),
        "{stderr}"
    );
    assert_eq!(count(&found, "planned"), 1_800);
    // A third of the rate, for at least a second and at most all of them.
    let lost = assert_sums(&found);
    assert!((100..=600).contains(&lost), "{lost}: {stderr}");
    assert_eq!(count(&found, "failed"), 0, "{found:#}");
    bus.await_free(2);
}

#[test]
fn an_interrupt_ends_all_parts_with_a_report_and_frees_the_agents() {
    let (bus, server) = (Bus::start(&[]), serve());
    let _agents = Agent::three(&bus);
    let run = start(
        &bus,
        "3",
        &["-t", "3", "-r", "300", "-d", "30s", &url(&server)],
    );
    sleep(Duration::from_millis(4_000));
    signal(&run.coordinator, "INT");
    let (found, stderr, code) = end(run);
    assert_eq!(code, Some(130), "{stderr}");
    assert_eq!(assert_sums(&found), 0);
    assert!(count(&found, "answered") > 0, "{stderr}");
    bus.await_free(3);
}

#[test]
fn agents_whose_coordinator_is_killed_wait_for_the_next_one() {
    let (bus, server) = (Bus::start(&[]), serve());
    let _agents = Agent::three(&bus);
    let url = url(&server);
    let mut run = start(&bus, "3", &["-t", "3", "-r", "300", "-d", "60s", &url]);
    sleep(Duration::from_millis(3_000));
    assert!(bus.list().iter().all(|row| row.contains("  busy")));
    run.coordinator.kill().unwrap();
    run.coordinator.wait().unwrap();
    drop(run);
    // They are free again after three seconds, for which the next run waits.
    let next = start(&bus, "3", &["-t", "3", "-c", "3", "-n", "30", &url]);
    let (found, stderr, code) = end(next);
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(count(&found, "answered"), 30);
}

#[test]
fn agents_are_chosen_by_their_labels() {
    let (bus, server) = (Bus::start(&[]), serve());
    let labels = [
        ("one", "region=eu"),
        ("two", "region=us"),
        ("three", "region=eu"),
    ];
    let _agents = labels.map(|(name, label)| Agent::start(&bus.url(), name, &["--label", label]));
    let words = ["-c", "4", "-n", "40", &url(&server)];
    let (found, stderr, code) = end(start(&bus, "region=eu", &words));
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.contains("on 2 agents: one, three."), "{stderr}");
    assert_eq!(count(&found, "answered"), 40);
}

#[test]
fn all_agents_with_a_label_are_awaited_also_one_that_is_busy() {
    let (bus, server) = (Bus::start(&[]), serve());
    let label = ["--label", "region=eu"];
    let _agents = ["one", "two"].map(|name| Agent::start(&bus.url(), name, &label));
    // Such an agent never takes part.
    let watch = [&label[..], &["--watch", "pid:1"]].concat();
    let _watcher = Agent::start(&bus.url(), "watcher", &watch);
    let url = url(&server);
    let run = start(&bus, "1", &["-c", "1", "-r", "20", "-d", "60s", &url]);
    bus.await_busy(1);
    let nats = bus.url();
    let words = ["--nats", &nats, "--agents", "region=eu", "--agents-timeout"];
    let said = loadline(&[&words[..], &["1s", "-n", "10", &url]].concat());
    assert_eq!(said.code, Some(2));
    let expected =
        "--agents region=eu is all that have this label, and 1 of 2 can take part (agent";
    assert!(said.stderr.contains(expected), "{}", said.stderr);
    assert!(said.stderr.contains("is busy with run"), "{}", said.stderr);
    let next = start(&bus, "region=eu", &["-c", "4", "-n", "40", &url]);
    sleep(Duration::from_secs(1));
    signal(&run.coordinator, "INT");
    end(run);
    let (found, stderr, code) = end(next);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stderr.contains("on 2 agents: one, two."), "{stderr}");
    assert_eq!(count(&found, "answered"), 40);
}

#[test]
fn too_few_agents_are_awaited_and_then_named() {
    let bus = Bus::start(&[]);
    let _agent = Agent::start(&bus.url(), "alone", &["--label", "region=eu"]);
    let nats = bus.url();
    let since = Instant::now();
    for (agents, said) in [
        (
            "3",
            "--agents 3: 1 of the 1 agents on the bus can take part",
        ),
        (
            "region=us",
            "--agents region=us: 0 of the 0 agents on the bus can take part, and 1 more has other \
             labels;",
        ),
    ] {
        let said_by = loadline(&[
            "--nats",
            &nats,
            "--agents",
            agents,
            "--agents-timeout",
            "1s",
            "http://127.0.0.1:9/",
        ]);
        assert_eq!(said_by.code, Some(2));
        assert!(said_by.stderr.contains(said), "{}", said_by.stderr);
        assert_eq!(said_by.stderr.lines().count(), 1, "{}", said_by.stderr);
    }
    assert!(since.elapsed() >= Duration::from_secs(2));
    // One that comes while a run waits takes part.
    let server = serve();
    let run = start(&bus, "2", &["-c", "4", "-n", "20", &url(&server)]);
    sleep(Duration::from_millis(700));
    let _other = Agent::start(&nats, "late", &[]);
    let (found, stderr, code) = end(run);
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(count(&found, "answered"), 20);
}

#[test]
fn commands_that_begin_at_once_take_turns() {
    let (bus, server) = (Bus::start(&[]), serve());
    let _agents = ["one", "two", "three", "four"].map(|name| Agent::start(&bus.url(), name, &[]));
    bus.await_free(4);
    let words = ["-t", "3", "-c", "3", "-n", "30", &url(&server)];
    for _ in 0..2 {
        // Each has to have three of four agents.
        let runs = [(); 3].map(|()| start(&bus, "3", &words));
        for run in runs {
            let (found, stderr, code) = end(run);
            assert_eq!(code, Some(0), "{stderr}");
            assert_eq!(count(&found, "answered"), 30);
        }
    }
    assert_eq!(server.stop().answers, 180);
    bus.await_free(4);
}

#[test]
fn a_bus_is_used_as_its_users_may() {
    let bus = Bus::start(&["--user", "anna", "--pass", "secret"]);
    let said = loadline(&["agents", "--nats", &bus.url()]);
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("refuses its user"), "{}", said.stderr);
    let port = bus.port;
    let wrong = format!("nats://anna:guess@127.0.0.1:{port}");
    let said = loadline(&["agent", "--nats", &wrong]);
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("refuses its user"), "{}", said.stderr);
    assert!(!said.stderr.contains("guess"), "{}", said.stderr);
    let right = format!("nats://anna:secret@127.0.0.1:{port}");
    let _agent = Agent::start(&right, "allowed", &[]);
    let folder = tempfile::tempdir().unwrap();
    let password = folder.path().join("password");
    fs::write(&password, "secret\n").unwrap();
    let url = bus.url();
    let user = [
        "--nats-user",
        "anna",
        "--nats-password-file",
        text(&password),
    ];
    let said = loadline(&[&["agents", "--nats", &url], &user[..]].concat());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stdout.contains("allowed"), "{}", said.stdout);
}

/// A key of the documentation of NATS, and its public half.
const SEED: &str = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY";
const PUBLIC: &str = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4";

#[test]
fn a_bus_may_know_its_users_by_keys() {
    let folder = tempfile::tempdir().unwrap();
    let (config, key) = (folder.path().join("config"), folder.path().join("key"));
    let users = format!("authorization {{ users: [ {{ nkey: {PUBLIC} }} ] }}\n");
    fs::write(&config, users).unwrap();
    fs::write(&key, format!("{SEED}\n")).unwrap();
    let bus = Bus::start(&["-c", text(&config)]);
    let said = loadline(&["agents", "--nats", &bus.url()]);
    assert!(said.stderr.contains("refuses its user"), "{}", said.stderr);
    let creds = ["--nats-creds", text(&key)];
    let _agent = Agent::start(&bus.url(), "known", &creds);
    let url = bus.url();
    let said = loadline(&[&["agents", "--nats", &url], &creds[..]].concat());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stdout.contains("known"), "{}", said.stdout);
}

#[test]
fn a_bus_may_require_tls() {
    let folder = tempfile::tempdir().unwrap();
    let (key, certificate) = (folder.path().join("key"), folder.path().join("certificate"));
    make_certificate(text(&key), text(&certificate));
    let files = ["--tlscert", text(&certificate), "--tlskey", text(&key)];
    let bus = Bus::start(&[&["--tls"], &files[..]].concat());
    let server = serve();
    let said = loadline(&["agents", "--nats", &bus.url()]);
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("--nats-ca"), "{}", said.stderr);
    let ca = ["--nats-ca", text(&certificate)];
    let _agents = ["one", "two"].map(|name| Agent::start(&bus.url(), name, &ca));
    // Bodies that are longer than a message of the bus.
    let body = folder.path().join("body");
    fs::write(&body, vec![b'x'; 3_000_000]).unwrap();
    let body = format!("@{}", text(&body));
    let words = ["-c", "2", "-n", "20", "-b", &body, &url(&server)];
    let (found, stderr, code) = end(start(&bus, "2", &[&ca[..], &words].concat()));
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(count(&found, "answered"), 20);
    assert_eq!(server.stop().answers, 20);
}

#[test]
fn a_bus_that_can_not_be_used_is_refused_in_a_sentence() {
    let target = "http://127.0.0.1:9/";
    for (words, said) in [
        (
            &["--nats", "nats://10.0.0.1", "--agents", "2", target][..],
            "has no credentials",
        ),
        (
            &["--nats", "nats://127.0.0.1:9", "--agents", "2", target],
            "is nats-server running there?",
        ),
        (&["--nats", "nats://127.0.0.1:9", target], "--agents"),
        (
            &["--agents", "2", target],
            "--agents 2 needs the bus on which they wait: add --nats nats://host:4222",
        ),
        (&["agent"], "--nats nats://host:4222"),
        (
            &[
                "capacity",
                "--nats",
                "nats://127.0.0.1:9",
                "--agents",
                "2",
                target,
            ],
            "is nats-server running there?",
        ),
    ] {
        let found = loadline(words);
        assert_eq!(found.code, Some(2), "{words:?}");
        assert!(found.stderr.contains(said), "{words:?}: {}", found.stderr);
    }
}

#[test]
fn an_agent_waits_for_a_bus_that_is_restarted_and_says_so() {
    let bus = Bus::start(&[]);
    let child = command(&["agent", "--nats", &bus.url(), "--name", "patient"]).spawn();
    let mut agent = await_agent(child.expect("the command"));
    let mut stderr = BufReader::new(agent.0.stderr.take().expect("a pipe")).lines();
    let port = bus.port;
    drop(bus);
    let mut said = || stderr.next().expect("it is there").expect("a line");
    assert_eq!(said(), "The bus is gone. The agent waits until it is back.");
    let bus = Bus::start_at(port, &[]);
    assert_eq!(said(), "The bus is back.");
    bus.await_free(1);
}

#[test]
fn a_bus_that_is_restarted_in_the_middle_of_a_run_loses_nothing() {
    let (bus, server) = (Bus::start(&[]), serve());
    let _agents = Agent::three(&bus);
    let words = ["-t", "3", "-r", "300", "-d", "6s", &url(&server)];
    let run = start(&bus, "3", &words);
    sleep(Duration::from_millis(3_700));
    let port = bus.port;
    drop(bus);
    let bus = Bus::start_at(port, &[]);
    let (found, stderr, code) = end(run);
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(assert_sums(&found), 0);
    assert_eq!(count(&found, "planned"), 1_800);
    let received = server.stop().requests;
    assert!((count(&found, "answered")..=count(&found, "sent")).contains(&received));
    bus.await_free(3);
}
