//! ApacheBench's words: compared with the real ab, on the same server, line by line.

use crate::rig::{
    CommandOutput, beside_others, command, loadline, program, serve, serve_with, text, url,
};
use loadline_testbed::{Config, Server};
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// What the real ab says to these words, or `None` where it is not installed.
#[expect(clippy::print_stderr, reason = "a test that was not made says so")]
fn real(words: &[&str]) -> Option<CommandOutput> {
    let said = Command::new("ab").args(words).stdin(Stdio::null()).output();
    match said {
        Ok(output) => Some(output.into()),
        Err(error) => {
            eprintln!("not compared with the real ab, which can't be started: {error}");
            None
        }
    }
}

/// What ours says to these words.
fn ours(words: &[&str]) -> CommandOutput {
    loadline(&[&["ab"], words].concat())
}

/// A text without its numbers and the blanks before them, which depend on how wide they are.
fn masked(text: &str) -> String {
    let mut masked = String::new();
    for piece in text.split_inclusive('\n') {
        let mut last = ' ';
        for character in piece.chars() {
            let character = if character.is_ascii_digit() {
                'N'
            } else {
                character
            };
            let repeats = character == last && matches!(character, 'N' | ' ');
            if !repeats {
                masked.push(character);
            }
            last = character;
        }
    }
    masked
}

/// The value of a line of the report.
fn value<'a>(said: &'a CommandOutput, name: &str) -> Option<&'a str> {
    let start = format!("{name}:");
    let mut lines = said.stdout.lines();
    lines
        .find_map(|line| line.strip_prefix(&start))
        .map(str::trim)
}

/// Without what may differ from run to run: doubts about medians.
fn without_doubts(text: &str) -> String {
    let is_doubt = |line: &&str| {
        [
            "ERROR: The",
            "WARNING: The",
            "       deviation",
            "        These",
        ]
        .iter()
        .any(|start| line.starts_with(start))
    };
    let lines: Vec<&str> = text.split('\n').filter(|line| !is_doubt(line)).collect();
    lines.join("\n")
}

/// Runs both, and holds ours to the real one's lines, its exit code and these values.
fn assert_same(words: &[&str], values: &[&str]) {
    let Some(real) = real(words) else { return };
    let ours = ours(words);
    assert_eq!(ours.code, real.code, "{words:?}: {}", ours.stderr);
    let shape = |text: &str| masked(&without_doubts(text));
    assert_eq!(shape(&ours.stdout), shape(&real.stdout), "{words:?}");
    assert_eq!(shape(&ours.stderr), shape(&real.stderr), "{words:?}");
    for name in values {
        assert_eq!(value(&ours, name), value(&real, name), "{words:?}: {name}");
    }
}

const COUNTS: [&str; 7] = [
    "Server Software",
    "Document Path",
    "Document Length",
    "Concurrency Level",
    "Complete requests",
    "Failed requests",
    "HTML transferred",
];

#[test]
fn reports_are_those_of_the_real_one() {
    let server = serve();
    let plain = url(&server, "size=10");
    for flags in [
        &["-n", "4"][..],
        &["-n", "1"],
        &["-n", "6", "-c", "3"],
        &["-k", "-n", "6", "-c", "3"],
        &["-i", "-n", "3"],
        &["-i", "-k", "-n", "3"],
        &["-d", "-n", "3"],
        &["-S", "-n", "3"],
        &["-l", "-n", "3"],
        &["-q", "-n", "200"],
        &["-n", "1000", "-c", "10"],
        &["-H", "X-A: b", "-C", "c=d", "-A", "u:p", "-n", "2"],
        &["-v", "2", "-n", "1"],
        &["-v", "4", "-k", "-n", "1"],
        &["-m", "PURGE", "-n", "2"],
    ] {
        assert_same(&[flags, &[&plain]].concat(), &COUNTS);
    }
}

#[test]
fn ten_thousand_requests_are_made_as_the_real_one_makes_them() {
    let server = serve();
    let place = url(&server, "");
    assert_same(&["-n", "10000", "-c", "10", &place], &COUNTS);
    let keep = ["-k", "-c", "10", "-n", "10000", &place];
    assert_same(&keep, &[&COUNTS[..], &["Keep-Alive requests"]].concat());
}

