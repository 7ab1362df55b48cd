//! HTTP/2 against servers that were not written for this client: the test server, which speaks it
//! through another implementation and plays its faults, nginx and nghttpd.

use crate::rig::{count, failures, free_port, loadline, serve, serve_with, summary, text, url};
use loadline_testbed::{Counts, Limit};
use serde_json::Value;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const REQUESTS: u64 = 200;

/// One connection of one stream in a closed load, and an open load, each of 200 requests.
const CLOSED: &[&str] = &["--http", "2", "-c", "1", "-n", "200", "--timeout", "500ms"];
const OPEN: &[&str] = &[
    "--http",
    "2",
    "-c",
    "4",
    "-r",
    "200",
    "-d",
    "1s",
    "--timeout",
    "500ms",
    "--drain",
    "2s",
];

/// What these loads came to with a fault in each `every`-th request that the server gets.
fn each_load(fault: &str, every: u64, check: impl Fn(&Value, Counts, &str)) {
    for load in [CLOSED, OPEN] {
        let server = serve();
        let options = format!("h2-fault={fault}&every={every}&size=1000");
        let url = url(&server, &options);
        let summary = summary(&[load, &[url.as_str()]].concat());
        check(&summary, server.stop(), &format!("{fault}, {load:?}"));
    }
}

/// Expects that each tenth request failed in this way.
fn each_tenth_fails(fault: &str, kind: &str) {
    each_load(fault, 10, |summary, server, case| {
        assert_eq!(count(summary, "sent"), REQUESTS, "{case}");
        assert_eq!(failures(summary, kind), 20, "{case}: {summary:#}");
        assert_eq!(count(summary, "failed"), 20, "{case}: {summary:#}");
        assert_eq!(count(summary, "answered"), 180, "{case}");
        assert_eq!(server.requests, REQUESTS, "{case}");
    });
}

/// Expects that each tenth request was sent once more.
fn each_tenth_is_sent_again(fault: &str) {
    each_load(fault, 10, |summary, server, case| {
        assert_eq!(count(summary, "answered"), REQUESTS, "{case}: {summary:#}");
        assert_eq!(count(summary, "failed"), 0, "{case}: {summary:#}");
        assert_eq!(server.requests, 222, "{case}");
    });
}

#[test]
fn a_stream_that_is_reset_is_a_failure_with_its_code() {
    for (code, name) in [
        (0, "NO_ERROR"),
        (1, "PROTOCOL_ERROR"),
        (2, "INTERNAL_ERROR"),
        (3, "FLOW_CONTROL_ERROR"),
        (4, "SETTINGS_TIMEOUT"),
        (5, "STREAM_CLOSED"),
        (6, "FRAME_SIZE_ERROR"),
        (8, "CANCEL"),
        (9, "COMPRESSION_ERROR"),
        (10, "CONNECT_ERROR"),
        (11, "ENHANCE_YOUR_CALM"),
        (12, "INADEQUATE_SECURITY"),
        (13, "HTTP_1_1_REQUIRED"),
    ] {
        let server = serve();
        let url = url(&server, &format!("h2-fault=reset:{code}&every=10"));
        let summary = summary(&[CLOSED, &[url.as_str()]].concat());
        assert_eq!(failures(&summary, "stream_reset"), 20, "{summary:#}");
        assert_eq!(count(&summary, "reconnects"), 0);
        let example = summary["errors"]["stream_reset"]["example"].to_string();
        assert!(example.contains(name), "{example}");
    }
    each_tenth_fails("reset:2", "stream_reset");
    each_tenth_fails("reset-in-body:8", "stream_reset");
}

#[test]
fn what_the_server_did_not_look_at_is_sent_again() {
    each_tenth_is_sent_again("reset:7");
    each_tenth_is_sent_again("goaway");
}

#[test]
fn a_connection_that_is_given_up_fails_what_it_had_begun() {
    let server = serve();
    let url = url(&server, "h2-fault=goaway-in-body&every=10&size=1000");
    let summary = summary(&[CLOSED, &[url.as_str()]].concat());
    assert_eq!(failures(&summary, "go_away"), 20, "{summary:#}");
    assert_eq!(count(&summary, "answered"), 180);
    // Nothing follows the last one.
    assert_eq!(count(&summary, "reconnects"), 19);
}

