//! What comes out of a run: reports, the saved run, the log, checks and exit codes.

use crate::rig::{count, loadline, program, serve, summary, text, url};
use crate::schemas::document;
use crate::witness::Witness;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

#[test]
fn a_saved_run_is_reported_again_the_same() {
    let server = serve();
    let url = url(&server, "delay=2ms");
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("a.run");
    let run = loadline(&[
        "-r",
        "200",
        "-d",
        "2s",
        "-q",
        "--allow-invalid",
        "--check",
        "errors<100%",
        "--save",
        text(&saved),
        "-o",
        "json",
        &url,
    ]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""));
    let again = loadline(&["report", "--allow-invalid", text(&saved), "-o", "json"]);
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    let (run, again): (Value, Value) = (
        serde_json::from_str(&run.stdout).unwrap(),
        serde_json::from_str(&again.stdout).unwrap(),
    );
    assert_eq!(run, again);
    assert_eq!(count(&run["summary"], "planned"), 400);
    assert_judged(&saved, &run["summary"]);
    let text_again = loadline(&["report", text(&saved)]);
    assert!(
        text_again.stdout.contains("open loop: 200/s"),
        "{}",
        text_again.stdout
    );
    let csv = loadline(&["report", text(&saved), "-o", "csv"]).stdout;
    let rows: Vec<&str> = csv.lines().collect();
    assert!(
        rows[0].starts_with("time_s,planned,sent,answered,failed,in_flight,rate,p50_us"),
        "{csv}"
    );
    assert!(rows.len() >= 3, "{csv}");
}

#[test]
fn a_report_of_a_saved_run_ends_as_the_run_did() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("throws.lua");
    let source = "local n = 0\nfunction request()\n n = n + 1\n \
                  if n > 5 then error('enough') end\n return wrk.format() end";
    std::fs::write(&script, source).unwrap();
    for (name, options, words, code) in [
        ("passes", "", &["--check", "errors<1%"][..], 0),
        ("fails", "", &["--check", "p50<1us"], 1),
        ("is never answered", "fault=close-in-body", &[], 2),
        ("throws", "", &["--script", text(&script)], 2),
    ] {
        let saved = folder.path().join(format!("{name}.run"));
        let url = url(&server, options);
        let own = [
            "-n",
            "40",
            "-c",
            "2",
            "--no-progress",
            "--allow-invalid",
            "--save",
        ];
        let run = loadline(&[&own[..], &[text(&saved)], words, &[&url]].concat());
        assert_eq!(run.code, Some(code), "{name}: {}", run.stderr);
        let report = loadline(&["report", "--allow-invalid", text(&saved)]);
        assert_eq!(report.code, Some(code), "{name}: {}", report.stderr);
    }
    server.stop();
}

/// The last line of the saved run says what the report says: whoever reads the file need not judge.
fn assert_judged(saved: &Path, summary: &Value) {
    let lines = std::fs::read_to_string(saved).unwrap();
    let last: Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    let judgement = &last["judgement"];
    assert_eq!(judgement["validity"], summary["validity"]);
    assert_eq!(judgement["checks"], summary["checks"]);
    assert_eq!(judgement["checks"][0]["outcome"], "kept");
    for times in ["response_time_us", "service_time_us"] {
        let intervals = &summary[times]["confidence_intervals"];
        assert!(intervals["p50"]["upper"].is_number(), "{intervals}");
        assert_eq!(&judgement["confidence_intervals"][times], intervals);
    }
}

#[test]
fn what_is_no_saved_run_is_refused_in_a_sentence_that_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let (saved, other) = (folder.path().join("a.run"), folder.path().join("other"));
    let server = serve();
    let said = loadline(&[
        "-n",
        "5",
        "-c",
        "1",
        "--save",
        text(&saved),
        &url(&server, ""),
    ]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let whole = std::fs::read(&saved).unwrap();
    for (bytes, remedy) in [
        (&b""[..], "Give a file that was written with --save."),
        (b"{}\n", "Give a file that was written with --save."),
        (&whole[..300], "Run it again."),
    ] {
        std::fs::write(&other, bytes).unwrap();
        refused(&["report", text(&other)], remedy);
    }
    let saved_with = "Give a file that was written with --save.";
    refused(
        &["report", text(&folder.path().join("missing"))],
        saved_with,
    );
    refused(&["report", text(folder.path())], saved_with);
    refused(&["report", text(&saved), "--run", "9"], "leave out --run.");
    let nowhere = format!("json={}/nowhere/a.json", folder.path().display());
    refused(&["report", text(&saved), "-o", &nowhere], ".");
}

