//! Failures: each has its kind and its time, and is never retried.

use super::plans::{MS, SECOND, closed, open, time};
use super::ran::Ran;
use super::server::Reply;
use super::world::World;
use loadline_plan::{Body, Plan};
use loadline_reactor::Host;
use loadline_record::{ErrorKind, Exchange, Outcome};
use std::cell::Cell;
use std::rc::Rc;

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n";

fn limited(limit: u64) -> Plan {
    Plan {
        request_limit: Some(limit),
        ..closed(1, SECOND)
    }
}

/// Runs three requests with rounds of 3 ms; `reply` answers the second.
fn second_meets(reply: Reply) -> Ran {
    second_of(limited(3), reply)
}

fn second_of(plan: Plan, reply: Reply) -> Ran {
    World::new(plan)
        .script(move |seen| match seen.number {
            1 => reply.clone(),
            _ => Reply::ok().after(MS),
        })
        .run()
}

/// Returns start, dial and end of each exchange, in milliseconds.
fn courses(ran: &Ran) -> Vec<(u64, u64, u64)> {
    let course = |exchange: &Exchange| {
        let times = [exchange.start_ns, exchange.dial_ns, exchange.end_ns];
        let [start, dial, end] = times.map(|ns| ns / MS);
        (start, dial, end)
    };
    ran.each(course)
}

#[test]
fn a_late_answer_is_an_answer_and_late_where_the_plan_waits_for_it() {
    let mut plan = limited(3);
    plan.connection.timeout = time(50 * MS);
    plan.connection.awaits_late = true;
    // Three times the timeout, in one piece or in many.
    for reply in [
        Reply::ok().after(148 * MS),
        Reply::raw([HEAD.as_bytes(), &[b'x'; 40]].concat()).drip(2, 4 * MS),
    ] {
        let ran = second_of(plan.clone(), reply);
        assert_eq!(ran.counts(), [3, 3, 3, 0, 0]);
        assert_eq!((ran.errors(), ran.total.counts.late), (Vec::new(), 1));
        assert_eq!(ran.total.counts.connections, 1);
        assert!(ran.total.times.service.max_ns() >= 140 * MS);
    }
    // A response that never arrives is late as well, and in flight at the end.
    plan.duration = Some(time(400 * MS));
    let ran = second_of(plan, Reply::nothing().sleep());
    assert_eq!(ran.counts(), [2, 2, 1, 0, 1]);
    assert_eq!(ran.total.counts.late, 1);
}

#[test]
fn an_answer_that_never_comes_is_a_timeout() {
    let mut plan = limited(3);
    plan.connection.timeout = time(50 * MS);
    for reply in [
        Reply::nothing().sleep(),
        Reply::raw("HTTP/1.1 2").sleep(),
        Reply::raw(HEAD).sleep(),
        // Each piece arrives in time, the whole response does not.
        Reply::raw([HEAD.as_bytes(), &[b'x'; 40]].concat()).drip(3, 4 * MS),
    ] {
        let ran = second_of(plan.clone(), reply);
        assert_eq!(courses(&ran), [(0, 0, 3), (3, 0, 53), (53, 2, 58)]);
        assert_eq!(ran.errors(), [(ErrorKind::Timeout, 1)]);
        assert_eq!(ran.counts(), [3, 3, 2, 1, 0]);
        // We replaced the connection: the server did not close it.
        assert_eq!(
            (ran.total.counts.connections, ran.total.counts.reconnects),
            (2, 0)
        );
        assert_eq!(ran.total.times.service.len(), 3);
        assert!(ran.total.times.service.max_ns() >= 50 * MS);
    }
}

#[test]
fn a_timeout_of_an_open_load_counts_from_the_send_and_shows_the_wait_before() {
    let mut plan = open(100, 1, 35 * MS);
    plan.connection.timeout = time(15 * MS);
    let ran = World::new(plan).script(|_| Reply::nothing().sleep()).run();
    assert_eq!(courses(&ran), [(0, 0, 15), (15, 2, 30)]);
    assert_eq!(ran.each(|exchange| exchange.response_ns() / MS), [15, 20]);
    assert_eq!(ran.counts(), [4, 3, 0, 2, 1]);
    assert_eq!(ran.left(), [1, 1, 15 * MS]);
}

