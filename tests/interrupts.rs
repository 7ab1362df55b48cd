//! Ctrl-C, and runs that are killed.

use crate::rig::{
    CommandOutput, assert_balanced, beside_others, command, count, loadline, program, serve,
    serve_with, text, url,
};
use crate::schemas::document;
use loadline_testbed::Server;
use serde_json::Value;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::sync::RwLockReadGuard;
use std::time::{Duration, Instant};

/// A command that is running.
struct Running {
    child: Child,
    _beside_others: RwLockReadGuard<'static, ()>,
}

impl Running {
    fn start(words: &[&str]) -> Self {
        Running::spawn(command(words))
    }

    fn spawn(mut command: Command) -> Self {
        let beside_others = beside_others();
        let child = command.spawn().expect("the command starts");
        Running {
            child,
            _beside_others: beside_others,
        }
    }

    /// Waits for its end.
    fn end(self) -> CommandOutput {
        let output = self.child.wait_with_output();
        output.expect("the command ends").into()
    }
}

/// Starts a long run and waits until the server has seen something of it.
fn start(server: &Server, flags: &[&str], options: &str) -> Running {
    let url = url(server, options);
    let words = [
        &["-c", "4", "-d", "60s", "-o", "json"],
        flags,
        &[url.as_str()],
    ]
    .concat();
    let running = Running::start(&words);
    await_requests(server, 4);
    running
}