/// Asserts that this is refused in one line with this end.
fn refused(words: &[&str], end: &str) {
    let said = loadline(words);
    assert_eq!(said.code, Some(2), "{words:?}");
    assert_eq!(said.stderr.lines().count(), 1, "{}", said.stderr);
    assert!(said.stderr.trim_end().ends_with(end), "{}", said.stderr);
}

#[test]
fn the_log_has_one_record_per_request() {
    let server = serve();
    let url = url(&server, "status=404&every=4");
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log.csv");
    summary(&[
        "-c",
        "3",
        "-t",
        "2",
        "-n",
        "10000",
        "--log",
        text(&log),
        &url,
    ]);
    let log = std::fs::read_to_string(&log).unwrap();
    let rows: Vec<Vec<&str>> = log
        .lines()
        .skip(1)
        .map(|row| row.split(',').collect())
        .collect();
    assert_eq!(rows.len(), 10_000);
    let header: Vec<&str> = log.lines().next().unwrap().split(',').collect();
    let column = |name: &str| header.iter().position(|column| *column == name).unwrap();
    let of = |status: &str| {
        rows.iter()
            .filter(|row| row[column("status")] == status)
            .count()
    };
    assert_eq!((of("200"), of("404")), (7_500, 2_500));
    for row in &rows {
        let us = |name: &str| row[column(name)].parse::<f64>().unwrap();
        let parts = us("blocked_us") + us("lateness_us") + us("service_us");
        assert!((us("response_us") - parts).abs() < 0.002, "{row:?}");
    }
}

#[test]
fn checks_decide_the_exit_code() {
    let server = serve();
    let url = url(&server, "delay=5ms");
    for (check, code) in [
        ("p99<10s", 0),
        ("p50<1ms", 1),
        ("errors<0.1%", 0),
        ("rate>=1M", 1),
        ("service.mean>=5ms", 0),
        ("lateness.max<1us", 2),
        ("2xx>99%", 0),
        ("status:503>=1", 1),
        ("5xx<1%", 0),
        ("status:99<1%", 2),
    ] {
        let said = loadline(&[
            "-n",
            "400",
            "-c",
            "4",
            "--no-progress",
            "--check",
            check,
            &url,
        ]);
        assert_eq!(
            said.code,
            Some(code),
            "{check}: {}{}",
            said.stdout,
            said.stderr
        );
        let told = if code == 2 {
            &said.stderr
        } else {
            &said.stdout
        };
        assert!(told.contains(check), "{check}: {told}");
    }
}

#[test]
fn each_exit_code_but_0_has_one_line_that_says_why_even_with_quiet() {
    let server = serve();
    let url = url(&server, "delay=5ms");
    let quiet = |words: &[&str]| {
        let said = loadline(&[&["-q", "-n", "50", "-c", "4"], words, &[&url]].concat());
        assert_eq!(said.stdout, "", "{words:?}");
        (said.code, said.stderr)
    };
    let (code, line) = quiet(&["--check", "p50<1ms", "--check", "errors<1%"]);
    assert_eq!((code, line.lines().count()), (Some(1), 1), "{line}");
    assert!(
        line.starts_with("loadline: check failed: p50<1ms ("),
        "{line}"
    );
    let (code, line) = quiet(&["--abort-on", "p50<1ms"]);
    assert_eq!((code, line.lines().count()), (Some(1), 1), "{line}");
    assert!(
        line.contains("aborted: p50<1ms failed (--abort-on)"),
        "{line}"
    );
    let (code, line) = quiet(&["--repeat", "2", "--check", "p50<1ms"]);
    assert_eq!((code, line.lines().count()), (Some(1), 1), "{line}");
    assert_eq!(quiet(&["--check", "p50<10s"]), (Some(0), String::new()));
}

