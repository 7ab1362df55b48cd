//! Lua scripts: what they make the server see, what they print, and how they fail.
//!
//! The scripts here cover the calls of those that come with wrk, which are run as well where its
//! package is installed.

use crate::rig::{CommandOutput, count, loadline, serve, statuses, summary, text, url};
use serde_json::Value;
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Instant;
use tempfile::TempDir;

/// Where Debian's wrk has its example scripts.
const EXAMPLES: &str = "/usr/share/doc/wrk/examples/scripts";

/// A script in a folder of its own.
struct Script {
    folder: TempDir,
}

impl Script {
    fn new(source: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("script.lua"), source).unwrap();
        Script { folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("script.lua")
    }
}

/// One request as a server sees it.
pub(crate) struct Seen {
    pub(crate) line: String,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: String,
}

/// A server that answers every request with its path and keeps what it saw. The connections that
/// end without a request are not seen.
pub(crate) fn listener() -> (String, Receiver<Seen>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let (tell, seen) = channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let tell = tell.clone();
            thread::spawn(move || {
                let stream = stream.unwrap();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                while let Some(request) = read_request(&mut reader) {
                    // Told before it is answered: who has the last response looks at all of them.
                    let answer = answer_to(&request);
                    if tell.send(request).is_err() {
                        return;
                    }
                    // A client that has gone needs no response.
                    let _ = (&stream).write_all(answer.as_bytes());
                }
            });
        }
    });
    (url, seen)
}

fn read_request(reader: &mut impl BufRead) -> Option<Seen> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return None;
        }
        match line.trim_end() {
            "" => break,
            line => lines.push(line.to_owned()),
        }
    }
    let fields = lines[1..].iter().map(|line| line.split_once(": ").unwrap());
    let headers: HashMap<String, String> = fields
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let length = headers
        .get("Content-Length")
        .map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    Some(Seen {
        line: lines[0].clone(),
        headers,
        body: String::from_utf8(body).unwrap(),
    })
}

fn answer_to(request: &Seen) -> String {
    let path = request.line.split(' ').nth(1).unwrap();
    format!(
        "HTTP/1.1 200 OK\r\nX-Path: {path}\r\nX-Twice: a\r\nX-Twice: b\r\nX-Token: secret\r\n\
         Content-Length: {}\r\n\r\n{path}",
        path.len()
    )
}

fn run(script: &Path, more: &[&str]) -> CommandOutput {
    loadline(&[&["-s", text(script), "--no-progress"], more].concat())
}

fn good(said: CommandOutput) -> String {
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    said.stdout
}

#[test]
fn each_request_is_what_the_script_makes_up() {
    let (url, seen) = listener();
    let script = Script::new(
        "local n = 0
        function request()
            wrk.headers['X-Counter'] = n
            n = n + 1
            return wrk.format(nil, '/' .. (n - 1))
        end",
    );
    good(run(
        &script.path(),
        &["-n", "50", "-c", "4", "-t", "1", &url],
    ));
    let mut numbers: Vec<u32> = seen.try_iter().map(|seen| number_of(&seen)).collect();
    numbers.sort_unstable();
    // The first one was asked for before the run, to see whether it is a request.
    assert_eq!(numbers, (1..=50).collect::<Vec<_>>());
}

fn number_of(seen: &Seen) -> u32 {
    let path = seen.line.split(' ').nth(1).unwrap();
    assert_eq!(seen.headers["X-Counter"], path[1..]);
    path[1..].parse().unwrap()
}

#[test]
fn each_worker_has_a_state_of_its_own() {
    let (url, seen) = listener();
    let script = Script::new(
        "local threads = 0
        function setup(thread) threads = threads + 1 thread:set('id', threads) end
        local n = 0
        function request() n = n + 1 return wrk.format(nil, '/' .. id .. '/' .. n) end",
    );
    good(run(
        &script.path(),
        &["-n", "40", "-c", "2", "-t", "2", &url],
    ));
    let paths: Vec<String> = seen
        .try_iter()
        .map(|seen| seen.line.split(' ').nth(1).unwrap().to_owned())
        .collect();
    let of = |prefix: &str| paths.iter().filter(|path| path.starts_with(prefix)).count();
    assert_eq!((paths.len(), of("/1/") + of("/2/")), (40, 40));
    assert!(
        paths.contains(&"/1/2".to_owned()) && paths.contains(&"/2/1".to_owned()),
        "{paths:?}"
    );
    assert!(
        !paths.contains(&"/1/1".to_owned()),
        "it was asked for before the run"
    );
}

