//! oha as spoken here, beside the real oha where it is installed.

use crate::rig::{CommandOutput, beside_others, command, loadline, serve, text, url};
use loadline_testbed::Server;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Output};
use std::thread;

/// The real oha, if it is there; it says if not.
#[expect(clippy::print_stderr, reason = "a comparison that is left out is told")]
fn real_oha(words: &[&str]) -> Option<CommandOutput> {
    match Command::new("oha").arg("--no-tui").args(words).output() {
        Ok(output) => Some(output_of(&output)),
        Err(error) => {
            eprintln!("not compared with the real oha, which can't be started: {error}");
            None
        }
    }
}

fn oha(words: &[&str]) -> CommandOutput {
    let _beside_others = beside_others();
    let words = [&["oha", "--no-tui"], words].concat();
    output_of(&command(&words).output().unwrap())
}

/// What was said; its JSON has oha's keys, not ours.
fn output_of(output: &Output) -> CommandOutput {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    CommandOutput {
        code: output.status.code(),
        stdout: text(&output.stdout),
        stderr: text(&output.stderr),
    }
}

fn report(words: &[&str]) -> Value {
    let said = oha(&[&["--output-format", "json"], words].concat());
    assert_eq!(
        (said.code, said.stderr.as_str()),
        (Some(0), ""),
        "{words:?}"
    );
    serde_json::from_str(&said.stdout).unwrap()
}

/// A report in which all figures, units and bars look alike.
fn shape(report: &str) -> String {
    let lines = report.lines().map(|line| {
        let words = line.replace('■', "").replace(['[', ']'], " ");
        let words = words.split([' ', '\t']).filter(|word| !word.is_empty());
        words.map(masked).collect::<Vec<_>>().join(" ")
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn masked(word: &str) -> &str {
    let is_figure = word.trim_end_matches(['%', ',']).parse::<f64>().is_ok();
    match word.trim_end_matches(',') {
        "ns" | "us" | "ms" | "sec" => "T",
        "B" | "KiB" | "MiB" => "D",
        _ if is_figure => "N",
        _ => word,
    }
}

/// Every key of a JSON with the kind of its value; keys that are figures are alike.
fn kinds(prefix: &str, value: &Value, into: &mut BTreeMap<String, &'static str>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| {
            let key = if key.parse::<f64>().is_ok() { "N" } else { key };
            kinds(&format!("{prefix}/{key}"), value, into);
        }),
        _ => {
            into.insert(prefix.to_owned(), kind(value));
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Number(number) if number.is_f64() => "fraction",
        Value::Number(_) => "whole",
        _ => "other",
    }
}

fn kinds_of(text: &str) -> BTreeMap<String, &'static str> {
    let mut found = BTreeMap::new();
    kinds("", &serde_json::from_str(text).unwrap(), &mut found);
    found
}

/// What a command line sends first, Host and boundary masked. The server closes then.
fn first_request(run: impl FnOnce(&str)) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let received = receive(&mut stream);
        let _ =
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        received
    });
    run(&format!("http://{address}"));
    let received = server.join().unwrap();
    let received = received.replace(&address.to_string(), "HOST");
    match received.find("----formdata-oha-") {
        Some(at) => {
            let boundary = received[at..at + 49].to_owned();
            received.replace(&boundary, "BOUNDARY")
        }
        None => received,
    }
}