#[test]
fn answers_that_are_no_success_are_counted_apart() {
    let server = serve();
    let (lost, moved) = (url(&server, "status=404"), url(&server, "status=301"));
    for place in [&lost, &moved] {
        let values = [&COUNTS[..], &["Non-2xx responses"]].concat();
        assert_same(&["-n", "5", "-v", "3", place], &values);
        assert_same(&["-k", "-n", "5", place], &values);
    }
}

#[test]
fn bodies_are_sent_and_counted() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let body = folder.path().join("body");
    fs::write(&body, "hello=world").unwrap();
    let place = url(&server, "");
    let values = [&COUNTS[..], &["Total body sent"]].concat();
    for flags in [
        &[
            "-p",
            text(&body),
            "-T",
            "application/x-www-form-urlencoded",
            "-n",
            "3",
        ][..],
        &["-u", text(&body), "-n", "2", "-k"],
        &["-p", text(&body), "-m", "PATCH", "-n", "2"],
    ] {
        assert_same(&[flags, &[&place]].concat(), &values);
    }
}

#[test]
fn html_is_that_of_the_real_one() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let body = folder.path().join("body");
    fs::write(&body, "hello").unwrap();
    let place = url(&server, "status=503");
    for flags in [
        &["-w", "-n", "3"][..],
        &["-w", "-k", "-p", text(&body), "-n", "3"],
        &["-x", "border=1", "-y", "a=b", "-z", "c=d", "-n", "2"],
    ] {
        assert_same(&[flags, &[&place]].concat(), &[]);
    }
}

#[test]
fn files_are_those_of_the_real_one() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name);
    let written = |prefix: &str| {
        let (csv, plot) = (
            file(&format!("{prefix}.csv")),
            file(&format!("{prefix}.tsv")),
        );
        let place = url(&server, "delay=2ms");
        let words = [
            "-n",
            "7",
            "-c",
            "2",
            "-e",
            text(&csv),
            "-g",
            text(&plot),
            &place,
        ];
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        (csv, plot, words)
    };
    let (csv, plot, words) = written("ours");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let said = ours(&words);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let lines = |path: &Path| fs::read_to_string(path).unwrap().lines().count();
    assert_eq!((lines(&csv), lines(&plot)), (102, 8));
    let (real_csv, real_plot, real_words) = written("real");
    let real_words: Vec<&str> = real_words.iter().map(String::as_str).collect();
    if real(&real_words).is_some() {
        let shape = |path: &Path| without_words(&masked(&fs::read_to_string(path).unwrap()));
        assert_eq!(shape(&csv), shape(&real_csv));
        assert_eq!(shape(&plot), shape(&real_plot));
    }
}

/// Without the names of days and months.
fn without_words(text: &str) -> String {
    let header = text.lines().next().unwrap_or_default().to_owned();
    let rest = text[header.len()..].replace(|c: char| c.is_ascii_alphabetic() && c != 'N', "w");
    header + &rest
}

#[test]
fn tls_is_reported_as_by_the_real_one() {
    let server = serve_with(|config: &mut Config| config.tls = true);
    let port = server.addr().port();
    let (named, address) = (
        format!("https://localhost:{port}/"),
        format!("https://127.0.0.1:{port}/"),
    );
    let values = [
        &COUNTS[..],
        &["SSL/TLS Protocol", "Server Temp Key", "TLS Server Name"],
    ]
    .concat();
    assert_same(&["-n", "3", &named], &values);
    assert_same(&["-n", "3", "-I", "-f", "TLS1.2", &named], &values);
    assert_same(&["-k", "-n", "4", "-c", "2", &address], &values);
    assert_same(&["-c", "50", "-n", "100", &named], &values);
    let gone = ours(&["-f", "TLS1.1", &named]);
    assert_eq!(gone.code, Some(1));
    assert!(
        gone.stderr.contains("TLS1.1 is not supported any more"),
        "{}",
        gone.stderr
    );
}

#[test]
fn whole_handshakes_are_made_for_every_connection() {
    let server = serve_with(|config: &mut Config| config.tls = true);
    let said = ours(&["-n", "10", &format!("https://{}/", server.addr())]);
    assert_eq!(value(&said, "Complete requests"), Some("10"));
    assert_eq!(server.stop().tls_resumed, 0);
}

