//! Each fault on the bare socket: the received data, and the end.

use crate::client::{Client, End, plain, wait_until};
use loadline_testbed::{Break, Fault, Point};
use std::time::Duration;

/// The time after which a silent stream counts as silent.
const QUIET_TIME: Duration = Duration::from_millis(40);

/// Returns the data that a client reads when `fault` is played on a response of 60 bytes, and
/// checks the counts.
fn played(fault: Fault, more: &str) -> (String, End) {
    let server = plain();
    let mut client = Client::connect(&server);
    client.send_get(&format!("/?fault={fault}{more}"));
    let (bytes, end) = if falls_silent(fault) {
        wait_until(|| server.counts().faults > 0);
        client.read_to_end_within(QUIET_TIME)
    } else {
        client.read_to_end()
    };
    let counts = server.stop();
    let is_whole = matches!(
        fault,
        Fault::Break {
            at: Point::AfterAnswer,
            ..
        }
    );
    assert_eq!((counts.requests, counts.faults), (1, 1), "{fault}");
    assert_eq!(counts.answers, u64::from(is_whole), "{fault}");
    (String::from_utf8_lossy(&bytes).into_owned(), end)
}

fn falls_silent(fault: Fault) -> bool {
    matches!(
        fault,
        Fault::ShortLength
            | Fault::Break {
                how: Break::Hang,
                ..
            }
    )
}

fn end_of(how: Break) -> End {
    match how {
        Break::Close | Break::HalfClose => End::Eof,
        Break::Hang => End::Silence,
        Break::Reset => End::Reset,
    }
}

/// Returns the body, if the head is complete.
fn body(answer: &str) -> Option<&str> {
    answer.split_once("\r\n\r\n").map(|(_, body)| body)
}

#[test]
fn each_break_comes_at_its_point() {
    for fault in Fault::all() {
        let Fault::Break { how, at } = fault else {
            continue;
        };
        let (answer, end) = played(fault, "");
        assert_eq!(end, end_of(how), "{fault}");
        assert!(
            at == Point::BeforeHead || answer.starts_with("HTTP/1.1 200 OK\r\n"),
            "{fault}"
        );
        match at {
            Point::BeforeHead => assert_eq!(answer, "", "{fault}"),
            Point::InHead => assert_eq!(body(&answer), None, "{fault}: {answer}"),
            Point::AfterHead => assert_eq!(body(&answer), Some(""), "{fault}"),
            Point::InBody => assert_eq!(body(&answer).map(str::len), Some(30), "{fault}"),
            Point::AfterAnswer => assert_eq!(body(&answer).map(str::len), Some(60), "{fault}"),
        }
        assert!(
            !answer.to_lowercase().contains("connection: close"),
            "{fault} is not announced"
        );
    }
}

#[test]
fn a_break_in_a_chunked_body_cuts_a_chunk() {
    let reset_in_body = Fault::Break {
        how: Break::Reset,
        at: Point::InBody,
    };
    let (answer, end) = played(reset_in_body, "&chunked=1");
    let cut = format!("3c\r\n{}", "x".repeat(30));
    assert_eq!((body(&answer), end), (Some(cut.as_str()), End::Reset));
}

#[test]
fn a_broken_body_can_be_large() {
    let close_in_body = Fault::Break {
        how: Break::Close,
        at: Point::InBody,
    };
    let (answer, end) = played(close_in_body, "&size=1M");
    assert_eq!(
        (body(&answer).map(str::len), end),
        (Some(500_000), End::Eof)
    );
}

#[test]
fn a_half_closed_connection_still_reads() {
    let server = plain();
    let mut client = Client::connect(&server);
    client.send_get("/?fault=half-close-before-head");
    assert_eq!(client.read_to_end(), (vec![], End::Eof));
    // Lingering for two seconds would end in a reset; a half-closed server continues reading.
    for _ in 0..1_000 {
        client.send([b'u'; 10_000]);
    }
    assert_eq!(server.stop().requests, 1);
}

#[test]
fn a_silent_connection_ends_with_the_client() {
    let server = plain();
    let mut client = Client::connect(&server);
    client.send_get("/?fault=never-answer");
    client.send_get("/");
    assert_eq!(
        client.read_to_end_within(QUIET_TIME),
        (vec![], End::Silence)
    );
    assert_eq!(
        server.stop().requests,
        1,
        "nothing is served after the fault"
    );
}

#[test]
fn a_reset_after_an_answer_meets_the_next_request() {
    let server = plain();
    let mut client = Client::connect(&server);
    assert_eq!(client.get("/?fault=reset-after-answer").status(), 200);
    assert_eq!(client.read_to_end(), (vec![], End::Reset));
}

#[test]
fn garbage_is_no_http() {
    let (answer, end) = played(Fault::Garbage, "");
    assert!(!answer.starts_with("HTTP/") && !answer.is_empty());
    assert_eq!(end, End::Eof);
}

#[test]
fn a_short_length_leaves_bytes_over_and_the_connection_open() {
    let (answer, end) = played(Fault::ShortLength, "");
    assert!(answer.contains("Content-Length: 30\r\n"));
    assert_eq!((body(&answer).map(str::len), end), (Some(60), End::Silence));
}

#[test]
fn a_long_length_ends_too_soon() {
    let (answer, end) = played(Fault::LongLength, "");
    assert!(answer.contains("Content-Length: 61\r\n"));
    assert_eq!((body(&answer).map(str::len), end), (Some(60), End::Eof));
}

#[test]
fn a_bad_chunk_follows_a_good_one() {
    let (answer, end) = played(Fault::BadChunk, "");
    let expected = format!("1e\r\n{}\r\nno-size\r\n", "x".repeat(30));
    assert_eq!((body(&answer), end), (Some(expected.as_str()), End::Eof));
}

#[test]
fn a_huge_head_has_a_million_bytes() {
    let (answer, end) = played(Fault::HugeHead, "");
    assert!(answer.len() > 1_000_000);
    assert_eq!((body(&answer).map(str::len), end), (Some(60), End::Eof));
}

#[test]
fn faults_on_each_nth_request_are_counted_exactly() {
    let server = plain();
    let mut client = Client::connect(&server);
    for nth in 1..=100 {
        if nth % 10 == 1 {
            client = Client::connect(&server);
        }
        client.send_get("/?fault=close-before-head&every=10");
        if nth % 10 == 0 {
            assert_eq!(client.read_to_end(), (vec![], End::Eof));
        } else {
            assert_eq!(client.answer().status(), 200);
        }
    }
    let counts = server.stop();
    assert_eq!(
        (counts.faults, counts.answers, counts.requests),
        (10, 90, 100)
    );
    assert_eq!(
        counts.connections, 11,
        "one at first, and one for each ten requests"
    );
}