#[test]
fn what_was_typed_is_what_the_script_begins_with() {
    let (url, seen) = listener();
    let script =
        Script::new("wrk.headers['B'] = wrk.headers['A'] .. '2' wrk.body = wrk.body .. '!'");
    let words = [
        "-n", "4", "-c", "1", "-X", "PUT", "-H", "A: 1", "-b", "body", &url,
    ];
    good(run(&script.path(), &words));
    let seen: Vec<Seen> = seen.try_iter().collect();
    assert_eq!(seen.len(), 4);
    for request in seen {
        assert_eq!(
            (request.line.as_str(), request.body.as_str()),
            ("PUT / HTTP/1.1", "body!")
        );
        assert_eq!(
            (&*request.headers["A"], &*request.headers["B"]),
            ("1", "12")
        );
        assert_eq!(format!("http://{}/", request.headers["Host"]), url);
    }
}

#[test]
fn a_response_is_shown_whole_and_once() {
    let (url, _seen) = listener();
    let script = Script::new(
        "local n, bad = 0, nil
        function request() n = n + 1 return wrk.format(nil, '/' .. n) end
        seen = 0
        function response(status, headers, body)
            seen = seen + 1
            local whole = status == 200 and headers['X-Path'] == body and headers['X-Twice'] == 'b'
            if not whole or headers['x-path'] or headers.changed then error('bad answer') end
            headers.changed = true
        end
        function setup(t) thread = t end
        function done(summary) print('seen', thread:get('seen'), summary.requests) end",
    );
    let stdout = good(run(
        &script.path(),
        &["-n", "30", "-c", "3", "-t", "1", &url],
    ));
    assert!(stdout.ends_with("seen\t30\t30\n"), "{stdout}");
}

#[test]
fn a_token_of_the_first_answer_goes_with_later_requests() {
    let (url, seen) = listener();
    let script = Script::new(
        "local path = '/login'
        function request() return wrk.format('GET', path) end
        function response(status, headers)
            if path == '/login' then path = '/in' wrk.headers['X-Token'] = headers['X-Path'] end
        end",
    );
    good(run(&script.path(), &["-n", "5", "-c", "1", &url]));
    let seen: Vec<Seen> = seen.try_iter().collect();
    assert_eq!(seen[0].line, "GET /login HTTP/1.1");
    for later in &seen[1..] {
        assert_eq!(
            (later.line.as_str(), &*later.headers["X-Token"]),
            ("GET /in HTTP/1.1", "/login")
        );
    }
}

#[test]
fn a_text_of_several_requests_is_a_pipeline() {
    let server = serve();
    let script = Script::new(
        "function request() return wrk.format(nil, '/?a'):rep(3) end
        function response() answers = (answers or 0) + 1 end
        function setup(t) thread = t end
        function done() print('answers', thread:get('answers')) end",
    );
    let words = ["-n", "31", "-c", "2", "-t", "1", &url(&server, "")];
    let stdout = good(run(&script.path(), &words));
    // The last text is cut: a run of 31 requests is one of 31.
    assert!(stdout.ends_with("answers\t31\n"), "{stdout}");
    assert_eq!(server.stop().requests, 31);
}

#[test]
fn a_delay_comes_before_each_request_and_is_in_no_time() {
    let server = serve();
    let script = Script::new("function delay() return 40 end");
    let path = script.path();
    let begin = Instant::now();
    let summary = summary(&["-s", text(&path), "-c", "1", "-d", "1s", &url(&server, "")]);
    let requests = server.stop().requests;
    let most = begin.elapsed().as_millis() / 40;
    assert!((1..=most).contains(&u128::from(requests)), "{requests}");
    assert!(count(&summary, "sent") <= requests, "{summary:#}");
}

