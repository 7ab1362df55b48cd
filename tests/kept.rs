//! Files of the user's: none is written over or taken away unasked, and no report is half a one.

use crate::rig::{CommandOutput, beside_others, loadline, program, serve, text, url};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A saved run of some requests.
fn saved(folder: &Path, name: &str) -> PathBuf {
    let server = serve();
    let path = folder.join(name);
    let url = url(&server, "");
    let said = loadline(&["-n", "50", "-c", "1", "-q", "--save", text(&path), &url]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    path
}

/// Runs the command from a shell that puts `before` before it and `behind` behind its words.
fn from_shell(before: &str, words: &[&str], behind: &str) -> CommandOutput {
    let _beside_others = beside_others();
    let line = format!("{before} \"$0\" \"$@\" {behind}");
    let mut shell = Command::new("sh");
    shell.args(["-c", &line, text(&program())]);
    shell.args(words).stdin(Stdio::null());
    shell.output().expect("a shell").into()
}

#[test]
fn a_comparison_is_not_written_over_what_it_compares() {
    let folder = tempfile::tempdir().unwrap();
    let a = saved(folder.path(), "a.run");
    let (b, second_name) = (folder.path().join("b.run"), folder.path().join("second"));
    fs::copy(&a, &b).unwrap();
    fs::hard_link(&a, &second_name).unwrap();
    let before = fs::read(&a).unwrap();
    let (a, b) = (text(&a), text(&b));
    let out = |format: &str, path: &str| format!("{format}={path}");
    let twice = folder.path().join("twice");
    for words in [
        &["compare", a, b, "-o", &out("json", a)][..],
        &["compare", a, b, "-o", &out("text", text(&second_name))],
        &["compare", "--base", a, "--with", b, "-o", &out("text", b)],
        &[
            "compare",
            a,
            b,
            "-o",
            &out("text", text(&twice)),
            "-o",
            &out("json", text(&twice)),
        ],
    ] {
        let said = loadline(words);
        assert_eq!(said.code, Some(2), "{words:?}: {}", said.stdout);
        assert!(said.stderr.contains("of its own."), "{}", said.stderr);
    }
    assert_eq!(fs::read(a).unwrap(), before);
    assert_eq!(fs::read(b).unwrap(), before);
    assert!(!twice.exists());
}

#[test]
fn plots_are_not_written_over_what_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let run = saved(folder.path(), "a.run");
    let plots = folder.path().join("plots");
    let said = loadline(&["report", text(&run), "--plots", text(&plots)]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let plot = fs::read_dir(&plots).unwrap().next().unwrap().unwrap();
    let under_its_name = plot.path();
    fs::copy(&run, &under_its_name).unwrap();
    let before = fs::read(&run).unwrap();
    let said = loadline(&["report", text(&under_its_name), "--plots", text(&plots)]);
    assert_eq!(said.code, Some(2), "{}", said.stdout);
    assert!(said.stderr.contains("is read"), "{}", said.stderr);
    assert_eq!(fs::read(&under_its_name).unwrap(), before);
}

#[test]
fn a_report_that_does_not_fit_leaves_the_old_one() {
    let folder = tempfile::tempdir().unwrap();
    let run = saved(folder.path(), "a.run");
    let old = folder.path().join("report.json");
    fs::write(&old, "the old one").unwrap();
    let out = format!("json={}", text(&old));
    // Files of one block at most, of 512 or 1024 bytes: the system's signal for it is deadly.
    let said = from_shell("ulimit -f 1; exec", &["report", text(&run), "-o", &out], "");
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    assert!(said.stderr.contains("can't be written"), "{}", said.stderr);
    assert_eq!(fs::read_to_string(&old).unwrap(), "the old one");
    let names = fs::read_dir(folder.path()).unwrap();
    assert_eq!(names.count(), 2, "nothing is left beside it");
}

#[test]
fn everything_that_does_not_fit_is_named() {
    let server = serve();
    let url = url(&server, "");
    for repeats in ["1", "2"] {
        let words = ["-n", "50", "--repeat", repeats, "--save", "/dev/full", &url];
        let said = from_shell("", &words, ">/dev/full");
        assert_eq!(said.code, Some(2), "{}", said.stderr);
        for lost in [
            "the saved run /dev/full can't be written",
            "stdout can't be written",
        ] {
            assert!(said.stderr.contains(lost), "{lost}: {}", said.stderr);
        }
    }
}

#[test]
fn a_run_that_may_not_write_more_is_reported_all_the_same() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let (save, url) = (folder.path().join("a.run"), url(&server, ""));
    let words = ["-n", "50", "--no-progress", "--save", text(&save), &url];
    let said = from_shell("ulimit -f 1; exec", &words, "");
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    assert!(said.stdout.contains("50 answered"), "{}", said.stdout);
    assert!(said.stderr.contains("a.run"), "{}", said.stderr);
}

