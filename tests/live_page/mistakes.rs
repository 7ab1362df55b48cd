//! What somebody does by mistake, or twice: one sentence or a refusal, and the load goes on.

use super::{Events, Running, memory_bytes, words};
use crate::rig::{assert_balanced, beside_others, count, loadline, serve, text, url};
use crate::schemas::document;
use serde_json::{Value, json};
use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener};
use std::thread;

/// The sentence with which a request is refused, by this status.
fn refused(page: &Running, path: &str, body: &Value, status: u16) -> String {
    let (given, answer) = page.request("POST", &format!("/api/v1/{path}"), "", &body.to_string());
    assert_eq!(given, status, "{path} {body}: {answer}");
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let sentence = answer["message"].as_str().unwrap();
    assert!(
        sentence.ends_with('.') || sentence.ends_with('?'),
        "{sentence}"
    );
    assert_eq!(sentence.lines().count(), 1, "{sentence}");
    sentence.to_owned()
}

#[test]
fn a_mistake_in_a_file_of_the_folder_is_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let _beside_others = beside_others();
    let page = Running::start_page(folder.path());
    for (name, content, sentence) in [
        (
            "word.toml",
            "url = 'http://127.0.0.1:1/'\nraet = 5\n",
            "word.toml, line 2, raet: there is no such key; did you mean rate?",
        ),
        (
            "open.toml",
            "url = 'http",
            "open.toml, line 1: this is not TOML",
        ),
    ] {
        fs::write(folder.path().join(name), content).unwrap();
        for path in ["compose", "start"] {
            let told = refused(&page, path, &json!({ "target": name }), 422);
            assert!(told.starts_with(sentence), "{told}");
        }
    }
    assert_eq!(page.state()["phase"], "idle");
    assert_eq!(page.interrupt().0, Some(0));
}

#[cfg(feature = "k6")]
#[test]
fn a_script_of_k6_that_can_not_be_read_is_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let script = "import http from 'k6/http'; export default function () { http.get('a' }";
    fs::write(folder.path().join("open.js"), script).unwrap();
    let _beside_others = beside_others();
    let page = Running::start_page(folder.path());
    let state = page.start(&json!({ "target": "open.js" }));
    let problem = state["problem"].as_str().unwrap();
    let begin = "could not initialize 'open.js': could not load JS test ";
    assert!(problem.starts_with(begin), "{problem}");
    assert_eq!(problem.lines().count(), 1, "{problem}");
    assert_eq!(page.interrupt().0, Some(0));
}

#[test]
fn a_file_that_is_deleted_before_its_start_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("plan.toml", "url = 'http://127.0.0.1:1/'"),
        ("script.js", "import http from 'k6/http';"),
        ("locustfile.py", "import locust"),
    ];
    for (name, content) in files {
        fs::write(folder.path().join(name), content).unwrap();
    }
    let _beside_others = beside_others();
    let page = Running::start_page(folder.path());
    let (_, offer) = page.request("GET", "/api/v1/offer", "", "");
    let offer: Value = serde_json::from_str(&offer).unwrap();
    assert_eq!(offer["files"].as_array().unwrap().len(), 3, "{offer}");
    for (name, _) in files {
        fs::remove_file(folder.path().join(name)).unwrap();
        let told = refused(&page, "start", &json!({ "target": name }), 422);
        let sentence = format!("There is no file {name} in ");
        assert!(told.starts_with(&sentence), "{told}");
    }
    assert_eq!(page.state()["can_start"], true);
    assert_eq!(page.interrupt().0, Some(0));
}

#[test]
fn of_browsers_that_start_a_run_at_once_one_does() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve();
    let new = json!({ "target": url(&server, ""), "rate": "50", "duration": "1h" }).to_string();
    let _beside_others = beside_others();
    let page = Running::start_page(folder.path());
    let mut answers: Vec<(u16, String)> = thread::scope(|scope| {
        let start = || page.request("POST", "/api/v1/start", "", &new);
        let browsers: Vec<_> = (0..8).map(|_| scope.spawn(start)).collect();
        let answers = browsers.into_iter().map(|one| one.join().unwrap());
        answers.collect()
    });
    answers.sort();
    assert_eq!(answers[0].0, 200, "{answers:?}");
    for (status, answer) in &answers[1..] {
        assert_eq!(*status, 409, "{answer}");
        assert!(answer.contains("A run is under way: stop it"), "{answer}");
    }
    page.await_that(|state| state["figures"]["answered"].as_u64() > Some(10));
    page.command("stop", "");
    page.await_that(|state| state["can_start"] == true);
    let (_, runs) = page.request("GET", "/api/v1/runs", "", "");
    let runs: Value = serde_json::from_str(&runs).unwrap();
    assert_eq!(runs.as_array().unwrap().len(), 1, "{runs}");
    assert_eq!(page.interrupt().0, Some(0));
}

