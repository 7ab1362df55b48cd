//! Composed requests to servers over TLS that choose the version of HTTP, on the loopback.

use crate::behaviour::{Behaviour, Scenario};
use crate::observer::{Carrier, Observer};
use crate::simulated::at_once::request_all;
use crate::simulated::http2_server::{
    DATA, END_HEADERS, END_STREAM, HEADERS, PREFACE_BYTES, SETTINGS, STATUS_200, frame, go_away,
    take_frame,
};
use crate::simulated::plans::{SECOND, closed};
use crate::{AtOnce, Composed, Detail, Event, Iteration, Requester, Run};
use loadline_metrics::SeriesId;
use loadline_plan::Plan;
use loadline_reactor::Kernel;
use loadline_record::{Outcome, Snapshot};
use loadline_wire::Sink;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::future::Future;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use url::Url;

type TlsStream = StreamOwned<ServerConnection, TcpStream>;

/// The number of requests on each connection of a server.
type Seen = Arc<Mutex<Vec<usize>>>;

/// The way in which a server of HTTP/2 treats a connection.
#[derive(Clone, Copy)]
struct Manner {
    /// The number of waiting requests from which it answers.
    gathers: usize,
    /// The number of the request on a connection, from 1, with whose response it sends GOAWAY.
    leaves_at: usize,
}

const PROMPT: Manner = Manner {
    gathers: 1,
    leaves_at: usize::MAX,
};

/// Starts a server that offers these versions; returns its address and its counts.
fn serve(versions: &[&str], manner: Manner) -> (SocketAddr, Seen) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    let (config, seen) = (Arc::new(config(versions)), Seen::default());
    let told = Arc::clone(&seen);
    std::thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let tls = ServerConnection::new(Arc::clone(&config)).expect("a session");
            let mut stream = StreamOwned::new(tls, socket);
            let seen = Arc::clone(&told);
            std::thread::spawn(move || {
                // A client that disconnects is no failure of the server.
                let _ = answer(&mut stream, manner, &seen);
            });
        }
    });
    (address, seen)
}

fn config(versions: &[&str]) -> ServerConfig {
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a certificate");
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(own.signing_key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![own.cert.der().clone()], key)
        .expect("a certificate and its key");
    config.alpn_protocols = versions.iter().map(|name| (*name).into()).collect();
    config
}

fn answer(stream: &mut TlsStream, manner: Manner, seen: &Seen) -> std::io::Result<()> {
    while stream.conn.is_handshaking() {
        stream.conn.complete_io(&mut stream.sock)?;
    }
    let number = {
        let mut seen = seen.lock().expect("no panic");
        seen.push(0);
        seen.len() - 1
    };
    let count = || {
        let mut seen = seen.lock().expect("no panic");
        seen[number] += 1;
        seen[number]
    };
    match stream.conn.alpn_protocol() {
        Some(b"h2") => answer_http2(stream, manner, count),
        _ => answer_http1(stream, count),
    }
}

fn answer_http1(stream: &mut TlsStream, count: impl Fn() -> usize) -> std::io::Result<()> {
    let mut buffer = [0; 4_096];
    while stream.read(&mut buffer)? > 0 {
        count();
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")?;
    }
    Ok(())
}

fn answer_http2(
    stream: &mut TlsStream,
    manner: Manner,
    count: impl Fn() -> usize,
) -> std::io::Result<()> {
    stream.write_all(&frame(SETTINGS, 0, 0, &[]))?;
    let (mut input, mut buffer, mut skipped) = (Vec::new(), [0; 4_096], PREFACE_BYTES);
    let mut waiting = Vec::new();
    loop {
        let bytes = stream.read(&mut buffer)?;
        if bytes == 0 {
            return Ok(());
        }
        input.extend_from_slice(&buffer[..bytes]);
        let preface = skipped.min(input.len());
        input.drain(..preface);
        skipped -= preface;
        while let Some((kind, flags, number)) = take_frame(&mut input) {
            if kind == HEADERS || kind == DATA && flags & END_STREAM > 0 {
                waiting.push(number);
            }
        }
        if waiting.len() < manner.gathers {
            continue;
        }
        for number in waiting.drain(..) {
            if count() == manner.leaves_at {
                stream.write_all(&go_away(number, 0))?;
            }
            stream.write_all(&ok(number))?;
        }
    }
}