/// Waits until the server has seen so many requests.
fn await_requests(server: &Server, count: u64) {
    let patience = Instant::now() + Duration::from_secs(20);
    while server.counts().requests < count {
        assert!(Instant::now() < patience, "too few reached the server");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn signal(running: &Running, name: &str) {
    let status = Command::new("kill")
        .args(["-s", name, &running.child.id().to_string()])
        .status();
    assert!(status.expect("kill is there").success());
}

#[test]
fn the_first_interrupt_ends_the_run_gently_and_reports_it() {
    let server = serve();
    let running = start(&server, &[], "delay=50ms");
    signal(&running, "INT");
    let said = running.end();
    assert_eq!(said.code, Some(130), "{}", said.stderr);
    let report: Value = serde_json::from_str(&said.stdout).expect("the report is printed");
    let summary = &report["summary"];
    assert_balanced(summary);
    assert_eq!(
        count(summary, "in_flight"),
        0,
        "what was in flight has ended"
    );
    assert_eq!(count(summary, "answered"), server.stop().requests);
}

#[test]
fn the_wait_for_what_is_in_flight_is_no_part_of_an_interrupted_run() {
    let server = serve();
    let running = start(&server, &["-r", "100"], "delay=1500ms");
    await_requests(&server, 200);
    signal(&running, "INT");
    let said = running.end();
    let report: Value = serde_json::from_str(&said.stdout).expect("the report is printed");
    let summary = &report["summary"];
    assert_balanced(summary);
    assert_eq!(count(summary, "in_flight"), 0, "all of it has ended");
    let planned = count(summary, "planned");
    let seconds = summary["duration_s"].as_f64().expect("a length");
    let due = 100.0 * seconds;
    assert!(
        (planned as f64 - due).abs() <= 1.0,
        "{planned} in {seconds} s"
    );
}

#[test]
fn the_report_of_an_interrupted_run_ends_as_its_checks_do() {
    let (server, folder) = (serve(), tempfile::tempdir().unwrap());
    for (check, code) in [("errors<1%", 0), ("p50<1us", 1)] {
        let saved = folder.path().join(format!("{code}.run"));
        let flags = ["--check", check, "--save", text(&saved)];
        let before = server.counts().requests;
        let running = start(&server, &flags, "delay=1ms");
        await_requests(&server, before + 50);
        signal(&running, "INT");
        let said = running.end();
        assert_eq!(said.code, Some(130), "{}", said.stderr);
        let again = loadline(&["report", "--allow-invalid", text(&saved)]);
        assert_eq!(again.code, Some(code), "{check}: {}", again.stderr);
    }
}

#[test]
fn the_first_interrupt_ends_a_run_whose_target_never_answers() {
    let server = serve();
    let running = start(&server, &["-n", "100"], "delay=50s");
    signal(&running, "INT");
    let begin = Instant::now();
    let said = running.end();
    assert!(begin.elapsed() < Duration::from_secs(20), "it waited on");
    assert_eq!(said.code, Some(130), "{}", said.stderr);
    let report: Value = serde_json::from_str(&said.stdout).expect("the report is printed");
    assert_balanced(&report["summary"]);
    assert_eq!(count(&report["summary"], "in_flight"), 4);
}

#[test]
fn turns_that_are_interrupted_early_have_a_line_each_and_no_comparison() {
    let server = serve();
    let (a, b) = (url(&server, "delay=10ms"), url(&server, "delay=11ms"));
    let words = ["versus", &a, &b, "-c", "2", "-d", "60s", "--no-progress"];
    let running = Running::start(&words);
    await_requests(&server, 20);
    signal(&running, "INT");
    let said = running.end();
    assert_eq!(said.code, Some(130), "{}", said.stderr);
    assert!(
        said.stdout.contains("A and B can't be compared"),
        "{}",
        said.stdout
    );
    assert!(said.stdout.contains("interrupted"), "{}", said.stdout);
    assert!(said.stdout.lines().count() < 12, "{}", said.stdout);
}

#[test]
fn an_output_that_nobody_reads_does_not_keep_it_alive() {
    let server = serve();
    let mut running = start(&server, &["--log", "/dev/stdout"], "size=1");
    // The pipe is full when requests stop coming, as the log holds the run up.
    let mut before = 0;
    while server.counts().requests > before {
        before = server.counts().requests;
        std::thread::sleep(Duration::from_millis(500));
        if before > 1_000_000 {
            break;
        }
    }
    signal(&running, "INT");
    std::thread::sleep(Duration::from_millis(100));
    signal(&running, "INT");
    let patience = Instant::now() + Duration::from_secs(30);
    let status = loop {
        if let Some(status) = running.child.try_wait().expect("it can be waited for") {
            break status;
        }
        assert!(Instant::now() < patience, "it goes on");
        std::thread::sleep(Duration::from_millis(50));
    };
    assert_eq!(status.code(), Some(130));
}

#[test]
fn a_script_of_wrk_concludes_however_long_it_takes() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("slow.lua");
    let slow = "done = function() local t = os.time() while os.time() < t + 4 do end \
                print('concluded') end";
    std::fs::write(&script, slow).unwrap();
    let target = url(&server, "delay=1ms");
    let words = ["wrk", "-t1", "-c2", "-d60s", "-s", text(&script), &target];
    let running = Running::start(&words);
    await_requests(&server, 4);
    signal(&running, "INT");
    let said = running.end();
    assert!(said.stdout.contains("concluded"), "{}", said.stderr);
}

#[test]
fn an_interrupt_while_connecting_says_that_nothing_was_measured() {
    // Takes connections and says nothing, so that no handshake comes to an end.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/", silent.local_addr().unwrap());
    let running = Running::start(&["-c", "2", "--connect-timeout", "60s", "-k", &url]);
    let (_connection, _) = silent.accept().unwrap();
    signal(&running, "INT");
    let begin = Instant::now();
    let said = running.end();
    assert!(begin.elapsed() < Duration::from_secs(10), "it went on");
    assert_eq!(said.code, Some(130), "{}", said.stderr);
    assert_eq!(said.stdout, "");
    assert_eq!(
        said.stderr,
        "loadline: interrupted before the load began; nothing was measured.\n"
    );
}

#[test]
fn an_interrupt_while_connecting_leaves_no_new_files() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::write(at("old.run"), "the old one").unwrap();
    let (new, old, log) = (at("new.run"), at("old.run"), at("new.csv"));
    for save in [&new, &old] {
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("https://{}/", silent.local_addr().unwrap());
        let words = ["-c", "2", "--connect-timeout", "60s", "-k", "--save"];
        let more = [text(save), "--log", text(&log), &url];
        let running = Running::start(&[&words[..], &more[..]].concat());
        let _connection = silent.accept().unwrap();
        signal(&running, "TERM");
        assert_eq!(running.end().code, Some(130));
    }
    assert!(!new.exists() && !log.exists(), "an empty file is left");
    assert_eq!(std::fs::read_to_string(&old).unwrap(), "the old one");
}

