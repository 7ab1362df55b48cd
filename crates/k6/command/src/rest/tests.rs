//! The API over loopback, with a test that only records its calls.

use super::*;
use crate::clients::{Order, OrderError, send_order};
use loadline_runner::Commands;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::sync::{Mutex, MutexGuard};

/// A fake test.
#[derive(Default)]
struct Fake(Mutex<Known>);

#[derive(Default)]
struct Known {
    status: Status,
    setup_data: Option<Value>,
    has_executor: bool,
    teardowns: u32,
}

impl Fake {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().expect("no test panics while it holds it")
    }

    fn running() -> Arc<Fake> {
        let fake = Fake::default();
        fake.known().status = Status {
            stage: 7,
            vus: 1,
            vus_max: 4,
            is_running: true,
            ..Status::default()
        };
        Arc::new(fake)
    }
}

impl Control for Fake {
    fn status(&self) -> Status {
        self.known().status
    }

    fn metrics(&self) -> Vec<Metric> {
        let of = |name: &str, kind, contains, is_tainted, sample: &[(&str, f64)]| Metric {
            name: name.to_owned(),
            kind,
            contains,
            is_tainted,
            sample: sample
                .iter()
                .map(|(name, value)| ((*name).to_owned(), *value))
                .collect(),
        };
        vec![
            of("vus", "gauge", "default", None, &[("value", 1.0)]),
            of(
                "t{x:a: b}",
                "trend",
                "time",
                Some(false),
                &[("p(95)", 0.5), ("avg", 1e6)],
            ),
        ]
    }

    fn groups(&self) -> Group {
        let check = Check {
            id: "c1".to_owned(),
            path: "::ok".to_owned(),
            name: "ok".to_owned(),
            passes: 2,
            fails: 1,
        };
        let inner = Group {
            id: "g1".to_owned(),
            path: "::a<b".to_owned(),
            name: "a<b".to_owned(),
            ..Group::default()
        };
        Group {
            id: "root".to_owned(),
            checks: vec![check],
            groups: vec![inner],
            ..Group::default()
        }
    }

    fn setup_data(&self) -> Option<Value> {
        self.known().setup_data.clone()
    }

    fn keep_setup_data(&self, data: Option<Value>) {
        self.known().setup_data = data;
    }

    fn run_setup(&self) -> Result<(), String> {
        self.known().setup_data = Some(json!({ "a": 1 }));
        Ok(())
    }

    fn run_teardown(&self) -> Result<(), String> {
        self.known().teardowns += 1;
        match self.known().teardowns {
            1 => Ok(()),
            _ => Err("no more".to_owned()),
        }
    }

    fn pause(&self, is_paused: bool) -> Result<(), String> {
        let status = &mut self.known().status;
        if status.is_paused == is_paused {
            return Err("test execution was already paused".to_owned());
        }
        status.is_paused = is_paused;
        Ok(())
    }

    fn stop(&self) {
        self.known().status.is_stopped = true;
    }

    fn scale(&self, scale: Scale) -> Result<(), ScaleError> {
        let mut known = self.known();
        if !known.has_executor {
            return Err(ScaleError::NoExecutor);
        }
        known.status.vus_max = scale.vus_max.unwrap_or(known.status.vus_max);
        known.status.vus = scale.vus.unwrap_or(known.status.vus);
        match known.status.vus {
            0.. => Ok(()),
            _ => Err(ScaleError::Invalid(
                "the number of VUs can't be negative".to_owned(),
            )),
        }
    }
}

fn serve_fake(fake: &Arc<Fake>) -> Server {
    Server::start("127.0.0.1:0", Arc::clone(fake) as Arc<dyn Control>).expect("a port")
}

/// Sends a request; returns the response's status, content type and body.
fn request(server: &Server, method: &str, path: &str, body: &str) -> (u16, String, String) {
    request_to(server, "localhost", method, path, body)
}

