//! The databases of the log and of the report, read by other programs: SQLite's own command, and
//! Python's library.

use crate::rig::{CommandOutput, beside_others, command, loadline, serve, text, url};
use loadline_testbed::Server;
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// What this query finds, one object for each row.
pub(crate) fn rows(database: &Path, query: &str) -> Vec<Value> {
    let said = Command::new("sqlite3")
        .args(["-json", text(database), query])
        .output()
        .expect("sqlite3, of the package sqlite3, is there");
    let found = String::from_utf8(said.stdout).unwrap();
    let why = String::from_utf8_lossy(&said.stderr);
    assert!(said.status.success(), "{query}: {why}");
    match found.is_empty() {
        true => Vec::new(),
        false => serde_json::from_str(&found).unwrap(),
    }
}

/// The one number that this query finds.
pub(crate) fn count(database: &Path, query: &str) -> u64 {
    let found = rows(database, query);
    let number = found[0].as_object().unwrap().values().next().unwrap();
    number
        .as_u64()
        .unwrap_or_else(|| panic!("{query}: {number}"))
}

/// A folder, and a path in it.
fn place(name: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    (folder, path)
}

/// Runs the command with these words and any result.
fn run(words: &[&str]) -> CommandOutput {
    let usual = ["--no-progress", "--allow-invalid"];
    loadline(&[&usual[..], words].concat())
}

#[test]
fn the_log_has_a_row_for_each_request() {
    let server = serve();
    let url = url(&server, "status=404&every=4");
    for ending in ["sqlite", "sqlite3", "db"] {
        let (folder, log) = place(&format!("log.{ending}"));
        let said = run(&["-c", "3", "-n", "10000", "--log", text(&log), &url]);
        assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
        let of = |what: &str| count(&log, &format!("SELECT count(*) AS n FROM log WHERE {what}"));
        assert_eq!((of("status = 200"), of("status = 404")), (7_500, 2_500));
        let parts = "response_ns = blocked_ns + lateness_ns + service_ns AND error IS NULL";
        assert_eq!(of(parts), 10_000);
        assert_eq!(of(&format!("name = '{url}' AND url = '{url}'")), 10_000);
        assert_eq!(of("first_byte_ns > service_ns"), 0);
        assert_eq!(
            rows(&log, "PRAGMA integrity_check")[0]["integrity_check"],
            "ok"
        );
        let files = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(files, 1, "nothing is left beside the log");
    }
}

#[test]
fn failures_are_logged_with_what_is_known_of_them() {
    let server = serve();
    let (_folder, log) = place("log.db");
    let failing = url(&server, "fault=close-in-body&every=5");
    run(&["-c", "1", "-n", "100", "--log", text(&log), &failing]);
    let found = rows(
        &log,
        "SELECT error, count(*) AS n FROM log GROUP BY error ORDER BY n DESC",
    );
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(
        (&found[0]["error"], &found[0]["n"]),
        (&Value::Null, &80.into())
    );
    assert_eq!(
        (&found[1]["error"], &found[1]["n"]),
        (&"read".into(), &20.into())
    );
    let cut = "SELECT count(*) AS n FROM log WHERE error IS NOT NULL AND status IS NULL \
               AND first_byte_ns IS NOT NULL";
    assert_eq!(count(&log, cut), 20);
}

