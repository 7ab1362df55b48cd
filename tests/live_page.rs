//! The live page of a run: its state and its events, what steers the run, and who is refused.

mod asleep;
mod evidence;
#[cfg(feature = "k6")]
mod k6_events;
mod lasting;
mod mistakes;

use crate::agreement::few;
use crate::browser::Tab;
use crate::openssl::make_certificate;
use crate::rig::{assert_balanced, beside_others, command, loadline, serve, text, url};
use crate::schemas::document;
use loadline_testbed::Server;
use proptest::prelude::*;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStderr, Command};
use std::thread;
use std::time::Duration;

/// A run with a live page.
pub(crate) struct Running {
    child: Child,
    stderr: BufReader<ChildStderr>,
    /// The address that it printed.
    pub(crate) url: String,
}

impl Running {
    pub(crate) fn begin(words: &[&str]) -> Running {
        let words = [&["--no-progress", "--allow-invalid"], words].concat();
        Running::of(command(&words), "The live page is at ")
    }

    /// A page from which the runs of this folder are started.
    fn start_page(folder: &Path) -> Running {
        let words = ["web", "--listen", "127.0.0.1:0", text(folder)];
        Running::of(command(&words), "Start runs at ")
    }

    fn of(mut command: Command, says: &str) -> Running {
        let mut child = command.spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains(says) {
            line.clear();
            let read = stderr.read_line(&mut line).unwrap();
            assert!(read > 0, "no address was printed");
        }
        let (_, url) = line.trim().split_once(says).unwrap();
        Running {
            child,
            stderr,
            url: url.to_owned(),
        }
    }

    fn port(&self) -> u16 {
        let (authority, _) = self.url[7..].split_once('/').unwrap();
        let (_, port) = authority.rsplit_once(':').unwrap();
        port.parse().unwrap()
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(SocketAddr::from(([127, 0, 0, 1], self.port()))).unwrap()
    }

    /// Sends a request; returns the status and the body of the answer.
    pub(crate) fn request(
        &self,
        method: &str,
        path: &str,
        fields: &str,
        body: &str,
    ) -> (u16, String) {
        let mut stream = self.connect();
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Content-Length: {length}\r\n{fields}\r\n{body}"
        );
        // The server may have refused it before it is sent as a whole.
        let _ = stream.write_all(head.as_bytes());
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        (status.unwrap_or(0), body.to_owned())
    }

    pub(crate) fn state(&self) -> Value {
        let (status, body) = self.request("GET", "/api/v1/state", "", "");
        assert_eq!(status, 200, "{body}");
        serde_json::from_str(&body).unwrap()
    }

    /// Waits until this holds of the state; a test that hangs is ended by whoever runs it.
    pub(crate) fn await_that(&self, holds: impl Fn(&Value) -> bool) -> Value {
        loop {
            let state = self.state();
            if holds(&state) {
                return state;
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn command(&self, name: &str, body: &str) -> Value {
        let (status, answer) = self.request("POST", &format!("/api/v1/{name}"), "", body);
        assert_eq!(status, 200, "{name}: {answer}");
        serde_json::from_str(&answer).unwrap()
    }

    /// Opens a stream of events, after this one.
    fn events(&self, after: Option<&str>) -> Events {
        self.events_at("/api/v1/events", after)
    }

    fn events_at(&self, path: &str, after: Option<&str>) -> Events {
        let mut stream = self.connect();
        let after = after.map_or(String::new(), |id| format!("Last-Event-ID: {id}\r\n"));
        let head = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{after}\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut events = Events(BufReader::new(stream));
        let status = events.line().unwrap();
        assert!(status.starts_with("HTTP/1.1 200"), "{status}");
        while !events.line().unwrap().trim().is_empty() {}
        events
    }

    /// Starts a run from the page, and waits for its end; returns the state then.
    fn start(&self, new: &Value) -> Value {
        self.command("start", &new.to_string());
        self.await_that(|state| state["can_start"] == true)
    }

    /// Ends the process as Ctrl-C does.
    pub(crate) fn interrupt(self) -> (Option<i32>, String) {
        let process = Pid::from_child(&self.child);
        kill_process(process, Signal::INT).unwrap();
        self.end()
    }

    fn end(mut self) -> (Option<i32>, String) {
        let mut said = String::new();
        self.stderr.read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().code(), said)
    }
}

impl Drop for Running {
    /// A test that failed leaves nothing running.
    fn drop(&mut self) {
        // It has ended already, as a rule.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A stream of events.
struct Events(BufReader<TcpStream>);

/// An event: its number, its name and its data, as they came.
#[derive(Clone, Debug, PartialEq)]
struct Event {
    id: String,
    name: String,
    data: String,
}

impl Events {
    /// A line; `None` at the end of the stream.
    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.0.read_line(&mut line).ok()?;
        (read > 0).then_some(line)
    }

    fn field(&mut self, name: &str) -> Option<String> {
        loop {
            let line = self.line()?;
            if let Some(value) = line.strip_prefix(name) {
                return Some(value.trim().to_owned());
            }
        }
    }
}

impl Iterator for Events {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        Some(Event {
            id: self.field("id: ")?,
            name: self.field("event: ")?,
            data: self.field("data: ")?,
        })
    }
}

/// Words of a run at this server, with a page on a free port.
fn words<'a>(rest: &[&'a str], target: &'a str) -> Vec<&'a str> {
    [&["--web=127.0.0.1:0"], rest, &[target]].concat()
}

/// Applies what changed in the page, as a browser does.
fn apply(page: &mut Value, patch: &Value) {
    if let Some(set) = patch.get("set") {
        page.clone_from(set);
    }
    for (key, inner) in patch["in"].as_object().into_iter().flatten() {
        match &mut *page {
            Value::Array(list) => apply(&mut list[key.parse::<usize>().unwrap()], inner),
            page => apply(&mut page[key], inner),
        }
    }
    if let (Value::Array(list), Some(add)) = (page, patch["add"].as_array()) {
        list.extend(add.iter().cloned());
    }
}

/// The page after these events.
fn page_of(events: &[Event]) -> Value {
    let mut page = Value::Null;
    for event in events {
        let data: Value = serde_json::from_str(&event.data).unwrap();
        match event.name.as_str() {
            "state" => page = data["page"].clone(),
            _ => apply(&mut page, &data["page"]),
        }
    }
    page
}