#[test]
fn a_server_that_takes_some_connections_is_not_dialled_to_the_last() {
    let mut plan = closed(400, 10 * MS);
    plan.connection.connect_timeout = time(10 * SECOND);
    let mut world = World::new(plan);
    world.most_accepted = 1;
    let began_ns = Rc::new(Cell::new(0));
    let began = Rc::clone(&began_ns);
    let ran = world
        .at(0, move |hands| began.set(hands.sim.now_ns()))
        .run();
    // 64 come up at one instant, before the server falls silent; 64 more are waited for once.
    assert_eq!(ran.accepted, 64);
    // The simulation begins at 1 s.
    assert!(began_ns.get() < 12 * SECOND, "{}", began_ns.get());
}

/// Runs three requests with bodies of 200 kB (50 kB fit into the window) on a server that answers
/// as soon as it has received their heads.
fn answered_early(reply: Reply) -> Ran {
    let mut plan = limited(3);
    plan.requests[0].method = "POST".to_owned();
    plan.requests[0].body = Body::Bytes(vec![b'x'; 200_000].into());
    plan.connection.timeout = time(100 * MS);
    let mut world = World::new(plan).script(move |_| reply.clone());
    (world.window, world.hasty) = (Some(50_000), true);
    world.run()
}

#[test]
fn an_answer_that_comes_before_the_body_is_sent_is_read() {
    let refusal = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno";
    for reply in [
        // The server reads no more, and closes or not.
        Reply::raw(refusal).sleep(),
        Reply::raw(refusal).close(),
        Reply::raw(refusal).reset_after(5 * MS),
    ] {
        let ran = answered_early(reply);
        assert_eq!(ran.counts(), [3, 3, 3, 0, 0]);
        assert_eq!(ran.errors(), []);
        assert_eq!(ran.accepted, 3);
        // 2 ms for dialling but the first, 2 ms there and back.
        let ends = ran.each(|exchange| (exchange.end_ns - exchange.start_ns) / MS);
        assert_eq!(ends, [2, 4, 4]);
    }
    let ran = answered_early(Reply::raw(refusal).sleep());
    // The window, and the bytes that the server read with the head.
    assert!(ran.total.counts.bytes_out < 3 * 70_000);
}

#[test]
fn behind_an_early_answer_the_body_is_sent_and_the_connection_goes_on() {
    let ran = answered_early(Reply::ok());
    assert_eq!(ran.counts(), [3, 3, 3, 0, 0]);
    assert_eq!((ran.accepted, ran.errors()), (1, vec![]));
    assert!(ran.total.counts.bytes_out > 3 * 200_000);
}

#[test]
fn the_rest_of_a_batch_times_out_with_it() {
    let mut plan = limited(8);
    plan.connection.pipeline = 4;
    plan.connection.timeout = time(50 * MS);
    let ran = second_of(plan, Reply::nothing().sleep());
    let ends = ran.each(|exchange| exchange.end_ns / MS);
    assert_eq!(ends, [3, 50, 50, 50, 55, 56, 57, 58]);
    assert_eq!(ran.errors(), [(ErrorKind::Timeout, 3)]);
}

#[test]
fn a_new_connection_that_breaks_before_any_byte_is_a_failure() {
    for reply in [Reply::nothing().reset(), Reply::nothing().close()] {
        let ran = World::new(limited(2))
            .script(move |seen| match seen.number {
                0 => reply.clone(),
                _ => Reply::ok().after(MS),
            })
            .run();
        assert_eq!(courses(&ran), [(0, 0, 2), (2, 2, 7)]);
        assert_eq!(ran.errors(), [(ErrorKind::Read, 1)]);
        assert_eq!(
            (ran.total.counts.connections, ran.total.counts.reconnects),
            (2, 0)
        );
        assert_eq!(ran.seen.len(), 2);
        // Its time is not that of a response.
        assert_eq!(ran.total.times.service.len(), 1);
    }
}