#[test]
fn bodies_of_another_length_are_failures_unless_they_may_differ() {
    let (server, place) = varying();
    let values = [&COUNTS[..1], &COUNTS[2..6]].concat();
    assert_same(&["-n", "8", &place], &values);
    let said = ours(&["-n", "8", &place]);
    assert_eq!(value(&said, "Failed requests"), Some("4"));
    assert!(
        said.stdout
            .contains("(Connect: 0, Receive: 0, Length: 4, Exceptions: 0)")
    );
    let said = ours(&["-l", "-n", "8", &place]);
    assert_eq!(value(&said, "Failed requests"), Some("0"));
    assert_eq!(value(&said, "Document Length"), Some("Variable"));
    drop(server);
}

/// Every line of the report whose value does not depend on time.
const EVERY: [&str; 14] = [
    "Server Software",
    "Server Hostname",
    "Server Port",
    "SSL/TLS Protocol",
    "TLS Server Name",
    "Document Path",
    "Document Length",
    "Concurrency Level",
    "Complete requests",
    "Failed requests",
    "Non-2xx responses",
    "Keep-Alive requests",
    "Total transferred",
    "HTML transferred",
];

#[test]
fn every_field_is_that_of_the_real_one() {
    for (flags, status, body) in [
        (&["-n", "5"][..], "200 OK", "hello"),
        (&["-k", "-n", "5"], "200 OK", "hello"),
        (&["-k", "-n", "6", "-c", "2"], "404 Not Found", ""),
        (&["-n", "3", "-r"], "301 Moved Permanently", "there"),
        (&["-i", "-n", "3"], "503 Service Unavailable", ""),
    ] {
        let place = fixed(status, body);
        assert_same(&[flags, &[&place]].concat(), &EVERY);
    }
}

/// A server whose responses are all the same bytes, and that keeps connections where it is asked
/// to; it ends with the test's process.
fn fixed(status: &str, body: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = format!("http://{}/a?b#c", listener.local_addr().unwrap());
    let length = body.len();
    let answer = format!("HTTP/1.1 {status}\r\nServer: fixed\r\nContent-Length: {length}\r\n");
    let body = body.to_owned();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (answer, body) = (answer.clone(), body.clone());
            thread::spawn(move || serve_fixed(stream.unwrap(), &answer, &body));
        }
    });
    place
}

fn serve_fixed(mut stream: TcpStream, answer: &str, body: &str) {
    while let Some(head) = read_head(&mut stream) {
        let keeps = String::from_utf8_lossy(&head).contains("Keep-Alive");
        let connection = if keeps { "keep-alive" } else { "close" };
        let whole = format!("{answer}Connection: {connection}\r\n\r\n{body}");
        if stream.write_all(whole.as_bytes()).is_err() || !keeps {
            return;
        }
    }
}

/// A server whose every second response has a longer body; it ends with the test's process.
fn varying() -> (thread::JoinHandle<()>, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = format!("http://{}/", listener.local_addr().unwrap());
    let server = thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let body = if number % 2 == 0 { "short" } else { "longer" };
            answer(stream.unwrap(), body);
        }
    });
    (server, place)
}

/// The next head; `None` if the client has gone.
fn read_head(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).unwrap_or(0) == 0 {
            return None;
        }
        head.push(byte[0]);
    }
    Some(head)
}

fn answer(mut stream: TcpStream, body: &str) {
    if read_head(&mut stream).is_none() {
        return;
    }
    let length = body.len();
    let answer =
        format!("HTTP/1.0 200 OK\r\nServer: odd/1 even\r\nContent-Length: {length}\r\n\r\n{body}");
    // A client that has gone wants no response.
    let _ = stream.write_all(answer.as_bytes());
}

