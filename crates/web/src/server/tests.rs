//! A server over loopback, and what hostile clients get from it.

use super::*;
use crate::{Broadcast, Whole};
use rcgen::generate_simple_self_signed;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::{self, ClientConfig, ClientConnection, RootCertStore};

/// Answers with the method, the path and the length of the body; or with events.
struct Echo(Broadcast);

impl Service for Echo {
    fn answer(&self, request: &Request) -> Answer {
        match request.path() {
            "/events" => Answer::events(self.0.stream(None)),
            "/panic" => panic!("as asked"),
            path => {
                let text = format!("{} {path} {}", request.method, request.body.len());
                Answer::plain(StatusCode::OK, &text)
            }
        }
    }
}

fn broadcast() -> Broadcast {
    Broadcast::new(60, || Whole {
        number: 0,
        data: "whole".to_owned(),
    })
}

fn rules(access: Access, certificate: Option<Certificate>) -> Rules {
    Rules {
        hosts: Hosts::of("127.0.0.1:0"),
        same_origin: true,
        access,
        most_body_bytes: 1_000,
        title_case: false,
        certificate,
    }
}

fn serve_with(access: Access, broadcast: &Broadcast) -> Server {
    serve(access, None, broadcast)
}

fn serve(access: Access, certificate: Option<Certificate>, broadcast: &Broadcast) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let rules = rules(access, certificate);
    let echo = Arc::new(Echo(broadcast.clone()));
    Server::start("test", listener, rules, echo).expect("a server")
}