#[test]
fn a_check_that_fails_ends_the_run_early() {
    let server = serve();
    let url = url(&server, "delay=5ms");
    let words = [
        "-d",
        "60s",
        "-c",
        "4",
        "--no-progress",
        "-o",
        "json",
        "--abort-on",
        "p50<1ms",
        &url,
    ];
    let said = loadline(&words);
    assert_eq!(said.code, Some(1), "{}", said.stderr);
    let report: Value = serde_json::from_str(&said.stdout).unwrap();
    assert!(report["summary"]["duration_s"].as_f64().unwrap() < 30.0);
}

#[test]
fn a_report_goes_to_each_place_that_was_asked_for() {
    let server = serve();
    let url = url(&server, "");
    let folder = tempfile::tempdir().unwrap();
    let (json, csv) = (folder.path().join("a.json"), folder.path().join("a.csv"));
    let (to_json, to_csv) = (
        format!("json={}", text(&json)),
        format!("csv={}", text(&csv)),
    );
    let said = loadline(&[
        "-n",
        "50",
        "--no-progress",
        "-o",
        &to_json,
        "-o",
        &to_csv,
        &url,
    ]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stdout.contains("closed loop"), "{}", said.stdout);
    let report = document(&std::fs::read_to_string(&json).unwrap());
    assert_eq!(count(&report["summary"], "answered"), 50);
    assert!(
        std::fs::read_to_string(&csv)
            .unwrap()
            .starts_with("time_s,")
    );
}

/// A named pipe, and what is read from it until its writers have gone.
fn pipe(path: &Path) -> JoinHandle<String> {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.expect("mkfifo is there").success());
    let path = path.to_owned();
    thread::spawn(move || std::fs::read_to_string(path).unwrap())
}

#[test]
fn a_named_pipe_gets_the_whole_of_each_output() {
    let server = serve();
    let url = url(&server, "");
    let folder = tempfile::tempdir().unwrap();
    for (flag, format, begin, lines) in [
        ("-o", "json=", "{", None),
        ("-o", "csv=", "time_s,", Some(2)),
        ("--save", "", "{", Some(3)),
        ("--log", "", "intended_us,", Some(51)),
    ] {
        let path = folder.path().join(format!("{flag}{format}"));
        let reader = pipe(&path);
        let value = format!("{format}{}", text(&path));
        let said = loadline(&["-n", "50", "-q", flag, &value, &url]);
        assert_eq!(said.code, Some(0), "{flag} {format}: {}", said.stderr);
        let came = reader.join().unwrap();
        assert!(came.starts_with(begin), "{flag} {format}: {came}");
        match lines {
            Some(lines) => assert_eq!(came.lines().count(), lines, "{flag} {format}: {came}"),
            None => assert_eq!(document(&came)["summary"]["answered"], 50),
        }
    }
}

