//! A run made several times: what is shown and kept of all, and what is left of a series that is
//! cut short.

use crate::rig::{CommandOutput, beside_others, command, count, loadline, serve, text, url};
use loadline_testbed::Server;
use serde_json::Value;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

fn json(said: &CommandOutput) -> Value {
    serde_json::from_str(&said.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", said.stdout, said.stderr))
}

/// Three runs of two seconds, saved in one file.
fn repeated(server: &Server, save: &Path, flags: &[&str]) -> CommandOutput {
    let url = url(server, "delay=2ms");
    let words = [
        "-r",
        "50",
        "-d",
        "2s",
        "-c",
        "20",
        "-t",
        "1",
        "--allow-invalid",
        "--repeat",
        "3",
    ];
    let rest = ["--no-progress", "--save", text(save), &url];
    loadline(&[&words[..], flags, &rest[..]].concat())
}

/// The lines of the first run in a saved file: each run begins with its header.
fn first_run(path: &Path) -> String {
    let all = std::fs::read_to_string(path).unwrap();
    let is_header = |line: &str| line.contains("\"role\"");
    let mut lines = all.split_inclusive('\n');
    let header = lines.next().unwrap();
    let rest = lines.take_while(|line| !is_header(line));
    std::iter::once(header).chain(rest).collect()
}

#[test]
fn repeats_have_a_line_each_a_spread_and_one_file() {
    let (server, dir) = (serve(), tempfile::tempdir().unwrap());
    let path = dir.path().join("three.run");
    let said = repeated(&server, &path, &["--seed", "7"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stdout.contains("Across the runs"), "{}", said.stdout);
    assert!(said.stdout.contains("takes 3 more runs"), "{}", said.stdout);
    let again = loadline(&["report", "--allow-invalid", text(&path)]);
    assert_eq!(again.stdout, said.stdout, "the file tells the same");
    let all = json(&loadline(&[
        "report",
        "--allow-invalid",
        text(&path),
        "-o",
        "json",
    ]));
    assert_eq!(all["spread"]["runs"], 3);
    let runs = all["runs"].as_array().unwrap();
    let seeds: Vec<u64> = runs.iter().map(|run| count(&run["plan"], "seed")).collect();
    assert_eq!(seeds, [7, 8, 9]);
    let sum = |name| -> u64 { runs.iter().map(|run| count(&run["summary"], name)).sum() };
    assert_eq!(sum("planned"), 300);
    // What was in flight when a run was over may not have reached the server.
    let reached = server.stop().requests;
    assert!(
        (sum("answered")..=sum("sent")).contains(&reached),
        "{reached}"
    );
    let first = dir.path().join("first.run");
    std::fs::write(&first, first_run(&path)).unwrap();
    let left = loadline(&["report", "--allow-invalid", text(&first)]);
    assert!(left.stdout.contains("1 run of 3"), "{}", left.stdout);
    let second = json(&loadline(&[
        "report",
        "--allow-invalid",
        text(&path),
        "--run",
        "2",
        "-o",
        "json",
    ]));
    assert_eq!(second["plan"]["seed"], 8);
    assert_eq!(second["summary"], runs[1]["summary"]);
    let fourth = loadline(&["report", "--allow-invalid", text(&path), "--run", "4"]);
    assert_eq!(fourth.code, Some(2));
    assert!(
        fourth.stderr.contains("give --run a number from 1 to 3."),
        "{}",
        fourth.stderr
    );
}

#[test]
fn the_floor_is_measured_once_and_kept_in_every_run() {
    let (server, dir) = (serve(), tempfile::tempdir().unwrap());
    let path = dir.path().join("floor.run");
    let said = repeated(&server, &path, &["--floor"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stderr.is_empty(), "{}", said.stderr);
    let told = said.stdout.matches("\nFloor  this machine").count();
    assert_eq!(told, 1, "{}", said.stdout);
    let again = loadline(&["report", "--allow-invalid", text(&path), "-o", "json"]);
    let all = json(&again);
    let floors = all["runs"].as_array().unwrap().iter();
    let floors: Vec<&Value> = floors.map(|run| &run["environment"]["floor"]).collect();
    assert_eq!(floors.len(), 3);
    assert_eq!(floors[0]["connections"], 20, "{}", floors[0]);
    assert!(floors.iter().all(|floor| *floor == floors[0]), "{floors:?}");
}

#[test]
fn checks_look_at_all_runs_together() {
    let (server, dir) = (serve(), tempfile::tempdir().unwrap());
    let path = dir.path().join("checked.run");
    let passed = repeated(&server, &path, &["--check", "p50<10s", "-o", "json"]);
    assert_eq!(passed.code, Some(0), "{}", passed.stderr);
    let check = &json(&passed)["spread"]["checks"][0];
    assert_eq!(check["outcome"], "kept");
    // Three times a hundred, but for what was in flight when a run was over.
    let samples = count(check, "samples");
    assert!((1..=300).contains(&samples), "{samples}");
    let failed = repeated(&server, &path, &["--check", "p50<1ms", "--quiet"]);
    assert_eq!(failed.code, Some(1), "{}", failed.stderr);
    let again = loadline(&["report", "--allow-invalid", text(&path)]);
    assert_eq!(again.code, Some(1), "{}", again.stdout);
}

/// A long series, as soon as its first run is in the file.
fn begun(server: &Server, path: &Path) -> Child {
    let url = url(server, "delay=1ms");
    let words = [
        "-r",
        "100",
        "-d",
        "1s",
        "-c",
        "4",
        "--allow-invalid",
        "--repeat",
        "60",
        "--no-progress",
    ];
    let child = command(&[&words[..], &["--save", text(path), &url]].concat())
        .spawn()
        .expect("the command starts");
    let patience = Instant::now() + Duration::from_secs(30);
    while !std::fs::read_to_string(path)
        .unwrap_or_default()
        .contains(r#""kind":"summary""#)
    {
        assert!(Instant::now() < patience, "no run was saved");
        std::thread::sleep(Duration::from_millis(50));
    }
    child
}

fn signalled(child: Child, name: &str) -> CommandOutput {
    let id = child.id().to_string();
    let status = Command::new("kill").args(["-s", name, &id]).status();
    assert!(status.expect("kill is there").success());
    child.wait_with_output().expect("the command ends").into()
}

#[test]
fn an_interrupt_ends_the_series_and_reports_what_was_measured() {
    let _beside_others = beside_others();
    let (server, dir) = (serve(), tempfile::tempdir().unwrap());
    let path = dir.path().join("interrupted.run");
    let begin = Instant::now();
    let said = signalled(begun(&server, &path), "INT");
    assert!(begin.elapsed() < Duration::from_secs(40), "it went on");
    assert_eq!(said.code, Some(130), "{}", said.stderr);
    assert!(said.stdout.contains("of 60"), "{}", said.stdout);
    assert!(said.stdout.contains("Across the runs"), "{}", said.stdout);
}

#[test]
fn a_killed_series_is_read_up_to_where_it_breaks_off() {
    let (server, dir) = (serve(), tempfile::tempdir().unwrap());
    let path = dir.path().join("killed.run");
    {
        let _beside_others = beside_others();
        signalled(begun(&server, &path), "KILL");
    }
    let all = json(&loadline(&[
        "report",
        "--allow-invalid",
        text(&path),
        "-o",
        "json",
    ]));
    let runs = all.get("runs").and_then(Value::as_array);
    let first = runs.map_or(&all, |runs| &runs[0]);
    assert_eq!(first["summary"]["complete"], true);
    assert_eq!(count(&first["summary"], "planned"), 100);
}

/// Five runs of forty requests, each answered after this delay. The delays of two sets lie so far
/// apart, and their medians hang on so many requests, that no stall makes them alike.
fn five(server: &Server, save: &Path, delay: &str) {
    let url = url(server, &format!("delay={delay}"));
    let words = ["-n", "40", "-c", "8", "-t", "1", "--repeat", "5"];
    let rest = ["--allow-invalid", "--quiet", "--save", text(save), &url];
    let said = loadline(&[&words[..], &rest[..]].concat());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
}

#[test]
fn sets_of_repeats_are_compared_file_by_file() {
    let (server, dir) = (serve(), tempfile::tempdir().unwrap());
    let (fast, slow) = (dir.path().join("fast.run"), dir.path().join("slow.run"));
    five(&server, &fast, "20ms");
    five(&server, &slow, "300ms");
    let words = ["compare", "--allow-invalid", "--fail-on", "slower"];
    let words = [&words[..], &[text(&fast), text(&slow)]].concat();
    let there = loadline(&[&words[..], &["-o", "json"]].concat());
    assert_eq!(there.code, Some(1), "{}{}", there.stdout, there.stderr);
    let found = json(&there);
    assert_eq!(
        (&found["standing"], &found["paired"]),
        (&"slower".into(), &false.into())
    );
    assert_eq!(
        (&found["a"]["runs"], &found["b"]["runs"]),
        (&5.into(), &5.into())
    );
    let shown = loadline(&words);
    assert!(
        shown.stdout.contains("B is slower (p50"),
        "{}",
        shown.stdout
    );
    assert!(shown.stdout.contains('●'), "{}", shown.stdout);
}

#[test]
fn every_repeat_has_a_line_of_progress_in_a_log() {
    let server = serve();
    let url = url(&server, "");
    let words = [
        "-n",
        "20",
        "-c",
        "1",
        "--repeat",
        "3",
        "--allow-invalid",
        &url,
    ];
    let said = loadline(&words);
    let lines: Vec<&str> = said
        .stderr
        .lines()
        .filter(|line| line.starts_with("run "))
        .collect();
    assert_eq!(lines.len(), 3, "{}", said.stderr);
    assert!(lines[1].starts_with("run 2 of 3: "), "{}", lines[1]);
    assert!(lines[1].ends_with("20 answered, 0 failed"), "{}", lines[1]);
}

#[test]
fn a_warm_up_is_no_part_of_the_time_that_progress_tells() {
    let server = serve();
    let url = url(&server, "");
    let said = loadline(&[
        "-r",
        "50",
        "--warmup",
        "3s",
        "-d",
        "6s",
        "--allow-invalid",
        &url,
    ]);
    let lines = || said.stderr.lines().filter(|line| line.contains(" of 6 s"));
    assert!(lines().count() >= 1, "{}", said.stderr);
    for line in lines() {
        let elapsed: u64 = line.split(' ').next().unwrap().parse().unwrap();
        assert!(elapsed <= 6, "{line}");
    }
}

#[test]
fn a_run_of_few_requests_opens_no_more_connections_than_those() {
    let server = serve();
    let url = url(&server, "");
    let said = loadline(&["-n", "5", "-c", "10", "-t", "1", "-q", "-o", "json", &url]);
    let result = json(&said);
    let opened = count(&result["summary"], "connections");
    assert!((1..=5).contains(&opened), "{opened}");
}

#[test]
fn a_series_without_an_answer_says_why_even_when_quiet() {
    let server = serve();
    let url = url(&server, "fault=never-answer");
    let words = ["-q", "--repeat", "2", "-n", "2", "--timeout", "200ms", &url];
    let said = loadline(&words);
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    let why = "loadline: run 1: not one request was answered: ";
    assert!(said.stderr.contains(why), "{}", said.stderr);
}