#[test]
fn an_answer_that_breaks_off_is_a_failure_whatever_the_connection_served() {
    let parts = ["H", "HTTP/1.1 200 OK\r\n", HEAD, &format!("{HEAD}half")];
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel";
    for part in parts.into_iter().chain([chunked]) {
        for reply in [Reply::raw(part).close(), Reply::raw(part).reset_after(1)] {
            let ran = second_meets(reply);
            let failed = ran.log()[1];
            assert_eq!(failed.outcome, Outcome::Failed(ErrorKind::Read), "{part}");
            assert_eq!((failed.start_ns, failed.end_ns / MS), (3 * MS, 5));
            assert_eq!(failed.bytes_in, part.len() as u64);
            assert_eq!(ran.counts(), [3, 3, 2, 1, 0]);
            assert_eq!(ran.seen.len(), 3, "nothing is sent twice");
            assert_eq!(
                (ran.total.counts.connections, ran.total.counts.reconnects),
                (2, 0)
            );
        }
    }
}

#[test]
fn what_is_not_http_is_a_failure_of_the_protocol() {
    for reply in [
        "SSH-2.0-OpenSSH_9.2\r\n",
        "HTTP/2 200 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nnothing\r\n",
    ] {
        let ran = second_meets(Reply::raw(reply));
        assert_eq!(courses(&ran), [(0, 0, 3), (3, 0, 5), (5, 2, 10)]);
        assert_eq!(ran.errors(), [(ErrorKind::Protocol, 1)], "{reply}");
        assert_eq!(ran.log()[1].bytes_in, reply.len() as u64, "{reply}");
        assert_eq!((ran.accepted, ran.seen.len()), (2, 3));
        assert_eq!(ran.total.counts.reconnects, 0);
    }
}

#[test]
fn bytes_behind_an_answer_end_its_connection() {
    let ran = second_meets(Reply::raw("HTTP/1.1 204 None\r\n\r\nmore"));
    assert_eq!(courses(&ran), [(0, 0, 3), (3, 0, 5), (5, 2, 10)]);
    assert_eq!(ran.counts(), [3, 3, 3, 0, 0]);
    assert_eq!(
        (ran.accepted, ran.total.counts.closed_for_extra_bytes),
        (2, 1)
    );
}

#[test]
fn bytes_behind_an_answer_may_come_while_its_connection_stands_idle() {
    let long = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokmore";
    for (answer, extra) in [(long.to_owned(), 1), (long.replace("more", "\r\n"), 0)] {
        let ran = World::new(open(100, 1, 29 * MS))
            .script(move |seen| match seen.number {
                1 => Reply::raw(&answer).drip(40, 2 * MS),
                _ => Reply::ok(),
            })
            .run();
        assert_eq!(ran.counts(), [3, 3, 3, 0, 0]);
        assert_eq!(ran.total.counts.closed_for_extra_bytes, extra);
        assert_eq!(ran.accepted as u64, 1 + extra);
        assert_eq!(ran.total.counts.reconnects, extra);
    }
}

#[test]
fn bytes_that_come_unasked_are_no_answer() {
    // An unsolicited response arrives 2 ms after the response, while the connection is idle.
    let unasked = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 500 No\r\n\r\n";
    let ran = World::new(open(100, 1, 29 * MS))
        .script(move |seen| match seen.number {
            1 => Reply::raw(unasked).drip(40, 2 * MS),
            _ => Reply::ok(),
        })
        .run();
    assert_eq!(ran.counts(), [3, 3, 3, 0, 0]);
    assert_eq!(
        ran.total.statuses.get(&200),
        Some(&3),
        "{:?}",
        ran.total.statuses
    );
    assert_eq!(
        (ran.accepted, ran.total.counts.closed_for_extra_bytes),
        (2, 0)
    );
}

