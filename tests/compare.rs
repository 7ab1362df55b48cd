//! Saved runs compared.

use crate::rig::{loadline, serve, text, url};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A saved run of 4 s at 40 requests a second, each answered after this delay.
fn saved(dir: &Path, name: &str, delay: &str, connections: &str) -> PathBuf {
    let server = serve();
    let url = url(&server, &format!("delay={delay}"));
    let path = dir.join(name);
    let words = ["-r", "40", "-d", "4s", "-c", connections, "-t", "1"];
    let rest = ["--quiet", "--allow-invalid", "--save", text(&path), &url];
    let said = loadline(&[&words[..], &rest[..]].concat());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    path
}

#[test]
fn a_slower_server_is_told_from_a_faster_one() {
    let dir = tempfile::tempdir().unwrap();
    let fast = saved(dir.path(), "fast.run", "5ms", "50");
    let slow = saved(dir.path(), "slow.run", "1s", "50");
    let compared = |words: &[&str]| loadline(&[&["compare", "--allow-invalid"], words].concat());
    let there = compared(&[text(&fast), text(&slow), "--fail-on", "slower"]);
    assert_eq!(there.code, Some(1), "{}{}", there.stdout, there.stderr);
    assert!(there.stdout.contains("B is slower"), "{}", there.stdout);
    let back = compared(&[text(&slow), text(&fast), "--fail-on", "slower"]);
    assert_eq!(back.code, Some(0), "{}", back.stderr);
    assert!(back.stdout.contains("B is faster"), "{}", back.stdout);
    let report_only = compared(&[text(&fast), text(&slow)]);
    assert_eq!(report_only.code, Some(0));
}

#[test]
fn a_tolerance_that_is_exceeded_for_certain_fails_and_what_is_not_known_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let fast = saved(dir.path(), "fast.run", "5ms", "50");
    let slow = saved(dir.path(), "slow.run", "1s", "50");
    let compared = |rules: &[&str]| {
        let files = ["compare", "--allow-invalid", text(&fast), text(&slow)];
        loadline(&[&files[..], rules].concat())
    };
    let failed = compared(&["--fail-on", "p95:+50%", "--fail-on", "rate:+900%"]);
    assert_eq!(failed.code, Some(1), "{}{}", failed.stdout, failed.stderr);
    assert!(failed.stdout.contains("  p95 "), "{}", failed.stdout);
    let said = "which --fail-on p95:+50% does not allow";
    assert!(failed.stderr.contains(said), "{}", failed.stderr);
    let kept = compared(&["--fail-on", "p50:-50%", "--fail-on=rate:+900%"]);
    assert_eq!(kept.code, Some(0), "{}{}", kept.stdout, kept.stderr);
    assert!(kept.stdout.contains("p50:-50%"), "{}", kept.stdout);
    let unknown = compared(&["--fail-on", "mean:+10%"]);
    assert_eq!(unknown.code, Some(4), "{}", unknown.stdout);
    assert!(
        unknown
            .stderr
            .contains("Whether mean:+10% holds is not known")
    );
    let broken_too = compared(&["--fail-on", "mean:+10%", "--fail-on", "p50:+50%"]);
    assert_eq!(broken_too.code, Some(1), "{}", broken_too.stderr);
    let chosen = compared(&["--percentiles", "80", "-o", "json", "--fail-on", "p70:+50%"]);
    assert_eq!(chosen.code, Some(1), "{}", chosen.stderr);
    let json: Value = serde_json::from_str(&chosen.stdout).unwrap();
    let figures = json["figures"].as_array().unwrap().iter();
    let names: Vec<_> = figures
        .map(|figure| figure["figure"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["p70", "p80", "rate"]);
    assert_eq!(json["tolerances"][0]["outcome"], "broken");
}

#[test]
fn sets_of_repeats_are_compared_by_their_runs() {
    let dir = tempfile::tempdir().unwrap();
    let run = |name: &str, delay: &str| saved(dir.path(), name, delay, "50");
    let base = [run("a1", "5ms"), run("a2", "5ms"), run("a3", "5ms")];
    let with = [run("b1", "40ms"), run("b2", "40ms"), run("b3", "40ms")];
    let mut words = vec!["compare", "--allow-invalid", "--base"];
    words.extend(base.iter().map(|path| text(path)));
    words.push("--with");
    words.extend(with.iter().map(|path| text(path)));
    let said = loadline(&words);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stdout.contains("3 runs of GET"), "{}", said.stdout);
    assert!(said.stdout.contains("p50"), "{}", said.stdout);
}

/// A saved run of 4 s at 60 requests a second, of these names with their delays in turn.
fn saved_names(dir: &Path, file: &str, names: &[(&str, &str)]) -> PathBuf {
    let server = serve();
    let line = |(name, delay): &(&str, &str)| {
        let url = url(&server, &format!("delay={delay}"));
        serde_json::json!({ "url": url, "name": name }).to_string()
    };
    let lines: Vec<String> = names.iter().map(line).collect();
    let [urls, path] = [format!("{file}.jsonl"), file.to_owned()].map(|name| dir.join(name));
    std::fs::write(&urls, lines.join("\n")).unwrap();
    let words = ["-r", "60", "-d", "4s", "-t", "1", "--urls", text(&urls)];
    let rest = ["--quiet", "--allow-invalid", "--save", text(&path)];
    let said = loadline(&[&words[..], &rest[..]].concat());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    path
}