/// A head, and as much of a body as it announces.
fn receive(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    let mut part = [0; 4096];
    loop {
        let count = stream.read(&mut part).unwrap();
        bytes.extend_from_slice(&part[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let length = text
            .lines()
            .find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
        let is_whole = text
            .split_once("\r\n\r\n")
            .is_some_and(|(_, body)| body.len() >= length.unwrap_or(0));
        if is_whole || count == 0 {
            return text;
        }
    }
}

#[test]
fn reports_have_the_shape_of_the_real_ones() {
    let server = serve();
    for (flags, options) in [
        (&["-n", "50", "-c", "5"][..], ""),
        (
            &["-n", "50", "-c", "5", "--stats-success-breakdown"],
            "status=404&every=5",
        ),
        (&["-n", "0"], ""),
        (&["-n", "4", "-c", "2", "-t", "50ms"], "delay=5s"),
        (&["-z", "300ms", "-c", "3"], "delay=5s"),
        (&["-n", "3", "--output-format", "csv"], ""),
        (&["-n", "3", "--output-format", "quiet"], ""),
        (&["--debug", "-m", "POST", "-d", "abc"], "size=3"),
    ] {
        let url = url(&server, options);
        let words = [flags, &[url.as_str()]].concat();
        let ours = oha(&words);
        assert_eq!(
            (ours.code, ours.stderr.as_str()),
            (Some(0), ""),
            "{words:?}"
        );
        let Some(theirs) = real_oha(&words) else {
            return;
        };
        let first_lines = |text: &str| shape(text).lines().take(20).collect::<Vec<_>>().join("\n");
        match flags[0] {
            // What follows are headers of this one response.
            "--debug" => assert_eq!(first_lines(&ours.stdout), first_lines(&theirs.stdout)),
            _ if flags.contains(&"csv") => {
                assert_eq!(ours.stdout.lines().next(), theirs.stdout.lines().next())
            }
            _ => assert_eq!(shape(&ours.stdout), shape(&theirs.stdout), "{words:?}"),
        }
    }
}

#[test]
fn json_has_the_keys_and_kinds_of_the_real_one() {
    let server = serve();
    // Several windows of 10 ms: the rates of one have no standard deviation.
    for (flags, options) in [
        (
            &["-n", "200", "-c", "5", "--stats-success-breakdown"][..],
            "delay=2ms&status=404&every=5",
        ),
        (&["-n", "0"], ""),
    ] {
        let url = url(&server, options);
        let words = [flags, &["--output-format", "json", url.as_str()]].concat();
        let ours = oha(&words).stdout;
        assert!(!ours.ends_with('\n'));
        let Some(theirs) = real_oha(&words) else {
            return;
        };
        assert_eq!(kinds_of(&ours), kinds_of(&theirs.stdout));
    }
}

#[test]
fn refusals_are_those_of_the_real_one() {
    for words in [
        &["127.0.0.1:80"][..],
        &["-n", "5", "-z", "1s", "http://a/"],
        &[
            "-q",
            "5",
            "--burst-delay",
            "1s",
            "--burst-rate",
            "2",
            "http://a/",
        ],
        &["--burst-delay", "1s", "http://a/"],
        &["-w", "http://a/"],
        &["-a", "x", "http://127.0.0.1:1"],
        &["--http2", "--http-version", "2", "http://127.0.0.1:1"],
        &["-H", "nocolon", "http://a/"],
        &["-z", "5", "http://a/"],
        &["-d", "a", "-D", "b", "http://a/"],
        &["--output-format", "xml", "http://a/"],
        &["-x", "127.0.0.1:1", "http://a/"],
        &["--cert", "a", "http://a/"],
        &["--no-such", "http://a/"],
        &["--rand-regex-url", "http://a/["],
        &["--aws-sigv4", "x", "http://127.0.0.1:1"],
    ] {
        let ours = oha(words);
        assert_ne!(ours.code, Some(0), "{words:?}");
        let Some(theirs) = real_oha(words) else {
            return;
        };
        assert_eq!(ours.code, theirs.code, "{words:?}");
        assert_eq!(ours.stderr, theirs.stderr, "{words:?}");
    }
}

#[test]
fn what_panics_in_oha_is_a_sentence() {
    for words in [
        &["-n", "5"][..],
        &["-p", "0", "http://127.0.0.1:1/"],
        &["-q=-1", "http://127.0.0.1:1/"],
        &["-q=nan", "http://127.0.0.1:1/"],
        &["--fps", "0", "http://127.0.0.1:1/"],
        &["--http-version", "0.9", "http://127.0.0.1:1/"],
        &["--urls-from-file", "/dev/null"],
    ] {
        let said = oha(words);
        assert_eq!(said.code, Some(2), "{words:?}");
        assert_eq!(said.stderr.lines().count(), 1, "{}", said.stderr);
    }
    assert_eq!(loadline(&["oha"]).code, Some(2));
}

#[test]
fn requests_are_the_real_ones_to_the_byte() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("f.txt");
    std::fs::write(&file, "content").unwrap();
    let part = format!("f=@{};type=text/plain", text(&file));
    for words in [
        &[][..],
        &["-m", "POST"],
        &["-m", "get", "-d", "abc", "-T", "text/x", "-A", "x/y"],
        &[
            "-H",
            "X-B: 1",
            "-H",
            "x-a:2",
            "-H",
            "x-b: 3",
            "-a",
            "u:p",
            "--disable-compression",
        ],
        &["--disable-keepalive", "--host", "other"],
        &["--http-version", "1.0"],
        &["-F", "a=1", "-F", &part],
        &["-H", "X-E:", "-H", "Accept-Encoding:"],
    ] {
        let send = |tool: &dyn Fn(&[&str])| {
            first_request(|url| {
                let url = format!("{url}/p/q?a=b#c");
                tool(&[&["-n", "1", "-c", "1"], words, &[url.as_str()]].concat());
            })
        };
        let ours = send(&|words| assert_eq!(oha(words).code, Some(0)));
        assert!(ours.contains("user-agent: oha/1.16.0\r\n"), "{ours}");
        if Command::new("oha").arg("--version").output().is_err() {
            return;
        }
        let theirs = send(&|words| drop(real_oha(words)));
        assert_eq!(ours, theirs, "{words:?}");
    }
}

#[test]
fn every_request_is_counted_once() {
    let server = serve();
    let summary = report(&["-n", "1.5k", "-c", "7", &url(&server, "status=503&every=3")]);
    assert_eq!(summary["statusCodeDistribution"]["200"], 1_000);
    assert_eq!(summary["statusCodeDistribution"]["503"], 500);
    assert_eq!(summary["errorDistribution"], serde_json::json!({}));
    assert_eq!(summary["summary"]["sizePerRequest"], 60);
    let bars = summary["responseTimeHistogram"].as_object().unwrap();
    assert_eq!(
        bars.values()
            .map(|count| count.as_u64().unwrap())
            .sum::<u64>(),
        1_500
    );
}

#[test]
fn http2_shares_connections() {
    let server = serve();
    let url = url(&server, "");
    let summary = report(&["--http2", "-n", "600", "-c", "3", "-p", "4", &url]);
    assert_eq!(summary["statusCodeDistribution"]["200"], 600);
    assert!(server.counts().connections <= 3);
}

#[test]
fn only_what_was_in_flight_is_aborted() {
    let server = serve();
    let slow = report(&[
        "-z",
        "1s",
        "-q",
        "50",
        "-c",
        "50",
        &url(&server, "delay=10s"),
    ]);
    assert_eq!(slow["errorDistribution"]["aborted due to deadline"], 50);
    assert_eq!(slow["summary"]["requestsPerSec"], 0.0);
    let idle = report(&["-z", "1s", "-q", "20", "-c", "50", &url(&server, "")]);
    assert_eq!(idle["statusCodeDistribution"]["200"], 20);
    assert_eq!(idle["errorDistribution"], serde_json::json!({}));
}

#[test]
fn those_in_flight_are_waited_for_where_that_is_asked_for() {
    let server = serve();
    let words = ["-z", "500ms", "-w", "-c", "4", &url(&server, "delay=800ms")];
    let summary = report(&words);
    assert_eq!(summary["statusCodeDistribution"]["200"], 4);
    assert_eq!(summary["errorDistribution"], serde_json::json!({}));
    assert!(summary["summary"]["total"].as_f64().unwrap() >= 0.8);
}

#[test]
fn a_burst_comes_after_as_long_as_lies_between_two() {
    let server = serve();
    let words = [
        "-n",
        "10",
        "--burst-delay",
        "300ms",
        "--burst-rate",
        "4",
        &url(&server, ""),
    ];
    let summary = report(&words);
    assert_eq!(summary["statusCodeDistribution"]["200"], 10);
    let total = summary["summary"]["total"].as_f64().unwrap();
    assert!((0.9..3.0).contains(&total), "{total}");
}

#[test]
fn redirects_are_followed_as_far_as_asked_and_are_one_result() {
    let server = serve();
    let last = url(&server, "size=7");
    let path = last.split_once('?').unwrap().1;
    let to = format!("status=302&location=/?{path}");
    let followed = report(&["-n", "6", "-c", "2", "-r", "1", &url(&server, &to)]);
    assert_eq!(
        followed["statusCodeDistribution"],
        serde_json::json!({"200": 6})
    );
    assert_eq!(followed["summary"]["sizePerRequest"], 7);
    let left = report(&["-n", "6", "-c", "2", &url(&server, &to)]);
    assert_eq!(
        left["statusCodeDistribution"],
        serde_json::json!({"302": 6})
    );
    let long = report(&["-n", "6", "-c", "2", "-r", "1", &redirecting()]);
    assert_eq!(
        long["errorDistribution"],
        serde_json::json!({"Redirection limit has reached": 6})
    );
}

/// A server that redirects to itself for ever. It ends with the test's process.
fn redirecting() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || redirect_all(stream.unwrap()));
        }
    });
    format!("http://{address}/")
}