#[test]
fn what_is_saved_to_stdout_comes_behind_what_is_there() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let (kept, url) = (folder.path().join("kept"), url(&server, ""));
    fs::write(&kept, "precious\n").unwrap();
    for (flag, value) in [
        ("--save", "/dev/stdout"),
        ("-o", "json=/dev/stdout"),
        ("--log", "/dev/fd/1"),
    ] {
        let before = fs::read_to_string(&kept).unwrap();
        let words = ["-n", "5", "-c", "1", "-q", flag, value, &url];
        let said = from_shell("exec", &words, &format!(">>{}", text(&kept)));
        assert_eq!(said.code, Some(0), "{flag}: {}", said.stderr);
        let after = fs::read_to_string(&kept).unwrap();
        assert!(after.starts_with(&before), "{flag}: {after}");
        assert!(after.len() > before.len(), "{flag}: {after}");
    }
}

#[test]
fn a_pipe_takes_all_runs_of_a_series() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let (pipe, url) = (folder.path().join("pipe"), url(&server, ""));
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let path = pipe.clone();
    let reader = std::thread::spawn(move || fs::read_to_string(path).unwrap());
    let words = ["-n", "20", "-c", "1", "-q", "--repeat", "3", "--save"];
    let said = loadline(&[&words[..], &[text(&pipe), &url]].concat());
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let came = reader.join().unwrap();
    let headers = came.lines().filter(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["kind"] == "header"
    });
    assert_eq!(headers.count(), 3, "{came}");
}

#[test]
fn a_pipe_whose_reader_goes_after_the_first_run_ends_the_series() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let (pipe, url) = (folder.path().join("pipe"), url(&server, "delay=1ms"));
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let path = pipe.clone();
    let reader = std::thread::spawn(move || {
        let pipe = fs::File::open(path).unwrap();
        std::thread::sleep(Duration::from_millis(500));
        drop(pipe);
    });
    let words = ["-d", "1s", "-c", "1", "--no-progress", "--allow-invalid"];
    let more = ["--repeat", "3", "--save", text(&pipe), &url];
    let said = loadline(&[&words[..], &more[..]].concat());
    reader.join().unwrap();
    // It went before the end of the first one: that run is reported, and nothing waits for a
    // reader.
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    assert!(said.stderr.contains("pipe"), "{}", said.stderr);
}

#[test]
fn what_a_server_or_a_script_says_moves_no_cursor() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("title.lua");
    fs::write(&script, "error('\\27]0;owned\\7 oh')").unwrap();
    let url = url(&server, "");
    for words in [
        &["-n", "10", "--script", text(&script), &url][..],
        &["wrk", "-d1s", "-c1", "-t1", "-s", text(&script), &url],
    ] {
        let said = loadline(words);
        let obeyed = |char: char| char.is_control() && !matches!(char, '\n' | '\t');
        assert!(!said.stderr.contains(obeyed), "{:?}", said.stderr);
        assert!(said.stderr.contains("\\x1b]0;owned"), "{:?}", said.stderr);
    }
}

#[test]
fn what_is_behind_the_end_of_a_saved_run_is_left_out_and_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = saved(folder.path(), "a.run");
    let whole = fs::read(&path).expect("a saved run");
    fs::write(&path, [&whole[..], b"x"].concat()).expect("room");
    let words = text(&path);
    for line in [vec!["report", words], vec!["compare", words, words]] {
        let said = loadline(&line);
        let sentence = "a.run: 1 byte behind the last whole line can't be read and is left out";
        assert!(said.stderr.contains(sentence), "{line:?}: {}", said.stderr);
    }
    fs::write(&path, &whole).expect("room");
    let said = loadline(&["report", words]);
    assert!(!said.stderr.contains("left out"), "{}", said.stderr);
}