#[test]
fn a_viewer_who_was_cut_off_ends_with_the_page_of_one_who_was_not() {
    let server = serve();
    let target = url(&server, "delay=5ms");
    let _beside_others = beside_others();
    let running = Running::begin(&words(&["-r", "200", "-d", "1h"], &target));
    let unbroken = running.events(None);
    let unbroken = thread::spawn(move || unbroken.collect::<Vec<Event>>());
    let mut broken: Vec<Event> = running.events(None).take(3).collect();
    assert_eq!(broken[0].name, "state");
    // Some events pass meanwhile.
    let seen: u64 = broken[2].id.parse().unwrap();
    running.await_that(|state| state["number"].as_u64() > Some(seen + 2));
    let resumed = running.events(Some(&broken[2].id));
    let resumed = thread::spawn(move || resumed.collect::<Vec<Event>>());
    running.command("stop", "");
    let (resumed, unbroken) = (resumed.join().unwrap(), unbroken.join().unwrap());
    assert!(
        resumed.iter().all(|event| event.name != "state"),
        "{resumed:?}"
    );
    broken.extend(resumed);
    assert_eq!(broken.last().unwrap().name, "over");
    let numbers: Vec<u64> = broken
        .iter()
        .map(|event| event.id.parse().unwrap())
        .collect();
    assert!(
        numbers.windows(2).all(|pair| pair[1] == pair[0] + 1),
        "{numbers:?}"
    );
    // One may have opened its stream an event before the other: from then on all is the same.
    let tail = |events: &[Event]| events[2..].to_vec();
    assert!(unbroken.ends_with(&tail(&broken)) || broken.ends_with(&tail(&unbroken)));
    assert_eq!(page_of(&broken), page_of(&unbroken));
    let (code, said) = running.end();
    assert_eq!(code, Some(130), "{said}");
}