#[test]
fn a_run_that_has_ended_is_not_changed() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve();
    let _beside_others = beside_others();
    let page = Running::start_page(folder.path());
    page.start(&json!({ "target": url(&server, ""), "users": "2", "duration": "1s" }));
    let saved = fs::read(folder.path().join("run-1.run")).unwrap();
    for (command, body) in [
        ("level", json!({ "percent": 50 })),
        ("level", json!({ "users": 3 })),
        ("pause", json!({})),
        ("resume", json!({})),
        ("stop", json!({})),
        ("abort", json!({})),
        ("end", json!({ "when_decided": true })),
        ("check", json!({ "check": "p99<1s" })),
    ] {
        refused(&page, command, &body, 409);
    }
    let state = page.state();
    assert_eq!(
        (&state["phase"], &state["load"]["level"]),
        (&json!("ended"), &json!(null))
    );
    assert!(saved == fs::read(folder.path().join("run-1.run")).unwrap());
    assert_eq!(page.interrupt().0, Some(0));
}

#[test]
fn ctrl_c_ends_the_run_of_the_page_whose_viewers_see_the_end_of_the_stream() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve();
    let new = json!({ "target": url(&server, "delay=1ms"), "rate": "100", "duration": "1h" });
    let beside_others = beside_others();
    let page = Running::start_page(folder.path());
    page.command("start", &new.to_string());
    page.await_that(|state| state["figures"]["answered"].as_u64() > Some(50));
    let viewer: Events = page.events(None);
    let (code, said) = page.interrupt();
    assert_eq!(code, Some(0), "{said}");
    assert!(
        viewer.count() > 0,
        "the state came, and the stream has an end"
    );
    drop(beside_others);
    let saved = folder.path().join("run-1.run");
    let said = loadline(&["report", text(&saved), "--allow-invalid", "-o", "json"]);
    let report = document(&said.stdout);
    assert_eq!(report["summary"]["ended"], "interrupted");
    assert!(count(&report["summary"], "answered") > 50);
    assert_balanced(&report["summary"]);
}

/// Sends a body of 200 MB, with its length or in chunks, for as long as it is taken; returns the
/// status of the answer, if there is one.
fn send_200_mb(running: &Running, path: &str, has_length: bool) -> Option<String> {
    const PIECE: usize = 1_000_000;
    let mut stream = running.connect();
    let framing = match has_length {
        true => format!("Content-Length: {}", 200 * PIECE),
        false => "Transfer-Encoding: chunked".to_owned(),
    };
    let head = format!("POST {path} HTTP/1.1\r\nHost: localhost\r\n{framing}\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let (begin, end) = match has_length {
        true => (String::new(), ""),
        false => (format!("{PIECE:x}\r\n"), "\r\n"),
    };
    let piece = [begin.as_bytes(), &vec![b'x'; PIECE], end.as_bytes()].concat();
    let taken = (0..200).take_while(|_| stream.write_all(&piece).is_ok());
    assert!(taken.count() < 200, "{path} took all of it");
    let _ = stream.shutdown(Shutdown::Write);
    let mut answer = Vec::new();
    // What was not read of the body may have cut the answer off.
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer);
    answer.split(' ').nth(1).map(str::to_owned)
}

#[test]
fn a_body_of_200_mb_is_refused_before_it_is_there_and_the_load_goes_on() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("a.json");
    let (target, to) = (url(&server, ""), format!("json={}", text(&report)));
    let _beside_others = beside_others();
    let running = Running::begin(&words(&["-r", "100", "-d", "1h", "-o", &to], &target));
    let state = running.await_that(|state| state["figures"]["answered"].as_u64() > Some(50));
    let before = memory_bytes(&running.child);
    for path in ["/api/v1/level", "/api/v1/drop?name=a.run"] {
        for has_length in [true, false] {
            let status = send_200_mb(&running, path, has_length);
            assert!(status.is_none_or(|status| status == "413"), "{path}");
        }
    }
    let after = memory_bytes(&running.child);
    assert!(after < before + (64 << 20), "{before}, then {after}");
    let answered = state["figures"]["answered"].as_u64().unwrap();
    running.await_that(|state| state["figures"]["answered"].as_u64() > Some(answered + 50));
    running.command("stop", "");
    let (code, said) = running.end();
    assert_eq!(code, Some(130), "{said}");
    let report = document(&fs::read_to_string(&report).unwrap());
    assert_balanced(&report["summary"]);
    assert_eq!(report["summary"].get("changes"), None);
}

#[test]
fn a_page_that_starts_runs_needs_a_free_port() {
    let folder = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = taken.local_addr().unwrap().to_string();
    let said = loadline(&["web", "--listen", &place, text(folder.path())]);
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    let sentence = "another program listens there; give another port, or 0 for a free one.";
    assert!(said.stderr.trim().ends_with(sentence), "{}", said.stderr);
    assert_eq!(said.stderr.lines().count(), 1, "{}", said.stderr);
}
