//! Two targets that take turns.

use crate::rig::{count, loadline, serve, serve_with, url};
use serde_json::Value;

/// Delays lie so far apart that a machine which takes tens of milliseconds from each run does not
/// hide the difference.
const TURNS: [&str; 12] = [
    "-r",
    "40",
    "-d",
    "1500ms",
    "-c",
    "40",
    "-t",
    "1",
    "--repeat",
    "5",
    "--allow-invalid",
    "--no-progress",
];

#[test]
fn the_slower_of_two_targets_is_told_and_both_have_their_turns() {
    let (fast, slow) = (serve(), serve());
    let (a, b) = (url(&fast, "delay=20ms"), url(&slow, "delay=600ms"));
    let words = [
        &["versus", &a, &b],
        &TURNS[..],
        &["--fail-on", "slower", "-o", "json"],
    ]
    .concat();
    let said = loadline(&words);
    assert_eq!(said.code, Some(1), "{}{}", said.stdout, said.stderr);
    let all: Value = serde_json::from_str(&said.stdout).unwrap();
    let found = &all["comparison"];
    assert_eq!(
        (&found["standing"], &found["paired"]),
        (&"slower".into(), &true.into())
    );
    let mut figures = found["figures"].as_array().unwrap().iter();
    let median = figures.find(|figure| figure["figure"] == "p50");
    let median = median.expect("a median");
    assert_eq!(median["standing"], "slower", "{median:#}");
    assert!(median["ratio"].as_f64().unwrap() > 2.0, "{median:#}");
    let runs = all["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 10);
    for pair in runs.chunks(2) {
        assert_eq!(pair[0]["plan"]["seed"], pair[1]["plan"]["seed"]);
        assert_eq!(pair[0]["role"]["number"], pair[1]["role"]["number"]);
        assert_ne!(pair[0]["role"]["name"], pair[1]["role"]["name"]);
    }
    let planned = |name: &str| -> u64 {
        let runs = runs.iter().filter(|run| run["role"]["name"] == name);
        runs.map(|run| count(&run["summary"], "planned")).sum()
    };
    assert_eq!((planned("A"), planned("B")), (300, 300));
    assert!(fast.stop().requests > 0 && slow.stop().requests > 0);
}

#[test]
fn the_faster_one_is_no_failure_and_a_saved_series_tells_it_again() {
    let (slow, fast) = (serve(), serve());
    let (a, b) = (url(&slow, "delay=600ms"), url(&fast, "delay=20ms"));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("turns.run");
    let save = ["--save", crate::rig::text(&path), "--fail-on", "slower"];
    let said = loadline(&[&["versus", &a, &b], &TURNS[..], &save].concat());
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("B is faster"), "{}", said.stdout);
    let unwrapped = said.stdout.replace('\n', " ");
    assert!(
        unwrapped.contains("alternated in random order"),
        "{}",
        said.stdout
    );
    let again = loadline(&["report", "--allow-invalid", crate::rig::text(&path)]);
    assert_eq!(again.stdout, said.stdout);
}

#[test]
fn a_plan_file_says_what_both_targets_get() {
    let (one, other) = (serve(), serve());
    let (a, b) = (url(&one, "delay=2ms"), url(&other, "delay=2ms"));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("plan.toml");
    let plan = "requests = 10\nconnections = 2\nthreads = 1\nrepeat = 3\nmethod = 'PUT'\n";
    std::fs::write(&path, plan).unwrap();
    let words = ["versus", crate::rig::text(&path), &a, &b];
    let flags = [
        "--repeat",
        "2",
        "--allow-invalid",
        "--no-progress",
        "-o",
        "json",
    ];
    let said = loadline(&[&words[..], &flags].concat());
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    let all: Value = serde_json::from_str(&said.stdout).unwrap();
    let runs = all["runs"].as_array().unwrap();
    let methods = runs
        .iter()
        .map(|run| run["plan"]["requests"][0]["method"].as_str());
    assert_eq!(methods.collect::<Vec<_>>(), [Some("PUT"); 4]);
    assert_eq!((one.stop().requests, other.stop().requests), (20, 20));
}