#[test]
fn ten_viewers_get_the_same_bytes() {
    let server = serve();
    let target = url(&server, "");
    let _beside_others = beside_others();
    let running = Running::begin(&words(&["-r", "100", "-d", "3s"], &target));
    let viewers: Vec<_> = (0..10).map(|_| running.events(None)).collect();
    let viewers = viewers
        .into_iter()
        .map(|events| thread::spawn(move || events.collect()));
    let viewers: Vec<_> = viewers.collect();
    let seen: Vec<Vec<Event>> = viewers.into_iter().map(|one| one.join().unwrap()).collect();
    let first = &seen[0];
    for other in &seen {
        let last = &other[other.len() - 3..];
        assert!(first.ends_with(last));
        assert_eq!(page_of(other), page_of(first));
        for event in other {
            assert!(
                event.name == "state" || event.data.len() < 60_000,
                "{}",
                event.data.len()
            );
        }
    }
    let (code, said) = running.end();
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn commands_move_the_load_and_each_says_from_when() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let (report, saved) = (folder.path().join("a.json"), folder.path().join("a.run"));
    let to = format!("json={}", text(&report));
    let target = url(&server, "delay=2ms");
    let _beside_others = beside_others();
    let rest = ["-r", "100", "-d", "1h", "--save", text(&saved), "-o", &to];
    let running = Running::begin(&words(&rest, &target));
    running.await_that(|state| state["figures"]["answered"].as_u64() > Some(50));
    let mut from_s = 0.0;
    for (name, body, message) in [
        (
            "level",
            r#"{"percent": 150}"#,
            "The load is 150 % of the plan.",
        ),
        ("level", r#"{"rate": 300}"#, "The load is 300/s."),
        ("level", r#"{"rate": "30/m"}"#, "The load is 0.5/s."),
        ("pause", "", "The load is paused."),
    ] {
        let told = running.command(name, body);
        assert_eq!(told["message"], message);
        assert!(told["from_s"].as_f64().unwrap() >= from_s, "{told}");
        from_s = told["from_s"].as_f64().unwrap();
    }
    running.await_that(|state| state["load"]["is_paused"] == true);
    let (status, refused) = running.request("POST", "/api/v1/level", "", r#"{"users": 3}"#);
    assert_eq!(status, 422, "{refused}");
    assert!(
        refused.contains("an open load has no number of users"),
        "{refused}"
    );
    running.command("resume", "");
    let state = running.await_that(|state| state["load"]["is_paused"] == false);
    assert_eq!(state["phase"], "running");
    running.command("stop", "");
    let (code, said) = running.end();
    assert_eq!(code, Some(130), "{said}");
    let report = document(&std::fs::read_to_string(&report).unwrap());
    assert_balanced(&report["summary"]);
    let changes = report["summary"]["changes"].as_array().unwrap();
    assert!(changes.len() >= 5, "{changes:?}");
    let at: Vec<_> = changes
        .iter()
        .map(|change| change["at_s"].as_f64())
        .collect();
    assert!(at.is_sorted(), "{at:?}");
}

/// Changes the load so many times, to shares that nobody else asks for; returns what each came to:
/// the instant, and the share.
fn change_often(running: &Running, shares: std::ops::Range<u32>) -> Vec<(f64, f64)> {
    let change = |percent: u32| {
        let told = running.command("level", &json!({ "percent": percent }).to_string());
        let expected = format!("The load is {percent} % of the plan.");
        assert_eq!(told["message"], expected);
        (told["from_s"].as_f64().unwrap(), f64::from(percent))
    };
    shares.map(change).collect()
}

#[test]
fn changes_by_two_browsers_are_in_the_saved_run_at_the_instants_of_their_answers() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("a.run");
    let target = url(&server, "delay=2ms");
    let beside_others = beside_others();
    let rest = ["-r", "100", "-d", "1h", "--save", text(&saved)];
    let running = Running::begin(&words(&rest, &target));
    running.await_that(|state| state["figures"]["answered"].as_u64() > Some(20));
    let told = thread::scope(|scope| {
        let one = scope.spawn(|| change_often(&running, 50..60));
        let other = scope.spawn(|| change_often(&running, 150..160));
        [one.join().unwrap(), other.join().unwrap()].concat()
    });
    running.await_that(|state| state["load"]["level"].is_string());
    running.command("stop", "");
    let (code, said) = running.end();
    assert_eq!(code, Some(130), "{said}");
    drop(beside_others);
    let said = loadline(&["report", text(&saved), "--allow-invalid", "-o", "json"]);
    let report = document(&said.stdout);
    let changes = report["summary"]["changes"].as_array().unwrap().iter();
    let kept: Vec<(f64, f64)> = changes
        .map(|change| {
            let share = change["to"]["share"].as_f64().unwrap();
            (change["at_s"].as_f64().unwrap(), (share * 100.0).round())
        })
        .collect();
    assert_eq!(kept.len(), told.len(), "{kept:?}");
    assert!(kept.is_sorted_by(|one, next| one.0 <= next.0), "{kept:?}");
    for (from_s, percent) in &told {
        let found = kept.iter().find(|(_, kept)| kept == percent);
        let (at_s, _) = found.expect("each change is kept");
        // Answers are in milliseconds.
        assert!(
            (at_s - from_s).abs() < 1e-3,
            "{percent} %: {at_s}, {from_s}"
        );
    }
    for own in [50.0..60.0, 150.0..160.0] {
        let of_one = kept.iter().filter(|(_, percent)| own.contains(percent));
        assert!(of_one.is_sorted_by(|one, next| one.1 < next.1), "{kept:?}");
    }
}

#[test]
fn a_check_that_is_added_on_the_page_changes_no_exit_code() {
    let server = serve();
    let target = url(&server, "delay=2ms");
    let _beside_others = beside_others();
    let running = Running::begin(&words(&["-r", "100", "-d", "4s"], &target));
    running.await_that(|state| state["figures"]["answered"].as_u64() > Some(20));
    let (status, refused) = running.request("POST", "/api/v1/check", "", r#"{"check": "p99<"}"#);
    assert_eq!(status, 422, "{refused}");
    running.command("check", r#"{"check": "p99<1us"}"#);
    let state = running.state();
    let added = &state["figures"]["checks"][0];
    assert_eq!(added["check"], "p99<1us", "{added}");
    assert!(added["added_at_s"].is_number(), "{added}");
    let (code, said) = running.end();
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn a_stop_between_two_runs_of_a_series_stops_the_whole() {
    let server = serve();
    let target = url(&server, "");
    let words = [
        "--web=0", "-r", "100", "-d", "100ms", "--repeat", "50", &target,
    ];
    let page = Running::begin(&words);
    // Whatever the moment, there is something to stop.
    page.await_that(|state| state["phase"] == "ended" && state["has_more"] == true);
    page.command("stop", "");
    let (code, said) = page.end();
    assert_eq!(code, Some(130), "{said}");
}

#[test]
fn one_scenario_of_several_is_changed_by_its_name() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("shop.toml");
    let keys = format!(
        "threads = 1\nduration = '1h'\nurl = '{}'\n\
         [[scenario]]\nname = 'browse'\nconnections = 2\n\
         [[scenario]]\nname = 'order'\nconnections = 3\n",
        url(&server, "delay=5ms"),
    );
    std::fs::write(&plan, keys).unwrap();
    let _beside_others = beside_others();
    let running = Running::begin(&words(&[], text(&plan)));
    let state = running.await_that(|state| state["phase"] == "running");
    assert_eq!(state["load"]["scenarios"], json!(["browse", "order"]));
    let told = running.command("level", r#"{"scenario": "order", "users": 5}"#);
    assert_eq!(told["message"], "The load is 5 users.");
    running.await_that(|state| state["load"]["level"] == "5 users of order");
    running.command("abort", "");
    let (code, said) = running.end();
    assert_eq!(code, Some(130), "{said}");
}

#[test]
fn foreign_pages_and_hostile_requests_are_refused_and_the_run_goes_on() {
    let server = serve();
    let target = url(&server, "");
    let _beside_others = beside_others();
    // A load that falls behind would open further connections: descriptors are counted below.
    let load = ["-r", "100", "-c", "1", "--max-connections", "1", "-d", "1h"];
    let running = Running::begin(&words(&load, &target));
    running.await_that(|state| state["phase"] == "running");
    let files = || open_files(&running.child);
    let before = files();
    for name in ["pause", "stop", "abort", "level"] {
        let path = format!("/api/v1/{name}");
        let foreign = "Origin: http://evil.example\r\n";
        assert_eq!(running.request("POST", &path, foreign, "").0, 403, "{name}");
        assert_eq!(running.request("GET", &path, "", "").0, 405, "{name}");
    }
    let mut stream = running.connect();
    stream
        .write_all(b"POST /api/v1/stop HTTP/1.0\r\nHost: evil.example\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.0 403"), "{answer}");
    let long = "x".repeat(2 << 20);
    assert_eq!(running.request("POST", "/api/v1/level", "", &long).0, 413);
    drop(stream);
    let (mut memory, mut most) = (u64::MAX, 0);
    for round in 0..10 {
        // Each is open before all are dropped.
        let streams: Vec<Events> = (0..100).map(|_| running.events(None)).collect();
        drop(streams);
        while files() > before {
            thread::sleep(Duration::from_millis(20));
        }
        // The first ones fill what a server keeps for itself.
        match round {
            0..5 => memory = memory.min(memory_bytes(&running.child)),
            _ => most = most.max(memory_bytes(&running.child)),
        }
    }
    // A stream that is kept would be a connection, with its buffers, and the state: 100 KB.
    assert!(
        most < memory.saturating_add(16 << 20),
        "{memory}, then {most}"
    );
    let state = running.state();
    assert_eq!(state["phase"], "running", "{state}");
    running.command("stop", "");
    let (code, said) = running.end();
    assert_eq!(code, Some(130), "{said}");
}

/// Requests of somebody who tries what can be had, as they are sent.
const HOSTILE: &[&str] = &[
    "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: 127.0.0.1.evil.example\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: localhost.evil.example:80\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: 203.0.113.7\r\n\r\n",
    "GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "POST /api/v1/stop HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\n\r\n",
    "POST /api/v1/stop HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost:1\r\n\r\n",
    "POST /api/v1/stop HTTP/1.1\r\nHost: localhost\r\nOrigin: file://\r\n\r\n",
    "POST /api/v1/note HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n\r\n",
    "POST /api/v1/drop HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n\r\n",
    "GET /api/v1/state HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n\r\n",
    "CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n",
    "TRACE /api/v1/stop HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "PUT /api/v1/stop HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "DELETE /api/v1/state HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "OPTIONS /api/v1/stop HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "STOP /api/v1/stop HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "POST /api/v1/level HTTP/1.1\r\nHost: localhost\r\nContent-Length: 200000000\r\n\r\n",
    "POST /api/v1/drop HTTP/1.1\r\nHost: localhost\r\nContent-Length: 200000000\r\n\r\n",
    "POST /api/v1/level HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    "POST /api/v1/level HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{",
    "POST /api/v1/level HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "POST /api/v1/level HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n[]",
    "POST /api/v1/note HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nnull",
    "POST /api/v1/drop?name=../../a.run HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\n<",
    "GET /runs/../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET /api/v1/span?from_s=NaN&to_s=inf HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET /api/v1/slow?from_s=%00 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0",
];

#[test]
fn whatever_is_sent_is_refused_and_the_load_goes_on() {
    let server = serve();
    let target = url(&server, "");
    let _beside_others = beside_others();
    let running = Running::begin(&words(&["-r", "100", "-d", "1h"], &target));
    running.await_that(|state| state["phase"] == "running");
    let long_field = format!(
        "GET / HTTP/1.1\r\nHost: localhost\r\nA: {}\r\n\r\n",
        "x".repeat(1 << 20)
    );
    let more = [long_field.as_str()];
    for request in HOSTILE.iter().chain(&more) {
        let mut stream = running.connect();
        // It may be refused before it was sent as a whole.
        let _ = stream.write_all(request.as_bytes());
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let answer = String::from_utf8_lossy(&answer);
        let status = answer.split(' ').nth(1).unwrap_or("closed");
        let is_refused = status == "closed" || status.starts_with('4');
        assert!(is_refused, "{:.80}: {status}", request);
        assert!(!answer.contains("root:"), "{request}");
    }
    let state = running.state();
    let standing = (&state["phase"], &state["load"]["level"], &state["baseline"]);
    assert_eq!(standing, (&json!("running"), &json!(null), &json!(null)));
    running.command("stop", "");
    assert_eq!(running.end().0, Some(130));
}

#[test]
fn a_site_that_moves_its_name_to_this_machine_gets_nothing() {
    let server = serve();
    let target = url(&server, "");
    let _beside_others = beside_others();
    let running = Running::begin(&words(&["-r", "100", "-d", "1h"], &target));
    running.await_that(|state| state["phase"] == "running");
    let site = format!("http://rebound.example:{}/", running.port());
    if let Some(mut tab) = Tab::open(&site) {
        tab.await_that("document.body?.textContent.includes('names another machine') ?? false");
        for (path, method) in [("state", "GET"), ("stop", "POST"), ("abort", "POST")] {
            let status = tab.value(&format!(
                "fetch('/api/v1/{path}', {{ method: '{method}' }}).then((one) => one.status)"
            ));
            assert_eq!(status, json!(403), "{path}");
        }
    }
    assert_eq!(running.state()["phase"], "running");
    running.command("stop", "");
    assert_eq!(running.end().0, Some(130));
}

/// The memory that a process has, in bytes.
fn memory_bytes(child: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.unwrap().trim().split(' ').next().unwrap();
    kilobytes.parse::<u64>().unwrap() * 1024
}

/// The descriptors that a process has open.
fn open_files(child: &Child) -> usize {
    let folder = format!("/proc/{}/fd", child.id());
    std::fs::read_dir(folder).unwrap().count()
}

#[test]
fn beyond_loopback_the_address_has_a_token_that_each_request_needs() {
    let server = serve();
    let target = url(&server, "");
    let _beside_others = beside_others();
    let running = Running::begin(&["--web=0.0.0.0:0", "-r", "50", "-d", "1h", &target]);
    let (_, token) = running.url.split_once("/?token=").expect("a token");
    let token = token.to_owned();
    assert_eq!(running.request("GET", "/api/v1/state", "", "").0, 401);
    assert_eq!(running.request("POST", "/api/v1/stop", "", "").0, 401);
    assert_eq!(
        running
            .request("GET", &format!("/?token={token}"), "", "")
            .0,
        303
    );
    let bearer = format!("Authorization: Bearer {token}\r\n");
    assert_eq!(running.request("GET", "/api/v1/state", &bearer, "").0, 200);
    while running.request("POST", "/api/v1/pause", &bearer, "").0 == 409 {
        // The load has not begun.
        thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(running.request("POST", "/api/v1/stop", &bearer, "").0, 200);
    let (code, said) = running.end();
    assert_eq!(code, Some(130), "{said}");
}

#[test]
fn a_user_and_a_password_replace_the_token() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let password = folder.path().join("password");
    std::fs::write(&password, "secret\n").unwrap();
    let target = url(&server, "");
    let flags = ["--web-user", "anna", "--web-password-file", text(&password)];
    let _beside_others = beside_others();
    let running = Running::begin(&words(&[&flags[..], &["-n", "20"]].concat(), &target));
    assert!(!running.url.contains("token"), "{}", running.url);
    // By then the run may be over, and its page with it.
    let refused = running.request("GET", "/api/v1/state", "", "").0;
    assert!([401, 0].contains(&refused), "{refused}");
    assert_eq!(running.end().0, Some(0));
}

#[test]
fn with_a_certificate_the_page_is_served_by_tls_alone() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let [key, cert] = ["key.pem", "cert.pem"].map(|name| folder.path().join(name));
    make_certificate(text(&key), text(&cert));
    let target = url(&server, "");
    let beside_others = beside_others();
    let tls = ["--web-cert", text(&cert), "--web-key", text(&key)];
    let rest = [&tls[..], &["-r", "50", "-d", "1h"]].concat();
    let running = Running::begin(&words(&rest, &target));
    let page = running.url.clone();
    assert!(page.starts_with("https://127.0.0.1:"), "{page}");
    let state = format!("{page}api/v1/state");
    let asked = [
        "--cacert",
        text(&cert),
        "--http",
        "1.1",
        "-c",
        "1",
        "-n",
        "5",
        "--allow-invalid",
        "-o",
        "json",
        &state,
    ];
    drop(beside_others);
    let said = loadline(&asked);
    let report: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(report["summary"]["statuses"]["200"], 5, "{}", said.stderr);
    let place = page[8..].trim_end_matches('/');
    for (method, host, status) in [
        ("GET", place, "307"),
        ("POST", place, "400"),
        ("GET", "evil.example", "403"),
    ] {
        let head = format!("{method} / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        let mut plain = TcpStream::connect(place).unwrap();
        plain.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        plain.read_to_string(&mut answer).unwrap();
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status} ")),
            "{head}: {answer}"
        );
        let sentence = "This page is served over HTTPS: open https://";
        assert_eq!(answer.contains(sentence), status != "403", "{answer}");
        assert!(!answer.contains("elapsed_s"), "{answer}");
    }
    running.interrupt();
}

#[test]
fn a_certificate_that_can_not_be_used_is_said_before_anything_is_sent() {
    let folder = tempfile::tempdir().unwrap();
    let [key, cert] = ["key.pem", "cert.pem"].map(|name| folder.path().join(name));
    make_certificate(text(&key), text(&cert));
    for (cert, key, sentence) in [
        ("/nowhere", text(&key), "--web-cert /nowhere can't be read"),
        (text(&key), text(&key), "it holds no certificate in PEM"),
        (text(&cert), text(&cert), "it holds no private key in PEM"),
    ] {
        let words = ["--web=0", "--web-cert", cert, "--web-key", key];
        refused(&words, serve(), sentence);
    }
    refused(
        &["--web=0", "--web-cert", text(&cert)],
        serve(),
        "--web-key",
    );
}

/// Words that make no page, and what is said of them.
fn refused(words: &[&str], server: Server, sentence: &str) {
    let target = url(&server, "");
    let said = loadline(&[words, &["-n", "10", &target]].concat());
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    assert!(said.stderr.contains(sentence), "{}", said.stderr);
    assert_eq!(server.stop().requests, 0);
}

#[test]
fn a_page_that_can_not_be_served_is_said_before_anything_is_sent() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = format!("--web={}", taken.local_addr().unwrap());
    refused(
        &[&place],
        serve(),
        "another program listens there; give another port",
    );
    refused(
        &["--web=here"],
        serve(),
        "give a port such as 5623, or ADDRESS:PORT",
    );
    let missing = ["--web-user", "anna", "--web-password-file", "/nowhere"];
    let words = [&["--web=0"], &missing[..]].concat();
    refused(
        &words,
        serve(),
        "--web-password-file /nowhere can't be read",
    );
    refused(&["--web-user", "anna"], serve(), "--web");
}

#[test]
fn a_page_is_watched_and_the_run_is_steered_in_a_browser() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("a.run");
    let (target, other) = (url(&server, "delay=2ms"), url(&server, "delay=1ms"));
    let _beside_others = beside_others();
    let rest = ["-r", "200", "-d", "1h", "--save", text(&saved), &other];
    let running = Running::begin(&words(&rest, &target));
    let (_, page) = running.request("GET", "/", "", "");
    assert!(page.len() < MOST_PAGE_BYTES, "{}", page.len());
    let Some(mut tab) = Tab::open(&running.url) else {
        running.command("abort", "");
        running.end();
        return;
    };
    steer(&mut tab);
    tab.await_that("document.querySelector('.phase')?.textContent.startsWith('Ended')");
    // What was said of the run as it went on is true no more.
    tab.await_that(
        "!(document.querySelector('.controls')?.textContent ?? '').includes('The run stops')",
    );
    assert_eq!(tab.errors, Vec::<String>::new());
    let (code, said) = running.end();
    assert_eq!(code, Some(130), "{said}");
    assert!(Path::new(&saved).exists());
}

#[test]
fn other_tools_have_the_page_and_only_end_what_they_can_only_end() {
    let server = serve();
    let target = url(&server, "delay=2ms");
    for tool in [
        &["wrk", "-t1", "-c2", "-d1h"][..],
        &["ab", "-q", "-c", "2", "-t", "3600", "-n", "100000000"],
        &["oha", "--no-tui", "-c", "2", "-z", "1h"],
    ] {
        let _beside_others = beside_others();
        for order in [&[tool[0], "--web=0"], &["--web=0", tool[0]]] {
            let words = [&order[..], &tool[1..], &[&target]].concat();
            let running = Running::of(command(&words), "The live page is at ");
            let state = running.await_that(|state| state["figures"]["answered"].as_u64() > Some(5));
            let load = &state["load"];
            assert_eq!(
                (&load["can_pause"], &load["levels"]),
                (&json!(false), &json!([]))
            );
            let (status, refused) = running.request("POST", "/api/v1/pause", "", "");
            assert_eq!(status, 422, "{refused}");
            assert!(refused.contains("can only be stopped"), "{refused}");
            running.command("stop", "");
            // It ends, as it does when it is interrupted.
            running.end();
        }
    }
}

/// The number before these words in a report; 0 if they are not there.
fn number_before(report: &str, words: &str) -> u64 {
    let before = report.split(words).next().filter(|rest| *rest != report);
    let number = before.and_then(|rest| rest.split_whitespace().last());
    number.map_or(0, |number| number.parse().unwrap())
}

/// The sum of the numbers on a line of a report; 0 if it is not there.
fn sum_of_line(report: &str, begin: &str) -> u64 {
    let line = report.lines().find_map(|line| line.strip_prefix(begin));
    let words = line.unwrap_or_default().split([' ', ',', ':']);
    words.filter_map(|word| word.parse::<u64>().ok()).sum()
}

/// A load of wrk or wrk2, and what every n-th response of its server is.
#[derive(Clone, Debug)]
struct WrkLoad {
    /// The rate of wrk2; wrk has none.
    rate: Option<u64>,
    threads: u64,
    connections: u64,
    every: u64,
    odd: &'static str,
}

fn any_wrk_load() -> impl Strategy<Value = WrkLoad> {
    let odd = prop_oneof![
        Just("status=503"),
        Just("status=404"),
        Just("fault=close-in-body")
    ];
    let rate = proptest::option::of(300..1_200_u64);
    let drawn = (rate, 1..3_u64, 0..5_u64, 3..12_u64, odd);
    drawn.prop_map(|(rate, threads, more, every, odd)| WrkLoad {
        rate,
        threads,
        connections: threads + more,
        every,
        odd,
    })
}

impl WrkLoad {
    /// The words for this load, which lasts for two seconds.
    fn words(&self, server: &Server) -> Vec<String> {
        let tool = if self.rate.is_some() { "wrk2" } else { "wrk" };
        let WrkLoad {
            threads,
            connections,
            every,
            odd,
            ..
        } = self;
        let mut words: Vec<String> = ["--web=0", tool, "-d2"].map(str::to_owned).into();
        words.extend([format!("-t{threads}"), format!("-c{connections}")]);
        words.extend(self.rate.map(|rate| format!("-R{rate}")));
        words.push(url(server, &format!("delay=1ms&{odd}&every={every}")));
        words
    }

    /// Compares the counts of wrk's report, our own, and those of the server.
    fn assert_agreed(&self, report: &str, figures: &Value, received: u64) {
        let of = |name: &str| figures[name].as_u64().unwrap();
        assert!(of("answered") > 100, "{report}");
        let answered = number_before(report, " requests in ");
        assert_eq!(answered, of("answered"), "{report}");
        let failed = sum_of_line(report, "  Socket errors");
        assert_eq!(failed, of("failed"), "{report}");
        // Those in flight at the end, one of each connection, are in no count of wrk's. They need
        // not be the last that the server received.
        let in_flight = received.checked_sub(answered + failed).expect(report);
        assert!(in_flight <= self.connections, "{received} {report}");
        let odd = received / self.every;
        let rejected = sum_of_line(report, "  Non-2xx or 3xx");
        let told = odd.saturating_sub(in_flight)..=odd;
        assert!(told.contains(&(rejected + failed)), "{received} {report}");
        assert_eq!(rejected > 0, self.odd.starts_with("status"), "{report}");
    }
}

proptest! {
    #![proptest_config(few(4))]

    #[test]
    fn counts_in_wrks_words_and_on_its_page_agree_to_the_last_request(load in any_wrk_load()) {
        let server = serve();
        let words = load.words(&server);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let _beside_others = beside_others();
        let mut running = Running::of(command(&words), "The live page is at ");
        let mut stdout = running.child.stdout.take().unwrap();
        let last = running.events(None).last().expect("an event");
        assert_eq!(last.name, "over");
        let mut report = String::new();
        stdout.read_to_string(&mut report).unwrap();
        let (code, said) = running.end();
        assert_eq!(code, Some(0), "{said}");
        let figures: Value = serde_json::from_str(&last.data).unwrap();
        load.assert_agreed(&report, &figures["figures"], server.stop().requests);
    }
}

#[test]
fn the_rate_of_a_load_of_wrk_that_is_stopped_has_the_time_of_its_last_responses() {
    let server = serve();
    let target = url(&server, "delay=1s");
    let _beside_others = beside_others();
    let words = ["--web=0", "wrk", "-t1", "-c20", "-d60s", &target];
    let mut running = Running::of(command(&words), "The live page is at ");
    let mut stdout = running.child.stdout.take().unwrap();
    running.await_that(|state| state["figures"]["answered"].as_u64() >= Some(40));
    running.command("stop", "");
    let mut report = String::new();
    stdout.read_to_string(&mut report).unwrap();
    let (code, said) = running.end();
    assert_eq!(code, Some(0), "{said}");
    // Each of twenty connections has a response a second, also those that came after the stop.
    let rate = report.lines().find_map(|line| {
        let rate = line.strip_prefix("Requests/sec:")?;
        rate.trim().parse::<f64>().ok()
    });
    assert!(rate.expect("a rate") <= 20.0, "{report}");
    assert!(number_before(&report, " requests in ") >= 60, "{report}");
}

#[cfg(feature = "k6")]
#[test]
fn a_test_of_k6_is_paused_scaled_and_stopped_as_by_its_rest_api() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve();
    let script = format!(
        "import http from 'k6/http';
         export const options = {{ scenarios: {{ own: {{
           executor: 'externally-controlled', vus: 2, maxVUs: 10, duration: '1h' }} }} }};
         export default function () {{ http.get('{}'); }}",
        url(&server, "delay=5ms"),
    );
    std::fs::write(folder.path().join("own.js"), script).unwrap();
    let _beside_others = beside_others();
    let mut k6 = command(&["--web=0", "k6", "run", "-q", "own.js"]);
    k6.current_dir(folder.path());
    let running = Running::of(k6, "The live page is at ");
    let state = running.await_that(|state| state["figures"]["answered"].as_u64() > Some(5));
    assert_eq!(state["load"]["can_pause"], true);
    assert_eq!(state["load"]["levels"], json!(["users"]));
    let told = running.command("level", r#"{"users": 5}"#);
    assert_eq!(told["message"], "The load is 5 users.");
    let (status, refused) = running.request("POST", "/api/v1/level", "", r#"{"users": 50}"#);
    assert_eq!(status, 422, "{refused}");
    running.command("pause", "");
    running.await_that(|state| state["load"]["is_paused"] == true);
    running.command("resume", "");
    running.await_that(|state| state["load"]["is_paused"] == false);
    running.command("stop", "");
    let (code, said) = running.end();
    assert_eq!(code, Some(103), "{said}");
    assert!(said.contains("test run stopped from REST API"), "{said}");
}

#[cfg(feature = "k6")]
#[test]
fn thresholds_and_checks_of_k6_are_on_the_page_as_they_stand_and_as_they_end() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve();
    let script = format!(
        "import http from 'k6/http'; import {{ check }} from 'k6';
         export const options = {{ vus: 1, duration: '1h', thresholds: {{
           http_req_duration: ['p(95)<0.001', 'max<60000'] }} }};
         export default function () {{
           const answer = http.get('{}');
           check(answer, {{ 'is there': (one) => one.status === 200 }});
         }}
         export function teardown() {{ http.get('{}'); }}",
        url(&server, "delay=5ms"),
        url(&server, ""),
    );
    std::fs::write(folder.path().join("own.js"), script).unwrap();
    let _beside_others = beside_others();
    let mut k6 = command(&["--web=0", "k6", "run", "-q", "own.js"]);
    k6.current_dir(folder.path());
    let running = Running::of(k6, "The live page is at ");
    let headline = |page: &Value, name: &str| {
        let mut all = page["headlines"].as_array().into_iter().flatten();
        let found = all.find(|one| one["name"] == name);
        found.map(|one| (one["figure"].clone(), one["tone"].clone()))
    };
    let state = running.await_that(|state| headline(&state["page"], "Thresholds").is_some());
    let page = &state["page"];
    let crossed = Some((json!("1 of 2 crossed"), json!("bad")));
    assert_eq!(headline(page, "Thresholds"), crossed);
    let (checks, tone) = headline(page, "Checks").expect("its checks");
    assert!(checks.as_str().unwrap().ends_with(" passed") && tone == "good");
    let titles = |page: &Value| -> Vec<Value> {
        let tables = page["added"]["tables"].as_array().unwrap();
        tables.iter().map(|table| table["title"].clone()).collect()
    };
    assert_eq!(titles(page), ["Thresholds", "Checks"]);
    let events = running.events(None);
    running.command("stop", "");
    let events: Vec<Event> = events.collect();
    assert_eq!(events.last().unwrap().name, "over");
    let page = page_of(&events);
    assert_eq!(headline(&page, "Thresholds"), crossed);
    assert_eq!(titles(&page), ["Thresholds", "Checks", "Metrics"]);
    assert_eq!(running.end().0, Some(103), "a test that was stopped");
}

#[test]
fn runs_are_started_one_at_a_time_and_compared_afterwards() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve();
    let target = url(&server, "delay=2ms");
    let _beside_others = beside_others();
    let page = Running::start_page(folder.path());
    let state = page.state();
    assert_eq!(
        (&state["phase"], &state["can_start"]),
        (&json!("idle"), &json!(true))
    );
    assert_eq!(page.request("POST", "/api/v1/stop", "", "").0, 409);
    let new = json!({
        "target": target, "rate": "100", "duration": "1h", "checks": ["errors<1%"],
    });
    let composed = page.command("compose", &new.to_string());
    let line = format!("loadline -r 100 -d 1h --check 'errors<1%' --save run-1.run '{target}'");
    assert_eq!(composed["command"], line);
    page.command("start", &new.to_string());
    page.await_that(|state| state["phase"] == "running");
    let (status, refused) = page.request("POST", "/api/v1/start", "", &new.to_string());
    assert_eq!(status, 409, "{refused}");
    assert!(refused.contains("A run is under way: stop it"), "{refused}");
    page.command("level", r#"{"percent": 50}"#);
    page.command("stop", "");
    let state = page.await_that(|state| state["can_start"] == true);
    assert_eq!(
        (&state["phase"], &state["problem"]),
        (&json!("ended"), &Value::Null)
    );
    assert_eq!(page.request("GET", "/report.json", "", "").0, 200);
    assert_eq!(page.request("GET", "/saved.run", "", "").0, 200);
    let (status, csv) = page.request("GET", "/report.csv", "", "");
    assert!(status == 200 && csv.starts_with("time_s,planned,"), "{csv}");
    assert!(
        state["files"].to_string().contains("/report.csv"),
        "{state}"
    );
    let next = json!({ "target": target, "users": "2", "duration": "2s" });
    let state = page.start(&next);
    assert_eq!(
        (&state["phase"], &state["is_over"]),
        (&json!("ended"), &json!(false))
    );
    let (status, runs) = page.request("GET", "/api/v1/runs", "", "");
    let runs: Value = serde_json::from_str(&runs).unwrap();
    assert_eq!((status, runs.as_array().unwrap().len()), (200, 2));
    assert_eq!(runs[0]["name"], "run-2.run");
    assert_eq!(runs[1]["checks"], "passed");
    let (status, report) = page.request("GET", "/runs/run-1.run", "", "");
    assert_eq!(status, 200);
    assert!(report.contains("nonce=") && report.contains("errors\\u003c1%"));
    let query = "/api/v1/compare?base=run-1.run&with=run-2.run";
    let (status, compared) = page.request("GET", query, "", "");
    assert_eq!(status, 422, "{compared}");
    assert!(compared.contains("had different loads"), "{compared}");
    for path in [
        "/runs/run-9.run",
        "/runs/..%2Frun-1.run",
        "/runs/%2Fetc%2Fpasswd",
    ] {
        assert_eq!(page.request("GET", path, "", "").0, 404, "{path}");
    }
    let (code, said) = page.interrupt();
    assert_eq!(code, Some(0), "{said}");
    let told = said.matches("Started from the page: loadline ").count();
    assert!(told == 2 && said.contains(&line), "{said}");
}

#[test]
fn what_can_not_be_started_is_said_in_the_words_of_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("bad.toml"),
        "rate = 'fast'
",
    )
    .unwrap();
    std::fs::write(
        folder.path().join("other.js"),
        "console.log('no script of a load')",
    )
    .unwrap();
    let closed = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let _beside_others = beside_others();
    let page = Running::start_page(folder.path());
    let (_, offer) = page.request("GET", "/api/v1/offer", "", "");
    let offer: Value = serde_json::from_str(&offer).unwrap();
    assert_eq!(
        offer["files"],
        json!([{ "name": "bad.toml", "kind": "plan" }])
    );
    for (new, status, sentence) in [
        (
            json!({ "target": "http://a/", "rate": "fast" }),
            422,
            "fast",
        ),
        (
            json!({ "target": "http://a/", "duration": "-1s" }),
            422,
            "begins with a dash",
        ),
        (
            json!({ "target": "http://a/", "checks": ["p99<soon"] }),
            422,
            "p99<soon",
        ),
        (json!({ "target": "bad.toml" }), 422, "bad.toml"),
        (
            json!({ "target": "gone.toml" }),
            422,
            "There is no file gone.toml",
        ),
        (
            json!({ "target": "http://a/", "save": "../x.run" }),
            422,
            "no name of a saved run",
        ),
        (
            json!({ "target": "http://a/", "log": "x" }),
            400,
            "unknown field",
        ),
        (json!([1]), 400, "The body is no run"),
    ] {
        for path in ["/api/v1/compose", "/api/v1/start"] {
            let (given, body) = page.request("POST", path, "", &new.to_string());
            assert_eq!(given, status, "{new}: {body}");
            assert!(body.contains(sentence), "{new}: {body}");
        }
    }
    let foreign = "Origin: http://evil.example\r\n";
    let new = json!({ "target": "http://a/" }).to_string();
    assert_eq!(page.request("POST", "/api/v1/start", foreign, &new).0, 403);
    assert_eq!(page.request("GET", "/api/v1/start", "", "").0, 405);
    // A run that no server answers ends, and says why.
    let state = page.start(&json!({ "target": format!("http://{closed}/"), "duration": "1s" }));
    assert_eq!(state["phase"], "idle");
    let problem = state["problem"].as_str().unwrap();
    assert!(problem.contains(&closed.to_string()), "{problem}");
    let (code, said) = page.interrupt();
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains("Started"), "{said}");
}

