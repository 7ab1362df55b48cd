//! Regular expressions of the kind that people have in their jobs for what wrk, wrk2 and ab print,
//! read on what ours print, and on what the real ones do.

use crate::rig::{loadline, serve_with, url};
use regex::Regex;
use std::process::Command;

/// Expressions for wrk's report, each with how often it is found.
const WRK: &[(&str, usize)] = &[
    (r"Requests/sec:\s+(\d+\.\d+)", 1),
    (r"Requests/sec: *([0-9.]*)", 1),
    (r"Transfer/sec:\s+(\d+\.?\d*)([KMGT]?B)", 1),
    (
        r"Latency\s+(\d+\.\d+\w+)\s+(\d+\.\d+\w+)\s+(\d+\.\d+\w+)\s+(\d+\.\d+)%",
        1,
    ),
    (
        r"Req/Sec\s+(\d+\.\d+\w*)\s+(\d+\.\d+\w*)\s+(\d+\.\d+\w*)\s+(\d+\.\d+)%",
        1,
    ),
    (r"(?m)^\s+(\d+)%\s+(\d+\.\d+)(us|ms|s)\s*$", 4),
    (r"99%\s+([0-9.]+)([a-z]+)", 1),
    (
        r"(\d+) requests in (\d+\.\d+)(\w+), (\d+\.\d+)([KMGT]?B) read",
        1,
    ),
    (r"Running (\d+)([smh]) test @ (\S+)", 1),
    (r"(\d+) threads and (\d+) connections", 1),
    (r"Non-2xx or 3xx responses: (\d+)", 1),
];

/// For wrk2's, with `-L`.
const WRK2: &[(&str, usize)] = &[
    (r"Requests/sec:\s+(\d+\.\d+)", 1),
    (r"Transfer/sec:\s+(\d+\.?\d*)([KMGT]?B)", 1),
    (
        r"Latency\s+(\d+\.\d+\w+)\s+(\d+\.\d+\w+)\s+(\d+\.\d+\w+)\s+(\d+\.\d+)%",
        1,
    ),
    (r"(?m)^ *(\d+\.\d+)% +(\d+\.\d+)(us|ms|s|m) *$", 8),
    (r"99\.999%\s+([0-9.]+)([a-z]+)", 1),
    (
        r"#\[Mean\s+=\s+(\d+\.\d+), StdDeviation\s+=\s+(\d+\.\d+)\]",
        1,
    ),
    (r"#\[Max\s+=\s+(\d+\.\d+), Total count\s+=\s+(\d+)\]", 1),
    (r"(?m)^\s+(\d+\.\d{3})\s+(1\.0{6})\s+(\d+)\s+inf$", 1),
    (r"(?m)^\s+(\d+\.\d{3})\s+(0\.50{5})\s+(\d+)\s+2\.00$", 1),
    (
        r"(\d+) requests in (\d+\.\d+)(\w+), (\d+\.\d+)([KMGT]?B) read",
        1,
    ),
];

/// For ab's.
const AB: &[(&str, usize)] = &[
    (r"Requests per second:\s+(\d+\.\d+) \[#/sec\] \(mean\)", 1),
    (r"Requests per second: *([0-9.]*)", 1),
    (r"Time per request:\s+(\d+\.\d+) \[ms\] \(mean\)", 1),
    (
        r"Time per request:\s+(\d+\.\d+) \[ms\] \(mean, across all concurrent requests\)",
        1,
    ),
    (r"Time taken for tests:\s+(\d+\.\d+) seconds", 1),
    (r"Transfer rate:\s+(\d+\.\d+) \[Kbytes/sec\] received", 1),
    (r"Complete requests:\s+(\d+)", 1),
    (r"Failed requests:\s+(\d+)", 1),
    (r"Non-2xx responses:\s+(\d+)", 1),
    (r"Keep-Alive requests:\s+(\d+)", 1),
    (r"Total transferred:\s+(\d+) bytes", 1),
    (r"HTML transferred:\s+(\d+) bytes", 1),
    (r"Concurrency Level:\s+(\d+)", 1),
    (r"Document Length:\s+(\d+) bytes", 1),
    (r"(?m)^\s+(\d+)%\s+(\d+)", 9),
    (r"100%\s+(\d+) \(longest request\)", 1),
    (
        r"(?m)^(Connect|Processing|Waiting|Total):(\s+\d+){2}\s+(\d+\.\d+)(\s+\d+){2}\s*$",
        4,
    ),
    (r"Server Hostname:\s+(\S+)\s+Server Port:\s+(\d+)", 1),
];

/// The first word of `words` is the tool. Every third response is a 404.
fn assert_read(words: &[&str], expressions: &[(&str, usize)]) {
    let server = serve_with(|config| {
        config.defaults.set("every", "3").unwrap();
        config.defaults.set("status", "404").unwrap();
    });
    let url = url(&server, "size=2000");
    let ours = loadline(&[words, &[&url]].concat());
    assert_eq!(ours.code, Some(0), "{words:?}: {}", ours.stderr);
    let real = Command::new(words[0]).args(&words[1..]).arg(&url).output();
    let reports = [
        Some(ours.stdout),
        real.ok()
            .map(|output| String::from_utf8_lossy(&output.stdout).into_owned()),
    ];
    for report in reports.iter().flatten() {
        for (expression, times) in expressions {
            let found = Regex::new(expression).unwrap().find_iter(report).count();
            assert_eq!(found, *times, "{expression} in\n{report}");
        }
    }
}

#[test]
fn expressions_for_wrk_read_ours() {
    assert_read(&["wrk", "-t2", "-c4", "-d1s", "--latency"], WRK);
}

#[test]
fn expressions_for_wrk2_read_ours() {
    assert_read(&["wrk2", "-t1", "-c4", "-d2s", "-R500", "-L"], WRK2);
}

#[test]
fn expressions_for_ab_read_ours() {
    assert_read(&["ab", "-q", "-k", "-n", "300", "-c", "3"], AB);
}

#[test]
fn expressions_for_errors_read_ours() {
    // A server each: every fifth of all requests fails, also of those that nobody waits for.
    let failing = || {
        serve_with(|config| {
            config.defaults.set("fault", "reset-in-body").unwrap();
            config.defaults.set("every", "5").unwrap();
        })
    };
    let (server, other) = (failing(), failing());
    let url = |server| url(server, "");
    let report = loadline(&["wrk", "-t1", "-c2", "-d1", &url(&server)]).stdout;
    let errors =
        Regex::new(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)")
            .unwrap();
    let found = errors.captures(&report).expect(&report);
    assert!(found[2].parse::<u64>().unwrap() > 0, "{report}");
    let report = loadline(&["ab", "-r", "-n", "20", &url(&other)]).stdout;
    let failed = Regex::new(
        r"Failed requests:\s+\d+\s+\(Connect: \d+, Receive: \d+, Length: (\d+), Exceptions: \d+\)",
    );
    let found = failed.unwrap().captures(&report).expect(&report)[1].to_owned();
    assert_eq!(found, "4", "{report}");
}