/// Sends a request with this host name.
fn request_to(
    server: &Server,
    host: &str,
    method: &str,
    path: &str,
    body: &str,
) -> (u16, String, String) {
    let mut stream = std::net::TcpStream::connect(server.address()).expect("a connection");
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(head.as_bytes()).expect("sent");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("a response");
    let (head, body) = text.split_once("\r\n\r\n").expect("a head");
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    let kind = head
        .lines()
        .find_map(|line| line.strip_prefix("Content-Type: "));
    (
        status.expect("a status"),
        kind.unwrap_or_default().to_owned(),
        body.to_owned(),
    )
}

fn body(server: &Server, method: &str, path: &str, sent: &str) -> String {
    request(server, method, path, sent).2
}

const STATUS: &str = concat!(
    r#"{"data":{"type":"status","id":"default","attributes":{"status":7,"#,
    r#""paused":false,"vus":1,"vus-max":4,"stopped":false,"running":true,"#,
    r#""tainted":false}}}"#,
);

#[test]
fn the_status_has_the_letter_of_k6() {
    let server = serve_fake(&Fake::running());
    let (status, kind, body) = request(&server, "GET", "/v1/status", "");
    assert_eq!(
        (status, kind.as_str()),
        (200, "application/json; charset=utf-8")
    );
    assert_eq!(body, STATUS);
    assert_eq!(self::body(&server, "PATCH", "/v1/status", "{}"), STATUS);
}