#[cfg(feature = "k6")]
#[test]
fn a_script_of_k6_is_started_from_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve();
    let script = format!(
        "import http from 'k6/http';
         export const options = {{ vus: 1, iterations: 1 }};
         export default function () {{
           if (__ENV.FAILS) throw new Error('not today');
           if (__ITER === 0) console.log('hello from a user');
           http.get('{}');
         }}",
        url(&server, ""),
    );
    std::fs::write(folder.path().join("own.js"), script).unwrap();
    std::fs::write(folder.path().join("broken.js"), "import 'k6/none';").unwrap();
    let idle = "import 'k6'; export default function () {}";
    std::fs::write(folder.path().join("idle.js"), idle).unwrap();
    let _beside_others = beside_others();
    let page = Running::start_page(folder.path());
    let new = json!({ "target": "own.js", "users": "2", "duration": "2s" });
    let composed = page.command("compose", &new.to_string());
    let line = "loadline k6 run --vus 2 --duration 2s --out loadline=run-1.run own.js";
    assert_eq!(composed["command"], line);
    let state = page.start(&new);
    assert_eq!(
        (&state["phase"], &state["problem"]),
        (&json!("ended"), &Value::Null)
    );
    assert!(state["figures"]["answered"].as_u64() > Some(2), "{state}");
    assert!(folder.path().join("run-1.run").exists());
    let log = state["log"].as_array().unwrap();
    let says_hello = |line: &Value| line.as_str().unwrap().contains("hello from a user");
    assert!(log.iter().any(says_hello), "{log:?}");
    assert!(log.len() <= 200);
    let idle = page.start(&json!({ "target": "idle.js" }));
    assert_eq!(idle["phase"], "ended");
    let (_, runs) = page.request("GET", "/api/v1/runs", "", "");
    let runs: Value = serde_json::from_str(&runs).unwrap();
    assert_eq!(runs[0]["unanswered"], "nothing was sent");
    assert_eq!(runs[0]["failed_percent"], Value::Null);
    assert_eq!(runs[1]["unanswered"], Value::Null);
    let state = page.start(&json!({ "target": "broken.js" }));
    // The run before is still shown.
    assert_eq!(state["phase"], "ended");
    assert!(
        state["problem"].as_str().unwrap().contains("k6/none"),
        "{state}"
    );
    assert_eq!(page.interrupt().0, Some(0));
}

