//! Workers that join a run while it lasts: of an open load each arrival is sent once, by who has it
//! then; a closed load has as many users as before.

use super::plans::{MS, SECOND, closed, shaped, staged, stages};
use super::ran::Ran;
use super::taken_over::numbers;
use super::users_taken_over::seeds;
use super::world::World;
use crate::batch::{Batch, Part, Resend};
use crate::behaviour::{Behaviour, Scenario};
use crate::control::TakeOver;
use crate::iteration::Iteration;
use crate::tally::{AnyTally, Tally};
use loadline_metrics::SeriesId;
use loadline_plan::{Arrivals, Plan, Rate, Shape};
use loadline_reactor::Host;
use loadline_schedule::{Law, Schedule, Stripe};
use loadline_wire::Expect;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::rc::Rc;

/// The length of a load, in seconds.
const SECONDS: u64 = 7;

/// The takeovers with which one or two workers join at whole seconds, from this one on.
fn joins(seed: u64, threads: u32) -> Vec<TakeOver> {
    let mut number = numbers(seed);
    let count = 1 + number(2) as u32;
    let mut at_ns = 0;
    let mut there: Vec<u32> = (0..threads).collect();
    let join = |worker: u32| {
        at_ns += SECOND * (1 + number(2));
        there.push(worker);
        TakeOver {
            at_ns,
            lost: 0..0,
            joined: worker..worker + 1,
            heirs: there.clone(),
            left: Vec::new(),
        }
    };
    (threads..threads + count).map(join).collect()
}

fn run(plan: &Plan, joins: &[TakeOver], service_ns: u64) -> Ran {
    world(plan, joins, service_ns).run()
}

fn world(plan: &Plan, joins: &[TakeOver], service_ns: u64) -> World {
    let world = World::new(plan.clone()).serves_in(service_ns);
    let joined = joins.iter().cloned();
    joined.fold(world, World::joins)
}

#[test]
fn each_arrival_of_an_open_load_is_sent_once_whoever_joins() {
    for seed in seeds(100) {
        let threads = 1 + (seed % 4) as u32;
        let arrivals = [Arrivals::Constant, Arrivals::Poisson][seed as usize % 2];
        // None is due at the end of an interval, which could count it as well as the next one.
        let rate = Rate {
            count: 60 + seed % 200,
            per_ns: SECOND + 1,
        };
        let shape = Shape::Rate { rate, arrivals };
        let plan = Plan {
            threads,
            seed,
            ..shaped(shape, 60, SECONDS * SECOND)
        };
        let joins = joins(seed, threads);
        let ran = run(&plan, &joins, MS);
        let law = match arrivals {
            Arrivals::Constant => Law::Even,
            Arrivals::Poisson => Law::Poisson,
        };
        let schedule = Schedule::constant(rate, law, seed);
        let all = schedule
            .arrivals(Stripe::WHOLE)
            .map(|arrival| arrival.at_ns);
        let due: Vec<u64> = all.take_while(|at_ns| *at_ns < SECONDS * SECOND).collect();
        let [planned, sent, ..] = ran.counts();
        let count = due.len() as u64;
        assert_eq!((planned, sent), (count, count), "{seed}: {joins:?}");
        // Those of the last milliseconds are in flight at the end.
        let ended = |at_ns: &u64| *at_ns < SECONDS * SECOND - 10 * MS;
        let found = ran.each(|exchange| exchange.intended_ns);
        let found: Vec<u64> = found.into_iter().filter(ended).collect();
        let expected: Vec<u64> = due.into_iter().filter(ended).collect();
        assert_eq!(found, expected, "{seed}: {joins:?}");
        for join in &joins {
            let own = &ran.logs[join.joined.start as usize];
            assert!(!own.is_empty(), "{seed}: {join:?} has a share");
            let first_ns = own.iter().map(|exchange| exchange.intended_ns).min();
            assert!(
                first_ns >= Some(join.at_ns),
                "{seed}: {first_ns:?} {join:?}"
            );
        }
    }
}

/// The exchanges that have begun and not ended at this instant, from the begin of the load.
fn active(ran: &Ran, at_ns: u64) -> usize {
    let logs = ran.logs.iter().flatten();
    let is_active = |start_ns: u64, end_ns: u64| (start_ns..end_ns).contains(&at_ns);
    logs.filter(|exchange| is_active(exchange.start_ns, exchange.end_ns))
        .count()
}

#[test]
fn a_closed_load_has_as_many_users_as_before_and_those_who_join_have_their_share() {
    for seed in seeds(100) {
        let threads = 1 + (seed % 4) as u32;
        let users = threads * 4 + (seed % 5) as u32;
        let plan = Plan {
            threads,
            seed,
            ..closed(users, SECONDS * SECOND)
        };
        let joins = joins(seed, threads);
        let ran = run(&plan, &joins, 20 * MS);
        let [planned, sent, answered, failed, _] = ran.counts();
        assert_eq!((planned, failed), (sent, 0), "{seed}");
        assert_eq!(sent, answered + ran.unfinished.in_flight, "{seed}");
        for join in &joins {
            let own = &ran.logs[join.joined.start as usize];
            let first_ns = own.iter().map(|exchange| exchange.start_ns).min();
            assert!(
                first_ns >= Some(join.at_ns),
                "{seed}: {first_ns:?} {join:?}"
            );
        }
        // Who hands a user on ends its request, which takes some 20 ms more.
        for second in 1..SECONDS {
            let at_ns = second * SECOND + 500 * MS;
            assert_eq!(
                active(&ran, at_ns),
                users as usize,
                "{seed}: {second} {joins:?}"
            );
        }
        let last = joins.last().expect("one joins");
        let of = last.heirs.len();
        let from_ns = last.at_ns + 500 * MS;
        for worker in &last.heirs {
            let own = ran.logs[*worker as usize].iter();
            let at_once = own.filter(|one| (one.start_ns..one.end_ns).contains(&from_ns));
            let share = users as usize / of;
            let found = at_once.count();
            assert!(
                (share..=share + 1).contains(&found),
                "{seed}: {worker} has {found}"
            );
        }
    }
}

