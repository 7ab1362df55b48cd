//! Agents on networks of their own that are slow, or cut, and agents that are stopped. They take
//! minutes and need root, so that `make soak` runs them.

use super::measured::printed_error;
use super::slow_link::{Delay, delay};
use super::{assert_sums, report, signal};
use crate::rig::{beside_others, count, program};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::RwLockReadGuard;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Namespaces of this machine's network: a hub with the bus, the server and the coordinator, and
/// one for each agent, which has a link of its own to the hub.
struct Network {
    name: String,
    spokes: u8,
    /// The bus that agents use.
    agents_bus: &'static str,
    children: Vec<Child>,
    _beside_others: RwLockReadGuard<'static, ()>,
}

fn ip(words: &[&str]) -> bool {
    let ran = Command::new("ip").args(words).output();
    ran.is_ok_and(|output| output.status.success())
}

impl Network {
    /// Creates the networks of so many agents, with a bus and a server; `None` where that can't be
    /// done, which is said.
    #[expect(clippy::print_stderr, reason = "a test that was not made says so")]
    fn of(test: &str, spokes: u8) -> Option<Network> {
        let name = format!("ll{test}{}", std::process::id());
        let network = Network {
            name,
            spokes,
            agents_bus: "nats://10.213.0.1",
            children: Vec::new(),
            _beside_others: beside_others(),
        };
        if !ip(&["netns", "add", &network.hub()]) {
            eprintln!("skipped: networks of their own need root, and ip of iproute2");
            return None;
        }
        network.link_all();
        Some(network.serving())
    }

    fn hub(&self) -> String {
        format!("{}-hub", self.name)
    }

    fn spoke(&self, number: u8) -> String {
        format!("{}-{number}", self.name)
    }

    /// Links each agent's namespace with the hub: 10.213.N.1 there, 10.213.N.2 here. The hub has
    /// 10.213.0.1 besides, where bus and server are.
    fn link_all(&self) {
        let hub = self.hub();
        assert!(ip(&["-n", &hub, "link", "set", "lo", "up"]));
        assert!(ip(&[
            "-n",
            &hub,
            "addr",
            "add",
            "10.213.0.1/32",
            "dev",
            "lo"
        ]));
        for number in 1..=self.spokes {
            let (spoke, near) = (self.spoke(number), format!("near{number}"));
            assert!(ip(&["netns", "add", &spoke]));
            let pair = [
                "-n", &hub, "link", "add", &near, "type", "veth", "peer", "name", "far",
            ];
            assert!(ip(&[&pair[..], &["netns", &spoke]].concat()));
            let (here, there) = (format!("10.213.{number}.1"), format!("10.213.{number}.2"));
            for (space, device, address) in [(&hub, &*near, &here), (&spoke, "far", &there)] {
                let address = format!("{address}/30");
                assert!(ip(&["-n", space, "addr", "add", &address, "dev", device]));
                assert!(ip(&["-n", space, "link", "set", device, "up"]));
            }
            assert!(ip(&["-n", &spoke, "link", "set", "lo", "up"]));
            assert!(ip(&["-n", &spoke, "route", "add", "default", "via", &here]));
        }
    }

    /// Returns the command that runs in a namespace; `loadline` is the program.
    fn inside(space: &str, words: &[&str]) -> Command {
        let own = program();
        let mut command = Command::new("ip");
        let words = words.iter().map(|word| match *word {
            "loadline" => own.as_os_str(),
            word => word.as_ref(),
        });
        command
            .args(["netns", "exec", space])
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn serving(mut self) -> Network {
        let hub = self.hub();
        for words in [
            &["nats-server", "-a", "10.213.0.1", "-p", "4222"][..],
            &["loadline", "serve", "--listen", "10.213.0.1:8080"],
        ] {
            let mut command = Network::inside(&hub, words);
            command.stdout(Stdio::null()).stderr(Stdio::null());
            self.children.push(command.spawn().expect("a server"));
        }
        sleep(Duration::from_secs(1));
        self
    }

    /// Starts the agent of a spoke, and waits until it is there. Its process is that of `ip`.
    fn agent(&mut self, number: u8) {
        let name = format!("spoke-{number}");
        let bus = ["--nats", self.agents_bus, "--insecure-bus", "--name", &name];
        let words = [&["loadline", "agent"][..], &bus].concat();
        let mut command = Network::inside(&self.spoke(number), &words);
        command.stderr(Stdio::null());
        let mut agent = command.spawn().expect("an agent");
        let mut line = String::new();
        let stdout = agent.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut line).unwrap();
        assert!(line.contains("waits for runs"), "{line}");
        self.children.push(agent);
    }