#[test]
fn a_page_that_shows_one_run_starts_none() {
    let server = serve();
    let target = url(&server, "");
    let _beside_others = beside_others();
    let running = Running::begin(&words(&["-r", "50", "-d", "1h"], &target));
    for (method, path) in [
        ("POST", "/api/v1/start"),
        ("POST", "/api/v1/compose"),
        ("GET", "/api/v1/offer"),
        ("GET", "/api/v1/runs"),
        ("GET", "/runs/a.run"),
    ] {
        assert_eq!(running.request(method, path, "", "{}").0, 404, "{path}");
    }
    running.await_that(|state| state["phase"] == "running");
    running.command("abort", "");
    assert_eq!(running.end().0, Some(130));
}

#[test]
fn runs_are_started_in_a_browser_and_the_page_is_accessible() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve();
    let target = url(&server, "delay=2ms");
    let _beside_others = beside_others();
    let page = Running::start_page(folder.path());
    let Some(mut tab) = Tab::open(&page.url) else {
        page.interrupt();
        return;
    };
    let fill = |name: &str, value: &str| {
        format!(
            "(() => {{ const field = document.querySelector('[name={name}]'); \
             if (!field) return; \
             field.value = '{value}'; \
             field.dispatchEvent(new Event('input', {{ bubbles: true }})); }})()"
        )
    };
    let press = |name: &str| {
        format!(
            "[...document.querySelectorAll('button')]\
             .find((one) => one.textContent === '{name}').click()"
        )
    };
    tab.await_that("document.querySelector('[name=target]') !== null");
    for number in 1..=2 {
        let refused = "document.querySelector('.start .said')?.textContent.includes('fast')";
        let fields = [fill("target", &target), fill("rate", "fast")];
        fill_until(&mut tab, &fields, refused);
        let composed = "document.querySelector('.start .line')?.textContent.includes('-r 200')";
        let fields = [
            fill("target", &target),
            fill("rate", "200"),
            fill("duration", "3s"),
        ];
        fill_until(&mut tab, &fields, composed);
        tab.value(&press("Start"));
        tab.await_that("document.querySelectorAll('figure.chart canvas').length >= 3");
        assert_accessible(&mut tab, "a run that goes on");
        let rows = "document.querySelectorAll('table.earlier tbody tr').length";
        let listed = format!("{rows} === {number}");
        tab.await_that(&listed);
    }
    tab.value("document.querySelector('[aria-label=\"run-1.run as A\"]').click()");
    tab.value("document.querySelector('[aria-label=\"run-2.run as B\"]').click()");
    tab.await_that(
        "[...document.querySelectorAll('button')]\
         .some((one) => one.textContent === 'Compare A with B' && !one.disabled)",
    );
    tab.value(&press("Compare A with B"));
    tab.await_that("document.querySelector('.told')?.textContent.includes('B / A')");
    drop_onto(&mut tab, "/report.html", "shared.html");
    tab.await_that("document.querySelector('[name=baseline]')?.value === 'shared.html'");
    assert_accessible(&mut tab, "the page that starts runs");
    assert_fits(&mut tab, "the page that starts runs");
    // A browser notes a refused form as an error; there is no other one.
    tab.errors.retain(|error| !error.contains("status of 422"));
    assert_eq!(tab.errors, Vec::<String>::new());
    compare_reports(&page.url);
    assert_eq!(page.interrupt().0, Some(0));
}

