//! A server that reads requests whole and then drops some of them: its own counts are compared with
//! ours.

use super::balance::Numbered;
use super::http2_server::{self, END_HEADERS, HEADERS, STATUS_200, frame, go_away, reset};
use super::mix::answer_with;
use super::plans::{MS, SECOND, closed, open, time};
use super::ran::Ran;
use super::server::{Reply, Seen};
use super::world::World;
use crate::batch::Resend;
use loadline_plan::{HttpVersion, Plan};
use loadline_record::{ErrorKind, Outcome};
use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;

const SEEDS: u64 = 12;
const REQUESTS: u64 = 200;

/// The way in which a server drops the connection of a request.
#[derive(Clone, Copy, Debug)]
enum How {
    Close,
    Reset,
}

/// The number of requests that a server has dropped, and of those that were the first of their
/// connection.
#[derive(Default)]
struct Dropped {
    all: Cell<u64>,
    at_once: Cell<u64>,
}

/// The result of a run, with the server's own counts.
struct Book {
    ran: Ran,
    /// The number of times that each request arrived.
    seen: HashMap<u64, u64>,
    /// The counts of [`Dropped`].
    dropped: u64,
    dropped_at_once: u64,
    ended: HashMap<u64, Outcome>,
}

/// Returns the n-th random number of a seed, below `most`.
fn draw(seed: u64, number: usize, most: u64) -> u64 {
    let mixed = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number as u64;
    let mixed = mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ (mixed >> 29)) % most
}

/// Limits a load to the number of requests, with a timeout that is never reached.
fn limited(plan: Plan, seed: u64) -> Plan {
    let mut plan = Plan {
        request_limit: Some(REQUESTS),
        seed,
        ..plan
    };
    plan.connection.timeout = time(100 * SECOND);
    plan
}

fn plans(seed: u64) -> Vec<Plan> {
    let connections = 1 + (seed % 4) as u32;
    let mut alone = closed(connections, 100 * SECOND);
    alone.connection.keepalive = false;
    let plans = [
        closed(1, 100 * SECOND),
        closed(connections, 100 * SECOND),
        open(100, connections, 100 * SECOND),
        alone,
    ];
    plans.map(|plan| limited(plan, seed)).to_vec()
}

/// Runs numbered requests against a server that drops one in ten.
fn run(plan: &Plan, resend: Resend, how: How, idle_ns: Option<u64>) -> Book {
    let dropped = Rc::new(Dropped::default());
    let (counts, seed) = (Rc::clone(&dropped), plan.seed);
    let mut world = World::new(plan.clone()).script(move |seen: &Seen| {
        if draw(seed, seen.number, 10) > 0 {
            let number = seen.target[1..].parse().unwrap();
            return Reply::raw(answer_with(number)).after(draw(!seed, seen.number, 3 * MS));
        }
        counts.all.set(counts.all.get() + 1);
        if seen.place == 0 {
            counts.at_once.set(counts.at_once.get() + 1);
        }
        match how {
            How::Close => Reply::nothing().close(),
            How::Reset => Reply::nothing().reset(),
        }
    });
    world.idle_ns = idle_ns;
    let numbered = Numbered::of(plan).resent_if(resend);
    let ran = world.run_scenario(|_, _| numbered.clone());
    let mut seen: HashMap<u64, u64> = HashMap::new();
    for request in &ran.seen {
        *seen
            .entry(request.target[1..].parse().unwrap())
            .or_default() += 1;
    }
    Book {
        ran,
        seen,
        dropped: dropped.all.get(),
        dropped_at_once: dropped.at_once.get(),
        ended: numbered.ended.take(),
    }
}

impl Book {
    /// Checks the invariants of every run: all requests ended, and the server's count equals ours.
    fn assert_even(&self, crossed: u64) {
        let counts = &self.ran.total.counts;
        assert_eq!((counts.sent, counts.in_flight), (REQUESTS, 0));
        assert_eq!(counts.answered + counts.failed, REQUESTS);
        assert_eq!(self.ended.len() as u64, REQUESTS);
        let received = self.seen.values().sum::<u64>();
        assert_eq!(received + crossed, counts.sent + counts.resent);
        assert_eq!(received, counts.answered + self.dropped);
        let kinds = self.ran.errors().into_iter().map(|(kind, _)| kind);
        assert!(kinds.eq((counts.failed > 0).then_some(ErrorKind::Read)));
    }
}

