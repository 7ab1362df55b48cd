//! Connections that the server closes: a request that it has not read is sent once more on another
//! connection, and counted; one that it may have read has failed.

use super::plans::{MS, SECOND, closed, open, time};
use super::ran::Ran;
use super::server::Reply;
use super::world::World;
use loadline_plan::Plan;
use loadline_record::{ErrorKind, Exchange};

const REQUEST_BYTES: u64 = "GET / HTTP/1.1\r\nHost: 10.0.0.1\r\n\r\n".len() as u64;

fn limited(limit: u64) -> Plan {
    Plan {
        request_limit: Some(limit),
        ..closed(1, SECOND)
    }
}

/// Returns start, dial and end of each exchange, in half milliseconds.
fn courses(ran: &Ran) -> Vec<[u64; 3]> {
    ran.each(|exchange| {
        let Exchange {
            start_ns,
            dial_ns,
            end_ns,
            ..
        } = *exchange;
        [start_ns, dial_ns, end_ns].map(|ns| ns * 2 / MS)
    })
}

/// Returns the number of connections opened, of reconnects among them, and of whole requests that
/// the server received.
fn connections(ran: &Ran) -> [usize; 3] {
    let counts = &ran.total.counts;
    assert_eq!(counts.connections as usize, ran.accepted);
    [ran.accepted, counts.reconnects as usize, ran.seen.len()]
}

#[test]
fn a_request_that_the_server_has_read_has_failed() {
    for reply in [Reply::nothing().reset(), Reply::nothing().close()] {
        let ran = World::new(limited(3))
            .script(move |seen| match seen.number {
                1 => reply.clone(),
                _ => Reply::ok().after(MS),
            })
            .run();
        assert_eq!(courses(&ran), [[0, 0, 6], [6, 0, 10], [10, 4, 20]]);
        assert_eq!(ran.counts(), [3, 3, 2, 1, 0]);
        assert_eq!(ran.errors(), [(ErrorKind::Read, 1)]);
        assert_eq!(connections(&ran), [2, 0, 3]);
        assert_eq!(ran.total.counts.resent, 0);
        assert_eq!(ran.total.counts.bytes_out, 3 * REQUEST_BYTES);
    }
}

#[test]
fn a_request_that_came_behind_the_close_is_sent_once_more() {
    // The second leaves at 3 ms and arrives at 4 ms.
    let ran = World::new(limited(3))
        .serves_in(MS)
        .at(3 * MS + MS / 2, |hands| hands.server.down())
        .at(4 * MS, |hands| hands.server.up())
        .run();
    // The end arrives at 4.5 ms. The dial lasts until 6.5 ms and the request 3 ms, with its clock
    // still running.
    assert_eq!(courses(&ran), [[0, 0, 6], [6, 4, 19], [19, 0, 25]]);
    assert_eq!(ran.counts(), [3, 3, 3, 0, 0]);
    assert_eq!(connections(&ran), [2, 1, 3]);
    assert_eq!(ran.total.counts.resent, 1);
    assert_eq!(ran.total.counts.bytes_out, 4 * REQUEST_BYTES);
    let bytes_out = ran.each(|exchange| exchange.bytes_out / REQUEST_BYTES);
    assert_eq!(bytes_out, [1, 2, 1]);
}

#[test]
fn a_reset_that_crosses_a_request_does_not_tell_what_was_read() {
    let ran = World::new(limited(3))
        .serves_in(MS)
        .at(3 * MS + MS / 2, |hands| hands.server.reset_all())
        .run();
    assert_eq!(courses(&ran), [[0, 0, 6], [6, 0, 9], [9, 4, 19]]);
    assert_eq!(ran.errors(), [(ErrorKind::Read, 1)]);
    assert_eq!(connections(&ran), [2, 0, 2]);
    assert_eq!(ran.total.counts.resent, 0);
}

#[test]
fn a_request_is_not_sent_a_third_time() {
    for reply in [Reply::nothing().reset(), Reply::nothing().close()] {
        let ran = World::new(limited(3))
            .script(move |seen| match seen.number {
                1 => reply.clone(),
                _ => Reply::ok().after(MS),
            })
            .at(3 * MS + MS / 2, |hands| hands.server.down())
            .at(4 * MS, |hands| hands.server.up())
            .run();
        assert_eq!(courses(&ran), [[0, 0, 6], [6, 4, 17], [17, 4, 27]]);
        assert_eq!(ran.errors(), [(ErrorKind::Read, 1)]);
        assert_eq!(ran.counts(), [3, 3, 2, 1, 0]);
        assert_eq!(connections(&ran), [3, 1, 3]);
    }
}

#[test]
fn a_request_that_cannot_be_sent_again_fails_as_the_dial_does() {
    let ran = World::new(limited(2))
        .serves_in(MS)
        .at(3 * MS + MS / 2, |hands| hands.server.down())
        .run();
    // The request arrives at 4 ms, after the close; that is known at 4.5 ms, and the dial is
    // refused at 6.5 ms.
    assert_eq!(courses(&ran), [[0, 0, 6], [6, 4, 13]]);
    assert_eq!(ran.errors(), [(ErrorKind::Connect, 1)]);
    assert_eq!(connections(&ran), [1, 0, 1]);
    assert_eq!(ran.total.counts.resent, 0);
}

#[test]
fn the_clock_of_a_timeout_runs_on_over_a_retry() {
    let mut plan = limited(2);
    plan.connection.timeout = time(20 * MS);
    let ran = World::new(plan)
        .script(|seen| match seen.number {
            0 => Reply::ok().after(MS),
            _ => Reply::nothing().sleep(),
        })
        .at(3 * MS + MS / 2, |hands| hands.server.down())
        .at(4 * MS, |hands| hands.server.up())
        .run();
    assert_eq!(courses(&ran), [[0, 0, 6], [6, 4, 46]]);
    assert_eq!(ran.errors(), [(ErrorKind::Timeout, 1)]);
}