/// Fills fields in until the page answers so: a form that is drawn anew meanwhile is empty again.
fn fill_until(tab: &mut Tab, fields: &[String], answered: &str) {
    for _ in 0..120 {
        if tab.value(answered) == json!(true) {
            return;
        }
        for field in fields {
            tab.value(field);
        }
        thread::sleep(Duration::from_secs(1));
    }
    panic!("never true: {answered}");
}

/// Has axe look at the page, in both themes. Where it is not installed, that is left out.
#[allow(
    clippy::print_stderr,
    reason = "a part of a test that is left out says why"
)]
fn assert_accessible(tab: &mut Tab, what: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../web/node_modules");
    let Ok(axe) = std::fs::read_to_string(folder.join("axe-core/axe.min.js")) else {
        eprintln!("Left out: axe-core is not installed (`npm ci` in web/).");
        return;
    };
    tab.value(&format!("{axe}; true"));
    for theme in ["light", "dark"] {
        tab.value(&format!(
            "document.documentElement.dataset.theme = '{theme}'"
        ));
        let found = tab.value(
            "axe.run(document, { resultTypes: ['violations'] }).then((all) => all.violations\
             .filter((one) => ['serious', 'critical'].includes(one.impact))\
             .map((one) => one.id + ': ' + one.nodes.map((node) => node.html).join(' | ')))",
        );
        assert_eq!(found, json!([]), "{what}, {theme}");
    }
}

