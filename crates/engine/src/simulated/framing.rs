//! Responses in every framing, complete in whatever pieces they arrive.

use super::plans::{MS, SECOND, closed};
use super::server::Reply;
use super::world::World;
use loadline_plan::Plan;
use loadline_record::Outcome;

/// Runs three exchanges that get this response, cut up in several ways.
fn assert_answered(method: &str, status: u16, answer: &str, reply: fn(&str) -> Reply) {
    for most in [None, Some(1), Some(3), Some(1_000)] {
        let mut plan = Plan {
            request_limit: Some(3),
            ..closed(1, SECOND)
        };
        plan.requests[0].method = method.to_owned();
        let reply = reply(answer);
        let closes = format!("{reply:?}").contains("Close");
        let mut world = World::new(plan).script(move |_| reply.clone());
        world.cut_up = most;
        let ran = world.run();
        assert_eq!(ran.counts(), [3, 3, 3, 0, 0], "{answer} by {most:?}");
        let outcome = Outcome::Answered { status };
        assert!(ran.log().iter().all(|exchange| exchange.outcome == outcome));
        let bytes = answer.len() as u64;
        assert_eq!(ran.each(|exchange| exchange.bytes_in), [bytes; 3]);
        assert_eq!(ran.total.counts.bytes_in, 3 * bytes);
        assert_eq!(ran.accepted, if closes { 3 } else { 1 });
        assert_eq!(ran.total.end_ns, if closes { 10 * MS } else { 6 * MS });
    }
}

#[test]
fn a_body_of_known_length() {
    let keeps: fn(&str) -> Reply = |answer| Reply::raw(answer);
    assert_answered(
        "GET",
        200,
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        keeps,
    );
    assert_answered(
        "GET",
        404,
        "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n",
        keeps,
    );
    let kept = "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok";
    assert_answered("GET", 200, kept, keeps);
}

#[test]
fn a_body_in_chunks() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for body in [
        "0\r\n\r\n",
        "5\r\nhello\r\n3;x=y\r\nyou\r\n0\r\nSum: 8\r\nMore: no\r\n\r\n",
    ] {
        assert_answered("GET", 200, &format!("{head}{body}"), |answer| {
            Reply::raw(answer)
        });
    }
}

#[test]
fn a_body_that_ends_with_the_connection() {
    assert_answered("GET", 200, "HTTP/1.1 200 OK\r\n\r\nhello", |answer| {
        Reply::raw(answer).close()
    });
    assert_answered("GET", 200, "HTTP/1.0 200 OK\r\n\r\n", |answer| {
        Reply::raw(answer).close()
    });
}

#[test]
fn no_body_whatever_the_head_says() {
    let keeps: fn(&str) -> Reply = |answer| Reply::raw(answer);
    assert_answered(
        "HEAD",
        200,
        "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n",
        keeps,
    );
    assert_answered("GET", 204, "HTTP/1.1 204 None\r\n\r\n", keeps);
    assert_answered(
        "GET",
        304,
        "HTTP/1.1 304 Same\r\nContent-Length: 500\r\n\r\n",
        keeps,
    );
}

#[test]
fn interim_answers_are_passed_over() {
    let answer = "HTTP/1.1 100 Go on\r\n\r\nHTTP/1.1 103 Hints\r\nLink: a\r\n\r\n\
        HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    assert_answered("GET", 200, answer, |answer| Reply::raw(answer));
}

#[test]
fn a_large_body_is_dropped_unseen_to_its_last_byte() {
    const BYTES: usize = 1_000_000;
    let sized = format!("HTTP/1.1 200 OK\r\nContent-Length: {BYTES}\r\n\r\n");
    let chunked = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{BYTES:x}\r\n");
    let body = vec![b'x'; BYTES];
    let sized = [sized.as_bytes(), &body].concat();
    let chunked = [chunked.as_bytes(), &body, b"\r\n0\r\n\r\n"].concat();
    let until_close = [b"HTTP/1.1 200 OK\r\n\r\n".as_slice(), &body].concat();
    for (reply, bytes, connections) in [
        (Reply::raw(&sized), sized.len(), 1),
        (Reply::raw(&chunked), chunked.len(), 1),
        (Reply::raw(&until_close).close(), until_close.len(), 3),
    ] {
        for most in [None, Some(50_000)] {
            let plan = Plan {
                request_limit: Some(3),
                ..closed(1, SECOND)
            };
            let reply = reply.clone().drip(100_000, MS);
            let mut world = World::new(plan).script(move |_| reply.clone());
            world.cut_up = most;
            let ran = world.run();
            assert_eq!(ran.counts(), [3, 3, 3, 0, 0]);
            assert_eq!(ran.each(|exchange| exchange.bytes_in), [bytes as u64; 3]);
            // Ten pauses between eleven pieces, from the first byte to the last.
            assert_eq!(ran.each(|exchange| exchange.rest_ns() / MS), [10; 3]);
            assert_eq!(ran.each(|exchange| exchange.wait_ns() / MS), [2; 3]);
            assert_eq!(ran.accepted, connections);
        }
    }
}