#[test]
fn a_server_that_is_away_for_a_while_refuses_connections() {
    let world = World::new(Plan {
        duration: Some(time(30 * MS)),
        ..closed(1, SECOND)
    });
    let ran = world
        .serves_in(MS)
        .at(10 * MS + MS / 2, |hands| hands.server.down())
        .at(20 * MS, |hands| hands.server.up())
        .run();
    // The fourth request had arrived when the server stopped, and fails. The next dial is refused,
    // and so is another, a millisecond later. After a wait of 2 ms, the server is back.
    let halves = |exchange: &Exchange| {
        [exchange.start_ns, exchange.dial_ns, exchange.end_ns].map(|ns| ns * 2 / MS)
    };
    let expected = [
        [0, 0, 6],
        [6, 0, 12],
        [12, 0, 18],
        [18, 0, 23],
        [23, 4, 27],
        [29, 4, 33],
        [37, 4, 47],
        [47, 0, 53],
        [53, 0, 59],
    ];
    assert_eq!(ran.each(halves), expected);
    assert_eq!(
        ran.errors(),
        [(ErrorKind::Connect, 2), (ErrorKind::Read, 1)]
    );
    assert_eq!(ran.counts(), [10, 10, 6, 3, 1]);
    // Refused requests were never sent; the fourth was, once.
    let sent = ran.log()[0].bytes_out;
    let bytes_out = ran.each(|exchange| exchange.bytes_out / sent);
    assert_eq!(bytes_out, [1, 1, 1, 1, 0, 0, 1, 1, 1]);
    assert_eq!(
        (ran.total.counts.connections, ran.total.counts.reconnects),
        (2, 0)
    );
}

#[test]
fn a_server_that_is_away_is_dialled_less_and_less_often() {
    let ran = World::new(closed(1, SECOND))
        .serves_in(MS)
        .at(MS / 2, |hands| hands.server.down())
        .at(500 * MS, |hands| hands.server.up())
        .run();
    let failed = ran.log().into_iter();
    let failed = failed.filter(|exchange| exchange.outcome == Outcome::Failed(ErrorKind::Connect));
    let starts: Vec<u64> = failed.map(|exchange| exchange.start_ns / MS).collect();
    // Each dial takes 2 ms, and the wait after each is twice as long as the previous one, up to 100
    // ms.
    assert_eq!(starts, [1, 4, 8, 14, 24, 42, 76, 142, 244, 346, 448]);
    assert_eq!(ran.total.counts.failed, 1 + starts.len() as u64);
    assert_eq!(ran.log()[12].start_ns, 550 * MS + MS / 2);
    assert_eq!(ran.log()[12].outcome, Outcome::Answered { status: 200 });
}

