//! Faults of a server of HTTP/2, in a closed and in an open load, with exact counts.

use super::http2::over_http2;
use super::http2_server::{
    DATA, END_HEADERS, END_STREAM, HEADERS, INTERNAL, REFUSED, SETTINGS, STATUS_200, frame,
    go_away, ok, reset,
};
use super::plans::{MS, SECOND, closed, open, time};
use super::ran::Ran;
use super::server::{Reply, Seen};
use super::world::World;
use loadline_plan::{Body, Plan};
use loadline_record::ErrorKind;

const PUSH_PROMISE: u8 = 5;
const PING: u8 = 6;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
const PADDED: u8 = 8;

/// `:status: 103`, the name from the static table.
const EARLY_HINTS: &[u8] = b"\x08\x03103";

const CANCEL: u32 = 8;
const NO_ERROR: u32 = 0;
const ENHANCE_YOUR_CALM: u32 = 11;

/// One more than the number of consecutive useless frames that a connection accepts.
const FLOOD: usize = 10_001;
const STREAMS: u32 = 4;
/// The number, on the first connection, of the request that meets the fault.
const FAULTY: usize = 8;
const TIMEOUT: u64 = 20 * MS;

/// The effect of a fault on the requests that are in flight.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Effect {
    /// The affected request is sent again on the same connection.
    SentAgain,
    /// The affected request and those begun after it are sent again on another connection.
    SentElsewhere,
    /// The affected request fails.
    Stream(ErrorKind),
    /// All requests of the connection fail.
    Connection(ErrorKind),
    /// All requests of the connection time out, and another connection takes over.
    Silence,
}

use Effect::{Connection, SentAgain, SentElsewhere, Silence, Stream};

