//! wrk and wrk2 as spoken here, beside the real wrk, and as the parsers of their reports read them.

use crate::rig::{CommandOutput, beside_others, command, loadline, serve, serve_with, text, url};
use loadline_testbed::Server;
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// A report in which all figures look alike: digits and the units that depend on them.
pub(crate) fn shape(report: &str) -> String {
    let mut shape = String::new();
    for line in report.lines() {
        let words = line.split_whitespace().map(masked);
        shape.push_str(&words.collect::<Vec<_>>().join(" "));
        shape.push('\n');
    }
    shape
}

fn masked(word: &str) -> String {
    match word.starts_with(|c: char| c.is_ascii_digit()) {
        true if word.ends_with('%') => "N%".to_owned(),
        true => "N".to_owned(),
        false => word.to_owned(),
    }
}

/// What is in front of each figure of the table, and how wide its lines are.
fn widths(report: &str) -> Vec<usize> {
    let table = report.lines().skip(2).take(3);
    table.map(str::len).collect()
}

/// The real wrk, if it is there; it says if not.
#[expect(clippy::print_stderr, reason = "a comparison that is left out is told")]
pub(crate) fn real_wrk(words: &[&str]) -> Option<CommandOutput> {
    match Command::new("wrk").args(words).output() {
        Ok(output) => Some(output.into()),
        Err(error) => {
            eprintln!("not compared with the real wrk, which can't be started: {error}");
            None
        }
    }
}

fn spoken(tool: &str, words: &[&str]) -> String {
    let said = loadline(&[&[tool], words].concat());
    assert_eq!(said.code, Some(0), "{words:?}: {}", said.stderr);
    assert_eq!(said.stderr, "", "{words:?}");
    said.stdout
}

#[test]
fn reports_have_the_shape_of_the_real_ones() {
    let server = serve();
    for (flags, options) in [
        (&["-t1", "-c3", "-d1"][..], ""),
        (&["-t2", "-c4", "-d1", "--latency"], "size=2000"),
        (
            &["-t1", "-c2", "-d1", "-H", "X-A: b"],
            "status=404&every=10",
        ),
    ] {
        let url = url(&server, options);
        let words = [flags, &[url.as_str()]].concat();
        let ours = spoken("wrk", &words);
        let Some(theirs) = real_wrk(&words) else {
            return;
        };
        assert_eq!(
            shape(&ours),
            shape(&theirs.stdout),
            "{ours}\n{}",
            theirs.stdout
        );
        assert_eq!(
            widths(&ours),
            widths(&theirs.stdout),
            "{ours}\n{}",
            theirs.stdout
        );
    }
}

#[test]
fn refusals_are_those_of_the_real_one() {
    for words in [
        &["--help"][..],
        &[],
        &["-c", "1q", "http://127.0.0.1:1/"],
        &["-c", "1", "http://127.0.0.1:1/"],
        &["--conn"],
        &["--lat=1", "http://127.0.0.1:1/"],
        &["--version=1"],
        &["--help=1"],
        &["--nothing=1"],
        &["--t=1"],
        &["-L=1"],
        &["-d+1", "-c+2", "-t+3", "http://127.0.0.1:1/"],
        &["-x"],
        &["-d0", "http://127.0.0.1:1/"],
        &["127.0.0.1:1"],
        &["http://127.0.0.1:1/"],
        &["-s", "nowhere.lua", "foo://127.0.0.1/"],
    ] {
        let ours = loadline(&[&["wrk"], words].concat());
        let Some(theirs) = real_wrk(words) else {
            return;
        };
        assert_eq!(ours.code, theirs.code, "{words:?}");
        assert_eq!(ours.stdout, theirs.stdout, "{words:?}");
        let last = |said: &CommandOutput| said.stderr.lines().last().map(str::to_owned);
        assert_eq!(last(&ours), last(&theirs), "{words:?}");
    }
}

/// The figure behind these words, as a regular expression of the usual kind takes it.
fn figure(report: &str, words: &str) -> f64 {
    let line = report
        .lines()
        .find(|line| line.trim_start().starts_with(words));
    let line = line.unwrap_or_else(|| panic!("no {words} in\n{report}"));
    let behind = line.trim_start()[words.len()..].trim_start();
    let end = behind.find(|c: char| c != '.' && !c.is_ascii_digit());
    let number = &behind[..end.unwrap_or(behind.len())];
    number
        .parse()
        .unwrap_or_else(|_| panic!("no figure in {line}"))
}