#[test]
fn a_run_prints_what_one_looks_for_first_and_the_rest_where_it_is_asked_for() {
    let server = serve();
    let url = url(&server, "delay=1ms");
    let folder = tempfile::tempdir().unwrap();
    let [saved, file] = ["a.run", "a.txt"].map(|name| folder.path().join(name));
    let words = ["-r", "200", "-d", "2s", "--no-progress", "--allow-invalid"];
    let checks = ["--check", "p99<9s", "--check", "errors<1%"];
    let run = |more: &[&str]| {
        let said = loadline(&[&words[..], &checks, more, &[&url]].concat());
        assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
        said.stdout
    };
    let first = run(&["--save", text(&saved)]);
    assert!(first.lines().count() <= 20, "{first}");
    for begin in [
        "checks     passed: p99<9s (",
        "validity   ",
        "rate       ",
        "response   from the intended start, with 95 % intervals",
        "  p50 ",
        "failures   0 failed",
        "statuses   200: 400",
    ] {
        assert!(first.contains(&format!("\n{begin}")), "{begin}: {first}");
    }
    let last = format!(": loadline report {}\n", text(&saved));
    assert!(first.ends_with(&last), "{first}");
    let report = |more: &[&str]| {
        let words = ["report", "--allow-invalid", text(&saved)];
        loadline(&[&words[..], more].concat()).stdout
    };
    assert_eq!(report(&["--full"]), report(&[]));
    assert_eq!(report(&["--short"]).lines().count(), 5);
    let to_file = format!("text={}", text(&file));
    let beside = run(&["-o", &to_file]);
    let in_file = std::fs::read_to_string(&file).unwrap();
    for (whole, full) in [
        (true, report(&[])),
        (true, run(&["--full"])),
        (true, in_file),
        (false, first),
        (false, beside),
    ] {
        for section in [
            "\nResponse time, timed from the ",
            "\nTime spent ",
            "\nValidity: ",
        ] {
            assert_eq!(full.contains(section), whole, "{section}: {full}");
        }
    }
    let both = loadline(&["--short", "--full", &url]);
    assert_eq!(both.code, Some(2), "{}", both.stdout);
}

#[test]
fn why_a_result_is_doubtful_is_one_whole_line_in_a_pipe_and_wrapped_on_a_terminal() {
    let server = serve();
    let url = url(&server, "delay=100ms");
    let words = "-r 200 -d 2s -c 5 -t 1 --max-connections 10 --no-progress --allow-invalid";
    let words: Vec<&str> = words.split(' ').chain([&*url]).collect();
    let piped = loadline(&words).stdout;
    let reason = piped.lines().find(|line| line.starts_with("validity"));
    let reason = reason.unwrap_or_else(|| panic!("{piped}"));
    assert!(reason.len() > 100 && reason.ends_with('.'), "{piped}");
    let line = format!("{} '{}'", text(&program()), words.join("' '"));
    // Gives the command a terminal of its own.
    let said = Command::new("script")
        .args(["-q", "-e", "-c", &line, "/dev/null"])
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .output()
        .expect("script, of bsdutils, is there");
    let shown = String::from_utf8(said.stdout).unwrap().replace('\r', "");
    let widest = shown.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{shown}");
    assert!(!shown.contains('…'), "{shown}");
    let reason = shown.split("\nvalidity   ").nth(1).unwrap_or_default();
    let reason = reason.split("\nrate ").next().unwrap_or_default();
    assert!(
        reason.lines().count() > 1 && reason.ends_with('.'),
        "{shown}"
    );
}

#[test]
fn a_report_that_goes_to_files_alone_names_them_on_a_terminal() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let (saved, json) = (folder.path().join("a.run"), folder.path().join("a.json"));
    let url = url(&server, "");
    let run = loadline(&["-n", "20", "--allow-invalid", "--save", text(&saved), &url]);
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    let to_json = format!("json={}", text(&json));
    let words = ["report", "--allow-invalid", text(&saved), "-o", &to_json];
    let piped = loadline(&words);
    assert_eq!((piped.stdout, piped.stderr), Default::default());
    let line = format!("{} {}", text(&program()), words.join(" "));
    // Gives the command a terminal of its own.
    let said = Command::new("script")
        .args(["-q", "-e", "-c", &line, "/dev/null"])
        .stdin(Stdio::null())
        .output()
        .expect("script, of bsdutils, is there");
    let shown = String::from_utf8(said.stdout).unwrap();
    let written = format!("Written: {}.", json.display());
    assert!(shown.contains(&written), "{shown}");
}

#[test]
fn a_dumb_terminal_gets_no_escapes() {
    let server = serve();
    let url = url(&server, "");
    let line = format!("{} -r 100 -d 1s --allow-invalid {url}", text(&program()));
    for (term, escapes) in [("dumb", false), ("xterm", true)] {
        // Gives the command a terminal of its own.
        let said = Command::new("script")
            .args(["-q", "-e", "-c", &line, "/dev/null"])
            .env("TERM", term)
            .env_remove("NO_COLOR")
            .stdin(Stdio::null())
            .output()
            .expect("script, of bsdutils, is there");
        let shown = String::from_utf8(said.stdout).unwrap();
        assert!(said.status.success(), "{shown}");
        assert!(shown.contains("open loop"), "{shown}");
        assert_eq!(shown.contains('\u{1b}'), escapes, "{term}: {shown}");
    }
}

