//! Saved runs held against each other.

use crate::rig::{loadline, serve, text, url};
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
    let there = loadline(&["compare", text(&fast), text(&slow), "--fail-on", "slower"]);
    assert_eq!(there.code, Some(1), "{}{}", there.stdout, there.stderr);
    assert!(there.stdout.contains("B is slower"), "{}", there.stdout);
    let back = loadline(&["compare", text(&slow), text(&fast), "--fail-on", "slower"]);
    assert_eq!(back.code, Some(0), "{}", back.stderr);
    assert!(back.stdout.contains("B is faster"), "{}", back.stdout);
    let report_only = loadline(&["compare", text(&fast), text(&slow)]);
    assert_eq!(report_only.code, Some(0));
}

#[test]
fn sets_of_repeats_are_compared_by_their_runs() {
    let dir = tempfile::tempdir().unwrap();
    let run = |name: &str, delay: &str| saved(dir.path(), name, delay, "50");
    let base = [run("a1", "5ms"), run("a2", "5ms"), run("a3", "5ms")];
    let with = [run("b1", "40ms"), run("b2", "40ms"), run("b3", "40ms")];
    let mut words = vec!["compare", "--base"];
    words.extend(base.iter().map(|path| text(path)));
    words.push("--with");
    words.extend(with.iter().map(|path| text(path)));
    let said = loadline(&words);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stdout.contains("3 runs of GET"), "{}", said.stdout);
    assert!(said.stdout.contains("p50"), "{}", said.stdout);
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
