//! Requests that had no response when a run ended, and checks that they or few samples leave open.

use crate::rig::{CommandOutput, count, loadline, serve, serve_with, text, url};
use loadline_testbed::Freeze;
use serde_json::Value;
use std::time::Duration;

/// The run ends at once when its time is over.
const HARD_END: [&str; 2] = ["--drain", "0s"];

/// The summary in this JSON.
fn summary(said: &CommandOutput) -> Value {
    let mut all: Value = serde_json::from_str(&said.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", said.stdout, said.stderr));
    all["summary"].take()
}

fn outcomes(summary: &Value) -> Vec<&str> {
    let checks = summary["checks"].as_array().unwrap().iter();
    checks
        .map(|check| check["outcome"].as_str().unwrap())
        .collect()
}

/// The server stalls from the first second on: of the 1 000 requests of 2 s about half have no
/// response when it ends.
#[test]
fn a_server_that_freezes_for_good_keeps_no_check() {
    let freeze = Freeze {
        length: Duration::from_secs(60),
        every: None,
        first_at: Duration::from_secs(1),
    };
    let server = serve_with(|config| config.freeze = Some(freeze));
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("frozen.run");
    let target = url(&server, "");
    let words = ["-r", "500", "-d", "2s", "--allow-invalid", "--no-progress"];
    let checks = [
        "--check",
        "p99<200ms",
        "--check",
        "errors<1%",
        "--check",
        "p99<5s",
    ];
    let outputs = ["--save", text(&saved), "-o", "json", &target];
    let said = loadline(&[&words[..], &HARD_END, &checks, &outputs].concat());
    assert_eq!(said.code, Some(1), "{}", said.stderr);
    let found = summary(&said);
    assert_eq!(
        outcomes(&found),
        ["broken", "not_known", "not_known"],
        "{}",
        found["checks"]
    );
    let response = &found["response_time_us"];
    let unfinished = count(response, "unfinished");
    assert!((200..=800).contains(&unfinished), "{unfinished}");
    assert!(
        response["at_least"]
            .as_array()
            .unwrap()
            .contains(&"p99".into())
    );
    assert!(
        response["p99"].as_f64().unwrap() > 300_000.0,
        "{}",
        response["p99"]
    );
    let text = loadline(&["report", "--allow-invalid", text(&saved)]);
    assert_eq!(text.code, Some(1), "{}", text.stderr);
    assert!(
        text.stdout.contains("A > is a lower bound."),
        "{}",
        text.stdout
    );
    assert!(
        text.stdout.contains("  undecided  errors<1%"),
        "{}",
        text.stdout
    );
    assert!(
        text.stdout.contains("without a response"),
        "{}",
        text.stdout
    );
}

/// A check that nobody can decide ends the command with 3.
#[test]
fn a_share_that_unfinished_requests_could_change_is_not_known() {
    let server = serve();
    let target = url(&server, "fault=hang-before-head&probability=0.5");
    let words = ["-r", "200", "-d", "1s", "--allow-invalid", "--no-progress"];
    let check = ["--check", "errors<1%", "-o", "json", &target];
    let said = loadline(&[&words[..], &HARD_END, &check].concat());
    assert_eq!(said.code, Some(3), "{}{}", said.stdout, said.stderr);
    let found = summary(&said);
    assert_eq!(outcomes(&found), ["not_known"]);
    assert!(
        found["checks"][0]["why"]
            .as_str()
            .unwrap()
            .contains("without a response")
    );
}

/// Three of a hundred requests take 1.5 s, and the run 2 s.
#[test]
fn a_slow_tail_that_the_end_cuts_off_fails_its_check() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let urls = folder.path().join("urls.txt");
    let line = |n| match n % 33 {
        0 => url(&server, "delay=1500ms"),
        _ => url(&server, ""),
    };
    let lines: Vec<String> = (1..=99).map(line).collect();
    std::fs::write(&urls, lines.join("\n")).unwrap();
    let words = ["-r", "500", "-d", "2s", "--allow-invalid", "--no-progress"];
    let list = ["--urls", text(&urls), "--check", "p99<1s", "-o", "json"];
    let said = loadline(&[&words[..], &HARD_END, &list].concat());
    assert_eq!(said.code, Some(1), "{}{}", said.stdout, said.stderr);
    let p99_us = summary(&said)["response_time_us"]["p99"].as_f64().unwrap();
    assert!((1_300_000.0..=2_100_000.0).contains(&p99_us), "{p99_us}");
}

#[test]
fn few_samples_decide_what_they_can() {
    let server = serve();
    let target = url(&server, "delay=5ms");
    let run = |check: &str| {
        let words = ["-n", "10", "-c", "1", "--allow-invalid", "--no-progress"];
        loadline(&[&words[..], &["--full", "--check", check, &target]].concat())
    };
    let failed = run("p99<1ms");
    assert_eq!(failed.code, Some(1), "{}{}", failed.stdout, failed.stderr);
    assert!(
        failed.stdout.contains("  failed  p99<1ms"),
        "{}",
        failed.stdout
    );
    let open = run("p99<10s");
    assert_eq!(open.code, Some(3), "{}{}", open.stdout, open.stderr);
    assert!(
        open.stdout.contains("  undecided  p99<10s"),
        "{}",
        open.stdout
    );
    assert!(
        open.stdout.contains("the percentile needs 368"),
        "{}",
        open.stdout
    );
    let why = "check undecided: p99<10s (";
    assert!(open.stderr.contains(why), "{}", open.stderr);
    assert!(open.stderr.contains("needs 368"), "{}", open.stderr);
    for decided in ["p50<10s", "p100<10s", "errors<1%", "max<10s"] {
        let kept = run(decided);
        assert_eq!(kept.code, Some(0), "{}{}", kept.stdout, kept.stderr);
    }
}
