//! Another implementation as the server: the `h2` crate, over memory.

use super::*;
use crate::h2::{ErrorCode, Outcome, Refused};
use bytes::Bytes;
use h2::server::SendResponse;
use http::{HeaderMap, Response, StatusCode};
use proptest::collection::vec;
use proptest::prelude::*;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

/// Runs a client on one end of a pipe, and the server on the other.
fn run(client: impl AsyncFnOnce(DuplexStream), serve: fn(&mut h2::server::Builder)) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(async {
        let (near, far) = tokio::io::duplex(1000);
        let mut builder = h2::server::Builder::new();
        serve(&mut builder);
        let server = async {
            let mut connection = builder.handshake::<_, Bytes>(far).await.unwrap();
            while let Some(Ok((request, respond))) = connection.accept().await {
                let (head, body) = request.into_parts();
                tokio::spawn(answer(head, body, respond));
            }
        };
        tokio::join!(client(near), server);
    });
}

/// Responds with the request's headers and body, and with its length in trailers.
async fn answer(
    head: http::request::Parts,
    mut body: h2::RecvStream,
    mut respond: SendResponse<Bytes>,
) {
    let mut received = Vec::new();
    while let Some(Ok(part)) = body.data().await {
        let _ = body.flow_control().release_capacity(part.len());
        received.extend_from_slice(&part);
    }
    if let Some(code) = head.headers.get("x-reset") {
        let code: u32 = code.to_str().unwrap().parse().unwrap();
        return respond.send_reset(code.into());
    }
    let mut response = Response::builder()
        .status(StatusCode::OK)
        .header("x-method", head.method.as_str())
        .header("x-path", head.uri.path());
    let echoed = head.headers.iter();
    for (name, value) in echoed.filter(|(name, _)| name.as_str().starts_with("x-echo")) {
        response = response.header(name, value);
    }
    let response = response.body(()).unwrap();
    let mut stream = respond.send_response(response, false).unwrap();
    let length = received.len();
    stream.send_data(received.into(), false).unwrap();
    let mut trailers = HeaderMap::new();
    trailers.insert("x-length", length.into());
    let _ = stream.send_trailers(trailers);
}

/// Sends the requests as streams become free, and reads until all have ended.
async fn exchange(
    connection: &mut Connection,
    pipe: &mut DuplexStream,
    requests: &[Request],
) -> Seen {
    let mut seen = Seen::default();
    let mut begun = 0;
    let mut buffer = [0; 777];
    while seen.ended.len() < requests.len() {
        while begun < requests.len() && connection.capacity() > 0 {
            connection.begin(&requests[begun], begun).unwrap();
            begun += 1;
        }
        let output = connection.output().to_vec();
        if output.is_empty() {
            let size = pipe.read(&mut buffer).await.unwrap();
            assert!(size > 0, "the server closed the connection");
            connection.feed(&buffer[..size], &mut seen).unwrap();
            continue;
        }
        // The pipe is short: if both sides only wrote, each would wait for the other.
        let (mut near, mut far) = tokio::io::split(&mut *pipe);
        let (written, read) = poll_both(near.read(&mut buffer), far.write(&output)).await;
        connection.sent(written);
        connection.feed(&buffer[..read], &mut seen).unwrap();
    }
    seen
}

/// Returns the numbers of bytes written and read, as soon as one of them is not zero.
async fn poll_both(
    read: impl Future<Output = std::io::Result<usize>>,
    write: impl Future<Output = std::io::Result<usize>>,
) -> (usize, usize) {
    let (mut read, mut write) = (pin!(read), pin!(write));
    poll_fn(|cx| {
        let size = |poll: Poll<std::io::Result<usize>>| match poll {
            Poll::Ready(size) => size.unwrap(),
            Poll::Pending => 0,
        };
        let sizes = (size(write.as_mut().poll(cx)), size(read.as_mut().poll(cx)));
        if sizes == (0, 0) {
            Poll::Pending
        } else {
            Poll::Ready(sizes)
        }
    })
    .await
}

fn request_of(method: &str, headers: &[(&str, &str)], body: Option<&[u8]>) -> Request {
    let head = RequestHead {
        method,
        target: "/a/path",
        host: "localhost",
        headers,
        body,
        keepalive: true,
        version: Version::Http11,
    };
    Request::new(&head, "http").unwrap()
}

fn field<'a>(seen: &'a Seen, key: usize, name: &str) -> &'a str {
    let is_it = |field: &&(usize, String, String)| field.0 == key && field.1 == name;
    seen.fields
        .iter()
        .find(is_it)
        .map_or("", |(_, _, value)| value)
}

fn all_fields<'a>(seen: &'a Seen, key: usize, name: &str) -> Vec<&'a str> {
    let own = seen.fields.iter();
    let own = own.filter(|field| field.0 == key && field.1 == name);
    own.map(|(_, _, value)| value.as_str()).collect()
}