/// A run of the command, which is ended with its test.
struct Running(std::process::Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_run_that_is_killed_keeps_what_came_before_its_last_second() {
    let server = serve();
    let url = url(&server, "");
    let (_folder, log) = place("log.sqlite");
    let _beside_others = beside_others();
    // So slow that a worker would fill no batch of rows while the test lasts.
    let words = ["-r", "20", "-d", "200s", "-q", "--log", text(&log), &url];
    let mut running = Running(command(&words).spawn().expect("the command starts"));
    let patience = Instant::now() + Duration::from_secs(60);
    let known = || match log.metadata() {
        Ok(file) if file.len() > 0 => count(
            &log,
            "SELECT count(*) AS n FROM sqlite_schema WHERE name = 'requests'",
        ),
        _ => 0,
    };
    // Read while the run goes on, as anybody may.
    let mut seen = 0;
    while seen == 0 {
        assert!(Instant::now() < patience, "no row was committed");
        std::thread::sleep(Duration::from_millis(50));
        if known() > 0 {
            seen = count(&log, "SELECT count(*) AS n FROM requests");
        }
    }
    running.0.kill().unwrap();
    running.0.wait().unwrap();
    assert!(count(&log, "SELECT count(*) AS n FROM requests") >= seen);
    assert_eq!(
        rows(&log, "PRAGMA integrity_check")[0]["integrity_check"],
        "ok"
    );
    // What it left beside its file is no hindrance to the next run.
    let said = run(&["-n", "5", "-c", "1", "--log", text(&log), &url]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert_eq!(count(&log, "SELECT count(*) AS n FROM requests"), 5);
}

/// A run of two names with some failures and checks, saved.
fn saved(server: &Server, folder: &Path) -> PathBuf {
    let (list, path) = (folder.join("list"), folder.join("a.run"));
    let (good, bad) = (
        url(server, "a=1"),
        url(server, "fault=close-in-body&every=3"),
    );
    std::fs::write(&list, format!("{good}\n{bad}\n")).unwrap();
    let said = run(&[
        "-c",
        "2",
        "-n",
        "2000",
        "--check",
        "p50<10s",
        "--check",
        "errors<0.1%",
        "--save",
        text(&path),
        "--urls",
        text(&list),
    ]);
    assert_eq!(said.code, Some(1), "{}", said.stderr);
    path
}

#[test]
fn the_report_says_what_the_json_of_the_same_run_says() {
    let server = serve();
    let (folder, database) = place("report.db");
    let run = saved(&server, folder.path());
    let to = format!("sqlite={}", text(&database));
    let said = loadline(&["report", text(&run), "-o", "json", "-o", &to]);
    let json: Value = serde_json::from_str(&said.stdout).expect("the report is JSON");
    let summary = &json["summary"];
    let all = &rows(&database, "SELECT * FROM runs")[0];
    for name in [
        "planned",
        "sent",
        "answered",
        "failed",
        "bytes_in",
        "reconnects",
        "ended",
    ] {
        assert_eq!(all[name], summary[name], "{name}");
    }
    assert_eq!(all["validity"], summary["validity"]["grade"]);
    assert_eq!(all["started_at"], json["started_at"]);
    assert_eq!(
        ns(&summary["response_time_us"]["p50"]),
        all["response_p50_ns"].as_u64()
    );
    assert_eq!(
        ns(&summary["service_time_us"]["max"]),
        all["service_max_ns"].as_u64()
    );
    assert_eq!(all["response_p99_9_ns"], Value::Null, "2 000 are too few");
    assert_same_counts(&database, &json);
    assert_same_checks(&database, summary);
}

/// Microseconds of the JSON as nanoseconds.
fn ns(us: &Value) -> Option<u64> {
    us.as_f64().map(|us| (us * 1e3).round() as u64)
}

fn assert_same_counts(database: &Path, json: &Value) {
    let summary = &json["summary"];
    let names = rows(database, "SELECT * FROM names ORDER BY rowid");
    let told = summary["names"].as_array().unwrap();
    assert_eq!((names.len(), told.len()), (2, 2));
    for (row, name) in names.iter().zip(told) {
        assert_eq!(row["name"], name["name"]);
        assert_eq!(
            (&row["answered"], &row["failed"]),
            (&name["answered"], &name["failed"])
        );
        assert_eq!(
            row["response_p95_ns"].as_u64(),
            ns(&name["response_time_us"]["p95"])
        );
    }
    let errors = rows(database, "SELECT * FROM errors");
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0]["count"], summary["errors"]["read"]["count"]);
    assert_eq!(errors[0]["example"], summary["errors"]["read"]["example"]);
    let intervals = json["intervals"].as_array().unwrap().len();
    assert_eq!(
        count(database, "SELECT count(*) AS n FROM intervals"),
        intervals as u64
    );
    let timed = count(database, "SELECT sum(count) AS n FROM histogram");
    assert_eq!(Some(timed), summary["response_time_us"]["count"].as_u64());
}