#[test]
fn a_terminal_that_goes_ends_the_run_with_a_report() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let (report, url) = (folder.path().join("report.json"), url(&server, "delay=5ms"));
    let out = format!("json={}", text(&report));
    for (heard, code) in [("--default-signal=HUP", 130), ("--ignore-signal=HUP", 0)] {
        let (_, before) = (std::fs::remove_file(&report), server.counts().requests);
        let mut command = Command::new("env");
        command.arg(heard).arg(program());
        command.args(["-c", "1", "-d", "3s", "-q", "--allow-invalid"]);
        command.args(["-o", &out, &url]).stderr(Stdio::piped());
        let running = Running::spawn(command);
        await_requests(&server, before + 4);
        signal(&running, "HUP");
        let said = running.end();
        assert_eq!(said.code, Some(code), "{heard}: {}", said.stderr);
        let report = document(&std::fs::read_to_string(&report).unwrap());
        assert_balanced(&report["summary"]);
        assert!(count(&report["summary"], "answered") > 0);
    }
}

#[test]
fn the_second_interrupt_ends_it_at_once() {
    let server = serve();
    let running = start(&server, &[], "fault=never-answer");
    signal(&running, "INT");
    std::thread::sleep(Duration::from_millis(300));
    signal(&running, "INT");
    let begin = Instant::now();
    let said = running.end();
    assert!(
        begin.elapsed() < Duration::from_secs(10),
        "it waited for answers"
    );
    assert_eq!(said.code, Some(130), "{}", said.stderr);
    let report: Value = serde_json::from_str(&said.stdout).expect("the report is printed");
    assert_balanced(&report["summary"]);
    assert_eq!(count(&report["summary"], "in_flight"), 4);
}

#[test]
fn an_interrupt_is_heard_while_answers_come_without_end() {
    let server = serve();
    let running = start(&server, &["-t", "1"], "fault=endless");
    signal(&running, "INT");
    std::thread::sleep(Duration::from_millis(300));
    signal(&running, "INT");
    let begin = Instant::now();
    let said = running.end();
    let lasted = begin.elapsed();
    assert!(lasted < Duration::from_secs(10), "it read on: {lasted:?}");
    assert_eq!(said.code, Some(130), "{}", said.stderr);
    let report: Value = serde_json::from_str(&said.stdout).expect("the report is printed");
    assert_eq!(count(&report["summary"], "in_flight"), 4);
}

#[test]
fn a_server_that_has_gone_starves_neither_the_intervals_nor_the_user() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("server.sock");
    let server = serve_with(|config| config.unix_socket = Some(path.clone()));
    let words = [
        "-c",
        "4",
        "-t",
        "1",
        "-d",
        "60s",
        "-o",
        "json",
        "--unix-socket",
        text(&path),
    ];
    let running = Running::start(&[&words[..], &["http://localhost/"]].concat());
    std::thread::sleep(Duration::from_millis(800));
    // From now on every dial fails at once, without waiting for anything.
    server.stop();
    std::thread::sleep(Duration::from_millis(1_500));
    signal(&running, "INT");
    let begin = Instant::now();
    let said = running.end();
    assert!(
        begin.elapsed() < Duration::from_secs(10),
        "the interrupt was not heard"
    );
    assert_eq!(said.code, Some(130), "{}", said.stderr);
    let report: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_balanced(&report["summary"]);
    assert!(report["intervals"].as_array().unwrap().len() >= 2);
    // Each of four users backs off: it fails again for every tenth of a second, and a few times
    // before that.
    let failed = count(&report["summary"], "failed");
    assert!((4..1_000).contains(&failed), "{failed}");
}

#[test]
fn a_killed_run_leaves_a_file_that_can_be_read() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let saved = folder.path().join("killed.run");
    let running = start(&server, &["--save", text(&saved)], "");
    let patience = Instant::now() + Duration::from_secs(20);
    let lines = || {
        std::fs::read_to_string(&saved)
            .unwrap_or_default()
            .lines()
            .count()
    };
    while lines() < 3 {
        assert!(Instant::now() < patience, "no interval was saved");
        std::thread::sleep(Duration::from_millis(50));
    }
    signal(&running, "KILL");
    running.end();
    let said = loadline(&["report", text(&saved), "-o", "json"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let report: Value = serde_json::from_str(&said.stdout).unwrap();
    assert_balanced(&report["summary"]);
    assert!(count(&report["summary"], "answered") > 0);
    assert!(report["intervals"].as_array().unwrap().len() >= 2);
}