#[test]
fn users_of_stages_come_and_go_as_without_those_who_join() {
    for seed in seeds(50) {
        let threads = 1 + (seed % 3) as u32;
        let most = 6 + (seed % 7) as u32;
        let shape = Shape::ClosedStages {
            start: 0,
            stages: stages([(2 * SECOND, most), (3 * SECOND, most), (2 * SECOND, 0)]),
        };
        let plan = Plan {
            threads,
            seed,
            ..staged(shape, most)
        };
        let joins = joins(seed, threads);
        let (with, without) = (run(&plan, &joins, 10 * MS), run(&plan, &[], 10 * MS));
        for tenth in 1..(SECONDS * 10 - 2) {
            let at_ns = tenth * SECOND / 10 + 50 * MS;
            let (found, expected) = (active(&with, at_ns), active(&without, at_ns));
            // A user begins and ends at the end of an iteration.
            assert!(
                found.abs_diff(expected) <= 1 + threads as usize,
                "{seed} {tenth}: {found} {expected}"
            );
        }
    }
}

/// The iterations of users of a script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Visits {
    begun: u64,
    ended: u64,
}

impl Tally for Visits {
    fn merge(&mut self, other: Self) {
        self.begun += other.begun;
        self.ended += other.ended;
    }
}

/// Users of a script, each of whose iterations has two requests.
#[derive(Clone, Default)]
struct Visitors(Rc<RefCell<Visits>>);

impl<H: Host> Scenario<H> for Visitors {
    const COUNTS: bool = true;
    type Behaviour = Visitors;

    fn user(&mut self) -> Visitors {
        self.clone()
    }

    fn take_tally(&mut self) -> Option<AnyTally> {
        let visits = self.0.take();
        (visits != Visits::default()).then(|| AnyTally::new(visits))
    }
}

impl<H: Host> Behaviour<H> for Visitors {
    async fn iterate(&mut self, iteration: Iteration<'_, H>) {
        const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";
        self.0.borrow_mut().begun += 1;
        let part = Part {
            end: REQUEST.len(),
            expect: Expect::Other,
            series: SeriesId::default(),
            request: None,
        };
        for _ in 0..2 {
            let batch = Batch {
                endpoint: 0,
                bytes: REQUEST,
                tail: &[],
                http2: None,
                parts: &[part],
                resend: Resend::default(),
            };
            iteration.requester().send(batch, &mut ()).await;
        }
        self.0.borrow_mut().ended += 1;
    }
}

#[test]
fn users_of_a_script_end_their_iterations_before_others_have_them() {
    for seed in seeds(100) {
        let threads = 1 + (seed % 4) as u32;
        let users = threads * 3 + (seed % 5) as u32;
        let plan = Plan {
            threads,
            seed,
            ..closed(users, SECONDS * SECOND)
        };
        let joins = joins(seed, threads);
        let world = world(&plan, &joins, 20 * MS);
        let ran = world.run_scenario(|_, _| Visitors::default());
        let mut visits = Visits::default();
        for (_, tally) in &ran.tallies {
            visits.merge(postcard::from_bytes(tally).expect("what was counted"));
        }
        let [planned, sent, answered, failed, in_flight] = ran.counts();
        assert_eq!((planned, failed), (sent, 0), "{seed}");
        assert_eq!(sent, answered + in_flight, "{seed}");
        // Nobody was in an iteration any more but those who were there at the end.
        assert_eq!(visits.begun - visits.ended, u64::from(users), "{seed}");
        assert_eq!(in_flight, u64::from(users), "{seed}");
        let whole = 2 * visits.ended;
        assert!((whole..=2 * visits.begun).contains(&sent), "{seed}: {sent}");
        for join in &joins {
            let own = ran.logs[join.joined.start as usize].iter();
            let first_ns = own.map(|exchange| exchange.start_ns).min();
            assert!(
                first_ns >= Some(join.at_ns),
                "{seed}: {first_ns:?} {join:?}"
            );
        }
        for second in 1..SECONDS {
            let at_ns = second * SECOND + 500 * MS;
            assert_eq!(active(&ran, at_ns), users as usize, "{seed}: {second}");
        }
    }
}

#[test]
fn iterations_of_a_script_with_a_rate_begin_once_each_whoever_joins() {
    for seed in seeds(100) {
        let threads = 1 + (seed % 4) as u32;
        let rate = Rate {
            count: 60 + seed % 100,
            per_ns: SECOND + 1,
        };
        let arrivals = Arrivals::Constant;
        let plan = Plan {
            threads,
            seed,
            ..shaped(Shape::Rate { rate, arrivals }, 60, SECONDS * SECOND)
        };
        let joins = joins(seed, threads);
        let world = world(&plan, &joins, MS);
        let ran = world.run_scenario(|_, _| Visitors::default());
        let mut visits = Visits::default();
        for (_, tally) in &ran.tallies {
            visits.merge(postcard::from_bytes(tally).expect("what was counted"));
        }
        let schedule = Schedule::constant(rate, Law::Even, seed);
        let due = schedule.arrivals(Stripe::WHOLE);
        let due = due.take_while(|arrival| arrival.at_ns < SECONDS * SECOND);
        assert_eq!(visits.begun, due.count() as u64, "{seed}: {joins:?}");
    }
}