#[test]
fn a_delay_is_in_no_time_of_an_arrival_either() {
    let server = serve();
    let script = Script::new("function delay() return 500 end");
    let (path, url) = (script.path(), url(&server, ""));
    let load = ["-r", "20", "-c", "20", "-d", "1s", "--drain", "2s"];
    let summary = summary(&[&["-s", text(&path)], &load[..], &[&*url]].concat());
    assert_eq!(server.stop().requests, 20);
    for time in ["response_time_us", "blocked_us", "lateness_us"] {
        let median_us = summary[time]["p50"].as_f64().expect("a time");
        assert!(median_us < 250_000.0, "{time}: {summary:#}");
    }
}

#[test]
fn a_script_can_end_its_worker() {
    let server = serve();
    let script = Script::new(
        "local n = 0
        function response() n = n + 1 if n == 10 then wrk.thread:stop() end end",
    );
    let path = script.path();
    let words = [
        "-s",
        text(&path),
        "-c",
        "2",
        "-t",
        "2",
        "-d",
        "60s",
        &url(&server, ""),
    ];
    let summary = summary(&words);
    assert_eq!(count(&summary, "answered"), 20);
    assert!(summary["duration_s"].as_f64().unwrap() < 50.0);
}

#[test]
fn any_shape_of_load_takes_a_script() {
    let server = serve();
    let script = Script::new("function request() return wrk.format('GET', '/?status=204') end");
    let path = script.path();
    let url = url(&server, "");
    for shape in [
        &["-r", "200", "-d", "1s"][..],
        &["--burst", "20/500ms", "-d", "1s"],
        &["-r", "100", "--stages", "1s:200"],
        &["-c", "4", "--no-keepalive", "-n", "40"],
    ] {
        let words = [&["-s", text(&path)], shape, &[&url]].concat();
        let summary = summary(&words);
        assert_eq!(
            statuses(&summary, "204"),
            count(&summary, "answered"),
            "{shape:?}"
        );
        assert!(count(&summary, "answered") > 0, "{shape:?}: {summary:#}");
        if shape.contains(&"-n") {
            assert_eq!(count(&summary, "answered"), 40, "{shape:?}: {summary:#}");
        }
    }
}

#[test]
fn an_error_while_the_run_lasts_ends_it_and_names_its_place() {
    let server = serve();
    let url = url(&server, "");
    for (source, place) in [
        (
            "local n = 0\nfunction request()\n n = n + 1\n if n > 5 then error('enough') end\n \
             return wrk.format() end",
            "script.lua, line 4, in request(): enough",
        ),
        (
            "function response()\n local t = nil\n return t.x end",
            "script.lua, line 3, in response(): attempt to index local 't' (a nil value)",
        ),
        (
            "function delay()\n error('no wait') end",
            "script.lua, line 2, in delay(): no wait",
        ),
        (
            "local n = 0\nfunction request() n = n + 1 return n < 3 and wrk.format() or {} end",
            "script.lua, in request(): a text was expected, not a table",
        ),
    ] {
        let script = Script::new(source);
        let said = run(&script.path(), &["-d", "60s", "-c", "4", "-t", "2", &url]);
        assert_eq!(said.code, Some(2), "{}{}", said.stdout, said.stderr);
        assert!(said.stderr.contains(place), "{}", said.stderr);
        assert_eq!(said.stderr.lines().count(), 1, "{}", said.stderr);
        let told = "ended because the script raised an error";
        assert!(said.stdout.contains(told), "{}", said.stdout);
    }
}

#[test]
fn an_error_before_the_run_sends_nothing() {
    let server = serve();
    let url = url(&server, "");
    for (source, place) in [
        (
            "x = = 1",
            "script.lua, line 1, while it was loaded: unexpected symbol near '='",
        ),
        (
            "function init()\n error('no') end",
            "script.lua, line 2, in init(): no",
        ),
        (
            "function request() return 'nonsense' end",
            "the script's request is malformed: ",
        ),
    ] {
        let script = Script::new(source);
        let said = run(&script.path(), &["-n", "10", &url]);
        assert_eq!(
            (said.code, said.stdout.as_str()),
            (Some(2), ""),
            "{}",
            said.stderr
        );
        assert!(said.stderr.contains(place), "{}", said.stderr);
    }
    assert_eq!(server.stop().requests, 0);
}

