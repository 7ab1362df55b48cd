//! The REST API of a running k6 test, and the commands that ask it.

use crate::k6::{Scripts, default};
use crate::rig::{beside_others, command, text};
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::Duration;

const CONTROLLED: &str = "import { sleep } from 'k6';
    export const options = { scenarios: { ext: {
      executor: 'externally-controlled', vus: 1, maxVUs: 4, duration: '10m' } } };
    export function setup() { return { number: 7 }; }
    export default function (data) { console.log(`number ${data.number}`); sleep(0.02); }
    export function teardown() { console.log('torn down'); }";

/// An address that nobody listens at.
fn free_address() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

/// A test that runs and serves its API.
struct Running<'a> {
    scripts: &'a Scripts,
    address: String,
    child: Child,
}

impl<'a> Running<'a> {
    fn begin(scripts: &'a Scripts, words: &[&str]) -> Self {
        let address = free_address();
        let log = format!("file={}", text(&scripts.path().join("log")));
        let own = [
            "k6",
            "run",
            "-q",
            "--address",
            &address,
            "--log-output",
            &log,
        ];
        let child = command(&[&own, words].concat())
            .current_dir(scripts.path())
            .env("HOME", scripts.path())
            .spawn()
            .unwrap();
        let running = Running {
            scripts,
            address,
            child,
        };
        running.await_that(|running| TcpStream::connect(&running.address).is_ok());
        running
    }

