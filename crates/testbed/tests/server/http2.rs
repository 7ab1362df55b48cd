//! HTTP/2 on the bare socket: ordinary responses, and each fault.

use crate::client::{Client, End, plain, start, wait_until};
use loadline_testbed::{Config, Server};
use std::net::TcpStream;
use std::time::Duration;

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const GOAWAY: u8 = 7;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;

/// A flag of DATA and HEADERS.
const END_STREAM: u8 = 1;

/// The time after which a silent stream counts as silent.
const QUIET_TIME: Duration = Duration::from_millis(40);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Frame {
    kind: u8,
    flags: u8,
    stream: u32,
    payload: Vec<u8>,
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = (payload.len() as u32).to_be_bytes()[1..].to_vec();
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// Begins a connection of HTTP/2, with prior knowledge.
fn connect(server: &Server) -> Client<TcpStream> {
    let mut client = Client::connect(server);
    client.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    client.send(frame(SETTINGS, 0, 0, b""));
    client
}

/// Sends the head of a request; `method` is its field in the static table.
fn begin(client: &mut Client<TcpStream>, stream: u32, method: &[u8], target: &str, flags: u8) {
    let head = [
        method,
        b"\x86\x41\x04here\x04",
        &[target.len() as u8],
        target.as_bytes(),
    ];
    client.send(frame(HEADERS, 4 | flags, stream, &head.concat()));
}

fn get(client: &mut Client<TcpStream>, stream: u32, target: &str) {
    begin(client, stream, b"\x82", target, END_STREAM);
}

/// Returns the next frame of a stream, or a GOAWAY.
fn next(client: &mut Client<TcpStream>) -> Frame {
    loop {
        let head = client.bytes(9);
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        let stream = u32::from_be_bytes([head[5], head[6], head[7], head[8]]);
        let payload = client.bytes(length as usize);
        let (kind, flags) = (head[3], head[4]);
        if !matches!(kind, SETTINGS | WINDOW_UPDATE | PING) {
            return Frame {
                kind,
                flags,
                stream,
                payload,
            };
        }
    }
}

/// Returns the status's byte in the static table, and the body of the whole response on a stream.
fn response(client: &mut Client<TcpStream>, stream: u32) -> (u8, Vec<u8>) {
    let head = next(client);
    assert_eq!((head.kind, head.stream), (HEADERS, stream));
    let mut body = Vec::new();
    let mut is_over = head.flags & END_STREAM != 0;
    while !is_over {
        let part = next(client);
        assert_eq!((part.kind, part.stream), (DATA, stream));
        body.extend(part.payload);
        is_over = part.flags & END_STREAM != 0;
    }
    (head.payload[0], body)
}

const OK: u8 = 0x88;
const BAD_REQUEST: u8 = 0x8c;

#[test]
fn prior_knowledge_is_known_by_its_first_bytes() {
    let server = plain();
    let mut client = connect(&server);
    for stream in [1, 3, 5] {
        get(&mut client, stream, "/?size=100");
        assert_eq!(response(&mut client, stream), (OK, vec![b'x'; 100]));
    }
    drop(client);
    let mut old = Client::connect(&server);
    assert_eq!(old.get("/").status(), 200);
    let counts = server.stop();
    assert_eq!(
        (counts.requests, counts.answers, counts.connections),
        (4, 4, 2)
    );
}

#[test]
fn bytes_that_come_one_by_one_are_known_as_well() {
    let server = plain();
    for request in [
        &b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..],
        b"POST / HTTP/1.1\r\nHost: a\r\n",
    ] {
        let mut client = Client::connect(&server);
        for byte in request {
            client.send([*byte]);
        }
        if request.starts_with(b"PRI") {
            client.send(frame(SETTINGS, 0, 0, b""));
            get(&mut client, 1, "/");
            assert_eq!(response(&mut client, 1).0, OK);
        } else {
            client.send(b"Content-Length: 0\r\n\r\n");
            assert_eq!(client.answer().status(), 200);
        }
    }
}