#[test]
fn prints_come_before_the_report_and_those_of_done_behind_it() {
    let server = serve();
    let script = Script::new(
        "print('loaded') function init(args) io.write('init ', args[1], '\\n') end
        function done(summary, latency) print('done', latency:percentile(50) > 0) end",
    );
    let path = script.path();
    let words = [
        "-n",
        "10",
        "-c",
        "1",
        "--script-arg",
        "--word",
        &url(&server, ""),
    ];
    let stdout = good(run(&path, &words));
    let places: Vec<usize> = [
        "loaded\nloaded\n",
        "init --word\n",
        "closed loop",
        "done\ttrue\n",
    ]
    .iter()
    .map(|part| {
        stdout
            .find(part)
            .unwrap_or_else(|| panic!("{part} in {stdout}"))
    })
    .collect();
    assert!(places.is_sorted(), "{stdout}");
    let said = run(&path, &[&["-o", "json"], &words[..]].concat());
    let report: Value = serde_json::from_str(&said.stdout).expect("the report is alone there");
    assert_eq!(count(&report["summary"], "answered"), 10);
    assert!(said.stderr.ends_with("done\ttrue\n"), "{}", said.stderr);
}

#[test]
fn a_plan_file_names_a_script() {
    let server = serve();
    let script = Script::new("function request() return wrk.format(nil, '/?status=404') end");
    let plan = script.path().with_file_name("plan.toml");
    let keys = format!(
        "url = {:?}\nscript = {:?}\nscript-arg = ['a', 'b']\nrequests = 20\nconnections = 2\n",
        url(&server, ""),
        text(&script.path()),
    );
    std::fs::write(&plan, keys).unwrap();
    let summary = summary(&[text(&plan)]);
    assert_eq!(statuses(&summary, "404"), 20);
}

#[test]
fn the_scripts_of_wrk_run() {
    if !Path::new(EXAMPLES).exists() {
        // Whoever has no wrk has the scripts above.
        return;
    }
    let server = serve();
    let url = url(&server, "");
    for (name, words, printed) in [
        (
            "addr",
            &["-n", "50", "-t", "2"][..],
            "thread addr: 127.0.0.1:",
        ),
        ("auth", &["-n", "50"], ""),
        ("counter", &["-n", "50"], ""),
        ("delay", &["-n", "20"], ""),
        ("post", &["-n", "50"], ""),
        ("report", &["-n", "50"], "99.999%,"),
        ("setup", &["-n", "50", "-t", "2"], "thread 2 made "),
        ("stop", &["-d", "60s", "-t", "1"], ""),
    ] {
        let script = Path::new(EXAMPLES).join(format!("{name}.lua"));
        let stdout = good(run(&script, &[words, &["-c", "4", &url]].concat()));
        assert!(stdout.contains(printed), "{name}: {stdout}");
    }
}

#[test]
fn the_pipeline_of_wrk_asks_for_three_paths_in_turn() {
    let script = Path::new(EXAMPLES).join("pipeline.lua");
    if !script.exists() {
        // The pipeline above is like it.
        return;
    }
    let (url, seen) = listener();
    good(run(&script, &["-n", "12", "-c", "1", &url]));
    let lines: Vec<String> = seen.try_iter().map(|seen| seen.line).collect();
    let expected = [
        "GET /?foo HTTP/1.1",
        "GET /?bar HTTP/1.1",
        "GET /?baz HTTP/1.1",
    ];
    assert_eq!(lines, expected.repeat(4));
}

/// A script whose first `response` does not return, where LuaJIT compiles the loop and where it
/// does not.
const LOOPS: [&str; 2] = [
    "function response() while true do end end",
    "local n = 0 function request() n = n + 1 if n < 3 then return wrk.format() end
     while true do string.format('%s', {}) end end",
];