    /// Begins a run of all agents.
    fn start(&self, words: &[&str]) -> Child {
        self.start_at(8080, words)
    }

    /// The same, against this port of the hub.
    fn start_at(&self, port: u16, words: &[&str]) -> Child {
        let agents = self.spokes.to_string();
        let front = [
            "loadline",
            "--nats",
            "nats://10.213.0.1",
            "--insecure-bus",
            "--agents",
            &agents,
            "--allow-invalid",
            "-o",
            "json",
            "-t",
            &agents,
        ];
        let url = format!("http://10.213.0.1:{port}/");
        let words = [&front[..], words, &[&url]].concat();
        Network::inside(&self.hub(), &words).spawn().expect("a run")
    }

    /// Waits until all agents are free.
    fn await_free(&self) {
        let bus = ["--nats", "nats://10.213.0.1", "--insecure-bus"];
        let words = [&["loadline", "agents"][..], &bus].concat();
        let since = Instant::now();
        loop {
            let listed = Network::inside(&self.hub(), &words)
                .output()
                .expect("a list");
            let list = String::from_utf8_lossy(&listed.stdout).into_owned();
            if list.matches("  free").count() == usize::from(self.spokes) {
                return;
            }
            assert!(since.elapsed() < Duration::from_secs(30), "{list}");
            sleep(Duration::from_millis(200));
        }
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
        (1..=self.spokes).for_each(|number| {
            ip(&["netns", "del", &self.spoke(number)]);
        });
        ip(&["netns", "del", &self.hub()]);
    }
}

/// The summary of a run that has ended, what it has printed beside, and its exit code.
fn end(run: Child) -> (Value, String, Option<i32>) {
    let (report, stderr, code) = report(run);
    (report["summary"].clone(), stderr, code)
}

/// Asserts that an open load of 300/s for so long adds up although an agent was lost.
fn assert_one_lost(run: Child, since: Instant, seconds: u64) {
    let (found, stderr, code) = end(run);
    let most = Duration::from_secs(seconds + 10);
    assert!(since.elapsed() < most, "{:?}: {stderr}", since.elapsed());
    assert_eq!(code, Some(2), "{stderr}");
    assert!(
        stderr.contains("said nothing for 3 s and was ended"),
        "{stderr}"
    );
    let lost = assert_sums(&found);
    assert_eq!(count(&found, "planned"), 300 * seconds, "{found:#}");
    assert_eq!(count(&found, "sent") + lost, 300 * seconds, "{found:#}");
    assert!(lost > 0, "{found:#}");
}

#[test]
#[ignore = "soak: needs root, and minutes"]
fn agents_on_slow_and_uneven_links_send_exactly_what_is_planned() {
    let Some(mut network) = Network::of("slow", 3) else {
        return;
    };
    // 15 to 25 ms each way, which differ.
    let uneven = Delay {
        least: Duration::from_millis(15),
        jitter: Duration::from_millis(5),
    };
    let at = |port: u16| SocketAddr::from(([10, 213, 0, 1], port));
    delay(&network.hub(), at(4223), at(4222), uneven);
    delay(&network.hub(), at(8081), at(8080), uneven);
    network.agents_bus = "nats://10.213.0.1:4223";
    (1..=3).for_each(|number| network.agent(number));
    let load = ["-c", "60", "-r", "300", "-d", "10s"];
    let run = network.start_at(8081, &load);
    let (found, stderr, code) = end(run);
    assert_eq!(code, Some(0), "{stderr}");
    assert_eq!(assert_sums(&found), 0);
    assert_eq!(count(&found, "planned"), 3_000, "{found:#}");
    assert!(
        found["service_time_us"]["min"].as_f64() >= Some(30_000.0),
        "{found:#}"
    );
    let error = printed_error(&stderr);
    println!("the begin is known to within {error:?}");
    // Half of the shortest of eight round trips, and what a busy machine adds.
    assert!(error >= Duration::from_millis(15), "{stderr}");
    assert!(error <= Duration::from_millis(100), "{stderr}");
    network.await_free();
}