fn redirect_all(mut stream: TcpStream) {
    let response = b"HTTP/1.1 302 Found\r\nlocation: /again\r\ncontent-length: 0\r\n\r\n";
    while !receive(&mut stream).is_empty() && stream.write_all(response).is_ok() {}
}

#[test]
fn urls_are_drawn_from_files_and_patterns() {
    let (one, other) = (serve(), serve());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("urls");
    std::fs::write(&file, format!("{}\n\n{}\n", url(&one, ""), url(&other, ""))).unwrap();
    let summary = report(&["-n", "200", "-c", "4", "--urls-from-file", text(&file)]);
    assert_eq!(summary["statusCodeDistribution"]["200"], 200);
    let counts = [&one, &other].map(|server| server.counts().requests);
    assert_eq!(counts.iter().sum::<u64>(), 200);
    assert!(counts.iter().all(|count| *count > 50), "{counts:?}");
    let pattern = format!("http://{}/\\?size=[12]0", one.addr());
    let summary = report(&["-n", "100", "-c", "4", "--rand-regex-url", &pattern]);
    let bytes = summary["summary"]["totalData"].as_u64().unwrap();
    assert!((1_100..1_900).contains(&bytes), "{bytes}");
    let said = oha(&["--dump-urls", "3", "--rand-regex-url", "http://a.b/x{3}"]);
    assert_eq!(said.stdout, "http://a.b/xxx\n".repeat(3));
}