#[test]
fn a_script_that_does_not_return_ends_with_the_runs_time() {
    let server = serve();
    for source in LOOPS {
        let script = Script::new(source);
        let words = ["-d", "1s", "-c", "1", "-t", "1", &url(&server, "")];
        let said = run(&script.path(), &words);
        assert_eq!(said.code, Some(2), "{}{}", said.stdout, said.stderr);
        let told = "worker 0 did not respond for 2 s at the end of the run";
        assert!(said.stderr.contains(told), "{}", said.stderr);
        let report = "ended because a worker failed";
        assert!(said.stdout.contains(report), "{}", said.stdout);
        assert!(said.stdout.contains("missing"), "{}", said.stdout);
        for zero in [" 0/s", "0 sent", "Validity: valid"] {
            assert!(!said.stdout.contains(zero), "{}", said.stdout);
        }
    }
}

#[test]
fn the_first_interrupt_ends_a_script_that_does_not_return() {
    let server = serve();
    for source in LOOPS {
        let script = Script::new(source);
        let path = script.path();
        let words = ["-s", text(&path), "-d", "600s", "-c", "1", "-t", "1"];
        let _beside_others = crate::rig::beside_others();
        let child = crate::rig::command(&[&words[..], &[&url(&server, "")]].concat());
        let child = { child }.spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_secs(2));
        let number = child.id().to_string();
        let sent = std::process::Command::new("kill")
            .args(["-INT", &number])
            .status();
        assert!(sent.unwrap().success());
        let said = CommandOutput::from(child.wait_with_output().unwrap());
        assert_eq!(said.code, Some(2), "{}{}", said.stdout, said.stderr);
        assert!(
            said.stderr.contains("worker 0 did not respond"),
            "{}",
            said.stderr
        );
    }
}

#[test]
fn an_interrupt_ends_a_script_that_never_finishes_loading() {
    let folder = tempfile::tempdir().unwrap();
    let begun = folder.path().join("begun");
    let loads = format!("io.open('{}', 'w'):close() while true do end", text(&begun));
    let script = Script::new(&loads);
    let path = script.path();
    let _beside_others = crate::rig::beside_others();
    let mut command = crate::rig::command(&["-s", text(&path), "http://127.0.0.1:1/"]);
    let child = command.spawn().unwrap();
    let patience = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while !begun.exists() {
        assert!(std::time::Instant::now() < patience, "it was never loaded");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let sent = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
    let said = CommandOutput::from(child.wait_with_output().unwrap());
    assert_eq!(said.code, Some(130), "{}{}", said.stdout, said.stderr);
    let notice = "loadline: interrupted before the load began; nothing was measured.\n";
    assert_eq!(said.stderr, notice);
    assert_eq!(said.stdout, "");
}

#[test]
fn a_script_that_takes_long_to_load_is_named() {
    let script = Script::new("while true do end");
    let path = script.path();
    let _beside_others = crate::rig::beside_others();
    let words = ["-s", text(&path), "http://127.0.0.1:1/"];
    let mut child = crate::rig::command(&words).spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    let sent = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(line.starts_with("Still loading the script: "), "{line}");
}

#[test]
fn a_body_without_end_is_not_gathered_for_ever() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().take(4) {
            let mut stream = stream.unwrap();
            std::thread::spawn(move || {
                let mut line = String::new();
                let mut reader = BufReader::new(stream.try_clone().unwrap());
                if reader.read_line(&mut line).is_err() {
                    return;
                }
                let head = b"HTTP/1.1 200 OK\r\n\r\n";
                let part = vec![b'x'; 1 << 16];
                let sent = stream.write_all(head);
                if sent.is_ok() {
                    while stream.write_all(&part).is_ok() {}
                }
            });
        }
    });
    let script = Script::new("function response() error('never whole') end");
    let said = run(
        &script.path(),
        &[
            "-o",
            "json",
            "-n",
            "1",
            "-c",
            "1",
            "--timeout",
            "120s",
            &url,
        ],
    );
    assert_eq!(said.code, Some(2), "{}", said.stderr);
    let report: Value = serde_json::from_str(&said.stdout).expect("the report is JSON");
    let errors = &report["summary"]["errors"]["protocol"];
    assert_eq!(errors["count"], 1, "{errors:#}");
    let example = errors["example"].as_str().unwrap_or_default();
    assert!(example.contains("64 MiB"), "{errors:#}");
}