fn assert_same_checks(database: &Path, summary: &Value) {
    let checks = rows(database, "SELECT * FROM checks ORDER BY number");
    let of = |name: &str| [&checks[0][name], &checks[1][name]].map(Value::clone);
    assert_eq!(of("text"), ["p50<10s", "errors<0.1%"]);
    assert_eq!(of("outcome"), ["passed", "failed"]);
    assert_eq!(of("unit"), ["ns", "share"]);
    assert_eq!(checks[0]["bound"], 10e9);
    assert_eq!(checks[1]["measured"], summary["checks"][1]["actual"]);
    assert_eq!(
        ns(&summary["checks"][0]["actual"]).map(|ns| ns as f64),
        checks[0]["measured"].as_f64()
    );
}

#[test]
fn repeats_are_the_runs_of_one_database_and_metrics_have_their_table() {
    let server = serve();
    let (folder, database) = place("report.sqlite");
    let script = folder.path().join("counts.lua");
    let counts = "local seen = loadline.counter('seen')\n\
                  function response() seen:add(2) end\n";
    std::fs::write(&script, counts).unwrap();
    let (to, url) = (format!("sqlite={}", text(&database)), url(&server, ""));
    let said = run(&[
        "-q",
        "-n",
        "50",
        "-c",
        "1",
        "-t",
        "1",
        "--repeat",
        "3",
        "--script",
        text(&script),
        "-o",
        &to,
        &url,
    ]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let runs = rows(
        &database,
        "SELECT id, role, role_number, answered FROM runs ORDER BY id",
    );
    assert_eq!(runs.len(), 3);
    for (number, run) in (1..).zip(&runs) {
        assert_eq!(
            (&run["id"], &run["role_number"]),
            (&number.into(), &number.into())
        );
        assert_eq!(
            (&run["role"], &run["answered"]),
            (&"repeat".into(), &50.into())
        );
    }
    let sums = rows(
        &database,
        "SELECT run, kind, sum FROM metrics WHERE name = 'seen'",
    );
    assert_eq!(sums.len(), 3, "{sums:?}");
    assert!(
        sums.iter()
            .all(|row| row["kind"] == "counter" && row["sum"] == 100.0),
        "{sums:?}"
    );
}

#[test]
fn python_reads_both_databases() {
    let server = serve();
    let (folder, log) = place("log.db");
    let report = folder.path().join("report.db");
    let (to, url) = (format!("sqlite={}", text(&report)), url(&server, ""));
    let said = run(&[
        "-q",
        "-n",
        "200",
        "-c",
        "2",
        "--log",
        text(&log),
        "-o",
        &to,
        &url,
    ]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let read = "import sqlite3, sys\n\
                log, report = map(sqlite3.connect, sys.argv[1:])\n\
                rows = log.execute('SELECT response_ns, status FROM log').fetchall()\n\
                longest = max(response for response, _ in rows)\n\
                told, = report.execute('SELECT response_max_ns FROM runs').fetchone()\n\
                print(len(rows), {status for _, status in rows}, told >= longest * 0.999)\n";
    let said = Command::new("python3")
        .args(["-c", read, text(&log), text(&report)])
        .stderr(Stdio::inherit())
        .output()
        .expect("python3 is there");
    assert_eq!(String::from_utf8(said.stdout).unwrap(), "200 {200} True\n");
}

/// Asserts that this is refused in one line, and that nothing is sent.
fn refused(server: &Server, words: &[&str], sentence: &str) {
    let url = url(server, "");
    let said = loadline(&[&["-q", "-n", "10"], words, &[&url]].concat());
    assert_eq!(said.code, Some(2), "{words:?}: {}", said.stderr);
    assert_eq!(said.stderr.lines().count(), 1, "{}", said.stderr);
    assert!(said.stderr.contains(sentence), "{}", said.stderr);
    assert_eq!(server.counts().requests, 0, "{words:?}");
}

#[test]
fn what_is_no_database_of_ours_is_refused_before_anything_is_sent_and_left() {
    let server = serve();
    let (folder, path) = place("precious.db");
    let to = format!("sqlite={}", text(&path));
    let both = [["--log", text(&path)], ["-o", &to]];
    for words in &both {
        let notes = "no database, but worth keeping\n".repeat(99);
        std::fs::write(&path, &notes).unwrap();
        refused(
            &server,
            words,
            "precious.db is no SQLite database; move it away",
        );
        assert_eq!(std::fs::read_to_string(&path).unwrap(), notes);
    }
    std::fs::remove_file(&path).unwrap();
    let made = Command::new("sqlite3")
        .args([text(&path), "CREATE TABLE customers (name)"])
        .status();
    assert!(made.expect("sqlite3 is there").success());
    let before = std::fs::read(&path).unwrap();
    for words in &both {
        refused(&server, words, "is a database that Loadline did not write");
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
    let below = folder.path().join("no/such.db");
    refused(
        &server,
        &["--log", text(&below)],
        "No such file or directory",
    );
    refused(
        &server,
        &["-o", &format!("sqlite={}", text(&below))],
        "No such file or directory",
    );
    refused(
        &server,
        &["-o", "sqlite"],
        "`sqlite` needs a file: write sqlite=FILE",
    );
    let device = folder.path().join("device.db");
    std::os::unix::fs::symlink("/dev/full", &device).unwrap();
    refused(
        &server,
        &["--log", text(&device)],
        "is no file, and a SQLite database needs one",
    );
}

#[test]
fn a_locked_database_is_refused_before_anything_is_sent_and_left() {
    let server = serve();
    let (_folder, path) = place("busy.db");
    let first = serve();
    let to = format!("sqlite={}", text(&path));
    let said = run(&["-q", "-n", "10", "-o", &to, &url(&first, "")]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let mut holder = Command::new("sqlite3")
        .args(["-batch", text(&path)])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("sqlite3 is there");
    let mut input = holder.stdin.take().unwrap();
    let mut output = BufReader::new(holder.stdout.take().unwrap());
    input
        .write_all(b"BEGIN IMMEDIATE;\nSELECT 'held';\n")
        .unwrap();
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "held\n");
    let before = std::fs::read(&path).unwrap();
    for words in [["--log", text(&path)], ["-o", &to]] {
        refused(&server, &words, "busy.db is locked by another program");
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
    drop(input);
    assert!(holder.wait().unwrap().success());
}

#[test]
fn a_log_that_finds_no_room_costs_nothing_but_itself() {
    let server = serve();
    let (_folder, log) = place("log.db");
    let url = url(&server, "");
    let words = [
        "-n",
        "20000",
        "--no-progress",
        "--allow-invalid",
        "-o",
        "json",
    ];
    let mut limited = Command::new("sh");
    limited
        .args(["-c", "trap '' XFSZ; ulimit -f 200; exec \"$@\"", "sh"])
        .arg(crate::rig::program())
        .args(words)
        .args(["--log", text(&log), &url]);
    let said: CommandOutput = {
        let _beside_others = beside_others();
        limited.output().expect("sh is there").into()
    };
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    let report: Value = serde_json::from_str(&said.stdout).expect("the report is printed");
    assert_eq!(report["summary"]["answered"], 20_000);
    assert_eq!(said.stderr.lines().count(), 1, "{}", said.stderr);
    assert!(
        said.stderr.contains("can't be written to its end"),
        "{}",
        said.stderr
    );
}

#[test]
fn what_has_no_tables_is_refused_before_anything_is_sent() {
    let server = serve();
    let url = url(&server, "");
    let said = loadline(&["capacity", "-o", "sqlite=never.db", &url]);
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    assert!(
        said.stderr.contains("sqlite shows single runs; take"),
        "{}",
        said.stderr
    );
    let said = loadline(&["compare", "a.run", "b.run", "-o", "sqlite=never.db"]);
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    assert!(
        said.stderr
            .contains("a comparison is printed as text, json, junit"),
        "{}",
        said.stderr
    );
    assert_eq!(server.stop().requests, 0);
}