/// Returns the frames of a response with a field and a body, on this stream.
fn ok(stream: u32) -> Vec<u8> {
    // A literal field without indexing (RFC 7541, section 6.2.2).
    let block = [&[STATUS_200, 0, 1][..], b"a", &[1], b"b"].concat();
    let head = frame(HEADERS, END_HEADERS, stream, &block);
    [head, frame(DATA, END_STREAM, stream, b"ok")].concat()
}

type Work = Pin<Box<dyn Future<Output = ()>>>;
type Worker = fn(Requester<Kernel>, Url) -> Work;

/// Users that run this function in each iteration.
#[derive(Clone)]
struct Users(Worker, Url);

impl Scenario<Kernel> for Users {
    const COMPOSES: bool = true;
    type Behaviour = Users;

    fn user(&mut self) -> Users {
        self.clone()
    }
}

impl Behaviour<Kernel> for Users {
    async fn iterate(&mut self, iteration: Iteration<'_, Kernel>) {
        (self.0)(iteration.requester().clone(), self.1.clone()).await;
    }
}

/// The parts of a response that its observer receives.
#[derive(Default)]
struct ReceivedParts {
    text: String,
    is_http2: bool,
    has_tls: bool,
}

impl Sink for ReceivedParts {
    const NEEDS_HEAD: bool = true;
    const NEEDS_BODY: bool = true;

    fn status(&mut self, status: u16) {
        self.text.push_str(&status.to_string());
    }

    fn header(&mut self, name: &[u8], value: &[u8]) {
        let text = [b" ", name, b"=", value].concat();
        self.text.push_str(&String::from_utf8_lossy(&text));
    }

    fn body(&mut self, part: &[u8]) {
        self.text.push(' ');
        self.text.push_str(&String::from_utf8_lossy(part));
    }
}

impl Observer for ReceivedParts {
    const NEEDS_CARRIER: bool = true;

    fn carried(&mut self, carrier: &Carrier<'_>) {
        self.is_http2 = carrier.is_http2;
        self.has_tls = carrier.tls().is_some();
    }
}

fn get(url: &Url) -> Composed<'_> {
    Composed {
        method: "GET",
        url,
        headers: &[("Connection", "keep-alive")],
        body: None,
        series: SeriesId::default(),
        timeout: None,
        resend: crate::Resend::default(),
    }
}

async fn get_one(requester: &Requester<Kernel>, url: &Url) -> ReceivedParts {
    let mut heard = ReceivedParts::default();
    let sent = requester.request(get(url), &mut heard).await;
    assert!(sent.is_ok(), "{sent:?}");
    heard
}

/// Sends the same request four times at once.
async fn get_four(requester: &Requester<Kernel>, url: &Url) -> Vec<ReceivedParts> {
    let mut heard: Vec<ReceivedParts> = (0..4).map(|_| ReceivedParts::default()).collect();
    let requests = heard.iter_mut().map(|heard| (get(url), heard));
    let sent = request_all(requester, requests.collect(), AtOnce::default());
    for outcome in sent.await {
        assert_eq!(outcome, Ok(Outcome::Answered { status: 200 }));
    }
    heard
}

fn plan(users: u32, iterations_each: u64) -> Plan {
    let mut plan = closed(users, 60 * SECOND);
    plan.requests.clear();
    plan.load.users = users;
    plan.request_limit = Some(u64::from(users) * iterations_each);
    plan.connection.negotiates_http = true;
    plan.connection.tls.insecure = true;
    plan
}

/// Runs users that do this work; returns the merged record.
fn run(plan: Plan, address: SocketAddr, work: Worker) -> Snapshot {
    let url: Url = format!("https://{address}/").parse().expect("a URL");
    let scenario = move |_| Users(work, url.clone());
    let mut run = Run::start_scenario(plan, Detail::default(), scenario).expect("a run");
    let mut total = Snapshot::default();
    loop {
        match run.next_event(Duration::from_secs(10)) {
            Some(Event::Interval(snapshot)) => total.append(&snapshot),
            Some(Event::Ended { .. }) => return total,
            Some(_) => {}
            None => panic!("the run does not end"),
        }
    }
}

fn seen(seen: &Seen) -> Vec<usize> {
    seen.lock().expect("no panic").clone()
}