#[test]
fn names_that_both_runs_have_are_compared() {
    let dir = tempfile::tempdir().unwrap();
    let base = [("login", "5ms"), ("search", "5ms"), ("old", "5ms")];
    let with = [("login", "5ms"), ("search", "100ms"), ("new", "5ms")];
    let base = saved_names(dir.path(), "base.run", &base);
    let with = saved_names(dir.path(), "with.run", &with);
    let words = ["compare", "--allow-invalid", text(&base), text(&with)];
    let said = loadline(&[&words[..], &["-o", "json"]].concat());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let found: Value = serde_json::from_str(&said.stdout).unwrap();
    let names = &found["names"];
    assert_eq!(names["only_a"], serde_json::json!(["old"]));
    assert_eq!(names["only_b"], serde_json::json!(["new"]));
    let search = &names["common"].as_array().unwrap()[1];
    assert_eq!(search["name"], "search", "{names:#}");
    assert_eq!(search["figures"][0]["figure"], "p50");
    assert_eq!(search["figures"][0]["standing"], "slower", "{search:#}");
    let shown = loadline(&words).stdout;
    assert!(shown.contains("Only A has old."), "{shown}");
    let row = shown
        .split("\n  search\n")
        .nth(1)
        .and_then(|rest| rest.lines().next());
    assert!(row.is_some_and(|row| row.ends_with("slower")), "{shown}");
}

#[test]
fn runs_of_different_loads_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let one = saved(dir.path(), "one.run", "1ms", "50");
    let other = saved(dir.path(), "other.run", "1ms", "20");
    let said = loadline(&["compare", text(&one), text(&other)]);
    assert_eq!(said.code, Some(2));
    assert!(said.stdout.is_empty());
    assert!(
        said.stderr.contains("the number of connections"),
        "{}",
        said.stderr
    );
    assert_eq!(said.stderr.lines().count(), 1, "{}", said.stderr);
}

/// Two runs of a second, in which two connections can't send but a fifth of what is planned.
fn starved(dir: &Path, name: &str, flags: &[&str]) -> PathBuf {
    let server = serve();
    let url = url(&server, "delay=10ms");
    let path = dir.join(name);
    let words = [
        "-r",
        "1000",
        "-d",
        "1s",
        "-c",
        "2",
        "--max-connections",
        "2",
        "-t",
        "1",
    ];
    let rest = [
        "--repeat",
        "2",
        "--quiet",
        "--allow-invalid",
        "--save",
        text(&path),
        &url,
    ];
    let said = loadline(&[&words[..], flags, &rest].concat());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    path
}

fn grades(found: &Value, side: &str) -> Vec<String> {
    let files = found[side]["files"].as_array().unwrap().iter();
    files
        .map(|run| run["validity"]["grade"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn doubtful_runs_are_named_and_count_as_far_as_is_asked() {
    let dir = tempfile::tempdir().unwrap();
    let a = starved(dir.path(), "a.run", &[]);
    let b = starved(dir.path(), "b.run", &[]);
    let words = ["compare", text(&a), text(&b)];
    let said = loadline(&[&words[..], &["--allow-invalid"]].concat());
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    let (_, doubts) = said.stdout.split_once("\nValidity\n").expect("doubts");
    // Where all have the same reason, they are not named one by one.
    let names_all = doubts.contains("All 4 runs");
    let names_each = doubts.contains("a.run (A)") && doubts.contains("b.run (B)");
    assert!(names_all || names_each, "{doubts}");
    assert!(!said.stdout.contains("Warnings"), "{}", said.stdout);

    let plain = loadline(&[&words[..], &["-o", "json"]].concat());
    let found: Value = serde_json::from_str(&plain.stdout).unwrap();
    let grades = [grades(&found, "a"), grades(&found, "b")].concat();
    assert_eq!(grades.len(), 4);
    assert!(grades.iter().all(|grade| grade != "valid"), "{grades:?}");
    // A machine with other things to do may make more of it than suspect.
    let invalid = grades.iter().any(|grade| grade == "invalid");
    assert_eq!(plain.code, Some(if invalid { 3 } else { 0 }));
    let run = &found["b"]["files"][1];
    assert_eq!((&run["file"], &run["run"]), (&text(&b).into(), &2.into()));
    let findings = run["validity"]["findings"].as_array().unwrap();
    // A thousand a second of 10 ms need ten connections, and the plan allows two.
    let limit = findings.iter().find(|found| found["kind"] == "plan_limit");
    assert!(limit.is_some(), "{findings:?}");

    let strict = loadline(&[&words[..], &["--strict"]].concat());
    assert_eq!(strict.code, Some(3), "{}{}", strict.stdout, strict.stderr);
    let both = loadline(&[&words[..], &["--strict", "--allow-invalid"]].concat());
    assert_eq!(both.code, Some(0), "{}{}", both.stdout, both.stderr);
}

#[test]
fn runs_that_two_clocks_timed_are_compared_with_a_warning() {
    let dir = tempfile::tempdir().unwrap();
    let a = starved(dir.path(), "a.run", &[]);
    let b = starved(dir.path(), "b.run", &["--clock", "user"]);
    let words = ["compare", "--allow-invalid", text(&a), text(&b)];
    let said = loadline(&words);
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    let (_, warnings) = said.stdout.split_once("\nWarnings\n").expect("warnings");
    assert!(warnings.contains("--clock"), "{warnings}");
    let found = loadline(&[&words[..], &["-o", "json"]].concat());
    let found: Value = serde_json::from_str(&found.stdout).unwrap();
    assert_eq!(found["warnings"][0]["kind"], "clock");
}