#[test]
fn every_request_is_read_once_and_each_that_is_dropped_has_failed() {
    for seed in 0..SEEDS {
        for plan in plans(seed) {
            for how in [How::Close, How::Reset] {
                for resend in [Resend::Unread, Resend::Unwritten] {
                    let book = run(&plan, resend, how, None);
                    book.assert_even(0);
                    let counts = &book.ran.total.counts;
                    assert_eq!((counts.failed, counts.resent), (book.dropped, 0));
                    assert!(book.dropped > 0, "seed {seed}");
                    assert!(book.seen.values().all(|times| *times == 1));
                }
            }
        }
    }
}

#[test]
fn closes_that_cross_requests_are_repaired_and_hide_no_drop() {
    let (mut crossed, mut failed) = (0, 0);
    for seed in 0..4 * SEEDS {
        let mut plan = limited(open(100, 2, 100 * SECOND), seed);
        plan.load.max_users = 4;
        // The server closes while the next request is on its way, or a little before.
        let idle_ns = 15 * MS + draw(seed, 0, 4 * MS);
        let book = run(&plan, Resend::Unread, How::Close, Some(idle_ns));
        let counts = &book.ran.total.counts;
        book.assert_even(counts.resent);
        assert_eq!(counts.failed, book.dropped);
        assert!(book.seen.values().all(|times| *times == 1));
        crossed += counts.resent;
        // A client that never sends again fails those as well.
        let book = run(&plan, Resend::Unwritten, How::Close, Some(idle_ns));
        let counts = &book.ran.total.counts;
        let lost = counts.failed - book.dropped;
        book.assert_even(lost);
        assert_eq!(counts.resent, 0);
        failed += lost;
    }
    assert!(crossed > 20 && failed > 20, "{crossed} and {failed}");
}

#[test]
fn a_client_that_sends_again_what_was_read_tells_how_much() {
    for seed in 0..SEEDS {
        for plan in plans(seed) {
            for how in [How::Close, How::Reset] {
                let book = run(&plan, Resend::Unanswered, how, None);
                book.assert_even(0);
                let counts = &book.ran.total.counts;
                // A connection that had served nothing fails its request.
                assert_eq!(counts.failed, book.dropped_at_once);
                assert_eq!(counts.resent, book.dropped - book.dropped_at_once);
            }
        }
    }
}

#[test]
fn what_is_left_of_a_pipeline_fails_with_its_dropped_request() {
    for seed in 0..SEEDS {
        for mut plan in plans(seed).into_iter().take(3) {
            plan.connection.pipeline = 4;
            plan.load.max_users = plan.load.max_users.max(4);
            let book = run(&plan, Resend::Unread, How::Close, None);
            let counts = &book.ran.total.counts;
            assert_eq!((counts.sent, counts.in_flight), (REQUESTS, 0));
            let received = book.seen.values().sum::<u64>();
            assert_eq!(received, counts.answered + book.dropped);
            assert_eq!(counts.resent, 0);
            assert!(counts.failed >= book.dropped && book.dropped > 0);
            assert!(book.seen.values().all(|times| *times == 1));
        }
    }
}

#[test]
fn over_http2_too_every_request_is_read_once() {
    for seed in 0..SEEDS {
        for streams in [1, 4] {
            let mut plan = limited(closed(4, 100 * SECOND), seed);
            plan.connection.http = HttpVersion::V2;
            plan.connection.streams = streams;
            let dropped = Rc::new(Cell::new(0));
            let counted = Rc::clone(&dropped);
            let ran = World::new(plan)
                .script(move |seen| match draw(seed, seen.number, 20) {
                    0 => {
                        counted.set(counted.get() + 1);
                        Reply::nothing().close()
                    }
                    _ => http2_server::ok(seen).after(MS),
                })
                .run();
            let counts = &ran.total.counts;
            assert_eq!((counts.sent, counts.in_flight), (REQUESTS, 0));
            assert_eq!(counts.resent, 0);
            // The other streams of its connection fail with it, and some of those requests never
            // arrive.
            let seen = ran.seen.len() as u64;
            assert!(counts.failed >= dropped.get() && seen <= REQUESTS);
            if streams == 1 {
                assert_eq!((counts.failed, seen), (dropped.get(), REQUESTS));
            }
        }
    }
}