#[test]
fn a_file_that_cannot_be_written_is_said_before_anything_is_sent() {
    let server = serve();
    let url = url(&server, "");
    for [flag, value] in [
        ["--save", "/nowhere/at/all"],
        ["--log", "/nowhere/at/all"],
        ["-o", "json=/nowhere/at/all"],
    ] {
        let said = loadline(&["-n", "10", flag, value, &url]);
        assert_eq!(said.code, Some(2), "{flag}: {}", said.stderr);
        let named = said.stderr.contains("/nowhere/at/all");
        assert!(named, "{flag}: {}", said.stderr);
        assert_eq!(
            said.stderr.matches("os error").count(),
            1,
            "{}",
            said.stderr
        );
    }
    assert_eq!(server.stop().requests, 0);
}

#[test]
fn a_file_that_is_full_costs_nothing_but_itself() {
    let server = serve();
    let url = url(&server, "");
    for flag in ["--save", "--log"] {
        let words = [
            "-n",
            "50",
            "--no-progress",
            "-o",
            "json",
            flag,
            "/dev/full",
            &url,
        ];
        let said = loadline(&words);
        assert_eq!(said.code, Some(2), "{flag}: {}", said.stderr);
        let report: Value = serde_json::from_str(&said.stdout).expect("the report is printed");
        assert_eq!(count(&report["summary"], "answered"), 50, "{flag}");
        assert!(!said.stderr.is_empty(), "{flag}");
    }
}

#[test]
fn a_run_without_an_answer_is_no_success() {
    let server = serve();
    let url = url(&server, "fault=garbage");
    let said = loadline(&["-n", "10", "-c", "1", "--no-progress", &url]);
    assert_eq!(said.code, Some(2), "{}", said.stdout);
    assert!(said.stdout.contains("10 failed"), "{}", said.stdout);
}

#[test]
fn progress_is_plain_lines_where_there_is_no_terminal() {
    let server = serve();
    let url = url(&server, "");
    let said = loadline(&["-r", "100", "-d", "6s", "--allow-invalid", &url]);
    assert_eq!(said.code, Some(0));
    assert!(
        said.stderr.lines().count() >= 1 && !said.stderr.contains('\u{1b}'),
        "{}",
        said.stderr
    );
    assert!(said.stderr.contains("answered"), "{}", said.stderr);
    assert_eq!(loadline(&["-n", "10", "-q", &url]).stdout, "");
}

#[test]
fn warm_up_is_in_no_figure() {
    let server = serve();
    let url = url(&server, "");
    let summary = summary(&["-r", "500", "-d", "1s", "--warmup", "1s", &url]);
    assert_eq!(count(&summary, "planned"), 500);
    let sent = count(&summary, "sent");
    assert!(sent <= 500);
    let sent_in_all = server.stop().requests;
    // How much of either part stays unsent is a matter of how long this machine stalls at its end.
    assert!(
        (sent + 1..=1000).contains(&sent_in_all),
        "{sent_in_all} of which {sent} count"
    );
}

#[test]
fn the_demo_shows_both_columns() {
    // Where the machine takes time itself, the stall is not the server's alone, and there is no
    // column.
    for _ in 0..5 {
        let witness = Witness::start();
        let said = loadline(&["demo", "-d", "3s", "--stall", "500ms"]);
        let taken = witness.taken();
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        let load = "open loop: 2 000/s";
        assert!(said.stdout.contains(load), "{}", said.stdout);
        if said
            .stdout
            .contains("what a closed-loop tool would have shown")
        {
            return;
        }
        let most = Duration::from_millis(50);
        assert!(taken.longest > most, "{taken:?} {}", said.stdout);
    }
}