/// No part of the page is beyond the edge of a phone or of a screen, in both themes, and it prints.
fn assert_fits(tab: &mut Tab, what: &str) {
    for (width, theme) in [
        (360, "light"),
        (360, "dark"),
        (1440, "dark"),
        (1440, "light"),
    ] {
        tab.resize(width);
        tab.value(&format!(
            "document.documentElement.dataset.theme = '{theme}'; \
             new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"
        ));
        let beyond = tab.value(
            "Math.max(0, document.documentElement.scrollWidth \
             - document.documentElement.clientWidth)",
        );
        assert_eq!(beyond, json!(0), "{what}, {width} px, {theme}");
    }
    // `%PDF-` in base64.
    assert!(tab.printed().starts_with("JVBERi"), "{what}");
}

/// Drops what is at this path onto the page, as a file of this name, and waits until it is taken.
fn drop_onto(tab: &mut Tab, path: &str, name: &str) {
    tab.value(&format!(
        "fetch('{path}').then((answer) => answer.blob()).then((blob) => {{ \
         const data = new DataTransfer(); \
         data.items.add(new File([blob], '{name}')); \
         window.dispatchEvent(new DragEvent('drop', {{ dataTransfer: data, cancelable: true }})); \
         return true; }})"
    ));
    tab.await_that(&format!(
        "document.querySelector('.drop [role=status]')?.textContent.includes('{name}') ?? false"
    ));
}

