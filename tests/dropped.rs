//! A server that reads requests whole and drops the connection of some: what reached it, beside
//! what is reported of it, in everybody's words and beside the tools themselves where they are
//! installed.

use crate::rig::{
    beside_others, command, count, failures, loadline, serve, serve_with, summary, url,
};
use loadline_testbed::Counts;
use serde_json::Value;
use std::process::Command;

const REQUESTS: u64 = 400;
/// Of that many, each twentieth that reaches the server is dropped.
const DROPPED: u64 = 20;
const ENDS: [&str; 3] = [
    "close-before-head",
    "half-close-before-head",
    "reset-before-head",
];

/// What so many requests came to, and what the server counted.
fn run(fault: &str, flags: &[&str]) -> (Value, Counts) {
    let server = serve();
    let url = url(&server, &format!("fault={fault}&every=20"));
    let number = REQUESTS.to_string();
    let summary = summary(&[&["-n", &number], flags, &[url.as_str()]].concat());
    (summary, server.stop())
}

#[test]
fn a_dropped_request_reaches_the_server_once_and_has_failed() {
    for fault in ENDS {
        for flags in [
            &["-c", "1"][..],
            &["-c", "10", "-t", "2"],
            &["-c", "10", "-X", "POST", "-b", "x"],
            &["-c", "10", "--clock", "user"],
            &["-c", "10", "-r", "2000"],
            &["-c", "10", "--no-keepalive"],
        ] {
            let (summary, server) = run(fault, flags);
            let ends = ["sent", "answered", "failed", "resent"].map(|name| count(&summary, name));
            let expected = [REQUESTS, REQUESTS - DROPPED, DROPPED, 0];
            assert_eq!(ends, expected, "{fault} {flags:?}: {summary:#}");
            assert_eq!(failures(&summary, "read"), DROPPED, "{fault} {flags:?}");
            let book = (server.requests, server.faults);
            assert_eq!(book, (REQUESTS, DROPPED), "{fault} {flags:?}");
        }
    }
}

#[test]
fn over_tls_too() {
    for fault in ENDS {
        let server = serve_with(|config| config.tls = true);
        let url = format!("https://{}/?fault={fault}&every=20", server.addr());
        let summary = summary(&["-n", "400", "-c", "5", "--insecure", &url]);
        let ends = ["answered", "failed", "resent"].map(|name| count(&summary, name));
        assert_eq!(
            ends,
            [REQUESTS - DROPPED, DROPPED, 0],
            "{fault}: {summary:#}"
        );
        assert_eq!(server.stop().requests, REQUESTS, "{fault}");
    }
}

#[test]
fn what_is_left_of_a_pipeline_fails_with_a_dropped_request() {
    let (summary, server) = run("close-before-head", &["-c", "2", "--pipeline", "4"]);
    let [answered, failed, resent] =
        ["answered", "failed", "resent"].map(|name| count(&summary, name));
    assert_eq!((answered + failed, resent), (REQUESTS, 0));
    assert_eq!(server.requests, answered + server.faults);
    assert!(server.faults > 0 && failed >= server.faults, "{summary:#}");
}

#[test]
fn a_refused_stream_is_told_as_sent_again() {
    let server = serve();
    let options = url(&server, "h2-fault=reset:7&every=20");
    let words = ["-n", "400", "-c", "4", "--http", "2", &options];
    let told = summary(&words);
    let counted = server.stop();
    assert_eq!(
        (count(&told, "answered"), count(&told, "failed")),
        (REQUESTS, 0)
    );
    assert_eq!(count(&told, "resent"), counted.faults);
    assert_eq!(counted.requests, REQUESTS + counted.faults);
    let warnings = told["warnings"].as_array().unwrap();
    assert!(
        warnings.iter().any(|warning| warning["kind"] == "resent"),
        "{told:#}"
    );
    // A stream that is reset for another reason may have been looked at.
    let server = serve();
    let options = url(&server, "h2-fault=reset:2&every=20");
    let told = summary(&["-n", "400", "-c", "4", "--http", "2", &options]);
    assert_eq!(
        (count(&told, "failed"), count(&told, "resent")),
        (DROPPED, 0)
    );
    assert_eq!(server.stop().requests, REQUESTS);
}

#[test]
fn a_stream_that_got_the_beginning_of_a_response_is_not_sent_again() {
    for fault in ["reset-in-body:7", "goaway-in-body"] {
        let server = serve();
        let options = url(&server, &format!("h2-fault={fault}&every=20&size=100"));
        let told = summary(&["-n", "400", "-c", "1", "--http", "2", &options]);
        let ends = ["answered", "failed", "resent"].map(|name| count(&told, name));
        assert_eq!(ends, [REQUESTS - DROPPED, DROPPED, 0], "{fault}: {told:#}");
        assert_eq!(server.stop().requests, REQUESTS, "{fault}");
    }
}