/// A fault, its reply, and its effect.
type Fault = (&'static str, fn(&Seen) -> Reply, Effect);

const FAULTS: [Fault; 34] = [
    ("refused", |seen| reset(seen, REFUSED), SentAgain),
    (
        "given up below the stream",
        |seen| Reply::raw(go_away(seen.stream - 2, NO_ERROR)).close_after(5 * MS),
        SentElsewhere,
    ),
    (
        "reset before the head",
        |seen| reset(seen, INTERNAL),
        Stream(ErrorKind::StreamReset),
    ),
    (
        "reset behind the head",
        |seen| {
            let reset = reset(seen, NO_ERROR).bytes;
            Reply::raw([head(seen, &[STATUS_200]), reset].concat())
        },
        Stream(ErrorKind::StreamReset),
    ),
    (
        "reset in the body",
        |seen| {
            let reset = reset(seen, CANCEL).bytes;
            Reply::raw([half(seen), reset].concat())
        },
        Stream(ErrorKind::StreamReset),
    ),
    (
        "refused behind an interim response",
        |seen| Reply::raw([head(seen, EARLY_HINTS), reset(seen, REFUSED).bytes].concat()),
        Stream(ErrorKind::StreamReset),
    ),
    (
        "refused behind the head",
        |seen| Reply::raw([head(seen, &[STATUS_200]), reset(seen, REFUSED).bytes].concat()),
        Stream(ErrorKind::StreamReset),
    ),
    (
        "refused in the body",
        |seen| Reply::raw([half(seen), reset(seen, REFUSED).bytes].concat()),
        Stream(ErrorKind::StreamReset),
    ),
    (
        "a body before the head, then refused",
        |seen| Reply::raw([data(seen, 0), reset(seen, REFUSED).bytes].concat()),
        Stream(ErrorKind::Protocol),
    ),
    (
        "a change of protocols",
        |seen| {
            let response = [head(seen, &[STATUS_200]), data(seen, END_STREAM)];
            Reply::raw([head(seen, b"\x08\x03101"), response.concat()].concat())
        },
        Stream(ErrorKind::Protocol),
    ),
    (
        "no status",
        |seen| Reply::raw(head_alone(seen, b"\0\x01a\x01b")),
        Stream(ErrorKind::Protocol),
    ),
    (
        "a capital letter in a name",
        |seen| Reply::raw(head_alone(seen, b"\x88\0\x01A\x01b")),
        Stream(ErrorKind::Protocol),
    ),
    (
        "a body shorter than Content-Length",
        // The name is entry 28 of the static table.
        |seen| {
            let head = head(seen, b"\x88\x0f\x0d\x015");
            Reply::raw([head, data(seen, END_STREAM)].concat())
        },
        Stream(ErrorKind::Protocol),
    ),
    (
        "a body longer than Content-Length",
        |seen| {
            let head = head(seen, b"\x88\x0f\x0d\x011");
            Reply::raw([head, data(seen, END_STREAM)].concat())
        },
        Stream(ErrorKind::Protocol),
    ),
    (
        "a body before the head",
        |seen| Reply::raw(data(seen, END_STREAM)),
        Stream(ErrorKind::Protocol),
    ),
    (
        "an interim response at the end",
        |seen| Reply::raw(head_alone(seen, EARLY_HINTS)),
        Stream(ErrorKind::Protocol),
    ),
    (
        "a stream's window opened by nothing",
        |seen| Reply::raw(frame(WINDOW_UPDATE, 0, seen.stream, &[0; 4])),
        Stream(ErrorKind::Protocol),
    ),
    (
        "no answer",
        |_| Reply::nothing(),
        Stream(ErrorKind::Timeout),
    ),
    (
        "no end",
        |seen| Reply::raw(half(seen)),
        Stream(ErrorKind::Timeout),
    ),
    ("silence", |_| Reply::nothing(), Silence),
    (
        "closed",
        |_| Reply::nothing().close(),
        Connection(ErrorKind::Read),
    ),
    (
        "closed in the body",
        |seen| Reply::raw(half(seen)).close(),
        Connection(ErrorKind::Read),
    ),
    (
        "closed in a frame",
        |seen| Reply::raw(&half(seen)[..20]).close(),
        Connection(ErrorKind::Read),
    ),
    (
        "a reset connection",
        |_| Reply::nothing().reset(),
        Connection(ErrorKind::Read),
    ),
    (
        "given up behind the stream",
        |seen| {
            let reply = [half(seen), go_away(seen.stream + 6, ENHANCE_YOUR_CALM)];
            Reply::raw(reply.concat()).close()
        },
        Connection(ErrorKind::GoAway),
    ),
    (
        "data of the connection",
        |_| Reply::raw(frame(DATA, 0, 0, b"ok")),
        Connection(ErrorKind::Protocol),
    ),
    (
        "a stream that was never begun",
        |seen| {
            Reply::raw(frame(
                HEADERS,
                END_HEADERS,
                seen.stream + 100,
                &[STATUS_200],
            ))
        },
        Connection(ErrorKind::Protocol),
    ),
    (
        "a header block that is none",
        |seen| Reply::raw(head_alone(seen, &[0x80])),
        Connection(ErrorKind::Protocol),
    ),
    (
        "more padding than the frame is long",
        |seen| Reply::raw(frame(DATA, PADDED, seen.stream, &[9, 0])),
        Connection(ErrorKind::Protocol),
    ),
    (
        "a frame that is too long",
        |seen| Reply::raw(frame(DATA, 0, seen.stream, &[0; 16_385])),
        Connection(ErrorKind::Protocol),
    ),
    (
        "a push",
        |seen| Reply::raw(frame(PUSH_PROMISE, END_HEADERS, seen.stream, &[0, 0, 0, 2])),
        Connection(ErrorKind::Protocol),
    ),
    (
        "a flood of settings",
        |_| Reply::raw(frame(SETTINGS, 0, 0, &[]).repeat(FLOOD)),
        Connection(ErrorKind::Protocol),
    ),
    (
        "a flood of pings",
        |_| Reply::raw(frame(PING, 0, 0, &[0; 8]).repeat(FLOOD)),
        Connection(ErrorKind::Protocol),
    ),
    (
        "a header block without end",
        |seen| {
            let more = frame(CONTINUATION, 0, seen.stream, &[0; 16_384]);
            Reply::raw([frame(HEADERS, 0, seen.stream, &[]), more.repeat(17)].concat())
        },
        Connection(ErrorKind::Protocol),
    ),
];

/// Returns the head of a response whose body follows.
fn head(seen: &Seen, block: &[u8]) -> Vec<u8> {
    frame(HEADERS, END_HEADERS, seen.stream, block)
}

/// Returns the head of a response without a body.
fn head_alone(seen: &Seen, block: &[u8]) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | END_STREAM, seen.stream, block)
}

/// Returns two bytes of a body.
fn data(seen: &Seen, flags: u8) -> Vec<u8> {
    frame(DATA, flags, seen.stream, b"ok")
}

/// Returns a head, and the first part of a body.
fn half(seen: &Seen) -> Vec<u8> {
    [head(seen, &[STATUS_200]), data(seen, 0)].concat()
}

/// Runs the plan against a server that has a fault once, and answers after half a millisecond.
fn meet((_, reply, effect): Fault, mut plan: Plan) -> Ran {
    plan.request_limit = Some(40);
    plan.connection.timeout = time(TIMEOUT);
    let spares_others = matches!(effect, SentAgain | Stream(_));
    let script = move |seen: &Seen| match (seen.connection, seen.place) {
        (0, FAULTY) => reply(seen),
        (0, FAULTY..) if !spares_others => Reply::nothing(),
        _ => ok(seen),
    };
    World::new(over_http2(plan, STREAMS))
        .script(move |seen| script(seen).after(MS / 2))
        .run()
}