/// Opens the report of one run, and lays that of another one underneath.
fn compare_reports(page: &str) {
    let Some(mut tab) = Tab::open(&format!("{page}runs/run-1.run")) else {
        return;
    };
    tab.await_that("document.querySelectorAll('figure.chart canvas').length >= 3");
    let lines = "[...document.querySelectorAll('figure.chart')]\
                 .filter((one) => one.textContent.includes('baseline: ')).length";
    assert_eq!(tab.value(lines), json!(0));
    drop_onto(&mut tab, "/runs/run-2.run", "other.html");
    tab.await_that(&format!("{lines} > 0"));
    assert_accessible(&mut tab, "a report above another one");
    assert_fits(&mut tab, "a report above another one");
    drop_onto(&mut tab, "/api/v1/openapi.json", "none.json");
    tab.await_that("document.querySelector('.drop .bad') !== null");
    assert_eq!(tab.errors, Vec::<String>::new());
}

/// The most bytes of the page, which is one file.
const MOST_PAGE_BYTES: usize = 160_000;

/// Does what somebody does who watches a run.
fn steer(tab: &mut Tab) {
    let answered = "Number(document.querySelector('[data-figure=answered] dd')?.textContent\
                    .replace(/\\D/g, '') ?? 0)";
    let press = |name: &str| {
        format!(
            "[...document.querySelectorAll('button')]\
             .find((one) => one.textContent === '{name}').click()"
        )
    };
    let says = |text: &str| {
        format!("document.querySelector('[role=status]')?.textContent.includes('{text}') ?? false")
    };
    tab.await_that(&format!("{answered} > 100"));
    let before = tab.value(answered).as_f64().unwrap();
    tab.await_that(&format!("{answered} > {before}"));
    // The charts of the report are drawn, and grow.
    tab.await_that("document.querySelectorAll('figure.chart canvas').length >= 3");
    tab.value(
        "const input = document.querySelector('.controls input'); input.value = '50'; \
         input.dispatchEvent(new Event('input', { bubbles: true }));",
    );
    tab.value(&press("Change"));
    tab.await_that(&says("The load is 50 % of the plan. It holds from "));
    tab.value(&press("Pause"));
    tab.await_that("document.querySelector('.phase').textContent.startsWith('Paused')");
    tab.value(&press("Resume"));
    tab.await_that("document.querySelector('.phase').textContent.startsWith('Running')");
    // A press below a plot chooses the instant that the note is about.
    tab.value(
        "const plot = document.querySelector('#rate .plot > div'); \
         const over = plot.querySelector('.u-over').getBoundingClientRect(); \
         plot.dispatchEvent(new MouseEvent('click', { bubbles: true, \
         clientX: over.left + over.width / 2, clientY: over.bottom + 5 }));",
    );
    tab.await_that(
        "[...document.querySelectorAll('.controls label')]\
         .some((one) => one.textContent.startsWith('Note at '))",
    );
    tab.value(
        "const note = document.querySelector('[name=note]'); note.value = 'deployed'; \
         note.dispatchEvent(new Event('input', { bubbles: true }));",
    );
    tab.value(&press("Write"));
    tab.await_that("document.querySelector('.course')?.textContent.includes('deployed')");
    tab.value("document.querySelector('button.of-name').click()");
    tab.await_that("document.querySelectorAll('#of-name-rate canvas').length === 1");
    tab.value(&press("Close"));
    tab.await_that("document.querySelector('#of-name-rate') === null");
    tab.value(&press("the slowest of the run"));
    tab.await_that("document.querySelectorAll('.slow tbody tr').length > 3");
    tab.value(
        "const check = document.querySelector('[name=check]'); check.value = 'p99<1us'; \
         check.dispatchEvent(new Event('input', { bubbles: true }));",
    );
    tab.value(&press("Add"));
    tab.await_that(
        "document.querySelector('[data-check=\"p99<1us\"]')?.textContent.includes('added at ') \
         ?? false",
    );
    let elsewhere = tab.value(
        "performance.getEntriesByType('resource').map((entry) => entry.name)\
         .filter((name) => !name.startsWith(location.origin))",
    );
    assert_eq!(elsewhere, json!([]));
    tab.value(&press("Stop"));
}