#[test]
fn metrics_have_the_letter_of_k6() {
    let server = serve_fake(&Fake::running());
    let vus = concat!(
        r#"{"type":"metrics","id":"vus","attributes":{"type":"gauge","#,
        r#""contains":"default","tainted":null,"sample":{"value":1}}}"#,
    );
    let trend = concat!(
        r#"{"type":"metrics","id":"t{x:a: b}","attributes":{"type":"trend","#,
        r#""contains":"time","tainted":false,"sample":{"avg":1000000,"p(95)":0.5}}}"#,
    );
    let all = format!(r#"{{"data":[{vus},{trend}]}}"#);
    assert_eq!(body(&server, "GET", "/v1/metrics", ""), all);
    let one = body(&server, "GET", "/v1/metrics/t%7Bx:a:%20b%7D", "");
    assert_eq!(one, format!(r#"{{"data":{trend}}}"#));
    let (status, _, none) = request(&server, "GET", "/v1/metrics/x", "");
    assert_eq!(status, 404);
    let said = concat!(
        r#"{"errors":[{"status":"404","title":"Not Found","#,
        r#""detail":"No metric with that ID was found"}]}"#,
    );
    assert_eq!(none, said);
}

#[test]
fn groups_have_the_letter_of_k6() {
    let server = serve_fake(&Fake::running());
    let root = concat!(
        r#"{"type":"groups","id":"root","attributes":{"path":"","name":"","#,
        r#""checks":[{"id":"c1","path":"::ok","name":"ok","passes":2,"fails":1}]},"#,
        r#""relationships":{"groups":{"data":[{"type":"groups","id":"g1"}]},"#,
        r#""parent":{"data":null}}}"#,
    );
    let inner = concat!(
        r#"{"type":"groups","id":"g1","attributes":{"path":"::a\u003cb","#,
        r#""name":"a\u003cb","checks":null},"relationships":{"groups":{"data":[]},"#,
        r#""parent":{"data":{"type":"groups","id":"root"}}}}"#,
    );
    let all = format!(r#"{{"data":[{root},{inner}]}}"#);
    assert_eq!(body(&server, "GET", "/v1/groups", ""), all);
    let one = body(&server, "GET", "/v1/groups/g1", "");
    assert_eq!(one, format!(r#"{{"data":{inner}}}"#));
    let (status, _, none) = request(&server, "GET", "/v1/groups/x", "");
    assert_eq!(status, 404);
    assert!(none.contains("No group with that ID was found"), "{none}");
}

#[test]
fn setup_data_are_shown_replaced_and_made() {
    let server = serve_fake(&Fake::running());
    let of = |data: &str| {
        format!(r#"{{"data":{{"type":"setupData","id":"default","attributes":{{{data}}}}}}}"#)
    };
    assert_eq!(body(&server, "GET", "/v1/setup", ""), of(""));
    let put = body(&server, "PUT", "/v1/setup", r#"{"b":2}"#);
    assert_eq!(put, of(r#""data":{"b":2}"#));
    assert_eq!(
        body(&server, "PUT", "/v1/setup", "null"),
        of(r#""data":null"#)
    );
    assert_eq!(body(&server, "PUT", "/v1/setup", ""), of(""));
    assert_eq!(
        body(&server, "POST", "/v1/setup", ""),
        of(r#""data":{"a":1}"#)
    );
    let (status, _, refused) = request(&server, "PUT", "/v1/setup", "xx");
    let said = concat!(
        r#"{"errors":[{"status":"400","title":"Error parsing request body","#,
        r#""detail":"invalid character 'x' looking for beginning of value"}]}"#,
    );
    assert_eq!((status, refused.as_str()), (400, said));
}

#[test]
fn a_teardown_is_run_and_its_exception_told() {
    let server = serve_fake(&Fake::running());
    let nothing = (200, String::new(), String::new());
    assert_eq!(request(&server, "POST", "/v1/teardown", ""), nothing);
    let (status, _, said) = request(&server, "POST", "/v1/teardown", "");
    assert_eq!(status, 500);
    assert!(said.contains("no more"), "{said}");
}

#[test]
fn a_test_is_stopped_and_says_so() {
    let fake = Fake::running();
    let server = serve_fake(&fake);
    let stop = r#"{"data":{"attributes":{"stopped":true}}}"#;
    let said = body(&server, "PATCH", "/v1/status", stop);
    assert!(said.contains(r#""stopped":true"#), "{said}");
    assert!(fake.known().status.is_stopped);
}

#[test]
fn what_can_t_be_is_refused_with_k6_s_titles() {
    let server = serve_fake(&Fake::running());
    let cases = [
        ("xx", 400, "Invalid data"),
        (
            r#"{"data":{"attributes":{"paused":false}}}"#,
            500,
            "Pause error",
        ),
        (
            r#"{"data":{"attributes":{"vus":3}}}"#,
            500,
            "Execution config error",
        ),
    ];
    for (sent, code, title) in cases {
        let (status, _, said) = request(&server, "PATCH", "/v1/status", sent);
        assert_eq!(status, code, "{sent}");
        assert!(said.contains(&format!(r#""title":"{title}""#)), "{said}");
    }
}

#[test]
fn other_methods_and_paths_are_answered_as_k6_answers_them() {
    let server = serve_fake(&Fake::running());
    let nothing = (405, String::new(), String::new());
    for path in [
        "/v1/status",
        "/v1/metrics",
        "/v1/groups/x",
        "/v1/setup",
        "/v1/teardown",
    ] {
        assert_eq!(request(&server, "DELETE", path, ""), nothing, "{path}");
    }
    let kind = "text/plain; charset=utf-8".to_owned();
    let unknown = (404, kind.clone(), "404 page not found\n".to_owned());
    for path in ["/v1/", "/v1/status/", "/v1/nosuch"] {
        assert_eq!(request(&server, "GET", path, ""), unknown, "{path}");
    }
    for path in ["/ping", "/", "/nosuch"] {
        let ok = (200, kind.clone(), "ok".to_owned());
        assert_eq!(request(&server, "GET", path, ""), ok, "{path}");
    }
}

/// Sends an order as the commands do.
fn send_to(server: &Server, order: Order) -> Result<String, OrderError> {
    send_order(&server.address().to_string(), order, &Commands::default())
}

#[test]
fn the_commands_pause_resume_and_scale_a_test() {
    let fake = Fake::running();
    fake.known().has_executor = true;
    let server = serve_fake(&fake);
    let paused = send_to(&server, Order::Pause).expect("a status");
    assert!(paused.contains("paused: \"true\"\n"), "{paused}");
    let again = send_to(&server, Order::Pause)
        .expect_err("refused")
        .to_string();
    assert_eq!(again, "Pause error: test execution was already paused");
    let resumed = send_to(&server, Order::Resume).expect("a status");
    assert!(resumed.contains("paused: \"false\"\n"), "{resumed}");
    let scaled = send_to(
        &server,
        Order::Scale {
            vus: Some(3),
            vus_max: Some(8),
        },
    );
    let scaled = scaled.expect("a status");
    assert!(scaled.contains("vus: \"3\"\nvus-max: \"8\"\n"), "{scaled}");
    let negative = Order::Scale {
        vus: Some(-1),
        vus_max: None,
    };
    let refused = send_to(&server, negative).expect_err("refused").to_string();
    assert_eq!(
        refused,
        "Config update error: the number of VUs can't be negative"
    );
}

#[test]
fn the_commands_print_the_status_and_the_metrics() {
    let server = serve_fake(&Fake::running());
    let status = send_to(&server, Order::Status).expect("a status");
    assert!(
        status.starts_with("status: 7\npaused: \"false\"\n"),
        "{status}"
    );
    let stats = send_to(&server, Order::Stats).expect("metrics");
    assert!(
        stats.starts_with("- name: vus\n  type:\n    type: gauge\n"),
        "{stats}"
    );
    assert!(stats.contains("- name: 't{x:a: b}'\n"), "{stats}");
    assert!(
        stats.ends_with("  sample:\n    avg: 1e+06\n    p(95): 0.5\n"),
        "{stats}"
    );
}

#[test]
fn an_address_that_can_t_be_had_is_refused_in_the_words_of_go() {
    let server = serve_fake(&Fake::running());
    let taken = server.address().to_string();
    let refused = |address: &str| {
        let control = Fake::running() as Arc<dyn Control>;
        Server::start(address, control)
            .expect_err("refused")
            .to_string()
    };
    let said = format!("listen tcp {taken}: bind: address already in use");
    assert_eq!(refused(&taken), said);
    let said = "listen tcp: address nonsense: missing port in address";
    assert_eq!(refused("nonsense"), said);
}

#[test]
fn the_port_is_free_once_the_server_is_dropped() {
    let server = serve_fake(&Fake::running());
    let address = server.address().to_string();
    drop(server);
    let again = Server::start(&address, Fake::running() as Arc<dyn Control>);
    assert_eq!(again.expect("the port").address().to_string(), address);
}

#[test]
fn a_name_that_is_not_this_machines_is_refused_over_loopback() {
    let server = serve_fake(&Fake::running());
    let status = |host: &str| request_to(&server, host, "GET", "/v1/status", "").0;
    let port = server.address().port();
    for host in [
        "localhost".to_owned(),
        format!("LOCALHOST:{port}"),
        "127.0.0.1:1".to_owned(),
        "[::1]:80".to_owned(),
        "127.9.9.9".to_owned(),
    ] {
        assert_eq!(status(&host), 200, "{host}");
    }
    for host in [
        "rebound.example",
        "rebound.example:6565",
        "10.0.0.1",
        "localhost.example",
        "x",
    ] {
        assert_eq!(status(host), 403, "{host}");
    }
    let stop = r#"{"data":{"attributes":{"stopped":true}}}"#;
    assert_eq!(
        request_to(&server, "evil.example", "PATCH", "/v1/status", stop).0,
        403
    );
}

#[test]
fn a_head_is_answered_as_a_get_without_its_body() {
    let server = serve_fake(&Fake::running());
    let (status, kind, body) = request(&server, "HEAD", "/v1/status", "");
    let get = request(&server, "GET", "/v1/status", "");
    assert_eq!((status, kind), (get.0, get.1));
    assert_eq!(body, "");
}