#[test]
fn what_breaks_the_protocol_or_never_ends_is_a_failure_of_the_protocol() {
    for fault in [
        "wrong-frame",
        "header-flood",
        "ping-flood",
        "settings-flood",
    ] {
        let server = serve();
        let url = url(&server, &format!("h2-fault={fault}&every=10"));
        let summary = summary(&[CLOSED, &[url.as_str()]].concat());
        assert_eq!(failures(&summary, "protocol"), 20, "{fault}: {summary:#}");
        assert_eq!(count(&summary, "answered"), 180, "{fault}");
        assert_eq!(count(&summary, "reconnects"), 19, "{fault}");
    }
}

#[test]
fn silence_is_a_timeout_and_another_connection_takes_over() {
    for fault in ["silent", "closed-window"] {
        each_load(fault, 50, |summary, server, case| {
            let timeouts = failures(summary, "timeout");
            assert_eq!(timeouts, count(summary, "failed"), "{case}: {summary:#}");
            // On a connection that falls silent others of an open load may wait as well.
            assert!((4..=20).contains(&timeouts), "{case}: {summary:#}");
            assert_eq!(count(summary, "answered"), REQUESTS - timeouts, "{case}");
            assert!(server.requests >= REQUESTS - timeouts, "{case}");
        });
    }
}

#[test]
fn alpn_decides_which_version_is_spoken() {
    let server = serve_with(|config| config.tls = true);
    let url = format!("https://{}/", server.addr());
    let words = |http| ["-k", "-n", "100", "-c", "2", "--http", http, url.as_str()];
    for (http, is_2) in [("1.1", false), ("2", true), ("auto", true)] {
        let said = loadline(&words(http));
        assert_eq!(said.code, Some(0), "{http}: {}", said.stderr);
        assert_eq!(said.stdout.contains("HTTP/2"), is_2, "{}", said.stdout);
        assert!(said.stdout.contains("100 answered"), "{}", said.stdout);
    }
    assert_eq!(server.stop().requests, 300);
}

#[test]
fn all_scenarios_speak_the_version_that_every_server_chooses() {
    let [tls, other_tls] = [true, true].map(|tls| serve_with(|config| config.tls = tls));
    let plain = serve();
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("two.toml");
    let (a, b) = (format!("https://{}/", tls.addr()), url(&plain, ""));
    let c = format!("https://{}/", other_tls.addr());
    for (first, second, is_2) in [(&a, &b, false), (&b, &a, false), (&a, &c, true)] {
        let scenario = |name, url| {
            format!(
                "[[scenario]]\nname = '{name}'\nurl = '{url}'\nrequests = 20\nconnections = 2\n"
            )
        };
        let keys = [
            "http = 'auto'\ninsecure = true\n".to_owned(),
            scenario("a", first),
            scenario("b", second),
        ];
        std::fs::write(&plan, keys.concat()).unwrap();
        let said = loadline(&[plan.to_str().unwrap(), "--allow-invalid"]);
        assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
        assert_eq!(said.stdout.contains("HTTP/2"), is_2, "{}", said.stdout);
        assert!(said.stdout.contains("40 answered"), "{}", said.stdout);
    }
}