/// The number of requests that a fault concerns.
struct Concerned {
    /// Requests in flight at the fault.
    in_flight: u64,
    /// The most requests in transit to the server when it closes the connection.
    unseen: u64,
    /// Requests that time out on a connection that falls silent.
    unheard: u64,
}

/// Checks the result of 40 requests.
fn check(fault: Fault, ran: &Ran, concerned: &Concerned) {
    let Concerned {
        in_flight,
        unseen,
        unheard,
    } = *concerned;
    let (name, _, effect) = fault;
    let (failed, sent_again) = match effect {
        SentAgain => (0, 1),
        SentElsewhere => (0, in_flight),
        Stream(_) => (1, 0),
        Connection(_) => (in_flight, 0),
        Silence => (unheard, 0),
    };
    assert_eq!(ran.counts(), [40, 40, 40 - failed, failed, 0], "{name}");
    let errors = match effect {
        SentAgain | SentElsewhere => vec![],
        Stream(kind) | Connection(kind) => vec![(kind, failed)],
        Silence => vec![(ErrorKind::Timeout, failed)],
    };
    assert_eq!(ran.errors(), errors, "{name}");
    let unseen = match effect {
        Connection(ErrorKind::Read | ErrorKind::GoAway) => unseen,
        _ => 0,
    };
    let missed = 40 + sent_again - ran.seen.len() as u64;
    assert!(missed <= unseen, "{name}");
    let is_replaced = !matches!(effect, SentAgain | Stream(_));
    let counts = &ran.total.counts;
    assert_eq!(counts.resent, sent_again, "{name}");
    assert_eq!(counts.reconnects, u64::from(is_replaced), "{name}");
    assert_eq!(ran.accepted, 1 + usize::from(is_replaced), "{name}");
}

#[test]
fn each_fault_in_a_closed_load_fails_what_it_concerns() {
    let concerned = Concerned {
        in_flight: 4,
        unseen: 0,
        unheard: 4,
    };
    for fault in FAULTS {
        check(fault, &meet(fault, closed(STREAMS, SECOND)), &concerned);
    }
}

#[test]
fn each_fault_in_an_open_load_fails_what_it_concerns() {
    // A request takes 2.5 ms, and one is sent each millisecond. The last response before the
    // silence comes when two more requests are sent: when their time is over, the connection is not
    // known to be silent, and two others take their streams.
    let concerned = Concerned {
        in_flight: 3,
        unseen: 2,
        unheard: 6,
    };
    for fault in FAULTS {
        let plan = open(1_000, STREAMS, SECOND);
        check(fault, &meet(fault, plan), &concerned);
    }
}

#[test]
fn interim_responses_are_no_fault_and_go_before_the_response() {
    for plan in [closed(STREAMS, SECOND), open(1_000, STREAMS, SECOND)] {
        let fault: Fault = (
            "interim responses",
            |seen| {
                let interim = head(seen, EARLY_HINTS).repeat(3);
                Reply::raw([interim, ok(seen).bytes].concat())
            },
            SentAgain,
        );
        let ran = meet(fault, plan);
        assert_eq!(ran.counts(), [40, 40, 40, 0, 0]);
        assert_eq!((ran.seen.len(), ran.total.counts.resent), (40, 0));
    }
}

#[test]
fn a_window_that_stays_closed_is_a_timeout_and_another_connection_takes_over() {
    // The connection's window of 65 535 bytes takes one body and a half.
    let body = Body::Bytes(vec![b'x'; 40_000].into());
    for mut plan in [closed(1, SECOND), open(100, 1, SECOND)] {
        plan.request_limit = Some(4);
        plan.requests[0].body = body.clone();
        plan.connection.timeout = time(TIMEOUT);
        let ran = World::new(over_http2(plan, 1)).script(ok).run();
        assert_eq!(ran.counts(), [4, 4, 2, 2, 0]);
        assert_eq!(ran.errors(), [(ErrorKind::Timeout, 2)]);
        assert_eq!(ran.seen.len(), 2);
        assert_eq!((ran.accepted, ran.total.counts.reconnects), (2, 1));
    }
}

#[test]
fn a_connection_whose_stream_numbers_are_used_up_is_replaced() {
    for mut plan in [closed(4, SECOND), open(1_000, 4, SECOND)] {
        plan.request_limit = Some(100);
        let mut world = World::new(over_http2(plan, 4)).script(ok);
        // Ten odd numbers.
        world.last_stream = Some(20);
        let ran = world.run();
        assert_eq!(ran.counts(), [100, 100, 100, 0, 0]);
        assert!(ran.seen.iter().all(|seen| seen.stream < 20));
        assert_eq!((ran.accepted, ran.total.counts.reconnects), (10, 9));
    }
}