/// How many requests were answered, as the report has it.
fn answered(report: &str) -> u64 {
    let (before, _) = report.split_once(" requests in ").expect(report);
    let number = before.rsplit(' ').next().unwrap_or_default();
    number.parse().expect(report)
}

#[test]
fn figures_are_where_parsers_look_for_them() {
    let server = serve();
    let url = url(&server, "");
    let report = spoken("wrk", &["-t2", "-c5", "-d1s", "--latency", &url]);
    assert!(report.starts_with(&format!(
        "Running 1s test @ {url}\n  2 threads and 5 connections\n  Thread Stats   Avg      \
         Stdev     Max   +/- Stdev\n"
    )));
    for words in [
        "Requests/sec:",
        "Transfer/sec:",
        "Latency",
        "Req/Sec",
        "50%",
        "75%",
        "90%",
        "99%",
    ] {
        assert!(figure(&report, words) > 0.0, "{words}: {report}");
    }
    let answered = answered(&report);
    let counts = server.stop();
    assert_eq!(counts.connections, 5, "no remainder is lost");
    assert!(answered <= counts.requests && counts.requests <= answered + 5);
}

#[test]
fn wrk2_keeps_its_rate_and_prints_both_clocks() {
    let server = serve();
    let url = url(&server, "");
    let report = spoken("wrk2", &["-t2", "-c4", "-d2s", "-R", "200", "-U", &url]);
    // As many as the schedule has at most, whenever the machine lets them go.
    let answered = answered(&report);
    assert!((1..=400).contains(&answered), "{answered}");
    assert!(server.stop().requests <= 400);
    let counted = format!("Total count    = {answered:>12}]\n");
    assert_eq!(report.matches(&counted).count(), 2, "{report}");
    for line in [
        "  Latency Distribution (HdrHistogram - Recorded Latency)",
        "  Latency Distribution (HdrHistogram - Uncorrected Latency (measured without taking \
         delayed starts into account))",
        "  Detailed Percentile spectrum:",
        "       Value   Percentile   TotalCount 1/(1-Percentile)",
        "#[Buckets =           27, SubBuckets     =         2048]",
        "----------------------------------------------------------",
    ] {
        assert!(
            report.lines().any(|found| found == line),
            "{line}: {report}"
        );
    }
    for words in ["50.000%", "99.999%", "100.000%"] {
        assert!(figure(&report, words) > 0.0, "{words}: {report}");
    }
    let spectrum = report.lines().filter(|line| line.ends_with(" inf"));
    assert_eq!(spectrum.count(), 2);
}

#[test]
fn a_server_that_fails_is_reported_and_no_failure_of_the_command() {
    let server = serve();
    let url = url(&server, "fault=reset-in-body");
    let report = spoken("wrk", &["-t1", "-c1", "-d1", &url]);
    assert!(
        report.contains("  Socket errors: connect 0, read "),
        "{report}"
    );
    assert!(
        report.contains("    Latency     0.00us    0.00us   0.00us    -nan%\n"),
        "{report}"
    );
}

#[test]
fn handshakes_that_fail_are_counted_to_the_end_of_the_run() {
    let server = serve();
    let url = format!("https://{}/", server.addr());
    let report = spoken("wrk", &["-t1", "-c2", "-d1", &url]);
    let connect = figure(&report, "Socket errors: connect");
    assert!(connect > 0.0, "{report}");
    assert_eq!(answered(&report), 0, "{report}");
    if let Some(theirs) = real_wrk(&["-t1", "-c2", "-d1", &url]) {
        assert_eq!(shape(&report), shape(&theirs.stdout));
    }
}

#[test]
fn bytes_behind_an_answer_are_a_failure_to_read() {
    let place = serve_surplus();
    let folder = tempfile::tempdir().unwrap();
    let path = script(
        folder.path(),
        "function done(summary) print('read', summary.errors.read > 0, summary.requests > 0) end",
    );
    let words = ["-t1", "-c1", "-d1", "-s", text(&path), &place];
    let report = spoken("wrk", &words);
    assert!(
        report.contains("Socket errors: connect 0, read "),
        "{report}"
    );
    assert!(report.ends_with("read\ttrue\ttrue\n"), "{report}");
    if let Some(theirs) = real_wrk(&words) {
        assert_eq!(shape(&report), shape(&theirs.stdout));
    }
}