#[test]
fn in_clear_text_auto_is_http_1() {
    let server = serve();
    let said = loadline(&["--http", "auto", "-n", "10", "-c", "1", &url(&server, "")]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(!said.stdout.contains("HTTP/2"), "{}", said.stdout);
}

/// Runs the command, which must not start; returns its one sentence.
fn refusal(words: &[&str]) -> String {
    let said = loadline(words);
    assert_eq!(
        (said.code, said.stdout.as_str()),
        (Some(2), ""),
        "{words:?}"
    );
    said.stderr
}

#[test]
fn a_server_without_http2_is_no_target() {
    let nginx = Nginx::start();
    let plain = refusal(&["--http", "2", &nginx.url("http", nginx.http1)]);
    assert!(plain.contains("doesn't speak HTTP/2"), "{plain}");
    assert!(plain.contains("use --http 1.1"), "{plain}");
    let tls = refusal(&["--http", "2", "-k", &nginx.url("https", nginx.https1)]);
    assert!(tls.contains("does not offer HTTP/2"), "{tls}");
    assert!(tls.contains("use --http 1.1"), "{tls}");
    let auto = nginx.url("https", nginx.https1);
    let auto = loadline(&["--http", "auto", "-k", "-n", "10", "-c", "1", &auto]);
    assert_eq!(auto.code, Some(0), "{}", auto.stderr);
}

#[test]
fn nginx_closes_each_connection_after_its_number_of_requests_and_nothing_fails() {
    let nginx = Nginx::start();
    for (scheme, port) in [("http", nginx.http2), ("https", nginx.https2)] {
        let url = nginx.url(scheme, port);
        let words = ["-k", "--http", "2", "--streams", "10", "-c", "4"];
        let summary = summary(&[&words, &["-n", "5000", url.as_str()][..]].concat());
        assert_eq!(count(&summary, "answered"), 5000, "{summary:#}");
        assert_eq!(count(&summary, "failed"), 0);
        // A hundred requests on each connection.
        assert!(count(&summary, "reconnects") >= 40, "{summary:#}");
    }
}

#[test]
fn bodies_go_out_and_come_back_through_small_windows() {
    let nginx = Nginx::start();
    let url = format!("{}big", nginx.url("http", nginx.http2));
    let windows = ["--stream-window", "1000", "--connection-window", "100000"];
    for windows in [&[][..], &windows] {
        let words = ["--http", "2", "--streams", "3", "-c", "2", "-n", "30"];
        let summary = summary(&[&words, windows, &[url.as_str()]].concat());
        assert_eq!(count(&summary, "answered"), 30, "{summary:#}");
        let (bytes, bodies) = (count(&summary, "bytes_in"), 30 << 20);
        assert!((bodies..bodies + (1 << 20)).contains(&bytes), "{bytes}");
    }
    let body = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(body.path(), vec![b'x'; 300_000]).unwrap();
    let (url, body) = (
        nginx.url("http", nginx.http2),
        format!("@{}", text(body.path())),
    );
    let words = [
        "--http",
        "2",
        "--streams",
        "3",
        "-c",
        "2",
        "-n",
        "30",
        "-b",
        &body,
    ];
    let summary = summary(&[&words[..], &[url.as_str()]].concat());
    assert_eq!(count(&summary, "answered"), 30, "{summary:#}");
}

#[test]
fn nghttpd_answers_every_request() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("index.html"), "hello").unwrap();
    let port = free_port();
    let mut server = Command::new("nghttpd")
        .args(["--no-tls", "-a", "127.0.0.1", "-d", text(folder.path())])
        .arg(port.to_string())
        .stdout(Stdio::null())
        .spawn()
        .expect("nghttpd is installed: apt-get install nghttp2-server");
    await_port(port);
    let url = format!("http://127.0.0.1:{port}/");
    let words = ["--http", "2", "--streams", "10", "-c", "2", "-n", "2000"];
    let summary = summary(&[&words[..], &[url.as_str()]].concat());
    let _ = server.kill();
    let _ = server.wait();
    assert_eq!(count(&summary, "answered"), 2000, "{summary:#}");
    assert_eq!(count(&summary, "reconnects"), 0);
}

/// The answers of a scenario, all of its requests together.
fn of_scenario(summary: &Value, scenario: &str) -> u64 {
    let rows = summary["names"].as_array().expect("names");
    let own = rows
        .iter()
        .filter(|row| row["tags"]["scenario"] == scenario);
    own.map(|row| count(row, "answered")).max().unwrap()
}

#[test]
fn scenarios_have_exact_counts_over_http2() {
    let server = serve();
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("shop.toml");
    let address = server.addr();
    let keys = format!(
        "threads = 1\nduration = '1s'\nhttp = '2'\nstreams = 4\nurl = 'http://{address}/'\n\
         [[scenario]]\nname = 'browse'\nrate = 50\nconnections = 2\n\
         url = ['http://{address}/a', 'http://{address}/b']\n\
         [[scenario]]\nname = 'order'\nrequests = 30\nconnections = 3\nstart = '200ms'\n\
         [[scenario]]\nname = 'visit'\nconnections = 1\niterations_per_user = 5\n"
    );
    std::fs::write(&plan, keys).unwrap();
    let found = summary(&[text(&plan)]);
    assert_eq!(of_scenario(&found, "browse"), 50);
    assert_eq!(of_scenario(&found, "order"), 30);
    // Five of each of the four users of the connection.
    assert_eq!(of_scenario(&found, "visit"), 20);
    assert_eq!(count(&found, "failed"), 0);
    assert_eq!(server.stop().requests, 100);
}

