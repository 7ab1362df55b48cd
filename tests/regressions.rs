//! A run that is compared with a baseline and kept in a history.

use crate::rig::{CommandOutput, loadline, serve, text, url};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Words of a run of so many seconds with four connections.
fn words<'a>(seconds: &'a str, rest: &[&'a str]) -> Vec<&'a str> {
    let words = [
        "-c",
        "4",
        "-t",
        "1",
        "-d",
        seconds,
        "--allow-invalid",
        "--no-watch",
    ];
    [&words[..], rest].concat()
}

fn place(dir: &Path, name: &str) -> PathBuf {
    dir.join(name)
}

fn ran(rest: &[&str]) -> CommandOutput {
    loadline(&words("3s", rest))
}

#[test]
fn a_run_is_compared_with_a_baseline_as_it_ends() {
    let (server, dir) = (serve(), tempfile::tempdir().unwrap());
    let (fast, slow) = (url(&server, "delay=100ms"), url(&server, "delay=300ms"));
    let saved = place(dir.path(), "base.run");
    let made = ran(&["-q", "--save", text(&saved), &fast]);
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    let before = std::fs::read(&saved).unwrap();
    let base = ["--baseline", text(&saved), "--fail-on", "p50:+50%"];
    let equal = ran(&[&base[..], &[&fast]].concat());
    assert_eq!(equal.code, Some(0), "{}{}", equal.stdout, equal.stderr);
    assert!(
        equal.stdout.contains("Compared with the baseline (A)"),
        "{}",
        equal.stdout
    );
    let visible = "p50:+50%: with a run as long as this one a p50 that is ";
    assert!(equal.stderr.contains(visible), "{}", equal.stderr);
    let slower = ran(&[&base[..], &["-o", "junit", &slow]].concat());
    assert_eq!(slower.code, Some(1), "{}{}", slower.stdout, slower.stderr);
    assert!(
        slower.stdout.contains("name=\"regressions\""),
        "{}",
        slower.stdout
    );
    let said = "which --fail-on p50:+50% does not allow";
    assert!(slower.stderr.contains(said), "{}", slower.stderr);
    let unknown = ran(&[&base[..2], &["-q", "--fail-on", "mean:+10%", &fast]].concat());
    assert_eq!(unknown.code, Some(4), "{}", unknown.stderr);
    assert_eq!(std::fs::read(&saved).unwrap(), before);
}

/// The rule on the rate, of a target that keeps up with the load and of one that does not.
#[test]
fn a_rule_on_the_rate_is_broken_where_a_target_no_longer_keeps_up() {
    let (server, dir) = (serve(), tempfile::tempdir().unwrap());
    let (fast, slow) = (url(&server, "delay=2ms"), url(&server, "delay=100ms"));
    let saved = place(dir.path(), "base.run");
    // Four connections carry 40 requests a second of a target that takes 100 ms for each.
    let load = ["--rate", "80/s", "--max-connections", "4", "-q"];
    let run = |rest: &[&str]| loadline(&words("6s", &[&load[..], rest].concat()));
    let made = run(&["--save", text(&saved), &fast]);
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    let rules = ["--baseline", text(&saved), "--fail-on", "rate:-5%"];
    let equal = run(&[&rules[..], &["-o", "junit", &fast]].concat());
    assert_eq!(equal.code, Some(0), "{}{}", equal.stdout, equal.stderr);
    let case = "name=\"rate:-5%\"/>";
    assert!(equal.stdout.contains(case), "{}", equal.stdout);
    let slower = run(&[&rules[..], &[&slow]].concat());
    assert_eq!(slower.code, Some(1), "{}{}", slower.stdout, slower.stderr);
    let said = "which --fail-on rate:-5% does not allow";
    assert!(slower.stderr.contains(said), "{}", slower.stderr);
    // A rule in the other direction is not broken by less, and one on another figure is judged too.
    let both = ["--fail-on", "rate:+5%", "--fail-on", "rate:-99.9%"];
    let kept = run(&[&rules[..2], &both, &[&slow]].concat());
    assert_eq!(kept.code, Some(0), "{}{}", kept.stdout, kept.stderr);
}

#[test]
fn a_history_that_is_locked_is_refused_before_anything_is_sent() {
    const LOCK: &str = "
import sqlite3, sys
history = sqlite3.connect(sys.argv[1], isolation_level=None)
history.execute('begin exclusive')
print('locked', flush=True)
sys.stdin.read()
";
    let (server, dir) = (serve(), tempfile::tempdir().unwrap());
    let (target, history) = (url(&server, "delay=20ms"), place(dir.path(), "runs.sqlite"));
    let kept = [
        "--history",
        text(&history),
        "--test",
        "shop",
        "--keep",
        "main",
        &target,
    ];
    let made = ran(&[&["-q"][..], &kept].concat());
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    let (sent, before) = (server.counts().requests, std::fs::read(&history).unwrap());
    let mut locker = Command::new("python3")
        .args(["-c", LOCK, text(&history)])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let stdout = locker.stdout.take().unwrap();
    BufReader::new(stdout).read_line(&mut line).unwrap();
    assert_eq!(line, "locked\n");
    let locked = ran(&kept);
    drop(locker.stdin.take());
    locker.wait().unwrap();
    assert_eq!(locked.code, Some(2), "{}{}", locked.stdout, locked.stderr);
    let sentence = "is locked by another program";
    assert!(locked.stderr.contains(sentence), "{}", locked.stderr);
    assert_eq!(server.counts().requests, sent, "nothing was sent");
    assert_eq!(std::fs::read(&history).unwrap(), before);
}

#[test]
fn a_baseline_that_does_not_fit_is_refused_and_nothing_is_sent() {
    let (server, dir) = (serve(), tempfile::tempdir().unwrap());
    let target = url(&server, "delay=20ms");
    let saved = place(dir.path(), "base.run");
    let made = ran(&["-q", "--save", text(&saved), &target]);
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    let (sent, before) = (server.counts().requests, std::fs::read(&saved).unwrap());
    let history = place(dir.path(), "runs.sqlite");
    std::fs::write(place(dir.path(), "notes.sqlite"), "no database").unwrap();
    let notes = place(dir.path(), "notes.sqlite");
    for (rest, sentence) in [
        (
            vec!["--baseline", text(&saved), "-c", "5"],
            "had another load (the number of",
        ),
        (
            vec!["--baseline", text(&saved), "--repeat", "3"],
            "1 of A can't be compared with 3 of B",
        ),
        (vec!["--baseline", "main"], "the baseline main is no file"),
        (
            vec!["--fail-on", "p95:+10%"],
            "--fail-on compares with a baseline",
        ),
        (
            vec!["--baseline", text(&saved), "--fail-on", "p95:10%"],
            "`p95:10%` is no rule",
        ),
        (
            vec!["--baseline", "main", "--history", text(&history)],
            "has no baseline main",
        ),
        (
            vec!["--keep", "../a", "--history", text(&history)],
            "is no name of a baseline",
        ),
        (vec!["--history", text(&notes)], "is no SQLite database"),
    ] {
        let words: Vec<&str> = ["-q", "-d", "1s", "--allow-invalid", &target]
            .into_iter()
            .chain(
                if rest.contains(&"-c") {
                    None
                } else {
                    Some(["-c", "4"])
                }
                .into_iter()
                .flatten(),
            )
            .chain(rest.iter().copied())
            .collect();
        let refused = loadline(&words);
        assert_eq!(refused.code, Some(2), "{rest:?}: {}", refused.stderr);
        assert!(
            refused.stderr.contains(sentence),
            "{rest:?}: {}",
            refused.stderr
        );
        assert_eq!(
            refused.stderr.trim_end().lines().count(),
            1,
            "{}",
            refused.stderr
        );
    }
    assert_eq!(server.counts().requests, sent, "nothing was sent");
    assert_eq!(std::fs::read(&saved).unwrap(), before);
    assert_eq!(std::fs::read(&notes).unwrap(), b"no database");
}

#[test]
fn a_history_keeps_runs_and_baselines_and_shows_them() {
    let (server, dir) = (serve(), tempfile::tempdir().unwrap());
    let (fast, slow) = (url(&server, "delay=100ms"), url(&server, "delay=300ms"));
    for name in ["runs.sqlite", "runs"] {
        let history = place(dir.path(), name);
        let kept = [
            "--history",
            text(&history),
            "--baseline",
            "main",
            "--test",
            "shop",
        ];
        let rules = ["--fail-on", "p50:+50%", "--keep", "main", "--commit"];
        let run =
            |commit: &str, target: &str| ran(&[&kept[..], &rules[..], &[commit, target]].concat());
        let first = run("aaa", &fast);
        assert_eq!(first.code, Some(0), "{}", first.stderr);
        assert!(
            first.stderr.contains("There is no baseline main yet"),
            "{}",
            first.stderr
        );
        let slower = run("bbb", &slow);
        assert_eq!(slower.code, Some(1), "{}", slower.stderr);
        let again = run("ccc", &fast);
        assert_eq!(again.code, Some(0), "it was not kept: {}", again.stderr);
        let other = ran(&[
            "-q",
            "--history",
            text(&history),
            "--keep",
            "main",
            "-r",
            "10",
            &fast,
        ]);
        assert_eq!(other.code, Some(2), "{}", other.stderr);
        assert!(
            other.stderr.contains("is not kept as main"),
            "{}",
            other.stderr
        );
        let shown = loadline(&["history", text(&history), "--figure", "p50"]);
        assert_eq!(shown.code, Some(0), "{}", shown.stderr);
        assert!(shown.stdout.starts_with("shop\n"), "{}", shown.stdout);
        let commits = ["aaa", "bbb", "ccc"].map(|commit| shown.stdout.find(commit).unwrap());
        assert!(commits.is_sorted(), "{}", shown.stdout);
        assert!(
            shown.stdout.contains("3 runs with a p50"),
            "{}",
            shown.stdout
        );
    }
    assert!(place(dir.path(), "runs/main.run").is_file());
    let report = loadline(&[
        "report",
        text(&place(dir.path(), "runs/main.run")),
        "--short",
    ]);
    assert!(report.stdout.starts_with("rate "), "{}", report.stdout);
    let missing = loadline(&["history", text(&place(dir.path(), "none.sqlite"))]);
    assert_eq!(missing.code, Some(2));
    assert!(
        missing.stderr.contains("there is no history"),
        "{}",
        missing.stderr
    );
}

#[test]
fn repeats_are_compared_with_repeats_and_by_name() {
    let (server, dir) = (serve(), tempfile::tempdir().unwrap());
    let list = place(dir.path(), "list.jsonl");
    let lines = |login: &str| {
        let (login, page) = (url(&server, login), url(&server, "delay=50ms"));
        format!(
            "{{\"url\": \"{login}\", \"name\": \"login\"}}\n{{\"url\": \"{page}\", \"name\": \
             \"page\"}}\n"
        )
    };
    let base = place(dir.path(), "base.run");
    // Without a request in flight at the end, whose name nobody knows.
    let each = [
        "-n",
        "80",
        "-c",
        "4",
        "-t",
        "1",
        "--repeat",
        "3",
        "-q",
        "--no-watch",
    ];
    let rest_of_all = ["--allow-invalid", "--urls", text(&list)];
    let run = |rest: &[&str]| loadline(&[&each[..], &rest_of_all, rest].concat());
    std::fs::write(&list, lines("delay=50ms")).unwrap();
    let made = run(&["--save", text(&base)]);
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    std::fs::write(&list, lines("delay=150ms")).unwrap();
    let compared = |rule: &str| run(&["--baseline", text(&base), "--fail-on", rule]);
    let login = compared("p50{name:login}:+100%");
    assert_eq!(login.code, Some(1), "{}", login.stderr);
    let page = compared("p50{name:page}:+100%");
    assert_eq!(page.code, Some(0), "{}", page.stderr);
    let nobody = compared("p50{name:nobody}:+100%");
    assert_eq!(nobody.code, Some(4), "{}", nobody.stderr);
}