/// A server whose responses are longer than they say; it ends with the test's process.
fn serve_surplus() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = format!("http://{}/", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || {
                let mut stream = stream.unwrap();
                let mut request = [0; 1000];
                // A client that has gone wants no response.
                while stream.read(&mut request).is_ok_and(|length| length > 0) {
                    let _ = stream
                        .write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok and more");
                }
            });
        }
    });
    place
}

#[test]
fn paths_are_sent_as_typed() {
    let server = serve_with(|config| config.keep = 1_000_000);
    let typed = format!("http://{}/a/../b/./c//d?x=%7e&size=3", server.addr());
    for words in [
        &["-t1", "-c1", "-d1"][..],
        &["-t1", "-c1", "-d1", "-H", "A: b"],
    ] {
        spoken("wrk", &[words, &[&typed]].concat());
        real_wrk(&[words, &[&typed]].concat());
    }
    let lines = server.kept().into_iter().map(|request| {
        let text = String::from_utf8(request).unwrap();
        text.lines().next().unwrap().to_owned()
    });
    let lines: BTreeSet<String> = lines.collect();
    let expected = "GET /a/../b/./c//d?x=%7e&size=3 HTTP/1.1".to_owned();
    assert_eq!(lines, BTreeSet::from([expected]));
}

#[test]
fn an_interrupt_ends_the_run_with_its_report() {
    let _beside_others = beside_others();
    let server = serve();
    let url = url(&server, "fault=never-answer&every=2");
    let child = command(&["wrk", "-t1", "-c2", "-d60", &url])
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while server.counts().requests < 2 {
        assert!(
            begin.elapsed() < Duration::from_secs(20),
            "nothing reached the server"
        );
        thread::sleep(Duration::from_millis(10));
    }
    let kill = Command::new("kill")
        .args(["-s", "INT", &child.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    let said: CommandOutput = child.wait_with_output().unwrap().into();
    assert!(
        begin.elapsed() < Duration::from_secs(30),
        "it waited for answers"
    );
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    assert!(said.stdout.contains("\nRequests/sec: "), "{}", said.stdout);
}

fn script(folder: &Path, source: &str) -> PathBuf {
    let path = folder.join("script.lua");
    std::fs::write(&path, source).unwrap();
    path
}

fn with_script(tool: &[&str], server: &Server, source: &str) -> CommandOutput {
    let folder = tempfile::tempdir().unwrap();
    let path = script(folder.path(), source);
    let url = format!("http://{}/", server.addr());
    loadline(&[tool, &["-t1", "-c2", "-d1", "-s", text(&path), &url]].concat())
}

#[test]
fn a_script_shapes_requests_and_has_the_last_word() {
    for tool in [&["wrk"][..], &["wrk2", "-R50"]] {
        let server = serve();
        let source = r#"
            wrk.method = "POST"; wrk.body = "a=b"; wrk.headers["Content-Type"] = "text/plain"
            local paths = 0
            request = function()
              paths = paths + 1
              return wrk.format(nil, "/?size=" .. paths % 100)
            end
            done = function(summary, latency, requests)
              io.write(string.format("%d %d\n", summary.requests, summary.errors.status))
            end
        "#;
        let said = with_script(tool, &server, source);
        assert_eq!(
            (said.code, said.stderr.as_str()),
            (Some(0), ""),
            "{}",
            said.stdout
        );
        let report = said.stdout;
        let answered = answered(&report);
        assert!(report.ends_with(&format!("B\n{answered} 0\n")), "{report}");
        assert!(answered > 0);
    }
}

#[test]
fn commands_that_people_have_run_as_typed() {
    let _beside_others = beside_others();
    let server = serve();
    let port = server.addr().port();
    let folder = tempfile::tempdir().unwrap();
    let table = "wrk.method = 'POST'\nwrk.headers['Content-Type'] = 'application/json'\n\
                 wrk.body = '{\"a\": 1}'\n";
    let built = "request = function()\n local headers = {}\n headers['X-Id'] = math.random(9)\n \
                 return wrk.format('GET', '/?size=' .. math.random(9), headers)\nend\n";
    for (source, line) in [
        (
            table,
            "wrk -c100 -t8 -d1s -s ./gin.lua --latency http://localhost:PORT",
        ),
        (
            built,
            "wrk -c100 -t8 -d1s -s ./gin.lua --latency http://localhost:PORT",
        ),
        ("", "wrk -t1 -c10 -d1s http://localhost:PORT/"),
        ("", "wrk2 -t2 -c40 -d1s -R256000 http://localhost:PORT/"),
    ] {
        std::fs::write(folder.path().join("gin.lua"), source).unwrap();
        let line = line.replace("PORT", &port.to_string());
        let words: Vec<&str> = line.split(' ').collect();
        let output = command(&words).current_dir(folder.path()).output();
        let said: CommandOutput = output.unwrap().into();
        assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""), "{line}");
        assert!(
            figure(&said.stdout, "Requests/sec:") > 0.0,
            "{}",
            said.stdout
        );
        assert!(!said.stdout.contains("Non-2xx"), "{}", said.stdout);
    }
}