#[test]
fn a_body_is_received_and_a_response_to_head_has_none() {
    let server = plain();
    let mut client = connect(&server);
    begin(&mut client, 1, b"\x83", "/", 0);
    client.send(frame(DATA, 0, 1, b"hello"));
    client.send(frame(DATA, END_STREAM, 1, b"!"));
    assert_eq!(response(&mut client, 1).0, OK);
    begin(&mut client, 3, b"\x02\x04HEAD", "/", END_STREAM);
    assert_eq!(response(&mut client, 3), (OK, vec![]));
    let counts = server.stop();
    assert_eq!(
        (counts.requests, counts.body_bytes, counts.answers),
        (2, 6, 2)
    );
}

#[test]
fn trailers_follow_the_body() {
    let server = plain();
    let mut client = connect(&server);
    get(&mut client, 1, "/?trailers=1");
    let kinds: Vec<(u8, u8)> = (0..3)
        .map(|_| next(&mut client))
        .map(|frame| (frame.kind, frame.flags & END_STREAM))
        .collect();
    assert_eq!(kinds, [(HEADERS, 0), (DATA, 0), (HEADERS, END_STREAM)]);
}

#[test]
fn close_after_sends_goaway_with_the_last_response() {
    let server = plain();
    let mut client = connect(&server);
    get(&mut client, 1, "/?close-after=2");
    assert_eq!(response(&mut client, 1).0, OK);
    get(&mut client, 3, "/?close-after=2");
    let (mut goaways, mut heads, mut bytes) = (0, 0, client.read_to_end_within(QUIET_TIME).0);
    while let Some(frame) = take_frame(&mut bytes) {
        goaways += u32::from(frame.kind == GOAWAY);
        heads += u32::from(frame.kind == HEADERS);
    }
    assert!(goaways >= 1 && heads == 1);
    assert_eq!(server.stop().answers, 2);
}

/// Removes and returns the first frame of data that was read to the end.
fn take_frame(bytes: &mut Vec<u8>) -> Option<Frame> {
    let length = u32::from_be_bytes([0, *bytes.first()?, bytes[1], bytes[2]]) as usize;
    let frame: Vec<u8> = bytes.drain(..9 + length).collect();
    Some(Frame {
        kind: frame[3],
        flags: frame[4],
        stream: u32::from_be_bytes([frame[5], frame[6], frame[7], frame[8]]),
        payload: frame[9..].to_vec(),
    })
}

#[test]
fn options_of_the_other_version_are_refused() {
    let server = plain();
    let mut client = connect(&server);
    for (stream, option) in [
        (1, "fault=garbage"),
        (3, "until-close=1"),
        (5, "version=1.0"),
    ] {
        get(&mut client, stream, &format!("/?{option}"));
        assert_eq!(response(&mut client, stream).0, BAD_REQUEST, "{option}");
    }
    let mut old = Client::connect(&server);
    assert_eq!(old.get("/?h2-fault=goaway").status(), 400);
}

#[test]
fn a_stream_is_reset_by_each_code() {
    let server = plain();
    let mut client = connect(&server);
    for (nth, code) in (0..14_u32).chain([0xdead_beef]).enumerate() {
        let stream = 4 * nth as u32 + 1;
        get(&mut client, stream, &format!("/?h2-fault=reset:{code}"));
        let reset = next(&mut client);
        assert_eq!((reset.kind, reset.stream), (RST_STREAM, stream));
        assert_eq!(reset.payload, code.to_be_bytes());
        get(&mut client, stream + 2, "/");
        assert_eq!(response(&mut client, stream + 2).0, OK);
    }
    let counts = server.stop();
    assert_eq!(
        (counts.faults, counts.answers, counts.requests),
        (15, 15, 30)
    );
}