#[test]
fn the_schedule_alone_paces_the_dials_of_an_open_load() {
    let ran = World::new(open(100, 1, 95 * MS))
        .at(5 * MS, |hands| hands.server.down())
        .run();
    let starts = ran.each(|exchange| exchange.start_ns / MS);
    assert_eq!(starts, [0, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
    assert_eq!(ran.errors(), [(ErrorKind::Connect, 9)]);
}

#[test]
fn a_connection_that_does_not_come_up_in_time_is_a_failure_to_connect() {
    let mut plan = closed(1, 40 * MS);
    plan.connection.keepalive = false;
    plan.connection.connect_timeout = time(5 * MS);
    let ran = World::new(plan)
        .script(|_| Reply::ok().after(MS).close())
        .at(9 * MS, |hands| hands.server.set_silent(true))
        .at(21 * MS, |hands| hands.server.set_silent(false))
        .run();
    // 5 ms for each, with or without a response; 1 and 2 ms after those without.
    let expected = [(0, 2), (5, 2), (10, 5), (16, 5), (23, 2), (28, 2), (33, 2)];
    let starts = courses(&ran)
        .into_iter()
        .map(|(start, dial, _)| (start, dial));
    assert_eq!(starts.collect::<Vec<_>>()[..7], expected);
    assert_eq!(ran.errors(), [(ErrorKind::Connect, 2)]);
}

#[test]
fn dialling_never_takes_longer_than_the_exchange_may() {
    let mut plan = closed(1, 22 * MS);
    plan.connection.keepalive = false;
    plan.connection.timeout = time(6 * MS);
    let world = World::new(plan).at(0, |hands| hands.server.set_silent(true));
    let ran = world.run();
    assert_eq!(courses(&ran), [(0, 6, 6), (7, 6, 13), (15, 6, 21)]);
    assert_eq!(ran.errors(), [(ErrorKind::Connect, 3)]);
}

#[test]
fn connections_that_did_not_come_up_before_the_run_are_dialled_in_it() {
    let mut plan = closed(2, 30 * MS);
    plan.connection.connect_timeout = time(MS);
    let ran = World::new(plan).run();
    // A millisecond is too short for a round trip of two.
    let starts = courses(&ran).into_iter().map(|(start, ..)| start);
    let of_each = [0, 2, 5, 10, 19];
    assert!(starts.eq(of_each.into_iter().flat_map(|ms| [ms; 2])));
    assert_eq!(ran.counts(), [10, 10, 0, 10, 0]);
    assert_eq!(ran.errors(), [(ErrorKind::Connect, 10)]);
    assert_eq!((ran.accepted, ran.total.counts.connections), (0, 0));
}

/// Creates a world with a body of 1 000 bytes, of which at most 100 are in transit or unread.
fn uploads(limit: u64) -> World {
    let mut plan = limited(limit);
    plan.requests[0].body = Body::Bytes(vec![b'x'; 1_000].into());
    plan.connection.timeout = time(50 * MS);
    let mut world = World::new(plan);
    world.window = Some(100);
    world
}

#[test]
fn a_request_that_is_read_slowly_gets_through() {
    // Each window takes the latency: ten windows and a part of one for head and body.
    let ran = uploads(3).run();
    assert_eq!(ran.counts(), [3, 3, 3, 0, 0]);
    let sent = ran.log()[0].bytes_out;
    assert_eq!(ran.total.counts.bytes_out, 3 * sent);
    let windows = sent.div_ceil(100);
    assert_eq!(courses(&ran)[0], (0, 0, windows + 1));
}

#[test]
fn a_server_that_stops_reading_is_a_timeout() {
    let ran = uploads(2)
        .at(MS / 2, |hands| hands.server.freeze(MS / 2..60 * MS))
        .run();
    assert_eq!(ran.log()[0].outcome, Outcome::Failed(ErrorKind::Timeout));
    assert_eq!(courses(&ran)[0], (0, 0, 50));
    assert_eq!(ran.errors()[0], (ErrorKind::Timeout, 1));
}

#[test]
fn a_connection_that_breaks_in_a_request_is_a_failure_to_write() {
    let ran = uploads(2)
        .at(3 * MS + MS / 2, |hands| hands.server.reset_all())
        .run();
    let failed = ran.log()[0];
    assert_eq!(failed.outcome, Outcome::Failed(ErrorKind::Write));
    assert_eq!((failed.start_ns, failed.end_ns), (0, 4 * MS + MS / 2));
    assert_eq!(ran.counts(), [2, 2, 1, 1, 0]);
    assert_eq!(ran.total.counts.reconnects, 0);
}

#[test]
fn a_served_connection_that_breaks_in_a_request_is_a_failure_to_write_as_well() {
    // The first request takes 12 ms: the second is half sent when its connection breaks.
    let ran = uploads(2)
        .at(15 * MS + MS / 2, |hands| hands.server.reset_all())
        .run();
    assert_eq!(ran.counts(), [2, 2, 1, 1, 0]);
    assert_eq!(ran.errors(), [(ErrorKind::Write, 1)]);
    assert_eq!(ran.log()[1].end_ns, 16 * MS + MS / 2);
    assert_eq!(ran.total.counts.reconnects, 0);
}