#[test]
fn a_script_that_can_t_be_loaded_is_complained_of_in_each_state() {
    let server = serve();
    let said = with_script(&["wrk"], &server, "x = = 1");
    assert_eq!(said.code, Some(0));
    let complaints: Vec<&str> = said.stderr.lines().collect();
    assert_eq!(complaints.len(), 2, "{}", said.stderr);
    assert!(
        complaints[0].ends_with("script.lua:1: unexpected symbol near '='"),
        "{}",
        said.stderr
    );
    assert!(said.stdout.contains("\nRequests/sec: "));
}

#[test]
fn a_script_that_throws_ends_in_a_panic() {
    let server = serve();
    let said = with_script(&["wrk"], &server, "init = function() error('boom') end");
    assert_eq!((said.code, said.stdout.as_str()), (Some(1), ""));
    assert!(
        said.stderr
            .starts_with("PANIC: unprotected error in call to Lua API ("),
        "{}",
        said.stderr
    );
    assert!(
        said.stderr.ends_with("script.lua:1: boom)\n"),
        "{}",
        said.stderr
    );
}

#[test]
fn a_request_that_is_none_is_told_with_its_place() {
    let server = serve();
    let said = with_script(&["wrk"], &server, "request = function() return '' end");
    assert_eq!(
        (said.code, said.stderr.as_str()),
        (Some(1), "incomplete request at 1:1\n")
    );
}

#[test]
fn shims_speak_their_dialect_and_replace_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let shims = folder.path().join("bin");
    for _ in 0..2 {
        let said = loadline(&["shims", text(&shims)]);
        assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    }
    let output = Command::new(shims.join("wrk2")).arg("-v").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.starts_with(b"wrk 4.0.0 [epoll] "));
    std::fs::remove_file(shims.join("ab")).unwrap();
    std::fs::remove_file(shims.join("wrk")).unwrap();
    std::fs::write(shims.join("ab"), "another").unwrap();
    let said = loadline(&["shims", text(&shims)]);
    assert_eq!(said.code, Some(2));
    assert!(
        said.stderr.contains("ab exists, and is not a symlink to "),
        "{}",
        said.stderr
    );
    assert!(
        !shims.join("wrk").exists(),
        "none is made where one is taken"
    );
}

/// The instants of a run's arrivals at a server that notes them, in seconds, in rising order.
fn arrivals_of(words: &[&str]) -> Vec<f64> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let (send, noted) = std::sync::mpsc::channel();
    thread::spawn(move || {
        for stream in listener.incoming().take(100) {
            let (mut stream, send) = (stream.unwrap(), send.clone());
            thread::spawn(move || {
                let mut head = [0; 4096];
                while stream.read(&mut head).is_ok_and(|bytes| bytes > 0) {
                    let _ = send.send(Instant::now());
                    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
                    if stream.write_all(answer).is_err() {
                        return;
                    }
                }
            });
        }
    });
    let begin = Instant::now();
    let said = loadline(&[&["wrk2"], words, &[&url]].concat());
    assert_eq!(said.code, Some(0), "{words:?}: {}", said.stderr);
    let mut instants: Vec<f64> = noted
        .try_iter()
        .map(|at| at.duration_since(begin).as_secs_f64())
        .collect();
    instants.sort_by(f64::total_cmp);
    instants
}