#[test]
fn in_wrks_words_it_is_an_error_of_reading() {
    for fault in ENDS {
        let server = serve();
        let url = url(&server, &format!("fault={fault}&every=20"));
        let said = loadline(&["wrk", "-t1", "-c5", "-d1s", &url]);
        assert_eq!(said.code, Some(0), "{}", said.stderr);
        let figure = |before: &str, behind: &str| -> u64 {
            let text = said.stdout.split_once(before).unwrap().1;
            text.split_once(behind).unwrap().0.trim().parse().unwrap()
        };
        let read = figure(", read ", ",");
        let counted = server.stop();
        // At the end of the run each connection may have one more under way.
        assert!(
            read <= counted.faults && read + 5 >= counted.faults,
            "{}",
            said.stdout
        );
        assert!(read > 0);
    }
}

#[test]
fn in_abs_words_it_is_a_failure() {
    let server = serve();
    let options = url(&server, "fault=close-before-head&every=20");
    let said = loadline(&["ab", "-q", "-k", "-c", "5", "-n", "400", &options]);
    let lines = |text: &str| -> Vec<String> {
        let names = [
            "Complete requests",
            "Failed requests",
            "Keep-Alive requests",
        ];
        let lines = text
            .lines()
            .filter(|line| names.iter().any(|name| line.starts_with(name)));
        lines.map(str::to_owned).collect()
    };
    let expected = [
        "Complete requests:      400",
        "Failed requests:        20",
        "Keep-Alive requests:    380",
    ];
    assert_eq!(lines(&said.stdout), expected, "{}", said.stderr);
    assert_eq!(server.stop().requests, REQUESTS);
    let server = serve();
    let options = url(&server, "fault=close-before-head&every=20");
    let words = ["-q", "-k", "-c", "5", "-n", "400", &options];
    if let Some(real) = started("ab", &words) {
        assert_eq!(lines(&real), expected);
        assert_eq!(server.stop().requests, REQUESTS);
    }
}

/// What a tool prints that may not be installed; it is told if not.
#[expect(clippy::print_stderr, reason = "a comparison that is left out is told")]
fn started(tool: &str, words: &[&str]) -> Option<String> {
    match Command::new(tool).args(words).output() {
        Ok(output) => Some(String::from_utf8_lossy(&output.stdout).into_owned()),
        Err(error) => {
            eprintln!("not compared with the real {tool}, which can't be started: {error}");
            None
        }
    }
}

/// The requests that reached the server and those that failed, of a tool that prints a report of
/// `parse`.
fn book(
    fault: &str,
    say: impl Fn(&str) -> Option<String>,
    parse: fn(&str) -> u64,
) -> Option<[u64; 2]> {
    let server = serve();
    let said = say(&url(&server, &format!("fault={fault}&every=20")))?;
    Some([server.stop().requests, parse(&said)])
}

/// Faults of HTTP/2 that end streams, of which each twentieth has one.
const STREAM_ENDS: [&str; 5] = ["reset:7", "goaway", "reset:1", "reset:2", "reset-in-body:7"];

/// The same over HTTP/2, with or without TLS.
fn book_of_http2(
    fault: &str,
    has_tls: bool,
    say: impl Fn(&str) -> Option<String>,
    parse: fn(&str) -> u64,
) -> Option<[u64; 2]> {
    let server = serve_with(|config| config.tls = has_tls);
    let scheme = if has_tls { "https" } else { "http" };
    let address = server.addr();
    let said = say(&format!(
        "{scheme}://{address}/?size=100&h2-fault={fault}&every=20"
    ))?;
    Some([server.stop().requests, parse(&said)])
}

/// How many requests failed, by oha's report in JSON.
fn failed_in_oha(report: &str) -> u64 {
    let report: Value = serde_json::from_str(report).unwrap();
    let errors = report["errorDistribution"].as_object().unwrap();
    errors.values().filter_map(Value::as_u64).sum()
}

#[test]
fn in_ohas_words_no_stream_is_sent_again() {
    for fault in STREAM_ENDS {
        for method in ["GET", "POST"] {
            let flags = [
                "--no-tui",
                "--output-format",
                "json",
                "--http2",
                "-n",
                "400",
                "-c",
                "1",
                "-m",
                method,
            ];
            let ours = |url: &str| {
                let _beside_others = beside_others();
                let output = command(&[&["oha"], &flags[..], &[url]].concat()).output();
                Some(String::from_utf8(output.unwrap().stdout).unwrap())
            };
            let ours = book_of_http2(fault, false, ours, failed_in_oha);
            assert_eq!(ours, Some([REQUESTS, DROPPED]), "{fault} {method}");
            let real = |url: &str| started("oha", &[&flags[..], &[url]].concat());
            if let Some(real) = book_of_http2(fault, false, real, failed_in_oha) {
                assert_eq!(ours, Some(real), "{fault} {method}");
            }
        }
    }
}