#[test]
fn a_connection_closed_while_idle_is_replaced_before_the_send() {
    for reply in [
        Reply::ok().close_after(2 * MS),
        Reply::ok().reset_after(2 * MS),
    ] {
        let ran = World::new(open(100, 1, 95 * MS))
            .script(move |_| reply.clone().after(MS))
            .run();
        // All but the first dial.
        let course = |k: u64| {
            if k == 0 {
                [0, 0, 6]
            } else {
                [20 * k, 4, 20 * k + 10]
            }
        };
        assert_eq!(courses(&ran), (0..10).map(course).collect::<Vec<_>>());
        assert_eq!(ran.counts(), [10, 10, 10, 0, 0]);
        assert_eq!(connections(&ran), [10, 9, 10]);
    }
}

#[test]
fn a_connection_that_never_served_is_no_reconnect() {
    let mut world = World::new(open(100, 2, 25 * MS)).serves_in(MS);
    world.idle_ns = Some(8 * MS);
    let ran = world.run();
    // The second user's connection is closed before its first start, the first user's between two.
    assert_eq!(ran.each(|exchange| exchange.dial_ns / MS), [0, 2, 2]);
    assert_eq!(ran.counts(), [3, 3, 3, 0, 0]);
    assert_eq!(connections(&ran), [4, 1, 3]);
}

#[test]
fn a_close_that_crosses_a_request_is_seen_after_the_send() {
    let mut world = World::new(open(100, 1, 99 * MS)).serves_in(MS);
    // The server closes half a millisecond before the next request arrives.
    world.idle_ns = Some(8 * MS + MS / 2);
    let ran = world.run();
    // Every other request crosses the close, which is seen 1.5 ms after the send.
    let course = |k: u64| match k % 2 {
        0 => [20 * k, 0, 20 * k + 6],
        _ => [20 * k, 4, 20 * k + 13],
    };
    assert_eq!(courses(&ran), (0..10).map(course).collect::<Vec<_>>());
    assert_eq!(ran.counts(), [10, 10, 10, 0, 0]);
    assert_eq!(connections(&ran), [6, 5, 10]);
    assert_eq!(ran.total.counts.resent, 5);
    assert_eq!(ran.total.counts.bytes_out, 15 * REQUEST_BYTES);
}

/// Runs four exchanges whose responses announce the close of the connection.
fn run_of_announced_closes(reply: Reply) -> Ran {
    let ran = World::new(limited(4))
        .script(move |_| reply.clone().after(MS))
        .run();
    assert_eq!(ran.counts(), [4, 4, 4, 0, 0]);
    assert_eq!(connections(&ran), [4, 3, 4]);
    ran
}

#[test]
fn a_connection_that_is_announced_to_close_is_replaced() {
    for answer in [
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
    ] {
        // With the response, 2 ms after it, or never.
        let answer = Reply::raw(answer);
        for reply in [
            answer.clone().close(),
            answer.clone().close_after(2 * MS),
            answer.clone().reset_after(2 * MS),
            answer,
        ] {
            let expected = [[0, 0, 6], [6, 4, 16], [16, 4, 26], [26, 4, 36]];
            assert_eq!(courses(&run_of_announced_closes(reply)), expected);
        }
    }
}

const CLOSING: &str = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";

/// Runs eight requests, four at a time, on a server that responds twice on each connection.
fn second_of_four(reply: Reply) -> Ran {
    let mut plan = limited(8);
    plan.connection.pipeline = 4;
    World::new(plan)
        .script(move |seen| match seen.place {
            1 => reply.clone().after(MS).close(),
            _ => Reply::ok().after(MS),
        })
        .run()
}

#[test]
fn what_an_announced_close_leaves_of_a_batch_is_sent_again() {
    let ran = second_of_four(Reply::raw(CLOSING));
    // Each connection answers two. 2 ms for dialling, then 3 and 4 ms.
    let expected = [
        [0, 0, 6],
        [0, 0, 8],
        [0, 4, 18],
        [0, 4, 20],
        [20, 4, 30],
        [20, 4, 32],
        [20, 8, 42],
        [20, 8, 44],
    ];
    assert_eq!(courses(&ran), expected);
    assert_eq!(ran.counts(), [8, 8, 8, 0, 0]);
    assert_eq!(connections(&ran), [4, 3, 8]);
    assert_eq!(ran.total.counts.resent, 4);
    assert_eq!(ran.total.counts.bytes_out, 12 * REQUEST_BYTES);
}

#[test]
fn what_any_other_close_leaves_of_a_batch_has_failed() {
    // The response announces no close, or ends with the connection.
    let until_close = Reply::raw("HTTP/1.1 200 OK\r\n\r\nok");
    for reply in [Reply::ok(), until_close] {
        let ran = second_of_four(reply);
        assert_eq!(ran.counts(), [8, 8, 4, 4, 0]);
        assert_eq!(ran.errors(), [(ErrorKind::Read, 4)]);
        assert_eq!(connections(&ran), [2, 0, 4]);
        assert_eq!(ran.total.counts.resent, 0);
    }
}

#[test]
fn a_close_at_every_answer_serves_a_batch_one_by_one() {
    let mut plan = limited(4);
    plan.connection.pipeline = 4;
    let ran = World::new(plan)
        .script(move |_| Reply::raw(CLOSING).after(MS).close())
        .run();
    assert_eq!(
        courses(&ran),
        [[0, 0, 6], [0, 4, 16], [0, 8, 26], [0, 12, 36]]
    );
    assert_eq!(connections(&ran), [4, 3, 4]);
}