/// The number of streams that a server of HTTP/2 reset.
#[derive(Default)]
struct GivenUp {
    /// Streams that it reset before any part of a response.
    untouched: Cell<u64>,
    /// Streams that it reset after the beginning of a response.
    begun: Cell<u64>,
}

impl GivenUp {
    /// Resets one of 25 streams before any response, and some of the others after the beginning of
    /// a response.
    fn reply(&self, seed: u64, seen: &Seen) -> Reply {
        let head = |block: &[u8]| frame(HEADERS, END_HEADERS, seen.stream, block);
        let refused = reset(seen, http2_server::REFUSED).bytes;
        let count = |count: &Cell<u64>| count.set(count.get() + 1);
        if seen.number as u64 % 25 == seed % 25 {
            count(&self.untouched);
            return Reply::raw(refused);
        }
        let begun = match draw(seed, seen.number, 25) {
            0 => head(b"\x08\x03103"),
            1 => head(&[STATUS_200]),
            2 => [head(&[STATUS_200]), frame(0, 0, seen.stream, b"o")].concat(),
            // A switch to another protocol, which HTTP/2 does not allow.
            3 => head(b"\x08\x03101"),
            _ => return http2_server::ok(seen),
        };
        count(&self.begun);
        Reply::raw([begun, refused].concat())
    }
}

#[test]
fn over_http2_a_stream_goes_again_only_if_nothing_of_a_response_came() {
    for seed in 0..2 * SEEDS {
        for streams in [1, 4] {
            let mut plan = limited(closed(4, 100 * SECOND), seed);
            plan.connection.http = HttpVersion::V2;
            plan.connection.streams = streams;
            let given_up = Rc::new(GivenUp::default());
            let counted = Rc::clone(&given_up);
            let ran = World::new(plan)
                .script(move |seen| {
                    counted
                        .reply(seed, seen)
                        .after(draw(seed, seen.number, 3 * MS))
                })
                .run();
            let counts = &ran.total.counts;
            let (untouched, begun) = (given_up.untouched.get(), given_up.begun.get());
            assert!(untouched > 0 && begun > 0, "seed {seed}");
            assert_eq!((counts.sent, counts.in_flight), (REQUESTS, 0));
            assert_eq!((counts.resent, counts.failed), (untouched, begun));
            assert_eq!(ran.seen.len() as u64, counts.sent + counts.resent);
        }
    }
}

#[test]
fn a_connection_that_is_given_up_fails_what_was_begun_and_moves_the_rest() {
    for seed in 0..SEEDS {
        let mut plan = limited(closed(4, 100 * SECOND), seed);
        plan.connection.http = HttpVersion::V2;
        plan.connection.streams = 4;
        // The fault meets one stream of the first connection; later streams get no reply.
        let place = 4 + (seed % 20) as usize;
        let ran = World::new(plan)
            .script(move |seen| match (seen.connection, seen.place) {
                (0, at) if at == place => {
                    let head = frame(HEADERS, END_HEADERS, seen.stream, &[STATUS_200]);
                    Reply::raw([head, go_away(seen.stream - 2, 0)].concat()).close_after(5 * MS)
                }
                (0, at) if at > place => Reply::nothing(),
                _ => http2_server::ok(seen).after(MS),
            })
            .run();
        let counts = &ran.total.counts;
        assert_eq!((counts.sent, counts.in_flight), (REQUESTS, 0));
        assert_eq!(ran.errors(), [(ErrorKind::GoAway, 1)], "seed {seed}");
        assert_eq!(ran.seen.len() as u64, counts.sent + counts.resent);
    }
}
