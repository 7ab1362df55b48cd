//! Ctrl-C, and runs that are killed.

use crate::rig::{Said, assert_balanced, command, count, loadline, serve, serve_with, text, url};
use loadline_testbed::Server;
use serde_json::Value;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Starts a long run and waits until the server has seen something of it.
fn start(server: &Server, flags: &[&str], knobs: &str) -> Child {
    let url = url(server, knobs);
    let words = [
        &["-c", "4", "-d", "60s", "-o", "json"],
        flags,
        &[url.as_str()],
    ]
    .concat();
    let child = command(&words).spawn().expect("the command starts");
    let patience = Instant::now() + Duration::from_secs(20);
    while server.counts().requests < 4 {
        assert!(Instant::now() < patience, "nothing reached the server");
        std::thread::sleep(Duration::from_millis(10));
    }
    child
}

fn signal(child: &Child, name: &str) {
    let status = Command::new("kill")
        .args(["-s", name, &child.id().to_string()])
        .status();
    assert!(status.expect("kill is there").success());
}

fn end(child: Child) -> Said {
    child.wait_with_output().expect("the command ends").into()
}

#[test]
fn the_first_interrupt_ends_the_run_gently_and_reports_it() {
    let server = serve();
    let child = start(&server, &[], "delay=50ms");
    signal(&child, "INT");
    let said = end(child);
    assert_eq!(said.code, Some(130), "{}", said.stderr);
    let report: Value = serde_json::from_str(&said.stdout).expect("the report is printed");
    let summary = &report["summary"];
    assert_balanced(summary);
    assert_eq!(
        count(summary, "in_flight"),
        0,
        "what was in flight has ended"
    );
    assert_eq!(count(summary, "answered"), server.stop().requests);
}

#[test]
fn the_second_interrupt_ends_it_at_once() {
    let server = serve();
    let child = start(&server, &[], "fault=never-answer");
    signal(&child, "INT");
    std::thread::sleep(Duration::from_millis(300));
    signal(&child, "INT");
    let begin = Instant::now();
    let said = end(child);
    assert!(
        begin.elapsed() < Duration::from_secs(10),
        "it waited for answers"
    );
    assert_eq!(said.code, Some(130), "{}", said.stderr);
    let report: Value = serde_json::from_str(&said.stdout).expect("the report is printed");
    assert_balanced(&report["summary"]);
    assert_eq!(count(&report["summary"], "in_flight"), 4);
}

#[test]
fn a_server_that_has_gone_starves_neither_the_intervals_nor_the_user() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("server.sock");
    let server = serve_with(|config| config.unix_socket = Some(path.clone()));
    let words = [
        "-c",
        "4",
        "-t",
        "1",
        "-d",
        "60s",
        "-o",
        "json",
        "--unix-socket",
        text(&path),
    ];
    let child = command(&[&words[..], &["http://localhost/"]].concat())
        .spawn()
        .unwrap();
    std::thread::sleep(Duration::from_millis(800));
    // From now on every dial fails at once, without waiting for anything.
    server.stop();
    std::thread::sleep(Duration::from_millis(1_500));
    signal(&child, "INT");
    let begin = Instant::now();
    let said = end(child);
    assert!(
        begin.elapsed() < Duration::from_secs(10),
        "the interrupt was not heard"
    );
    assert_eq!(said.code, Some(130), "{}", said.stderr);
    let report: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_balanced(&report["summary"]);
    assert!(report["intervals"].as_array().unwrap().len() >= 2);
}

#[test]
fn a_killed_run_leaves_a_file_that_can_be_read() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("killed.run");
    let child = start(&server, &["--save", text(&saved)], "");
    let patience = Instant::now() + Duration::from_secs(20);
    let lines = || {
        std::fs::read_to_string(&saved)
            .unwrap_or_default()
            .lines()
            .count()
    };
    while lines() < 3 {
        assert!(Instant::now() < patience, "no interval was saved");
        std::thread::sleep(Duration::from_millis(50));
    }
    signal(&child, "KILL");
    end(child);
    let said = loadline(&["report", text(&saved), "-o", "json"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let report: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_balanced(&report["summary"]);
    assert!(count(&report["summary"], "answered") > 0);
    assert!(report["intervals"].as_array().unwrap().len() >= 2);
}