#[test]
fn failures_end_a_run_unless_they_are_put_up_with() {
    let server = serve();
    let reset = url(&server, "fault=reset-before-head");
    assert_same(&["-n", "4", &reset], &[]);
    let said = ours(&["-n", "4", &reset]);
    assert_eq!(said.code, Some(104));
    assert_eq!(
        said.stderr,
        "apr_socket_recv: Connection reset by peer (104)\n"
    );
    let patient = ours(&["-r", "-n", "4", &reset]);
    assert_eq!(patient.code, Some(0));
    assert!(
        patient
            .stdout
            .contains("(Connect: 0, Receive: 4, Length: 0, Exceptions: 0)")
    );
    assert_same(&["-n", "2", "http://127.0.0.1:1/"], &[]);
    assert_same(
        &["-n", "2", "-s", "1", &url(&server, "fault=never-answer")],
        &[],
    );
}

#[test]
fn failures_that_are_put_up_with_are_counted_as_by_the_real_one() {
    let server = serve();
    let reset = url(&server, "fault=reset-before-head");
    let words = ["-r", "-n", "4", &reset];
    assert_same(&words, &["Complete requests", "HTML transferred"]);
    if let Some(real) = real(&words) {
        // The real one counts each again, as an exception.
        assert!(real.stdout.contains("Receive: 4, Length: 0, Exceptions: "));
    }
    let ours = ours(&words).stdout;
    assert!(
        ours.contains("Receive: 4, Length: 0, Exceptions: 0"),
        "{ours}"
    );
    let short = url(&server, "size=1000&fault=close-in-body");
    assert_same(
        &["-n", "4", &short],
        &["Complete requests", "Failed requests"],
    );
}

#[test]
fn thousands_of_refused_connections_take_no_pauses() {
    let said = ours(&["-r", "-n", "5000", "-c", "10", "http://127.0.0.1:1/"]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert_eq!(value(&said, "Complete requests"), Some("5000"));
    let seconds = value(&said, "Time taken for tests").unwrap();
    // With pauses between, each of the ten would take almost fifty seconds.
    let seconds: f64 = seconds.trim_end_matches(" seconds").parse().unwrap();
    assert!(seconds < 40.0, "{seconds}");
}

#[test]
fn an_answer_that_ends_early_is_of_another_length() {
    let server = serve();
    let place = url(&server, "size=1000&fault=close-in-body&every=3");
    let said = ours(&["-n", "9", &place]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert_eq!(value(&said, "Complete requests"), Some("9"));
    assert!(
        said.stdout
            .contains("(Connect: 0, Receive: 0, Length: 3, Exceptions: 0)"),
        "{}",
        said.stdout
    );
}

#[test]
fn a_time_limit_ends_a_run() {
    let server = serve();
    let start = Instant::now();
    let said = ours(&["-t", "1", "-c", "4", &url(&server, "delay=20ms")]);
    assert_eq!(said.code, Some(0));
    assert!(start.elapsed() >= Duration::from_secs(1));
    // Four at a time, of 20 ms each, however late the end is seen.
    let most = start.elapsed().as_millis() / 20 * 4 + 4;
    let done: u128 = value(&said, "Complete requests").unwrap().parse().unwrap();
    assert!((1..=most).contains(&done), "{done}");
    assert_eq!(said.stderr, format!("Finished {done} requests\n"));
}

#[test]
fn an_interrupt_prints_the_report_of_what_was() {
    let server = serve();
    let _beside_others = beside_others();
    let place = url(&server, "delay=5ms");
    let child = command(&["ab", "-w", "-n", "100000", &place])
        .spawn()
        .unwrap();
    wait_for_requests(&server, 5);
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(killed.unwrap().success());
    let said: CommandOutput = child.wait_with_output().unwrap().into();
    assert_eq!(said.code, Some(1));
    assert!(
        value(&said, "Complete requests").is_some(),
        "{}",
        said.stdout
    );
    assert!(!said.stderr.contains("Finished"));
}

fn wait_for_requests(server: &Server, wanted: u64) {
    let start = Instant::now();
    while server.counts().requests < wanted {
        assert!(
            start.elapsed() < Duration::from_secs(60),
            "no requests come"
        );
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_link_of_that_name_speaks_so() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("ab");
    std::os::unix::fs::symlink(program(), &link).unwrap();
    let output = Command::new(&link)
        .args(["-n", "2", &url(&server, "")])
        .output()
        .unwrap();
    let said = CommandOutput::from(output);
    assert_eq!(
        value(&said, "Complete requests"),
        Some("2"),
        "{}",
        said.stderr
    );
}