#[test]
fn in_ohas_words_nothing_is_sent_again() {
    for fault in ENDS {
        for method in ["GET", "HEAD", "OPTIONS", "PUT", "DELETE", "POST", "PATCH"] {
            let flags = [
                "--no-tui",
                "--output-format",
                "json",
                "-n",
                "400",
                "-c",
                "4",
                "-m",
                method,
            ];
            let ours = |url: &str| {
                let _beside_others = beside_others();
                let output = command(&[&["oha"], &flags[..], &[url]].concat()).output();
                Some(String::from_utf8(output.unwrap().stdout).unwrap())
            };
            let ours = book(fault, ours, failed_in_oha);
            assert_eq!(ours, Some([REQUESTS, DROPPED]), "{fault} {method}");
            let real = |url: &str| started("oha", &[&flags[..], &[url]].concat());
            if let Some(real) = book(fault, real, failed_in_oha) {
                assert_eq!(ours, Some(real), "{fault} {method}");
            }
        }
    }
}

#[cfg(feature = "k6")]
/// Each method as k6's users send it, with headers, and whether it goes out again.
const OF_K6: [(&str, &str, bool); 8] = [
    ("GET", "{}", true),
    ("HEAD", "{}", true),
    ("OPTIONS", "{}", true),
    ("POST", "{}", false),
    ("PUT", "{}", false),
    ("PATCH", "{}", false),
    ("DELETE", "{}", false),
    ("POST", "{ 'Idempotency-Key': 'a' }", true),
];

#[cfg(feature = "k6")]
#[test]
fn in_k6s_words_it_goes_out_again_as_gos_client_has_it() {
    use crate::k6::Scripts;
    let failed = |report: &str| -> u64 { report.trim().parse().unwrap() };
    for fault in ["close-before-head", "reset-before-head"] {
        for (method, headers, goes_again) in OF_K6 {
            let script = format!(
                "import http from 'k6/http';
                export const options = {{ vus: 1, iterations: {REQUESTS} }};
                export default function () {{
                  const body = ['POST', 'PUT', 'PATCH'].includes('{method}') ? 'x' : null;
                  http.request('{method}', __ENV.BASE, body, {{ headers: {headers} }});
                }}
                export function handleSummary(data) {{
                  return {{ stdout: `${{data.metrics.http_req_failed.values.passes}}` }};
                }}"
            );
            let scripts = Scripts::new(&[("dropped.js", &script)]);
            let words = |url: &str| {
                [
                    "run".to_owned(),
                    "-q".to_owned(),
                    "-e".to_owned(),
                    format!("BASE={url}"),
                    "dropped.js".to_owned(),
                ]
            };
            let ours = |url: &str| {
                let words = words(url);
                Some(scripts.run(&words.each_ref().map(String::as_str)).stdout)
            };
            let ours = book(fault, ours, failed).unwrap();
            // Of those that go out again, some are dropped again.
            let expected = match goes_again {
                true => [REQUESTS + 21, 0],
                false => [REQUESTS, DROPPED],
            };
            assert_eq!(ours, expected, "{fault} {method} {headers}");
            let real = |url: &str| {
                let words = words(url);
                Some(scripts.real(&words.each_ref().map(String::as_str))?.stdout)
            };
            if let Some(real) = book(fault, real, failed) {
                assert_eq!(ours, real, "{fault} {method} {headers}");
            }
        }
    }
}

#[cfg(feature = "k6")]
#[test]
fn in_k6s_words_a_stream_goes_again_as_gos_client_has_it() {
    use crate::k6::Scripts;
    let failed = |report: &str| -> u64 { report.trim().parse().unwrap() };
    for fault in STREAM_ENDS {
        for method in ["GET", "POST"] {
            let script = format!(
                "import http from 'k6/http';
                export const options = {{
                  vus: 1, iterations: {REQUESTS}, insecureSkipTLSVerify: true
                }};
                export default function () {{
                  http.request('{method}', __ENV.BASE, '{method}' === 'POST' ? 'x' : null);
                }}
                export function handleSummary(data) {{
                  return {{ stdout: `${{data.metrics.http_req_failed.values.passes}}` }};
                }}"
            );
            let scripts = Scripts::new(&[("streams.js", &script)]);
            let say = |url: &str, is_real: bool| {
                let base = format!("BASE={url}");
                let words = ["run", "-q", "-e", &base, "streams.js"];
                match is_real {
                    true => Some(scripts.real(&words)?.stdout),
                    false => Some(scripts.run(&words).stdout),
                }
            };
            let ours = book_of_http2(fault, true, |url| say(url, false), failed).unwrap();
            // Of those that go out again, some are reset again.
            let expected = match fault {
                "reset:7" | "goaway" | "reset:1" => [REQUESTS + 21, 0],
                _ => [REQUESTS, DROPPED],
            };
            assert_eq!(ours, expected, "{fault} {method}");
            if let Some(real) = book_of_http2(fault, true, |url| say(url, true), failed) {
                assert_eq!(ours, real, "{fault} {method}");
            }
        }
    }
}