#[test]
fn two_targets_take_turns_over_http2() {
    let (fast, slow) = (serve(), serve());
    let (a, b) = (url(&fast, "delay=20ms"), url(&slow, "delay=300ms"));
    let load = ["--http", "2", "--streams", "10", "-c", "4", "-t", "1"];
    let turns = ["-r", "40", "-d", "1s", "--repeat", "3", "--allow-invalid"];
    let rest = ["--no-progress", "-o", "json", "versus", &a, &b];
    let said = loadline(&[&rest[3..], &load, &turns, &rest[..3]].concat());
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    let all: Value = serde_json::from_str(&said.stdout).unwrap();
    for run in all["runs"].as_array().unwrap() {
        let summary = &run["summary"];
        assert_eq!(count(summary, "planned"), 40, "{summary:#}");
        assert_eq!(count(summary, "failed"), 0, "{summary:#}");
    }
    assert_eq!(fast.stop().requests, 120);
    assert_eq!(slow.stop().requests, 120);
}

#[test]
fn a_search_over_http2_ends_in_an_answer_with_its_reason() {
    let server = serve_with(|config| {
        config.limit = Some(Limit {
            rate_per_s: 400.0,
            counters: 2,
        });
    });
    let search = ["-d", "500ms", "--warmup", "500ms", "--trials", "3", "-t1"];
    let end = ["--precision", "10%", "--budget", "20s", "--check"];
    let load = ["p99<200ms", "--http", "2", "--streams", "10", "-c", "2"];
    let address = url(&server, "");
    let rest = ["-o", "json", "--no-progress", &address];
    let words = [&["capacity"], &search[..], &end, &load, &rest].concat();
    let said = loadline(&words);
    let report: Value = serde_json::from_str(&said.stdout).unwrap();
    let answer = &report["answer"];
    let code = match answer["kind"].as_str().unwrap() {
        "found" => 0,
        "nothing_holds" if answer["own_limit"].is_null() => 1,
        _ => 3,
    };
    assert_eq!(said.code, Some(code), "{answer:#} {}", said.stderr);
    if let Some(found) = answer["level"].as_f64() {
        assert!(found <= 480.0, "{found}");
    }
    let trials = report["trials"].as_array().unwrap();
    assert!(
        trials.iter().any(|trial| trial["held"] == true),
        "{trials:#?}"
    );
}

/// An nginx that speaks HTTP/2 on two ports, and only HTTP/1.1 on two others.
struct Nginx {
    process: Child,
    _folder: tempfile::TempDir,
    http1: u16,
    https1: u16,
    http2: u16,
    https2: u16,
}

impl Nginx {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        crate::nginx::certificate(folder.path());
        std::fs::write(folder.path().join("big"), vec![b'x'; 1 << 20]).unwrap();
        crate::nginx::allow_all(folder.path());
        let ports = [(); 4].map(|()| free_port());
        let config = folder.path().join("nginx.conf");
        std::fs::write(&config, configuration(folder.path(), ports)).unwrap();
        crate::nginx::allow_all(folder.path());
        let process = Command::new(crate::nginx::binary())
            .args(["-c", text(&config)])
            .stderr(Stdio::null())
            .spawn()
            .expect("nginx is installed: apt-get install nginx-light");
        let [http1, https1, http2, https2] = ports;
        await_port(https2);
        Nginx {
            process,
            _folder: folder,
            http1,
            https1,
            http2,
            https2,
        }
    }

    fn url(&self, scheme: &str, port: u16) -> String {
        format!("{scheme}://127.0.0.1:{port}/")
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let pid = self.process.id().to_string();
        let _ = Command::new("kill").args(["-s", "TERM", &pid]).status();
        let _ = self.process.wait();
    }
}

fn configuration(folder: &Path, [http1, https1, http2, https2]: [u16; 4]) -> String {
    let folder = text(folder);
    format!(
        "worker_processes 1; daemon off; pid {folder}/pid; error_log {folder}/error.log;
        events {{ worker_connections 2000; }}
        http {{
          access_log off; client_max_body_size 10m; keepalive_requests 100;
          client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2;
          fastcgi_temp_path {folder}/t3; uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
          ssl_certificate {folder}/cert.pem; ssl_certificate_key {folder}/key.pem;
          root {folder};
          server {{ listen 127.0.0.1:{http1}; listen 127.0.0.1:{https1} ssl;
            location = / {{ return 200 'hello'; }} }}
          server {{ listen 127.0.0.1:{http2} http2; listen 127.0.0.1:{https2} ssl http2;
            location = / {{ return 200 'hello'; }} }}
        }}"
    )
}

fn await_port(port: u16) {
    let patience = Instant::now() + Duration::from_secs(20);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < patience, "nothing listens on {port}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