#[test]
fn each_user_has_one_connection_of_http2_and_sees_its_responses() {
    let (address, server) = serve(&["h2", "http/1.1"], PROMPT);
    let total = run(plan(3, 5), address, |requester, url| {
        Box::pin(async move {
            let heard = get_one(&requester, &url).await;
            assert_eq!(heard.text, "200 a=b ok");
            assert!(heard.is_http2 && heard.has_tls);
        })
    });
    assert_eq!((total.counts.answered, total.counts.failed), (15, 0));
    assert_eq!(total.counts.connections, 3);
    let by_connection = seen(&server);
    assert_eq!((by_connection.len(), by_connection.iter().sum()), (3, 15));
}

#[test]
fn requests_at_once_share_the_connection_that_the_first_of_them_dials() {
    // Responds only when all four have arrived: on several connections they would wait forever.
    let manner = Manner {
        gathers: 4,
        ..PROMPT
    };
    let (address, server) = serve(&["h2"], manner);
    let total = run(plan(1, 1), address, |requester, url| {
        Box::pin(async move {
            let heard = get_four(&requester, &url).await;
            assert!(heard.iter().all(|one| one.text == "200 a=b ok"));
        })
    });
    assert_eq!(total.counts.answered, 4);
    assert_eq!(seen(&server), [4]);
}

#[test]
fn a_server_of_http1_gets_a_connection_for_each_request_at_once() {
    let (address, server) = serve(&["http/1.1"], PROMPT);
    let total = run(plan(1, 1), address, |requester, url| {
        Box::pin(async move {
            let heard = get_four(&requester, &url).await;
            assert!(heard.iter().all(|one| !one.is_http2 && one.has_tls));
            let again = get_one(&requester, &url).await;
            assert!(again.text.ends_with(" ok"), "{}", again.text);
        })
    });
    assert_eq!((total.counts.answered, total.counts.failed), (5, 0));
    let by_connection = seen(&server);
    assert_eq!(by_connection.iter().sum::<usize>(), 5);
    assert!((2..=4).contains(&by_connection.len()), "{by_connection:?}");
}

#[test]
fn a_connection_that_goes_away_is_replaced_and_counts_as_a_reconnect() {
    let manner = Manner {
        leaves_at: 2,
        ..PROMPT
    };
    let (address, server) = serve(&["h2"], manner);
    let total = run(plan(1, 6), address, |requester, url| {
        Box::pin(async move {
            get_one(&requester, &url).await;
        })
    });
    assert_eq!((total.counts.answered, total.counts.failed), (6, 0));
    assert_eq!(total.counts.reconnects, 2);
    assert_eq!(seen(&server), [2, 2, 2]);
}

#[test]
fn idle_connections_that_are_closed_are_dialled_again_and_are_no_reconnects() {
    let (address, server) = serve(&["h2"], PROMPT);
    let total = run(plan(1, 3), address, |requester, url| {
        Box::pin(async move {
            get_four(&requester, &url).await;
            requester.close_idle();
        })
    });
    assert_eq!((total.counts.answered, total.counts.reconnects), (12, 0));
    assert_eq!(seen(&server), [4, 4, 4]);
}

#[test]
fn without_keep_alive_each_request_has_a_connection() {
    let (address, server) = serve(&["h2"], PROMPT);
    let mut plan = plan(1, 3);
    plan.connection.keepalive = false;
    let total = run(plan, address, |requester, url| {
        Box::pin(async move {
            let heard = get_one(&requester, &url).await;
            assert!(heard.is_http2);
        })
    });
    assert_eq!((total.counts.answered, total.counts.reconnects), (3, 0));
    assert_eq!(seen(&server), [1, 1, 1]);
}

#[test]
fn a_server_that_is_not_there_fails_all_that_wait_for_the_dial() {
    let nobody = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let total = run(plan(1, 1), nobody.expect("an address"), |requester, url| {
        Box::pin(async move {
            let mut observers = [(); 4];
            let requests = observers.iter_mut().map(|observer| (get(&url), observer));
            let sent = request_all(&requester, requests.collect(), AtOnce::default());
            for outcome in sent.await {
                assert!(matches!(outcome, Ok(Outcome::Failed(_))), "{outcome:?}");
            }
        })
    });
    assert_eq!((total.counts.answered, total.counts.failed), (0, 4));
}