/// Counts the requests that it answers at once.
#[derive(Default)]
struct Counting {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Service for Counting {
    fn answer(&self, _: &Request) -> Answer {
        let now = self.now.fetch_add(1, Ordering::Relaxed) + 1;
        self.most.fetch_max(now, Ordering::Relaxed);
        thread::sleep(Duration::from_millis(5));
        self.now.fetch_sub(1, Ordering::Relaxed);
        Answer::empty(StatusCode::OK)
    }
}

#[test]
fn many_requests_at_once_are_all_answered_and_take_few_threads() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let counting = Arc::<Counting>::default();
    let server = Server::start(
        "test",
        listener,
        rules(Access::Open, None),
        counting.clone(),
    );
    let server = server.expect("a server");
    let mut streams: Vec<TcpStream> = (0..100)
        .map(|_| TcpStream::connect(server.address()).expect("a connection"))
        .collect();
    for stream in &mut streams {
        stream
            .write_all(get("/", "").as_bytes())
            .expect("it is taken");
    }
    for mut stream in streams {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
    assert!(counting.most.load(Ordering::Relaxed) <= MOST_ANSWERING);
}

fn open() -> Server {
    serve_with(Access::Open, &broadcast())
}

/// Sends bytes, and returns the status of the answer; 0 if the connection ends without one.
fn status_of(server: &Server, sent: &[u8]) -> u16 {
    let answer = answer_to(server, sent);
    let status = answer.split(' ').nth(1);
    status.and_then(|status| status.parse().ok()).unwrap_or(0)
}

fn answer_to(server: &Server, sent: &[u8]) -> String {
    let mut stream = TcpStream::connect(server.address()).expect("a connection");
    // The server may answer and close before it has read all.
    let _ = stream.write_all(sent);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

fn get(path: &str, fields: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{fields}\r\n")
}

#[test]
fn a_request_is_handed_to_the_service_as_a_whole() {
    let server = open();
    let sent = "POST /a?b=c HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
                Content-Length: 4\r\n\r\nbody";
    let answer = answer_to(&server, sent.as_bytes());
    assert!(answer.ends_with("POST /a 4"), "{answer}");
    let head = get("/x", "").replacen("GET", "HEAD", 1);
    assert!(answer_to(&server, head.as_bytes()).ends_with("\r\n\r\n"));
}

/// What is no HTTP is refused by the library, with a status of its choice or none.
const LIBRARY: u16 = 0;

#[test]
fn hostile_requests_are_refused_and_the_next_one_is_answered() {
    let server = open();
    let own = format!("http://{}", server.address());
    let with = |host: &str, fields: &str| {
        format!("GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{fields}\r\n")
    };
    let post = |fields: &str, body: &str| {
        format!("POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{fields}\r\n{body}")
    };
    let long = "x".repeat(1_001);
    let refused: Vec<(String, u16)> = vec![
        (with("evil.example", ""), 403),
        (with("192.0.2.1", ""), 403),
        (with("localhost.evil.example", ""), 403),
        (with("127.0.0.1.evil.example:80", ""), 403),
        (with("[::ffff:192.0.2.1]", ""), 403),
        (with("", ""), 403),
        (with("localhost", "Origin: http://evil.example\r\n"), 403),
        (with("localhost", "Origin: null\r\n"), 403),
        (with("localhost", "Origin: http://localhost:1\r\n"), 403),
        (with("localhost", "Origin: file://\r\n"), 403),
        (with("localhost", &format!("Origin: {own}\r\n")), 403),
        (
            with(
                "localhost",
                "Origin: http://localhost\r\nOrigin: http://a\r\n",
            ),
            403,
        ),
        (
            "GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned(),
            403,
        ),
        (
            post("Origin: http://evil.example\r\nContent-Length: 0\r\n", ""),
            403,
        ),
        (post("Content-Length: 1001\r\n", &long), 413),
        (post("Content-Length: 200000000\r\n", "x"), 413),
        (
            post("Content-Length: 18446744073709551615\r\n", "x"),
            LIBRARY,
        ),
        (post("Content-Length: -1\r\n", "x"), LIBRARY),
        (
            post("Content-Length: 1\r\nContent-Length: 2\r\n", "xx"),
            LIBRARY,
        ),
        (
            post(
                "Transfer-Encoding: chunked\r\n",
                &format!("3e9\r\n{long}\r\n0\r\n\r\n"),
            ),
            413,
        ),
        (
            post("Transfer-Encoding: chunked\r\n", "zz\r\nx\r\n"),
            LIBRARY,
        ),
        (post("Transfer-Encoding: gzip\r\n", "x"), LIBRARY),
        ("GET / HTTP/9.9\r\n\r\n".to_owned(), LIBRARY),
        ("GET /\r\n\r\n".to_owned(), LIBRARY),
        ("\0\0\0\0".to_owned(), LIBRARY),
        ("GET / HTTP/1.1\r\nno colon\r\n\r\n".to_owned(), LIBRARY),
        (
            "GET /\u{1} HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned(),
            LIBRARY,
        ),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(), LIBRARY),
        (
            format!(
                "GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n",
                "x".repeat(70_000)
            ),
            LIBRARY,
        ),
        (with("localhost", &"A: b\r\n".repeat(200)), LIBRARY),
        (
            with("localhost", &format!("A: {}\r\n", "b".repeat(1_000_000))),
            LIBRARY,
        ),
        ("\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}".to_owned(), LIBRARY),
    ];
    assert!(refused.len() >= 30);
    for (sent, expected) in refused {
        let status = status_of(&server, sent.as_bytes());
        let begin: String = sent.chars().take(120).collect();
        match expected {
            LIBRARY => assert!(
                status == 0 || (400..500).contains(&status),
                "{begin:?}: {status}"
            ),
            expected => assert_eq!(status, expected, "{begin:?}"),
        }
        assert_eq!(
            status_of(&server, get("/", "").as_bytes()),
            200,
            "{begin:?}"
        );
    }
}

#[test]
fn a_body_that_is_cut_off_is_not_answered_as_if_it_were_whole() {
    let server = open();
    let mut stream = TcpStream::connect(server.address()).expect("a connection");
    let sent = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nx";
    stream.write_all(sent.as_bytes()).expect("sent");
    stream.shutdown(std::net::Shutdown::Write).expect("shut");
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    assert!(!answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(status_of(&server, get("/", "").as_bytes()), 200);
}

#[test]
fn a_request_that_breaks_the_service_is_answered() {
    let server = open();
    assert_eq!(status_of(&server, get("/panic", "").as_bytes()), 500);
    assert_eq!(status_of(&server, get("/", "").as_bytes()), 200);
}

#[test]
fn a_page_of_this_origin_may_ask() {
    let server = open();
    let port = server.address().port();
    let own = format!(
        "POST / HTTP/1.1\r\nHost: localhost:{port}\r\nOrigin: http://localhost:{port}\r\n\
         Connection: close\r\nContent-Length: 0\r\n\r\n"
    );
    assert_eq!(status_of(&server, own.as_bytes()), 200);
}

#[test]
fn without_the_token_nothing_is_told_and_with_it_there_is_a_cookie() {
    let server = serve_with(Access::Token("0a1b".to_owned()), &broadcast());
    assert_eq!(status_of(&server, get("/", "").as_bytes()), 401);
    assert_eq!(status_of(&server, get("/?token=0a1c", "").as_bytes()), 401);
    let welcome = answer_to(&server, get("/?token=0a1b", "").as_bytes());
    assert!(welcome.starts_with("HTTP/1.1 303"), "{welcome}");
    assert!(welcome.contains("location: /\r\n"), "{welcome}");
    let cookie = welcome
        .lines()
        .find_map(|line| line.strip_prefix("set-cookie: "))
        .expect("a cookie");
    assert!(cookie.ends_with("; HttpOnly; SameSite=Strict"), "{cookie}");
    let (cookie, _) = cookie.split_once(';').expect("attributes");
    let again = get("/", &format!("Cookie: {cookie}\r\n"));
    assert_eq!(status_of(&server, again.as_bytes()), 200);
}

#[test]
fn a_browser_is_told_to_ask_for_the_password() {
    let password = Access::Password {
        user: "anna".to_owned(),
        password: "secret".to_owned(),
    };
    let server = serve_with(password, &broadcast());
    let refused = answer_to(&server, get("/", "").as_bytes());
    assert!(refused.starts_with("HTTP/1.1 401"), "{refused}");
    assert!(refused.contains("www-authenticate: Basic"), "{refused}");
    let known = "Authorization: Basic YW5uYTpzZWNyZXQ=\r\n";
    assert_eq!(status_of(&server, get("/", known).as_bytes()), 200);
}

#[test]
fn events_are_streamed_to_each_viewer_until_the_end() {
    let broadcast = broadcast();
    let server = serve_with(Access::Open, &broadcast);
    let viewers: Vec<_> = (0..10)
        .map(|_| {
            let mut stream = TcpStream::connect(server.address()).expect("a connection");
            let sent = stream.write_all(get("/events", "").as_bytes());
            sent.expect("sent");
            thread::spawn(move || {
                let mut text = String::new();
                stream.read_to_string(&mut text).expect("all of it");
                text
            })
        })
        .collect();
    while broadcast.viewers() < 10 {
        thread::yield_now();
    }
    (1..=3).for_each(|number| broadcast.send(number, "interval", "{}"));
    broadcast.end();
    for viewer in viewers {
        let text = viewer.join().expect("no panic");
        assert!(text.contains("content-type: text/event-stream"), "{text}");
        let begin = text
            .find("id: 0\nevent: state\ndata: whole\n\n")
            .expect("the state");
        let end = text
            .find("id: 3\nevent: interval\ndata: {}\n\n")
            .expect("the last");
        assert!(begin < end, "{text}");
    }
}

#[test]
fn a_thousand_streams_that_come_and_go_leave_nothing_behind() {
    let broadcast = broadcast();
    let server = serve_with(Access::Open, &broadcast);
    let files = || std::fs::read_dir("/proc/self/fd").expect("Linux").count();
    for _ in 0..10 {
        let streams: Vec<_> = (0..100)
            .map(|_| {
                let mut stream = TcpStream::connect(server.address()).expect("a connection");
                let sent = stream.write_all(get("/events", "").as_bytes());
                sent.expect("sent");
                // The first bytes are there: the stream is open.
                stream.read_exact(&mut [0; 12]).expect("a status");
                stream
            })
            .collect();
        assert!(broadcast.viewers() >= 1 && files() > 100);
        drop(streams);
        // Other tests of this process hold descriptors too, but no such number.
        while broadcast.viewers() > 0 {
            thread::yield_now();
        }
    }
    assert_eq!(status_of(&server, get("/", "").as_bytes()), 200);
    let own = server.address();
    drop(server);
    assert!(
        TcpStream::connect(own).is_err(),
        "nobody listens there any more"
    );
}

#[test]
fn connections_beyond_the_most_are_closed_at_once() {
    let server = open();
    let held: Vec<_> = (0..MOST_CONNECTIONS)
        .map(|_| {
            let mut stream = TcpStream::connect(server.address()).expect("a connection");
            let kept = get("/", "").replace("Connection: close\r\n", "");
            stream.write_all(kept.as_bytes()).expect("sent");
            stream.read_exact(&mut [0; 12]).expect("a status");
            stream
        })
        .collect();
    let mut one_more = TcpStream::connect(server.address()).expect("a connection");
    let _ = one_more.write_all(get("/", "").as_bytes());
    assert!(matches!(one_more.read(&mut [0; 12]), Ok(0) | Err(_)));
    drop(held);
    while status_of(&server, get("/", "").as_bytes()) != 200 {
        thread::yield_now();
    }
}

/// A certificate of this machine, and the client's side of TLS that trusts it alone.
fn certified() -> (Certificate, Arc<ClientConfig>) {
    let made = generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a certificate");
    let key = made.signing_key.serialize_pem();
    let certificate = Certificate::read(made.cert.pem().as_bytes(), key.as_bytes());
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).expect("an authority");
    let client = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    (certificate.expect("it is whole"), Arc::new(client))
}

#[test]
fn with_a_certificate_all_is_tls_and_what_is_not_is_led_to_it() {
    let (certificate, client) = certified();
    let access = Access::Token("0a1b".to_owned());
    let server = serve(access, Some(certificate), &broadcast());
    let ask = |sent: &str| {
        let name = "localhost".try_into().expect("a name");
        let mut session = ClientConnection::new(Arc::clone(&client), name).expect("a client");
        let mut socket = TcpStream::connect(server.address()).expect("a connection");
        let mut stream = rustls::Stream::new(&mut session, &mut socket);
        stream.write_all(sent.as_bytes()).expect("it is taken");
        let mut answer = Vec::new();
        // The end of the connection may come without TLS's own.
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    };
    let welcomed = ask(&get("/?token=0a1b", ""));
    assert!(welcomed.starts_with("HTTP/1.1 303"), "{welcomed}");
    assert!(
        welcomed.contains("SameSite=Strict; Secure\r\n"),
        "{welcomed}"
    );
    let own = "Authorization: Bearer 0a1b\r\nOrigin: https://localhost\r\n";
    let answer = ask(&get("/a", own));
    assert!(answer.ends_with("GET /a 0"), "{answer}");
    assert_eq!(status_of(&server, get("/", own).as_bytes()), 307);
    // Another client is answered after that.
    assert!(ask(&get("/b", own)).ends_with("GET /b 0"));
}
