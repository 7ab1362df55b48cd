//! Random runs: any plan, on any network, against a server with any faults, with any incident.

use super::plans::{MS, shaped, stages, time};
use super::server::{Reply, Seen};
use super::world::{Hands, World};
use loadline_plan::{Arrivals, Clock, Plan, Rate, Shape};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use std::cell::RefCell;

struct Dice(ChaCha8Rng);

impl Dice {
    fn new(seed: u64) -> Self {
        Dice(ChaCha8Rng::seed_from_u64(seed))
    }

    fn below(&mut self, most: u64) -> u64 {
        self.0.next_u64() % most
    }

    fn one_of<T: Copy, const N: usize>(&mut self, choices: [T; N]) -> T {
        choices[self.below(N as u64) as usize]
    }
}

/// Returns the world of a seed, in which the target of a request is its number.
pub(crate) fn any_world(seed: u64) -> World {
    let mut dice = Dice::new(seed);
    let mut world = World::new(any_plan(&mut dice, seed));
    world.interval_ns = 30 * MS;
    world.doors = 1 + dice.below(3) as u16;
    world.latency_ns = dice.one_of([MS / 20, MS / 3, MS]);
    world.cut_up = dice.one_of([None, Some(1), Some(9), Some(60)]);
    world.window = dice.one_of([None, Some(50)]);
    world.idle_ns = dice.one_of([None, Some(6 * MS)]);
    for _ in 0..dice.below(4) {
        world = with_incident(world, 30 * MS + dice.below(100 * MS), dice.below(8));
    }
    let moods = RefCell::new(Dice::new(!seed));
    world.script(move |seen| mood(seen, &mut moods.borrow_mut()))
}

fn any_plan(dice: &mut Dice, seed: u64) -> Plan {
    let threads = 1 + dice.below(3) as u32;
    let connections = threads + dice.below(6) as u32;
    let shape = any_shape(dice, connections);
    let mut plan = shaped(shape, connections, 100 * MS + dice.below(150 * MS));
    if plan.load.shape.is_open() {
        plan.load.max_users += dice.below(10) as u32;
    }
    plan.seed = seed;
    plan.threads = threads;
    plan.request_limit = (dice.below(3) == 0).then(|| 1 + dice.below(120));
    plan.warmup = time(dice.one_of([0, 0, 25 * MS]));
    plan.connection.keepalive = dice.below(4) > 0;
    if plan.connection.keepalive {
        plan.connection.pipeline = 1 + dice.below(4) as u32;
    }
    plan.connection.timeout = time(20 * MS + dice.below(30 * MS));
    plan.connection.connect_timeout = time(5 * MS);
    plan.connection.clock = dice.one_of([Clock::Kernel, Clock::User]);
    plan
}

fn any_shape(dice: &mut Dice, connections: u32) -> Shape {
    let arrivals = dice.one_of([Arrivals::Constant, Arrivals::Poisson]);
    let kind = dice.below(8);
    let mut rate = || Rate::each_second(50 + dice.below(1_000));
    match kind {
        0 => Shape::ClosedStages {
            start: connections / 2,
            stages: stages([(60 * MS, connections), (0, 1), (40 * MS, 1), (60 * MS, 0)]),
        },
        1 => Shape::RateStages {
            start: rate(),
            stages: stages([(60 * MS, rate()), (0, rate()), (80 * MS, Rate::ZERO)]),
            arrivals,
        },
        2 => Shape::Burst {
            size: u64::from(connections),
            every: time(7 * MS),
        },
        3 | 4 => Shape::Closed,
        _ => Shape::Rate {
            rate: rate(),
            arrivals,
        },
    }
}

/// Returns the reply of a server with random faults.
fn mood(seen: &Seen, dice: &mut Dice) -> Reply {
    let number: u64 = seen.target[1..].parse().unwrap();
    let whole = answer_with(number);
    let closing = whole.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    let cut = &whole[..1 + dice.below(whole.len() as u64 - 1) as usize];
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let soon_ns = 1 + dice.below(3 * MS);
    let reply = match dice.below(40) {
        0 => Reply::raw(cut).close(),
        1 => Reply::raw(cut).reset_after(soon_ns),
        2 => Reply::raw(cut).sleep(),
        3 => Reply::nothing().close(),
        4 => Reply::nothing().reset(),
        5 => Reply::nothing().sleep(),
        6 => Reply::raw("nonsense\r\n\r\n"),
        7 => Reply::raw(format!("{chunked}x\r\n")).close(),
        8 => Reply::raw(closing).close(),
        9 => Reply::raw(closing),
        10 => Reply::raw(whole.replace("1.1", "1.0")).close_after(soon_ns),
        11 => Reply::raw(format!("HTTP/1.1 200 OK\r\n\r\n{number:06}")).close(),
        12 => Reply::raw(&whole).close_after(soon_ns),
        13 => Reply::raw(&whole).reset_after(soon_ns),
        14 => Reply::raw("HTTP/1.1 204 None\r\n\r\n"),
        15 => Reply::raw("HTTP/1.1 503 No\r\nContent-Length: 2\r\n\r\nno"),
        16..20 => Reply::raw(format!("{chunked}6\r\n{number:06}\r\n0\r\nA: b\r\n\r\n")),
        20..23 => Reply::raw(format!("HTTP/1.1 100 Go on\r\n\r\n{whole}")),
        23..26 => Reply::raw(&whole).drip(7, soon_ns),
        _ => Reply::raw(&whole),
    };
    reply.after(dice.below(12 * MS))
}

/// Returns a plain response whose body is the request's number.
pub(crate) fn answer_with(number: u64) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n{number:06}")
}

/// Adds an incident that affects the whole run; outages end later.
fn with_incident(world: World, at_ns: u64, kind: u64) -> World {
    let later_ns = at_ns + 20 * MS;
    match kind {
        0 => world
            .at(at_ns, |hands| hands.server.down())
            .at(later_ns, |hands| hands.server.up()),
        1 => world
            .at(at_ns, |hands| hands.server.set_silent(true))
            .at(later_ns, |hands| hands.server.set_silent(false)),
        2 => world.at(at_ns, |hands| hands.server.reset_all()),
        3 => world.at(at_ns, |hands| hands.sim.stall(17 * MS)),
        4 => world.at(at_ns, |hands| hands.handle.stop()),
        5 => world.at(at_ns, |hands| hands.handle.abort()),
        _ => world.at(at_ns, move |hands: &Hands| {
            hands.server.freeze(at_ns..at_ns + 40 * MS);
        }),
    }
}