#[test]
#[ignore = "soak: needs root, and minutes"]
fn an_agent_whose_link_is_cut_is_lost_and_comes_back() {
    let Some(mut network) = Network::of("cut", 3) else {
        return;
    };
    (1..=3).for_each(|number| network.agent(number));
    let since = Instant::now();
    let run = network.start(&["-c", "30", "-r", "300", "-d", "14s"]);
    sleep(Duration::from_secs(4));
    let hub = network.hub();
    assert!(ip(&["-n", &hub, "link", "set", "near2", "down"]));
    sleep(Duration::from_secs(7));
    assert!(ip(&["-n", &hub, "link", "set", "near2", "up"]));
    assert_one_lost(run, since, 14);
    network.await_free();
}

/// Stops an agent for so long in the middle of a run of so many seconds.
fn stop_for(test: &str, stop_s: u64, seconds: u64) {
    let Some(mut network) = Network::of(test, 3) else {
        return;
    };
    (1..=3).for_each(|number| network.agent(number));
    let since = Instant::now();
    let length = format!("{seconds}s");
    let run = network.start(&["-c", "30", "-r", "300", "-d", &length]);
    sleep(Duration::from_secs(4));
    // `ip netns exec` has become the agent.
    let agent = network.children.last().expect("an agent");
    signal(agent, "STOP");
    let stopped = Instant::now();
    if stop_s < seconds - 4 {
        sleep(Duration::from_secs(stop_s));
        signal(agent, "CONT");
    }
    assert_one_lost(run, since, seconds);
    sleep(Duration::from_secs(stop_s).saturating_sub(stopped.elapsed()));
    signal(agent, "CONT");
    network.await_free();
}

#[test]
#[ignore = "soak: needs root, and minutes"]
fn an_agent_that_is_stopped_for_five_seconds_is_lost_and_free_again() {
    stop_for("five", 5, 14);
}

#[test]
#[ignore = "soak: needs root, and minutes"]
fn an_agent_that_is_stopped_for_a_minute_is_lost_and_free_again() {
    stop_for("minute", 60, 20);
}

#[test]
#[ignore = "soak: needs root, and minutes"]
fn a_second_coordinator_waits_for_the_agents_of_the_first() {
    let Some(mut network) = Network::of("two", 2) else {
        return;
    };
    (1..=2).for_each(|number| network.agent(number));
    let load = ["-c", "20", "-r", "300", "-d", "5s"];
    let first = network.start(&load);
    sleep(Duration::from_secs(2));
    let second = network.start(&load);
    for run in [first, second] {
        let (found, stderr, code) = end(run);
        assert_eq!(code, Some(0), "{stderr}");
        assert_eq!(assert_sums(&found), 0);
        assert_eq!(count(&found, "planned"), 1_500, "{found:#}");
    }
}

#[test]
#[ignore = "soak: needs root, and minutes"]
fn a_full_disk_of_the_coordinator_costs_the_saved_run_and_nothing_else() {
    let Some(mut network) = Network::of("full", 2) else {
        return;
    };
    (1..=2).for_each(|number| network.agent(number));
    let run = network.start(&["-c", "20", "-r", "300", "-d", "5s", "--save", "/dev/full"]);
    let (found, stderr, code) = end(run);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("/dev/full"), "{stderr}");
    assert_eq!(assert_sums(&found), 0);
    assert_eq!(count(&found, "planned"), 1_500, "{found:#}");
    network.await_free();
}