/// The share of gaps that are shorter than half of the mean one: none of equal ones, 39 % of those
/// of a Poisson process. A stall of the machine adds a few, in which what is due is sent.
fn short_gaps(instants: &[f64]) -> f64 {
    let gaps: Vec<f64> = instants.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let half = gaps.iter().sum::<f64>() / gaps.len() as f64 / 2.0;
    gaps.iter().filter(|gap| **gap < half).count() as f64 / gaps.len() as f64
}

#[test]
fn a_fork_of_wrk2_sends_at_equal_or_at_random_intervals() {
    let common = ["-t1", "-c20", "-d5", "-R40"];
    let fixed = arrivals_of(&[&["-D", "fixed"], &common[..]].concat());
    let random = arrivals_of(&[&["-D", "exp"], &common[..]].concat());
    // 200 are due. Of a Poisson process's number the standard deviation is 14.
    assert!((190..=201).contains(&fixed.len()), "{}", fixed.len());
    assert!((130..=270).contains(&random.len()), "{}", random.len());
    let (even, uneven) = (short_gaps(&fixed), short_gaps(&random));
    assert!(even < 0.2, "{even}");
    assert!((0.25..0.55).contains(&uneven), "{uneven}");
}

#[test]
fn arrivals_that_are_not_offered_are_refused_in_a_sentence() {
    let server = serve();
    for name in ["norm", "zipf", "other"] {
        let said = loadline(&["wrk2", "-D", name, "-R10", "-d1", &url(&server, "")]);
        assert_eq!((said.code, said.stdout.as_str()), (Some(1), ""));
        let told = format!("-D {name} is not supported by Loadline: write -D fixed");
        assert!(said.stderr.starts_with(&told), "{}", said.stderr);
        assert_eq!(said.stderr.lines().count(), 1);
    }
    assert_eq!(server.stop().requests, 0);
}

#[test]
fn a_fork_of_wrk2_writes_its_latencies_to_files() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let url = url(&server, "");
    let _beside_others = beside_others();
    let output = command(&["wrk2", "-P", "-p", "-t2", "-c4", "-d2", "-R200", &url])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = CommandOutput::from(output);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let lines = |name: &str| -> Vec<u64> {
        let text = std::fs::read_to_string(folder.path().join(name)).unwrap();
        text.lines().map(|line| line.parse().unwrap()).collect()
    };
    let each = [lines("0.txt"), lines("1.txt")].concat();
    let told = format!("  {} requests in ", each.len());
    assert!(said.stdout.contains(&told), "{told}{}", said.stdout);
    // The first of two threads sends 100 a second: each ten make a line.
    let tails = lines("url0thread0.txt");
    assert_eq!(tails.len(), lines("0.txt").len() / 10);
    assert!(tails.iter().all(|tail| each.contains(tail)), "{tails:?}");
}

#[test]
fn late_answers_are_answers_and_timeouts() {
    let server = serve();
    let words = ["-t1", "-c4", "-d3", "-T1", &url(&server, "delay=1300ms")];
    for (tool, rate) in [("wrk", &[][..]), ("wrk2", &["-R4"][..])] {
        let report = spoken(tool, &[rate, &words].concat());
        let (requests, _) = report.split_once(" requests in ").expect("a count");
        let requests: u64 = requests.lines().last().unwrap().trim().parse().unwrap();
        assert!((4..=8).contains(&requests), "{report}");
        let (_, timeouts) = report
            .split_once("read 0, write 0, timeout ")
            .expect(&report);
        let timeouts: u64 = timeouts.lines().next().unwrap().parse().unwrap();
        assert!(timeouts >= requests, "{report}");
    }
}

/// A script whose batches of four bring bodies of 300 bytes, and from the twentieth on of 3.
const SHRINKING: &str = "
local long, short = wrk.format(nil, '/?size=300'), wrk.format(nil, '/?size=3')
local batches = 0
function request()
    batches = batches + 1
    return (batches < 20 and long or short):rep(4)
end";

#[test]
fn a_batch_that_is_shorter_than_those_before_is_read_all_the_same() {
    let server = serve();
    let said = with_script(&["wrk"], &server, SHRINKING);
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    assert!(!said.stdout.contains("Socket errors"), "{}", said.stdout);
    // Each connection waits in vain once, for up to 100 ms.
    assert!(answered(&said.stdout) > 400, "{}", said.stdout);
}
