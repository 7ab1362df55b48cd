//! A page that stands still while the load goes on.
//!
//! No signal stops one thread of a process. The page asks what steers the run each second, so here
//! that waits at a gate: the page's thread stands still, with the state locked, and with it whoever
//! asks the server for the state.

use super::*;
use loadline_plan::{Arrivals, Body, Load, Plan, Request, Shape};
use loadline_runner::{Command, Commands, Phase, Prints, Setup, conduct, workload};
use loadline_testbed::{Config, Server as TestServer};
use loadline_verdict::RunResult;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Condvar, Mutex, PoisonError};

/// Where the page's thread waits.
#[derive(Debug, Default)]
struct Gate {
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct GateState {
    is_open: bool,
    /// True once somebody has waited.
    was_reached: bool,
}

impl Gate {
    fn pass(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.was_reached |= !state.is_open;
        while !state.is_open {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Opens it; true if somebody waited.
    fn open(&self) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.is_open = true;
        self.changed.notify_all();
        state.was_reached
    }
}

/// Steers a run as commands do, once the gate is open.
struct Gated {
    commands: Commands,
    gate: Arc<Gate>,
}

impl Steer for Gated {
    fn phase(&self) -> Phase {
        self.commands.phase()
    }

    fn is_paused(&self) -> bool {
        self.gate.pass();
        false
    }

    fn is_ending(&self) -> bool {
        self.commands.is_ending()
    }

    fn end(&self, command: Command) {
        self.commands.send(command);
    }
}

/// A run of so many requests to this server, at this rate.
fn plan(server: &TestServer, rate: u64, requests: u64) -> Plan {
    Plan {
        requests: vec![Request {
            method: "GET".to_owned(),
            url: format!("http://{}/", server.addr()).parse().unwrap(),
            headers: Vec::new(),
            body: Body::None,
            weight: 1,
            name: None,
        }],
        load: Load {
            users: 50,
            max_users: 500,
            shape: Shape::Rate {
                rate: rate.to_string().parse().unwrap(),
                arrivals: Arrivals::Constant,
            },
        },
        threads: 1,
        processes: 1,
        duration: None,
        request_limit: Some(requests),
        ..Plan::default()
    }
}

/// What the server answers to who asks for the state; it waits for it.
fn state(url: &str) -> Value {
    let port = url.trim_end_matches('/').rsplit(':').next().unwrap();
    let address = SocketAddr::from(([127, 0, 0, 1], port.parse().unwrap()));
    let mut stream = TcpStream::connect(address).unwrap();
    stream
        .write_all(b"GET /api/v1/state HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap()
}

/// Makes a run whose page stands still from its first second until the load has ended; returns the
/// run, and the state once the page goes on.
fn run_beside_a_page_that_stands_still(rate: u64, requests: u64) -> (RunResult, Value) {
    let listen = SocketAddr::from(([127, 0, 0, 1], 0));
    let server = TestServer::start(Config {
        listen,
        ..Config::default()
    });
    let server = server.unwrap();
    let plan = plan(&server, rate, requests);
    let (commands, gate) = (Commands::default(), Arc::<Gate>::default());
    let steer = Arc::new(Gated {
        commands: commands.clone(),
        gate: Arc::clone(&gate),
    });
    let place = "127.0.0.1:0".parse().unwrap();
    let mut page = LivePage::open(&place, &Protection::default(), steer, None, None).unwrap();
    let mut feed = page.feed().unwrap();
    let workload = workload(&plan, Prints::Stderr).unwrap();
    let run = conduct(&Setup::of(&plan), &*workload, &commands, &mut [&mut feed]).unwrap();
    let url = page.url().to_owned();
    let viewer = thread::spawn(move || state(&url));
    assert!(gate.open(), "the page stood still");
    // Whoever asked meanwhile is answered.
    viewer.join().unwrap();
    drop(feed);
    page.finish();
    let last = state(page.url());
    drop(page);
    assert_eq!(server.stop().requests, requests);
    (run.result, last)
}

fn assert_whole(run: &RunResult, last: &Value, requests: u64) {
    let counts = &run.summary.total.counts;
    assert_eq!((counts.planned, counts.sent), (requests, requests));
    assert_eq!((counts.answered, counts.failed), (requests, 0));
    assert_eq!(last["figures"]["answered"], requests);
    // The begin, at most a full queue of intervals, the end, and that there is no more.
    let events = last["number"].as_u64().unwrap();
    assert!(events <= 5 + QUEUE as u64, "{events}");
}

#[test]
fn a_load_does_not_wait_for_a_page_that_stands_still() {
    let (run, last) = run_beside_a_page_that_stands_still(1_000, 6_500);
    assert_whole(&run, &last, 6_500);
}

#[test]
#[ignore = "ten seconds at a rate that needs the machine: `make soak`"]
fn a_load_of_20_000_a_second_does_not_wait_for_a_page_that_stands_still() {
    let (run, last) = run_beside_a_page_that_stands_still(20_000, 200_000);
    assert_whole(&run, &last, 200_000);
}
