//! HTTP/2: users on streams of shared connections, with exact counts.

use super::http2_server::{INTERNAL, REFUSED, go_away, ok, reset};
use super::plans::{MS, SECOND, closed, open, time};
use super::ran::Ran;
use super::server::{Reply, Seen};
use super::world::World;
use loadline_plan::{HttpVersion, Plan};
use loadline_record::ErrorKind;
use std::cell::Cell;

/// Changes the plan to HTTP/2, with this many streams per connection.
pub(crate) fn over_http2(mut plan: Plan, streams: u32) -> Plan {
    plan.connection.http = HttpVersion::V2;
    plan.connection.streams = streams;
    plan
}

/// Creates a world with three connections of four streams for 100 ms, whose server follows this
/// script.
fn twelve(script: impl Fn(&Seen) -> Reply + 'static) -> World {
    World::new(over_http2(closed(12, 100 * MS), 4)).script(script)
}

/// Creates a plan that ends after `limit` requests.
fn limited(limit: u64, users: u32, streams: u32) -> Plan {
    let plan = Plan {
        request_limit: Some(limit),
        ..closed(users, SECOND)
    };
    over_http2(plan, streams)
}

/// Returns the number of requests on each connection.
fn by_connection(ran: &Ran) -> Vec<usize> {
    let mut counts = vec![0; ran.accepted];
    ran.seen
        .iter()
        .for_each(|seen| counts[seen.connection] += 1);
    counts
}

#[test]
fn each_connection_carries_as_many_users_as_it_has_streams() {
    let ran = twelve(|seen| ok(seen).after(7 * MS)).run();
    // 7 ms and twice the latency of 1 ms make 9 ms a round: the twelfth is under way at the end.
    assert_eq!(ran.counts(), [144, 144, 132, 0, 12]);
    assert_eq!(ran.accepted, 3);
    assert_eq!(ran.total.counts.connections, 3);
    assert_eq!(by_connection(&ran), [48, 48, 48]);
    for exchange in ran.log() {
        assert_eq!(exchange.service_ns(), 9 * MS);
        assert_eq!((exchange.dial_ns, exchange.wakeup_ns), (0, 0));
    }
}

#[test]
fn answers_come_in_any_order_and_find_their_users() {
    let ran = twelve(|seen| ok(seen).after((seen.stream as u64 % 8) * MS)).run();
    let [planned, sent, answered, failed, in_flight] = ran.counts();
    assert_eq!((planned, failed, in_flight), (sent, 0, sent - answered));
    assert_eq!(in_flight, 12);
    assert_eq!(ran.accepted, 3);
}

#[test]
fn an_open_load_shares_connections_and_dials_when_no_stream_is_free() {
    let plan = over_http2(open(1_000, 8, 100 * MS), 4);
    let ran = World::new(plan).script(|seen| ok(seen).after(4 * MS)).run();
    assert_eq!(ran.counts(), [100, 100, 94, 0, 6]);
    assert_eq!(ran.accepted, 2);
    assert_eq!(ran.each(|exchange| exchange.service_ns()), [6 * MS; 94]);
}

#[test]
fn a_stream_that_is_reset_fails_alone() {
    let ran = twelve(|seen| match seen.number % 10 {
        9 => reset(seen, INTERNAL),
        _ => ok(seen),
    })
    .run();
    let [_, sent, answered, failed, in_flight] = ran.counts();
    assert_eq!(ran.errors(), [(ErrorKind::StreamReset, failed)]);
    assert_eq!(failed, (answered + failed) / 10);
    assert_eq!(sent, answered + failed + in_flight);
    assert_eq!((ran.accepted, ran.total.counts.reconnects), (3, 0));
    let example = &ran.total.errors[&ErrorKind::StreamReset].example;
    assert_eq!(example, "the server reset the stream with INTERNAL_ERROR");
}

#[test]
fn a_request_that_the_server_refuses_to_look_at_is_sent_again() {
    let world = World::new(limited(20, 4, 4));
    let ran = world
        .script(|seen| match seen.number % 5 {
            4 => reset(seen, REFUSED),
            _ => ok(seen),
        })
        .run();
    assert_eq!(ran.counts(), [20, 20, 20, 0, 0]);
    // Each fifth request was refused: 20 responses took 24 requests.
    assert_eq!(ran.seen.len(), 24);
}

#[test]
fn a_request_that_is_always_refused_fails_at_last() {
    let world = World::new(limited(3, 1, 1));
    let ran = world.script(|seen| reset(seen, REFUSED)).run();
    assert_eq!(ran.counts(), [3, 3, 0, 3, 0]);
    assert_eq!(ran.errors(), [(ErrorKind::StreamReset, 3)]);
    assert_eq!(ran.seen.len(), 12);
}

