use crate::rig::{Said, beside_others, command, loadline, serve, serve_with, text, url};
use loadline_record::RunFile;
use loadline_testbed::{Limit, Server};
use serde_json::Value;
use std::process::Command;
use std::time::{Duration, Instant};

/// A server that carries this rate and no more.
fn limited(rate_per_s: f64) -> Server {
    let counters = 2;
    serve_with(|config| {
        config.limit = Some(Limit {
            rate_per_s,
            counters,
        });
    })
}

/// Flags of a search that takes seconds.
const QUICK: [&str; 12] = [
    "capacity",
    "-d",
    "500ms",
    "--warmup",
    "500ms",
    "--trials",
    "3",
    "--precision",
    "10%",
    "--budget",
    "40s",
    "-t1",
];

fn search(flags: &[&str], url: &str) -> Said {
    loadline(&[&QUICK[..], flags, &["--no-progress", url]].concat())
}

fn json(said: &Said) -> Value {
    serde_json::from_str(&said.stdout).unwrap_or_else(|_| panic!("{}{}", said.stdout, said.stderr))
}

fn level(report: &Value) -> f64 {
    report["answer"]["level"]
        .as_f64()
        .unwrap_or_else(|| panic!("{:#}", report["answer"]))
}

#[test]
fn the_load_line_of_a_limited_server_is_found_and_all_of_it_kept() {
    let server = limited(400.0);
    let dir = tempfile::tempdir().unwrap();
    let saved = dir.path().join("search.run");
    let flags = ["--check", "p99<200ms", "-o", "json", "--save", text(&saved)];
    let said = search(&flags, &url(&server, ""));
    let report = json(&said);
    assert_eq!(said.code, Some(0), "{:#} {}", report["answer"], said.stderr);
    // Beside other tests on the same cores the server may carry less; it never carries more, but
    // for what half a second of trial lets pass.
    let found = level(&report);
    assert!((200.0..=480.0).contains(&found), "{found}");
    let trials = report["trials"].as_array().unwrap();
    let broken = trials.iter().any(|trial| trial["held"] == false);
    assert!(broken && trials[0]["purpose"] == "warm-up", "{trials:#?}");
    let parts: Vec<&str> = report["ladder"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rung| rung["part"].as_str().unwrap())
        .collect();
    assert_eq!(
        parts,
        ["idle", "10 %", "50 %", "90 %", "110 %", "back at 90 %"]
    );
    assert!(report["recovery"].is_object(), "{:#}", report["recovery"]);
    assert!(report["floor"]["p50_ns"].as_u64().unwrap() > 0);
    // Up and back down again is one run, so there is one fewer than there are trials.
    let runs = RunFile::read_all(&saved).unwrap();
    assert_eq!(runs.len() + 1, trials.len());
    let role = runs[1].header().role.clone().unwrap();
    assert_eq!((role.number, role.name.as_deref()), (2, Some("search")));
    assert!(runs[0].header().environment.floor.is_some());
}

#[test]
fn users_are_searched_in_a_closed_loop() {
    let server = limited(400.0);
    // Two are served at a time, in 5 ms each: from 11 users on a response takes longer than 25 ms.
    let flags = [
        "--users",
        "--max-users",
        "200",
        "--check",
        "p50<25ms",
        "--no-floor",
        "-o",
        "json",
    ];
    let said = search(&flags, &url(&server, ""));
    let report = json(&said);
    assert_eq!(said.code, Some(0), "{:#} {}", report["answer"], said.stderr);
    let users = level(&report);
    assert!((3.0..=11.0).contains(&users), "{users}");
    assert_eq!(report["searched"], "users");
    assert!(report["floor"].is_null());
}

#[test]
fn a_server_that_carries_all_that_is_tried_has_no_load_line_yet() {
    let server = serve();
    let flags = ["--max-rate", "200", "--check", "errors<1%", "--no-floor"];
    let said = search(&flags, &url(&server, ""));
    assert_eq!(said.code, Some(2), "{}{}", said.stdout, said.stderr);
    let line = "load line: at least 200 req/s, the highest that was tried; raise --max-rate";
    assert!(said.stdout.contains(line), "{}", said.stdout);
}