#[test]
fn a_stream_is_reset_in_the_middle_of_its_body() {
    let server = plain();
    let mut client = connect(&server);
    get(&mut client, 1, "/?size=100&h2-fault=reset-in-body:2");
    assert_eq!(next(&mut client).kind, HEADERS);
    let mut received = 0;
    let reset = loop {
        let frame = next(&mut client);
        match frame.kind {
            DATA => received += frame.payload.len(),
            _ => break frame,
        }
    };
    assert_eq!(
        (reset.kind, &reset.payload[..]),
        (RST_STREAM, &[0, 0, 0, 2][..])
    );
    assert!(received <= 50);
    assert_eq!(server.stop().answers, 0);
}

#[test]
fn goaway_gives_up_the_stream_or_answers_half_of_it() {
    let server = plain();
    let mut client = connect(&server);
    get(&mut client, 1, "/");
    assert_eq!(response(&mut client, 1).0, OK);
    get(&mut client, 3, "/?h2-fault=goaway");
    let goaway = next(&mut client);
    assert_eq!(
        (goaway.kind, goaway.payload),
        (GOAWAY, vec![0, 0, 0, 1, 0, 0, 0, 0])
    );
    assert_eq!(client.read_to_end().1, End::Eof);

    let mut client = connect(&server);
    get(&mut client, 1, "/?size=100&h2-fault=goaway-in-body");
    assert_eq!(next(&mut client).payload, b"\x88\x0f\x0d\x03100");
    assert_eq!(next(&mut client).payload.len(), 50);
    assert_eq!(next(&mut client).payload, [0, 0, 0, 1, 0, 0, 0, 0]);
    assert_eq!(client.read_to_end().1, End::Eof);
    assert_eq!(server.stop().faults, 2);
}

#[test]
fn a_window_is_never_opened() {
    let server = plain();
    let mut client = connect(&server);
    begin(&mut client, 1, b"\x83", "/?h2-fault=closed-window", 0);
    for _ in 0..3 {
        client.send(frame(DATA, 0, 1, &[b'u'; 16_384]));
    }
    wait_until(|| server.counts().faults > 0);
    let (mut bytes, end) = client.read_to_end_within(QUIET_TIME);
    while let Some(frame) = take_frame(&mut bytes) {
        assert!(frame.stream == 0, "{frame:?}");
    }
    assert_eq!((end, server.stop().requests), (End::Silence, 0));
}

#[test]
fn a_wrong_frame_is_data_of_no_stream() {
    let server = plain();
    let mut client = connect(&server);
    get(&mut client, 1, "/?h2-fault=wrong-frame");
    let wrong = next(&mut client);
    assert_eq!((wrong.kind, wrong.stream), (DATA, 0));
    assert_eq!(client.read_to_end().1, End::Eof);
}

#[test]
fn floods_go_on_until_the_client_has_gone() {
    for (fault, kind) in [
        ("header-flood", CONTINUATION),
        ("ping-flood", PING),
        ("settings-flood", SETTINGS),
    ] {
        let server = start(Config::default());
        let mut client = connect(&server);
        get(&mut client, 1, &format!("/?h2-fault={fault}"));
        let mut count = 0;
        while count < 5_000 {
            let head = client.bytes(9);
            client.bytes(usize::from(head[2]) + 256 * usize::from(head[1]));
            count += u32::from(head[3] == kind);
        }
        drop(client);
        wait_until(|| server.counts().faults == 1);
    }
}

#[test]
fn a_silent_connection_says_nothing_on_any_stream() {
    let server = plain();
    let mut client = connect(&server);
    get(&mut client, 1, "/?delay=10s");
    get(&mut client, 3, "/?h2-fault=silent");
    wait_until(|| server.counts().requests == 2);
    let (mut bytes, end) = client.read_to_end_within(QUIET_TIME);
    while let Some(frame) = take_frame(&mut bytes) {
        assert_eq!(frame.stream, 0);
    }
    assert_eq!(end, End::Silence);
}