#[test]
fn another_server_reads_what_is_written_and_is_read() {
    let client = async |mut pipe: DuplexStream| {
        let mut connection = Connection::new(Config::default());
        let odd = "ÿ~^|<>\u{80} \"'".repeat(3);
        let long = "x".repeat(40_000);
        let values = ["", "plain", odd.as_str(), long.as_str()];
        for round in 0..5 {
            let requests: Vec<Request> = values
                .iter()
                .map(|value| request_of("POST", &[("X-Echo", value)], Some(value.as_bytes())))
                .collect();
            let seen = exchange(&mut connection, &mut pipe, &requests).await;
            for (key, value) in values.into_iter().enumerate() {
                let (_, ended) = seen.ended.iter().find(|(other, _)| *other == key).unwrap();
                assert_eq!(
                    (&ended.outcome, ended.status),
                    (&Outcome::Whole, 200),
                    "{round}"
                );
                assert_eq!(seen.body_of(key), value.as_bytes());
                assert_eq!(field(&seen, key, "x-method"), "POST");
                assert_eq!(field(&seen, key, "x-path"), "/a/path");
                let echo = field(&seen, key, "x-echo");
                assert_eq!(echo, String::from_utf8_lossy(value.trim().as_bytes()));
                assert_eq!(field(&seen, key, "x-length"), value.len().to_string());
            }
        }
    };
    run(client, |builder| {
        builder.max_header_list_size(1 << 20);
    });
}

/// A request's fields, by the numbers of their names, and the length of its body.
type RequestFields = (Vec<(u8, String)>, usize);

fn any_request() -> impl Strategy<Value = RequestFields> {
    let value = prop_oneof!["", "[!-~]([ -~]{0,60}[!-~])?"];
    (vec((0..5u8, value), 0..8), 0..20_000_usize)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_fields_and_bodies_are_read_by_another_implementation_and_echoed(
        asked in vec(any_request(), 1..12)
    ) {
        run(
            async |mut pipe: DuplexStream| {
                let mut connection = Connection::new(Config::default());
                let body = vec![b'b'; 20_000];
                let request = |(fields, length): &RequestFields| {
                    let names = fields.iter().map(|(name, _)| format!("X-Echo-{name}"));
                    let names: Vec<String> = names.collect();
                    let values = fields.iter().map(|(_, value)| value.as_str());
                    let headers: Vec<_> = names.iter().map(String::as_str).zip(values).collect();
                    request_of("POST", &headers, Some(&body[..*length]))
                };
                let requests: Vec<Request> = asked.iter().map(request).collect();
                let seen = exchange(&mut connection, &mut pipe, &requests).await;
                for (key, (fields, length)) in asked.iter().enumerate() {
                    assert_eq!(seen.body_of(key).len(), *length);
                    for name in 0..5 {
                        let sent = fields.iter().filter(|(own, _)| *own == name);
                        let sent: Vec<&str> = sent.map(|(_, value)| value.as_str()).collect();
                        assert_eq!(all_fields(&seen, key, &format!("x-echo-{name}")), sent);
                    }
                }
            },
            |_| {},
        );
    }
}

#[test]
fn small_windows_hold_both_sides_back_and_lose_nothing() {
    let client = async |mut pipe: DuplexStream| {
        let config = Config {
            stream_window: 10,
            connection_window: 100,
            ..Config::default()
        };
        let mut connection = Connection::new(config);
        let body: Vec<u8> = (0..80_000_u32).map(|n| n as u8).collect();
        let requests = [&body, &body].map(|body| request_of("PUT", &[], Some(body)));
        let seen = exchange(&mut connection, &mut pipe, &requests).await;
        assert!(seen.body_of(0) == body && seen.body_of(1) == body);
    };
    run(client, |builder| {
        builder
            .initial_window_size(100)
            .initial_connection_window_size(200);
    });
}

#[test]
fn a_reset_tells_its_code() {
    let client = async |mut pipe: DuplexStream| {
        let mut connection = Connection::new(Config::default());
        let codes: Vec<ErrorCode> = ErrorCode::all().collect();
        let request =
            |code: &ErrorCode| request_of("GET", &[("x-reset", &code.0.to_string())], None);
        let requests: Vec<Request> = codes.iter().map(request).collect();
        let mut seen = exchange(&mut connection, &mut pipe, &requests).await;
        seen.ended.sort_by_key(|(key, _)| *key);
        for (code, (_, ended)) in codes.into_iter().zip(seen.ended) {
            assert_eq!(ended.outcome, Outcome::Reset(code));
        }
    };
    run(client, |_| ());
}

#[test]
fn no_more_streams_begin_than_the_server_allows() {
    let client = async |mut pipe: DuplexStream| {
        let mut connection = Connection::new(Config::default());
        let get = request_of("GET", &[], None);
        assert_eq!(connection.begin(&get, 0), Err(Refused::NotReady));
        let requests = vec![get.clone(); 20];
        exchange(&mut connection, &mut pipe, &requests).await;
        assert_eq!(connection.capacity(), 3);
        for key in 0..3 {
            assert!(connection.begin(&get, key).is_ok());
        }
        assert_eq!(connection.begin(&get, 3), Err(Refused::Full));
    };
    run(client, |builder| {
        builder.max_concurrent_streams(3);
    });
}
