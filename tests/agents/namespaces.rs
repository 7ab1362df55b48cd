//! Networks of their own for agents: namespaces of this machine's network, which need root.

use super::slow_link::enter;
use crate::rig::{beside_others, program, serve_with};
use loadline_testbed::Server;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::RwLockReadGuard;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

/// Namespaces of this machine's network: a hub with the bus, the server and the coordinator, and
/// one for each agent, which has a link of its own to the hub.
pub(super) struct Network {
    name: String,
    spokes: u8,
    /// The bus that agents use.
    pub(super) agents_bus: &'static str,
    pub(super) children: Vec<Child>,
    _beside_others: RwLockReadGuard<'static, ()>,
}

/// Runs `ip`; true if it succeeds.
pub(super) fn ip(words: &[&str]) -> bool {
    let ran = Command::new("ip").args(words).output();
    ran.is_ok_and(|output| output.status.success())
}

impl Network {
    /// Creates the networks of so many agents, with a bus and a server; `None` where that can't be
    /// done, which is said.
    #[expect(clippy::print_stderr, reason = "a test that was not made says so")]
    pub(super) fn of(test: &str, spokes: u8) -> Option<Network> {
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

    pub(super) fn hub(&self) -> String {
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

    /// Starts a server at a port of the hub whose counts this process has.
    pub(super) fn counting_server(&self, port: u16) -> Server {
        let hub = self.hub();
        let start = move || {
            enter(&hub);
            let listen = SocketAddr::from(([10, 213, 0, 1], port));
            serve_with(|config| config.listen = listen)
        };
        thread::spawn(start).join().expect("a server")
    }

    /// Starts the agent of a spoke, and waits until it is there. Its process is that of `ip`.
    pub(super) fn agent(&mut self, number: u8) {
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
    pub(super) fn start(&self, words: &[&str]) -> Child {
        self.start_at(8080, words)
    }

    /// The same, against this port of the hub.
    pub(super) fn start_at(&self, port: u16, words: &[&str]) -> Child {
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
    pub(super) fn await_free(&self) {
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
