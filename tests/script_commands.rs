//! Every command that takes a URL takes a script: its requests are what the server sees, and its
//! figures are judged, searched and compared as those of plain requests.

use crate::rig::{CommandOutput, count, loadline, serve, text, url};
use crate::schemas::document;
use crate::scripts::{Seen, listener};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;

/// Asks for a path that no URL names.
fn write_script(folder: &Path) -> PathBuf {
    let path = folder.join("visit.lua");
    let source = "function request() return wrk.format('GET', '/scripted?delay=2ms') end";
    std::fs::write(&path, source).unwrap();
    path
}

fn good(said: &CommandOutput) -> Value {
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    document(&said.stdout)
}

/// How many requests a server has seen, all of which the script made.
fn scripted(seen: &Receiver<Seen>) -> u64 {
    let of_script = |seen: Seen| assert!(seen.line.contains("/scripted?"), "{}", seen.line);
    seen.try_iter().map(of_script).count() as u64
}

#[test]
fn a_search_for_a_rate_and_for_users_takes_a_script() {
    let folder = tempfile::tempdir().unwrap();
    let script = write_script(folder.path());
    let (target, seen) = listener();
    let rate = ["--min-rate", "20", "--max-rate", "40"];
    let users = ["--users", "--max-users", "2"];
    for (flags, level) in [(&rate[..], 40.0), (&users[..], 2.0)] {
        let quick = [
            "capacity",
            "--script",
            text(&script),
            "-d500ms",
            "--warmup=0s",
            "--trials=3",
            "--precision=10%",
            "--budget=20s",
            "-t1",
            "--no-floor",
            "--no-progress",
            "--allow-invalid",
            "-ojson",
        ];
        let said = loadline(&[&quick[..], flags, &[&target]].concat());
        let report: Value = serde_json::from_str(&said.stdout)
            .unwrap_or_else(|_| panic!("{}{}", said.stdout, said.stderr));
        assert_eq!(report["answer"]["level"], level, "{:#}", report["answer"]);
        assert!(scripted(&seen) > 10);
    }
}

#[test]
fn two_targets_take_turns_with_a_script() {
    let folder = tempfile::tempdir().unwrap();
    let script = write_script(folder.path());
    let [(a, seen_by_a), (b, seen_by_b)] = [listener(), listener()];
    let said = loadline(&[
        "versus",
        &a,
        &b,
        "--script",
        text(&script),
        "-r40",
        "-d500ms",
        "-c8",
        "-t1",
        "--repeat=2",
        "--allow-invalid",
        "--no-progress",
        "-ojson",
    ]);
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    let all: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_eq!(all["runs"].as_array().unwrap().len(), 4);
    assert_eq!((scripted(&seen_by_a), scripted(&seen_by_b)), (40, 40));
}

#[test]
fn repeats_and_checks_take_a_script() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let script = write_script(folder.path());
    let target = url(&server, "");
    let run = |more: &[&str]| {
        let words = ["-n20", "-c2", "-t1", "--script", text(&script)];
        let own = ["--allow-invalid", "--no-progress", "-ojson", &target];
        loadline(&[&words[..], more, &own].concat())
    };
    let all = run(&["--repeat=3"]);
    assert_eq!(all.code, Some(0), "{}{}", all.stdout, all.stderr);
    let all: Value = serde_json::from_str(&all.stdout).unwrap();
    let runs = all["runs"].as_array().expect("runs");
    let answered = runs.iter().map(|run| count(&run["summary"], "answered"));
    assert_eq!(answered.collect::<Vec<_>>(), [20; 3]);
    let kept = good(&run(&["--check", "errors<1%"]));
    assert_eq!(count(&kept["summary"], "answered"), 20);
    let broken = run(&["--check", "p50<1ms"]);
    assert_eq!(broken.code, Some(1), "{}{}", broken.stdout, broken.stderr);
    assert_eq!(server.stop().requests, 100);
}

#[test]
fn a_study_takes_a_script() {
    let (target, seen) = listener();
    let folder = tempfile::tempdir().unwrap();
    write_script(folder.path());
    let study = format!(
        "name = \"scripted\"\npause = \"10ms\"\n[[target]]\nname = \"here\"\nurl = \"{target}\"\n\
         [[runs]]\ntool = \"loadline\"\nscript = \"visit.lua\"\nrequests = 30\nconnections = 2\n\
         threads = 1\n\"--allow-invalid\" = true\n"
    );
    let file = folder.path().join("study.toml");
    std::fs::write(&file, study).unwrap();
    let results = folder.path().join("results");
    let said = loadline(&[
        "study",
        text(&file),
        "--no-progress",
        "--results",
        text(&results),
    ]);
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    let lines: Vec<String> = seen.try_iter().map(|seen| seen.line).collect();
    let of_script = lines.iter().filter(|line| line.contains("/scripted?"));
    // The study asks whether the target serves, too.
    assert_eq!(of_script.count(), 30, "{lines:?}");
}
