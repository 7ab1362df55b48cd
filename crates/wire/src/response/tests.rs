use super::*;
use crate::tests::{Seen, read_whole};

/// Feeds `input` at once, which must complete the message and be used to its end.
fn whole(input: &str) -> (ResponseParser, Seen) {
    let (parser, seen, used) = read_whole(Expect::Other, input.as_bytes()).unwrap();
    assert_eq!(used, input.len());
    (parser, seen)
}

/// Feeds `input` at once, which must leave the message unfinished.
fn unfinished(expect: Expect, input: &str) -> ResponseParser {
    let mut parser = ResponseParser::new();
    parser.begin(expect);
    let fed = parser.feed(input.as_bytes(), &mut ()).unwrap();
    assert_eq!(
        fed,
        Fed {
            used: input.len(),
            done: false
        }
    );
    parser
}

fn refused(input: &str) -> Malformed {
    read_whole(Expect::Other, input.as_bytes()).unwrap_err()
}

#[test]
fn the_parser_is_small() {
    assert!(
        size_of::<ResponseParser>() <= 96,
        "{}",
        size_of::<ResponseParser>()
    );
}

#[test]
fn reads_a_body_of_known_length() {
    let (parser, seen) = whole("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
    assert_eq!(seen.body, b"hello");
    assert_eq!(
        (parser.status(), parser.head_len(), parser.body_len()),
        (200, 38, 5)
    );
    assert!(parser.reusable());
}

#[test]
fn a_length_of_zero_is_whole_with_its_head() {
    let (parser, seen) = whole("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    assert!(seen.body.is_empty() && parser.reusable());
}

#[test]
fn leaves_the_next_message_alone() {
    let input = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1 404 No\r\n\r\n";
    let (_, seen, used) = read_whole(Expect::Other, input).unwrap();
    assert_eq!(
        (&seen.body[..], &input[used..][..8]),
        (&b"hi"[..], &b"HTTP/1.1"[..])
    );
}

#[test]
fn reads_messages_one_after_the_other() {
    let mut parser = ResponseParser::new();
    let mut input = &b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1 304 Same\r\n\r\n\
                       HTTP/1.1 201 New\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"[..];
    for status in [200, 304, 201] {
        parser.begin(Expect::Other);
        assert!(!parser.started());
        let fed = parser.feed(input, &mut ()).unwrap();
        assert!(fed.done && parser.started() && parser.reusable());
        assert_eq!(parser.status(), status);
        input = &input[fed.used..];
    }
    assert!(input.is_empty());
}

#[test]
fn a_whole_message_takes_no_more() {
    let (mut parser, _) = whole("HTTP/1.1 204 No Content\r\n\r\n");
    assert_eq!(
        parser.feed(b"HTTP/1.1", &mut ()),
        Ok(Fed {
            used: 0,
            done: true
        })
    );
}

#[test]
fn reads_chunks_extensions_and_trailers() {
    let (parser, seen) = whole(
        "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n\
         5\r\nhello\r\n1;a=\"b\"\r\n \r\n0005 \r\nworld\r\n0;last\r\nSum: 10\r\nB:\r\n 2\r\n\r\n",
    );
    assert_eq!(seen.body, b"hello world");
    assert_eq!(seen.fields_from(1), [("Sum", "10"), ("B", "2")]);
    assert_eq!(parser.body_len(), 11);
    assert!(parser.reusable());
}

#[test]
fn chunks_win_over_a_length() {
    let (_, seen) =
        whole("HTTP/1.1 200 OK\nContent-Length: 99\nTransfer-Encoding: chunked\n\n2\nhi\n0\n\n");
    assert_eq!(seen.body, b"hi");
}

#[test]
fn broken_chunks_are_refused() {
    let chunked = |rest: &str| {
        refused(&format!(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{rest}"
        ))
    };
    assert!(matches!(chunked("x\r\n"), Malformed::ChunkSize(_)));
    assert!(matches!(chunked("2\r\nhix\r\n"), Malformed::ChunkEnd(_)));
    assert!(matches!(
        chunked("fffffffffffffffff\r\n"),
        Malformed::ChunkSizeTooLarge(_)
    ));
    let endless = format!("0\r\n{}", "A: b\r\n".repeat(50_000));
    assert_eq!(chunked(&endless), Malformed::TrailersTooLong);
}

#[test]
fn a_body_without_framing_ends_with_the_connection() {
    for fields in ["", "Transfer-Encoding: gzip\r\nContent-Length: 2\r\n"] {
        let mut parser = unfinished(
            Expect::Other,
            &format!("HTTP/1.1 200 OK\r\n{fields}\r\nhello"),
        );
        assert_eq!(parser.discardable(), u64::MAX);
        assert!(!parser.discarded(1000));
        assert_eq!(parser.close(), Ok(()));
        assert_eq!((parser.body_len(), parser.reusable()), (1005, false));
    }
}

#[test]
fn head_204_304_and_101_have_no_body() {
    let fields = "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (expect, status, reusable) in [
        (Expect::Head, 200, true),
        (Expect::Other, 204, true),
        (Expect::Other, 304, true),
        (Expect::Other, 101, false),
        (Expect::Connect, 200, false),
        (Expect::Connect, 299, false),
    ] {
        let head = format!("HTTP/1.1 {status} x\r\n{fields}");
        let (parser, _, used) = read_whole(expect, head.as_bytes()).unwrap();
        assert_eq!(
            (used, parser.status(), parser.reusable()),
            (head.len(), status, reusable)
        );
    }
}

#[test]
fn a_refused_tunnel_has_a_body() {
    let head = "HTTP/1.1 407 No\r\nContent-Length: 5\r\n\r\n";
    assert_eq!(unfinished(Expect::Connect, head).discardable(), 5);
}

#[test]
fn the_method_tells_what_to_expect() {
    assert_eq!(Expect::for_method("HEAD"), Expect::Head);
    assert_eq!(Expect::for_method("CONNECT"), Expect::Connect);
    assert_eq!(Expect::for_method("head"), Expect::Other);
    assert_eq!(Expect::for_method("GET"), Expect::Other);
}

#[test]
fn interim_answers_are_passed_over_and_counted() {
    let (parser, seen) = whole(
        "HTTP/1.1 100 Continue\r\nConnection: close\r\nContent-Length: 9\r\n\r\n\
         HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n\
         HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
    );
    assert_eq!((parser.interim(), parser.status()), (2, 200));
    assert_eq!(seen.statuses, [200]);
    assert_eq!(seen.fields_from(0), [("Content-Length", "2")]);
    assert!(parser.reusable());
}

#[test]
fn an_interim_answer_alone_is_no_answer() {
    let mut parser = unfinished(Expect::Other, "HTTP/1.1 100 Continue\r\n\r\n");
    assert_eq!((parser.status(), parser.started()), (0, true));
    assert_eq!(parser.close(), Err(Malformed::Truncated));
}

#[test]
fn the_head_decides_about_the_connection() {
    for (version, fields, reusable) in [
        ("1.1", "", true),
        ("1.1", "Connection: close\r\n", false),
        ("1.1", "Connection: keep-alive, CLOSE\r\n", false),
        ("1.1", "Connection: a\r\nconnection: b,close\r\n", false),
        ("1.1", "Proxy-Connection: close\r\n", true),
        ("1.0", "", false),
        ("1.0", "Connection: Keep-Alive\r\n", true),
        ("1.0", "Connection: keep-alive, close\r\n", false),
    ] {
        let (parser, _) = whole(&format!(
            "HTTP/{version} 200 OK\r\n{fields}Content-Length: 1\r\n\r\nx"
        ));
        assert_eq!(parser.reusable(), reusable, "{version} {fields}");
    }
}

#[test]
fn an_old_answer_in_chunks_is_read_but_ends_the_connection() {
    let (parser, seen) = whole(
        "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n\
         0\r\n\r\n",
    );
    assert_eq!((&seen.body[..], parser.reusable()), (&b"x"[..], false));
}

#[test]
fn an_unfinished_message_is_not_reusable() {
    assert!(
        !unfinished(
            Expect::Other,
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nh"
        )
        .reusable()
    );
    assert!(!unfinished(Expect::Other, "HTTP/1.1 200 OK\r\n").reusable());
}

#[test]
fn a_close_before_the_end_is_told_from_one_before_the_answer() {
    assert_eq!(ResponseParser::new().close(), Err(Malformed::NoAnswer));
    assert_eq!(
        unfinished(Expect::Other, "\r\n").close(),
        Err(Malformed::NoAnswer)
    );
    for cut in [
        "H",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nh",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n",
    ] {
        assert_eq!(
            unfinished(Expect::Other, cut).close(),
            Err(Malformed::Truncated),
            "{cut}"
        );
    }
    assert_eq!(whole("HTTP/1.1 204 x\r\n\r\n").0.close(), Ok(()));
}

#[test]
fn a_close_after_a_whole_message_leaves_it_reusable_to_the_head() {
    let (mut parser, _) = whole("HTTP/1.1 204 x\r\n\r\n");
    assert_eq!(parser.close(), Ok(()));
    assert_eq!(parser.status(), 204);
}

#[test]
fn the_rest_of_a_body_may_be_dropped() {
    let mut parser = unfinished(
        Expect::Other,
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nab",
    );
    assert_eq!(parser.discardable(), 8);
    assert!(!parser.discarded(3));
    assert_eq!(parser.discardable(), 5);
    assert!(parser.discarded(5));
    assert_eq!(
        (parser.body_len(), parser.discardable(), parser.reusable()),
        (10, 0, true)
    );
}

#[test]
fn the_rest_of_a_chunk_may_be_dropped_and_reading_goes_on() {
    let mut parser = unfinished(
        Expect::Other,
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\nab",
    );
    assert_eq!(parser.discardable(), 8);
    assert!(!parser.discarded(8));
    assert_eq!(parser.discardable(), 0);
    assert_eq!(
        parser.feed(b"\r\n0\r\n\r\n", &mut ()),
        Ok(Fed {
            used: 7,
            done: true
        })
    );
    assert_eq!(parser.body_len(), 10);
}

#[test]
fn nothing_of_a_head_may_be_dropped() {
    assert_eq!(ResponseParser::new().discardable(), 0);
    assert_eq!(
        unfinished(Expect::Other, "HTTP/1.1 200 OK\r\n").discardable(),
        0
    );
}

#[test]
fn a_few_empty_lines_before_the_status_line_are_passed_over() {
    let (parser, _) = whole("\r\n\n\r\nHTTP/1.1 204 x\r\n\r\n");
    assert_eq!(parser.head_len(), 23);
    let mut parser = unfinished(Expect::Other, "\r\n\r\n\r\n\r\n");
    assert!(!parser.started());
    assert!(matches!(
        parser.feed(b"\r\nHTTP/1.1 204 x\r\n\r\n", &mut ()),
        Err(Malformed::NotHttp(_))
    ));
}

#[test]
fn bare_line_feeds_end_lines() {
    let (parser, seen) = whole("HTTP/1.1 200 OK\nA: b\nContent-Length: 2\n\nhi");
    assert_eq!((parser.status(), &seen.body[..]), (200, &b"hi"[..]));
    assert_eq!(seen.fields_from(0), [("A", "b"), ("Content-Length", "2")]);
}

#[test]
fn lines_that_are_no_fields_are_passed_over() {
    let (parser, seen) = whole("HTTP/1.1 200 OK\r\nno field\r\nContent-Length: 1\r\n: b\r\n\r\nx");
    assert_eq!(
        (parser.body_len(), seen.fields_from(0)),
        (1, vec![("Content-Length", "1")])
    );
}

#[test]
fn folds_are_shown_as_one_space() {
    let (_, seen) = whole("HTTP/1.1 204 x\r\nA: b \r\n\t c\r\n  d\r\nE: f\r\n\r\n");
    assert_eq!(seen.fields_from(0), [("A", "b c d"), ("E", "f")]);
}

#[test]
fn another_protocol_is_refused_with_its_first_bytes() {
    assert!(matches!(refused("\x15\x03\x01"), Malformed::NotHttp(_)));
    assert!(matches!(refused("S"), Malformed::NotHttp(_)));
    assert!(matches!(refused("HTTP/2"), Malformed::NotHttp(_)));
}

#[test]
fn a_head_is_judged_when_it_is_whole() {
    let mut parser = unfinished(Expect::Other, "HTTP/1.1 abc\r\nno field\r\n");
    assert!(matches!(
        parser.feed(b"\r\n", &mut ()),
        Err(Malformed::StatusLine(_))
    ));
}

#[test]
fn a_head_ends_within_256_kib() {
    let start = "HTTP/1.1 204 x\r\nA: ";
    let longest = format!(
        "{start}{}\r\n\r\n",
        "b".repeat(MAX_HEAD_BYTES - start.len() - 4)
    );
    assert_eq!(whole(&longest).0.head_len(), MAX_HEAD_BYTES as u64);
    let longer = longest.replacen("A: ", "A:  ", 1);
    assert_eq!(refused(&longer), Malformed::HeadTooLong);
    let mut parser = unfinished(Expect::Other, &longer[..MAX_HEAD_BYTES]);
    assert_eq!(parser.feed(b"\n", &mut ()), Err(Malformed::HeadTooLong));
}

#[test]
fn a_gathered_head_frees_its_memory() {
    let mut parser = unfinished(Expect::Other, "HTTP/1.1 204 x\r\n");
    assert!(parser.partial.is_some());
    assert!(parser.feed(b"\r\n", &mut ()).unwrap().done);
    assert!(parser.partial.is_none());
}