    /// Waits until this holds; a test that hangs is ended by whoever runs it.
    fn await_that(&self, holds: impl Fn(&Self) -> bool) {
        while !holds(self) {
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// What a command says that asks the test.
    fn send_order(&self, words: &[&str]) -> String {
        let said = self
            .scripts
            .run(&[words, &["--address", &self.address]].concat());
        match said.code {
            Some(0) => said.stdout,
            _ => said.stderr,
        }
    }

    /// The body of an answer of its API.
    fn request(&self, method: &str, path: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Content-Length: {length}\r\n\r\n"
        );
        stream.write_all((head + body).as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (_, body) = answer.split_once("\r\n\r\n").unwrap();
        body.to_owned()
    }

    fn log(&self) -> String {
        fs::read_to_string(self.scripts.path().join("log")).unwrap_or_default()
    }

    fn end(mut self) -> (ExitStatus, String) {
        let status = self.child.wait().unwrap();
        (status, self.log())
    }
}

#[test]
fn a_test_begins_paused_is_scaled_and_is_stopped_from_outside() {
    let scripts = Scripts::new(&[("ext.js", CONTROLLED)]);
    let _beside_others = beside_others();
    let saving = ["--paused", "--out", "loadline=a.run", "ext.js"];
    let running = Running::begin(&scripts, &saving);
    assert!(
        running
            .send_order(&["status"])
            .starts_with("status: 4\npaused: \"true\"\n")
    );
    let again = running.send_order(&["pause"]);
    assert!(
        again.contains("Pause error: execution is already paused"),
        "{again}"
    );
    running.send_order(&["scale", "-u", "2"]);
    running.send_order(&["resume"]);
    running.await_that(|running| running.send_order(&["status"]).contains("\nvus: \"2\"\n"));
    running.await_that(|running| running.log().contains("msg=\"number 7\""));
    let refused = running.send_order(&["scale", "-u", "9"]);
    let said = "Config update error: invalid configuration supplied: the number of active VUs (9) \
                must be less than or equal to the number of maxVUs (4)";
    assert!(refused.contains(said), "{refused}");
    let scaled = running.send_order(&["scale", "-u", "5", "-m", "6"]);
    assert!(scaled.contains("vus: \"5\"\nvus-max: \"6\"\n"), "{scaled}");
    // The lines of one user come each 20 ms; those of a fifth user need the fifth.
    running.await_that(|running| running.send_order(&["stats"]).contains("name: iterations"));
    let setup = running.request("GET", "/v1/setup", "");
    assert!(setup.contains("{\"data\":{\"number\":7}}"), "{setup}");
    let groups = running.request("GET", "/v1/groups", "");
    assert!(
        groups.contains("d41d8cd98f00b204e9800998ecf8427e"),
        "{groups}"
    );
    let stop = "{\"data\":{\"attributes\":{\"stopped\":true}}}";
    let stopped = running.request("PATCH", "/v1/status", stop);
    assert!(stopped.contains("\"stopped\":true"), "{stopped}");
    let (status, log) = running.end();
    assert_eq!(status.code(), Some(103), "{log}");
    assert!(log.contains("msg=\"torn down\""), "{log}");
    assert!(
        log.contains("msg=\"test run stopped from REST API\""),
        "{log}"
    );
    let saved = scripts.path().join("a.run");
    let report = command(&["report", text(&saved)]).output().unwrap();
    let report = String::from_utf8_lossy(&report.stdout);
    let words: Vec<&str> = report.split_whitespace().collect();
    let unwrapped = words.join(" ");
    assert!(
        unwrapped.contains("changed to 5 users of ext at"),
        "{report}"
    );
}

#[test]
fn a_pause_holds_every_executor_and_ends_as_it_began() {
    let script = "import { sleep } from 'k6';
        export const options = { vus: 2, duration: '10m' };
        export default function () { console.log('in'); sleep(0.01); }";
    let scripts = Scripts::new(&[("loop.js", script)]);
    let _beside_others = beside_others();
    let running = Running::begin(&scripts, &["loop.js"]);
    running.await_that(|running| running.log().contains("msg=in"));
    assert!(running.send_order(&["pause"]).contains("paused: \"true\""));
    let lines = |running: &Running<'_>| running.log().matches("msg=in").count();
    // The load stands still when two looks find the same.
    running.await_that(|running| {
        let before = lines(running);
        thread::sleep(Duration::from_millis(300));
        lines(running) == before
    });
    let held = lines(&running);
    let again = running.send_order(&["pause"]);
    assert!(
        again.contains("test execution was already paused"),
        "{again}"
    );
    assert!(
        running
            .send_order(&["resume"])
            .contains("paused: \"false\"")
    );
    running.await_that(|running| lines(running) > held + 4);
    let none = running.send_order(&["scale", "-u", "3"]);
    assert!(
        none.contains("an externally-controlled executor needs"),
        "{none}"
    );
    let pid = running.child.id().to_string();
    let killed = Command::new("kill").args(["-INT", &pid]).status().unwrap();
    assert!(killed.success());
    assert_eq!(running.end().0.code(), Some(105));
}

#[test]
fn setup_data_of_others_takes_the_place_of_setup() {
    let script = "export function setup() { return 'own'; }
        export default function (data) { console.log(`has ${JSON.stringify(data)}`); }
        export function teardown(data) { console.log(`ends ${JSON.stringify(data)}`); }";
    let scripts = Scripts::new(&[("data.js", script)]);
    let _beside_others = beside_others();
    let running = Running::begin(&scripts, &["--paused", "--no-setup", "data.js"]);
    let called = running.request("POST", "/v1/setup", "");
    assert!(called.contains("{\"data\":\"own\"}"), "{called}");
    let put = running.request("PUT", "/v1/setup", "{\"a\":1}");
    assert!(put.contains("{\"data\":{\"a\":1}}"), "{put}");
    running.send_order(&["resume"]);
    let (status, log) = running.end();
    assert_eq!(status.code(), Some(0), "{log}");
    assert!(log.contains("msg=\"has {\\\"a\\\":1}\""), "{log}");
    assert!(log.contains("msg=\"ends {\\\"a\\\":1}\""), "{log}");
}

#[test]
fn the_api_can_be_asked_behind_the_end_while_the_test_lingers() {
    let good = default("");
    let scripts = Scripts::new(&[("good.js", &good)]);
    let _beside_others = beside_others();
    let running = Running::begin(&scripts, &["--linger", "good.js"]);
    running.await_that(|running| running.send_order(&["status"]).starts_with("status: 9\n"));
    let metrics = running.request("GET", "/v1/metrics/iterations", "");
    assert!(metrics.contains("\"count\":1"), "{metrics}");
    let pid = running.child.id().to_string();
    let killed = Command::new("kill").args(["-INT", &pid]).status().unwrap();
    assert!(killed.success());
    assert_eq!(running.end().0.code(), Some(0));
}

#[test]
fn an_address_that_can_not_be_had_ends_the_command() {
    let good = default("");
    let scripts = Scripts::new(&[("good.js", &good)]);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for (address, problem) in [
        (address.as_str(), "bind: address already in use"),
        ("127.0.0.1", "missing port in address"),
        ("127.0.0.1:99999", "address 99999: invalid port"),
    ] {
        let said = scripts.run(&["run", "-q", "--address", address, "good.js"]);
        assert_eq!(said.code, Some(106), "{}", said.stderr);
        assert!(
            said.stderr.contains("Error from API server"),
            "{}",
            said.stderr
        );
        assert!(said.stderr.contains(problem), "{}", said.stderr);
        assert_eq!(said.stderr.lines().count(), 1, "{}", said.stderr);
    }
}