#[test]
fn a_tunnel_is_asked_for_with_the_proxys_headers() {
    let (head, said) = tunnel_request(&["--proxy-header", "X-Who: me", "https://127.0.0.1:1/"]);
    assert!(
        head.starts_with("CONNECT 127.0.0.1:1 HTTP/1.1\r\n"),
        "{head}"
    );
    assert!(head.contains("x-who: me\r\n"), "{head}");
    assert_eq!(said.code, Some(0));
}

/// What a proxy is asked that refuses, and what the command says.
fn tunnel_request(words: &[&str]) -> (String, CommandOutput) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address: SocketAddr = listener.local_addr().unwrap();
    let proxy = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let head = receive(&mut stream);
        let _ = stream.write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n");
        head
    });
    let proxy_url = format!("http://{address}");
    let said = oha(&[&["-n", "1", "-c", "1", "-x", proxy_url.as_str()], words].concat());
    (proxy.join().unwrap(), said)
}

#[test]
fn successes_are_rows_of_a_table() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("oha.db");
    let url = url(&server, "size=9");
    for _ in 0..2 {
        let said = oha(&["-n", "20", "-c", "2", "--db-url", text(&path), &url]);
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        assert_eq!(said.stderr, format!("Storing results to {}\n", text(&path)));
    }
    let rows = query(
        &path,
        "SELECT count(*), min(url), max(status), sum(len_bytes) FROM oha",
    );
    assert_eq!(rows, "40|/?size=9|200|360\n");
    let late = "SELECT count(*) FROM oha WHERE start > end OR duration > end OR duration <= 0";
    assert_eq!(query(&path, late), "0\n");
    let schema = query(
        &path,
        "SELECT group_concat(name || type) FROM pragma_table_info('oha')",
    );
    assert_eq!(
        schema,
        "urlTEXT,startREAL,start_latency_correctionREAL,endREAL,durationREAL,statusINTEGER,\
         len_bytesINTEGER,runINTEGER\n"
    );
}

fn query(path: &std::path::Path, question: &str) -> String {
    let said = Command::new("sqlite3").arg(path).arg(question).output();
    let said = said.expect("sqlite3, of the package sqlite3, is there");
    String::from_utf8_lossy(&said.stdout).into_owned()
}

#[test]
fn a_report_is_printed_though_the_rows_can_not_be_stored() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes");
    let notes = "These are notes, and no database. ".repeat(50);
    std::fs::write(&path, &notes).unwrap();
    let said = oha(&["-n", "5", "--db-url", text(&path), &url(&server, "")]);
    assert_eq!(said.code, Some(1));
    assert!(
        said.stdout.contains("  [200] 5 responses\n"),
        "{}",
        said.stdout
    );
    assert!(
        said.stderr.contains("is no SQLite database"),
        "{}",
        said.stderr
    );
    assert_eq!(std::fs::read_to_string(&path).unwrap(), notes);
}

#[test]
fn the_corrected_time_counts_from_the_intended_start() {
    let server: Server = serve();
    let url = url(&server, "delay=100ms");
    let words = ["-n", "20", "-q", "100", "-c", "1", &url];
    let average = |words: &[&str]| report(words)["summary"]["average"].as_f64().unwrap();
    let sent = average(&words);
    let corrected = average(&[&["--latency-correction"], &words[..]].concat());
    // Twenty starts in 0.2 s, of which each takes 0.1 s of the only connection: 1 s in the mean.
    assert!(sent < corrected / 2.0, "{sent} {corrected}");
    assert!(corrected > 0.9, "{corrected}");
}