#[test]
fn a_server_that_keeps_no_check_has_none() {
    let server = serve();
    let flags = ["--min-rate", "50", "--check", "p99<1ms", "--no-floor"];
    let said = search(&flags, &url(&server, "delay=20ms"));
    assert_eq!(said.code, Some(1), "{}{}", said.stdout, said.stderr);
    let line = "load line: none; p99<1ms breaks even at 50 req/s, the lowest";
    assert!(said.stdout.contains(line), "{}", said.stdout);
}

#[test]
fn connections_that_run_out_are_no_capacity_of_the_target() {
    let server = serve();
    // Four connections, each 50 ms for an answer, carry 80 a second, whatever the server does.
    let flags = ["-c", "4", "--max-connections", "4", "--no-floor"];
    let said = search(&flags, &url(&server, "delay=50ms"));
    assert_eq!(said.code, Some(3), "{}{}", said.stdout, said.stderr);
    assert!(
        said.stdout.contains("the generator ends first"),
        "{}",
        said.stdout
    );
    assert!(
        said.stdout.contains("4 connections were in use"),
        "{}",
        said.stdout
    );
}

#[test]
fn an_interrupted_search_tells_what_it_knows() {
    let server = limited(400.0);
    let _beside_others = beside_others();
    let url = url(&server, "");
    let words = [
        "capacity",
        "-d",
        "300ms",
        "--warmup",
        "0s",
        "--no-floor",
        "--no-progress",
        &url,
    ];
    let child = command(&words).spawn().expect("the command starts");
    let patience = Instant::now() + Duration::from_secs(30);
    // The first trials alone are so many.
    while server.counts().requests < 200 {
        assert!(Instant::now() < patience, "nothing reached the server");
        std::thread::sleep(Duration::from_millis(10));
    }
    let id = child.id().to_string();
    let killed = Command::new("kill").args(["-s", "INT", &id]).status();
    assert!(killed.expect("kill is there").success());
    let said: Said = child.wait_with_output().expect("the command ends").into();
    assert_eq!(said.code, Some(130), "{}", said.stderr);
    assert!(said.stdout.contains("load line: "), "{}", said.stdout);
    assert!(
        said.stdout.contains("when it was interrupted."),
        "{}",
        said.stdout
    );
}

#[test]
fn a_target_that_is_not_there_is_told_in_one_sentence() {
    let said = search(&["--no-floor"], "http://127.0.0.1:1/");
    assert_eq!(
        (said.code, said.stdout.as_str()),
        (Some(2), ""),
        "{}",
        said.stderr
    );
    assert_eq!(said.stderr.lines().count(), 1, "{}", said.stderr);
}

#[test]
fn the_floor_of_this_machine_is_kept_with_a_run() {
    let server = serve();
    let flags = [
        "--floor",
        "-n",
        "50",
        "-c",
        "2",
        "-t",
        "1",
        "--no-progress",
        "-o",
        "json",
    ];
    let said = loadline(&[&flags[..], &[&url(&server, "size=10&delay=1ms")]].concat());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let floor = json(&said)["environment"]["floor"].clone();
    assert_eq!(floor["connections"], 2, "{floor}");
    let (min, p50) = (
        floor["min_ns"].as_u64().unwrap(),
        floor["p50_ns"].as_u64().unwrap(),
    );
    // The target's delay, which the query asks for, is none of the floor's.
    assert!(min <= p50 && min < 1_000_000, "{floor}");
    assert!(floor["answers_per_s"].as_f64().unwrap() > 100.0, "{floor}");
}

#[test]
fn the_floor_is_measured_by_the_runs_own_protocol() {
    let server = serve_with(|config| config.tls = true);
    let target = format!("https://{}/", server.addr());
    let flags = [
        "--floor",
        "-k",
        "-n",
        "20",
        "-c",
        "2",
        "-t",
        "1",
        "--no-progress",
    ];
    let said = loadline(&[&flags[..], &[target.as_str()]].concat());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(
        said.stdout.contains("Floor"),
        "{}{}",
        said.stdout,
        said.stderr
    );
    assert!(said.stderr.is_empty(), "{}", said.stderr);
}