#[test]
fn the_floor_is_measured_once_with_the_requests_of_a() {
    let (plain, tls) = (serve(), serve_with(|config| config.tls = true));
    let (a, b) = (url(&plain, ""), format!("https://{}/", tls.addr()));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("turns.run");
    let path = crate::rig::text(&path);
    let turns = ["-n", "10", "-c", "2", "-t", "1", "--repeat", "2", "-k"];
    let flags = [
        "--floor",
        "--allow-invalid",
        "--no-progress",
        "--save",
        path,
    ];
    let said = loadline(&[&["versus", &a, &b], &turns[..], &flags[..]].concat());
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    assert!(said.stderr.is_empty(), "{}", said.stderr);
    let told = said.stdout.matches("\nFloor  this machine").count();
    assert_eq!(told, 1, "{}", said.stdout);
    let again = loadline(&["report", "--allow-invalid", path, "-o", "json"]);
    let all: Value = serde_json::from_str(&again.stdout).unwrap();
    let floors = all["runs"].as_array().unwrap().iter();
    let floors: Vec<&Value> = floors.map(|run| &run["environment"]["floor"]).collect();
    assert_eq!(floors.len(), 4);
    assert_eq!(floors[0]["connections"], 2, "{}", floors[0]);
    assert!(floors.iter().all(|floor| *floor == floors[0]), "{floors:?}");
    // No turn is made of what the floor sends.
    assert_eq!((plain.stop().requests, tls.stop().requests), (20, 20));
}

/// No response comes sooner than the target's delay, and none of a healthy target takes minutes.
#[test]
fn checks_are_evaluated_on_all_turns_of_each_target() {
    let (one, other) = (serve(), serve());
    let (a, b) = (url(&one, "delay=1ms"), url(&other, "delay=60ms"));
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("turns.run");
    let path = crate::rig::text(&path);
    let turns = ["-n", "10", "-c", "2", "-t", "1", "--repeat", "3"];
    let flags = ["--allow-invalid", "--no-progress", "--save", path];
    let judged = |checks: &[&str], outputs: &[&str]| {
        let words = [&["versus", &a, &b], &turns[..], &flags, checks, outputs].concat();
        loadline(&words)
    };
    let passed = judged(&["--check", "p90<10m", "--check", "errors<1%"], &[]);
    assert_eq!(passed.code, Some(0), "{}{}", passed.stdout, passed.stderr);
    for line in ["  A  passed  p90<10m    ", "  B  passed  errors<1%  "] {
        assert!(passed.stdout.contains(line), "{}", passed.stdout);
    }
    let failed = judged(&["--check", "min>50ms"], &[]);
    assert_eq!(failed.code, Some(1), "{}{}", failed.stdout, failed.stderr);
    assert!(
        failed.stdout.contains("  B  passed  min>50ms  "),
        "{}",
        failed.stdout
    );
    let again = loadline(&["report", "--allow-invalid", path]);
    assert_eq!((again.code, &again.stdout), (Some(1), &failed.stdout));

    let failed = judged(&["--check", "min>50ms"], &["-o", "json"]);
    let all: Value = serde_json::from_str(&failed.stdout).unwrap();
    let check = |side: &str| &all["comparison"][side]["checks"][0];
    assert_eq!(check("a")["outcome"], "broken", "{}", check("a"));
    assert_eq!(check("b")["outcome"], "kept", "{}", check("b"));
    let samples = |side: &str| check(side)["samples"].as_u64();
    assert_eq!((samples("a"), samples("b")), (Some(30), Some(30)));
}

#[test]
fn a_target_that_is_not_there_leaves_nothing_to_report() {
    let server = serve();
    let (there, gone) = (url(&server, ""), "http://127.0.0.1:1/");
    for targets in [[&there, gone], [gone, &there]] {
        let said = loadline(&[&["versus", targets[0], targets[1]], &TURNS[..]].concat());
        assert_eq!(said.code, Some(2), "{}", said.stderr);
        assert_eq!(said.stdout, "");
        assert!(said.stderr.contains("127.0.0.1:1"), "{}", said.stderr);
    }
}

#[test]
fn what_has_no_meaning_in_turns_is_refused() {
    let refused = |words: &[&str], expected: &str| {
        let said = loadline(&[&["versus"], words].concat());
        assert_eq!(said.code, Some(2), "{}", said.stdout);
        assert!(said.stderr.contains(expected), "{}", said.stderr);
        assert_eq!(said.stderr.lines().count(), 1, "{}", said.stderr);
    };
    let (a, b) = ("http://127.0.0.1:1/", "http://127.0.0.1:2/");
    refused(&[a], "versus takes two URLs, A and B");
    refused(&[a, b, a], "versus takes two URLs, A and B");
    refused(&[a, b, "--repeat", "1"], "give --repeat at least 2");
    refused(&[a, b, "--urls", "x.txt"], "sends the same request to both");
    refused(
        &[a, b, "--log", "x.log"],
        "--log keeps the requests of one run",
    );
    refused(&[a, b], "127.0.0.1:");
}