#[test]
fn behind_a_goaway_another_connection_takes_over_and_nothing_is_lost() {
    // Each connection answers ten requests and then sends GOAWAY, like nginx.
    let world = World::new(limited(100, 4, 4));
    let ran = world
        .script(|seen| match seen.place {
            9 => {
                let last = go_away(seen.stream, 0);
                let answer = ok(seen);
                Reply::raw([last, answer.bytes].concat())
            }
            10.. => Reply::nothing(),
            _ => ok(seen),
        })
        .run();
    assert_eq!(ran.counts(), [100, 100, 100, 0, 0]);
    let reconnects = ran.total.counts.reconnects as usize;
    assert_eq!((ran.accepted, reconnects), (10, 9));
    assert_eq!(ran.total.counts.connections, 10);
}

#[test]
fn a_connection_that_is_closed_fails_all_its_requests() {
    let world = World::new(limited(40, 8, 4));
    let ran = world
        .script(|seen| match (seen.connection, seen.place) {
            (0, 4) => Reply::nothing().close(),
            (0, 5..) => Reply::nothing(),
            _ => ok(seen),
        })
        .run();
    assert_eq!(ran.counts(), [40, 40, 36, 4, 0]);
    assert_eq!(ran.errors(), [(ErrorKind::Read, 4)]);
    assert_eq!((ran.accepted, ran.total.counts.reconnects), (3, 1));
}

#[test]
fn a_goaway_with_a_code_names_it_where_requests_fail() {
    let world = World::new(limited(8, 4, 4));
    let done = Cell::new(false);
    let ran = world
        .script(move |seen| match done.replace(true) {
            false => Reply::raw(go_away(7, 11)).close_after(5 * MS),
            true if seen.connection == 0 => Reply::nothing(),
            true => ok(seen),
        })
        .run();
    assert_eq!(ran.counts(), [8, 8, 4, 4, 0]);
    assert_eq!(ran.errors(), [(ErrorKind::GoAway, 4)]);
    let example = &ran.total.errors[&ErrorKind::GoAway].example;
    assert!(example.contains("ENHANCE_YOUR_CALM"), "{example}");
}

#[test]
fn bytes_that_are_no_frame_fail_what_is_on_the_connection() {
    let world = World::new(limited(8, 4, 4));
    let ran = world
        .script(|seen| match (seen.connection, seen.place) {
            // A frame of DATA for a stream that was never begun.
            (0, 0) => Reply::raw([0, 0, 1, 0, 0, 0, 0, 0, 99, 1]),
            (0, _) => Reply::nothing(),
            _ => ok(seen),
        })
        .run();
    assert_eq!(ran.counts(), [8, 8, 4, 4, 0]);
    assert_eq!(ran.errors(), [(ErrorKind::Protocol, 4)]);
}

#[test]
fn a_stream_that_is_not_answered_times_out_alone() {
    let mut plan = limited(40, 4, 4);
    plan.connection.timeout = time(50 * MS);
    let ran = World::new(plan)
        .script(|seen| match seen.number {
            2 => Reply::nothing(),
            _ => ok(seen),
        })
        .run();
    assert_eq!(ran.counts(), [40, 40, 39, 1, 0]);
    assert_eq!(ran.errors(), [(ErrorKind::Timeout, 1)]);
    assert_eq!((ran.accepted, ran.total.counts.reconnects), (1, 0));
    let log = ran.log();
    let failed = log.iter().find(|exchange| exchange.service_ns() > 2 * MS);
    assert_eq!(failed.map(|exchange| exchange.service_ns()), Some(50 * MS));
}

#[test]
fn a_server_that_allows_fewer_streams_gets_more_connections() {
    let mut world = World::new(over_http2(closed(12, 100 * MS), 12));
    world.most_streams = Some(5);
    let ran = world.script(|seen| ok(seen).after(7 * MS)).run();
    let [_, sent, answered, failed, in_flight] = ran.counts();
    assert_eq!((failed, in_flight), (0, 12));
    assert_eq!(sent, answered + 12);
    assert_eq!(ran.accepted, 3);
    // Nothing was lost: the further connections replace none.
    assert_eq!(ran.total.counts.reconnects, 0);
}

#[test]
fn a_frozen_server_delays_all_arrivals_of_that_time() {
    let plan = over_http2(open(1_000, 600, 2 * SECOND), 100);
    let world = World::new(plan).script(ok);
    let ran = world
        .at(0, |hands| hands.server.freeze(SECOND..SECOND + 500 * MS))
        .run();
    assert_eq!(ran.counts()[3], 0);
    let mut late = ran.each(|exchange| exchange.response_ns());
    late.retain(|ns| *ns > 10 * MS);
    // The first request that met the frozen server was sent 1 ms before; each later one waited 1 ms
    // less.
    late.sort_unstable();
    let expected: Vec<u64> = (11..=502).map(|ms| ms * MS).collect();
    assert_eq!(late, expected);
}
