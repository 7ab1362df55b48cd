//! Workers that are lost in a closed load, and whose users the others take over as new ones: a
//! number of starts is sent exactly, and the load is as high as before.

use super::plans::{MS, SECOND, closed, shaped, staged, stages, time};
use super::ran::Ran;
use super::taken_over::numbers;
use super::world::World;
use crate::control::TakeOver;
use crate::quotas::Allotments;
use crate::{EndReason, Handle};
use loadline_plan::{Part, Plan, Shape};
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

/// A loss: the workers of a part, when they are lost, and when the others are notified.
#[derive(Clone, Debug)]
struct Loss {
    workers: Range<u32>,
    lost_ns: u64,
    told_ns: u64,
}

/// Runs a plan whose server takes this long, with losses one after the other.
fn run(plan: &Plan, service_ns: u64, losses: &[Loss]) -> Ran {
    let mut world = World::new(plan.clone()).serves_in(service_ns);
    let allotments = Rc::new(RefCell::new(Allotments::new(plan)));
    let mut left: Vec<u32> = (0..plan.threads).collect();
    for loss in losses.iter().cloned() {
        left.retain(|worker| !loss.workers.contains(worker));
        let (heirs, allotments) = (left.clone(), Rc::clone(&allotments));
        let scenarios = plan.parts().len();
        let workers = loss.workers.clone();
        world = world.at(loss.lost_ns, move |hands| {
            workers.for_each(|worker| hands.lose(worker));
        });
        world = world.at(loss.told_ns, move |hands| {
            let begun = hands.begun(loss.workers.clone(), scenarios);
            let mut takeover = TakeOver {
                at_ns: loss.told_ns + 150 * MS,
                lost: loss.workers,
                joined: 0..0,
                heirs,
                left: Vec::new(),
            };
            allotments.borrow_mut().hand_on(&mut takeover, &begun);
            hands.handle.take_over(takeover);
        });
    }
    world.run()
}

/// Returns a number of workers, and losses of one or two of them of which others are left.
fn losses(seed: u64) -> (u32, Vec<Loss>) {
    let mut number = numbers(seed);
    let threads = 2 + number(4) as u32;
    let mut left: Vec<u32> = (0..threads).collect();
    let mut at_ns = SECOND * number(2);
    let count = (1 + number(2)).min(u64::from(threads) - 1);
    let loss = |_| {
        let worker = left.remove(number(left.len() as u64) as usize);
        let lost_ns = at_ns + (200 + number(700)) * MS;
        let told_ns = lost_ns + (50 + number(900)) * MS;
        at_ns = told_ns / SECOND * SECOND + SECOND;
        Loss {
            workers: worker..worker + 1,
            lost_ns,
            told_ns,
        }
    };
    (threads, (0..count).map(loss).collect())
}

/// The seeds of a test: more if `PROPTEST_CASES` says so.
pub(crate) fn seeds(usual: u64) -> Range<u64> {
    let cases = std::env::var("PROPTEST_CASES").ok();
    let cases = cases.and_then(|cases| cases.parse::<u64>().ok());
    0..cases.map_or(usual, |cases| (cases / 2).max(usual))
}

#[test]
fn a_number_of_requests_is_sent_exactly_whoever_is_lost() {
    for seed in seeds(100) {
        let (threads, losses) = losses(seed);
        let users = threads * (1 + (seed % 3) as u32);
        let plan = Plan {
            threads,
            seed,
            duration: None,
            // Some six seconds of each user.
            request_limit: Some(u64::from(users) * 500 + seed % 7),
            ..closed(users, SECOND)
        };
        let ran = run(&plan, 10 * MS, &losses);
        let [planned, sent, answered, failed, in_flight] = ran.counts();
        let limit = plan.request_limit.unwrap_or(0);
        assert_eq!((planned, sent), (limit, limit), "{seed}: {losses:?}");
        assert_eq!(sent, answered + failed + ran.unfinished.in_flight, "{seed}");
        // What lost workers had in flight, nobody knows more of.
        assert!(in_flight <= u64::from(users), "{seed}: {in_flight}");
        assert_eq!(ran.reason, EndReason::Failed, "{seed}");
    }
}

#[test]
fn a_number_of_iterations_of_each_user_is_begun_exactly_whoever_is_lost() {
    for seed in seeds(100) {
        let (threads, losses) = losses(seed);
        let users = threads * (1 + (seed % 3) as u32);
        let each = 500 + seed % 5;
        let part = Part {
            name: "each".to_owned(),
            iterations_per_user: Some(each),
            ..Part::default()
        };
        let plan = Plan {
            threads,
            seed,
            part: Some(Box::new(part)),
            ..closed(users, 60 * SECOND)
        };
        let ran = run(&plan, 10 * MS, &losses);
        let [_, sent, ..] = ran.counts();
        assert_eq!(sent, u64::from(users) * each, "{seed}: {losses:?}");
    }
}

/// Returns the responses of each second.
fn answered(ran: &Ran) -> Vec<u64> {
    let intervals = ran.intervals.iter();
    intervals.map(|interval| interval.counts.answered).collect()
}

/// Asserts that a load is as high as without losses, from the second after the last one on.
fn assert_as_high(plan: &Plan, losses: &[Loss], seed: u64) {
    let (ran, whole) = (run(plan, 10 * MS, losses), run(plan, 10 * MS, &[]));
    let (found, expected) = (answered(&ran), answered(&whole));
    assert_eq!(found.len(), expected.len(), "{seed}");
    let told_ns = losses.last().map_or(0, |loss| loss.told_ns);
    let from = (told_ns / SECOND) as usize + 2;
    let users = u64::from(plan.load.users);
    for (second, (found, expected)) in found.iter().zip(&expected).enumerate().skip(from) {
        // The requests of a user may be half of a cycle later than without a loss.
        assert!(
            found.abs_diff(*expected) <= 2 * users,
            "{seed}, second {second}: {found}, not {expected}: {losses:?}"
        );
    }
}

#[test]
fn the_users_of_a_constant_load_are_as_many_as_before() {
    for seed in seeds(60) {
        let (threads, losses) = losses(seed);
        let plan = Plan {
            threads,
            seed,
            warmup: time(seed % 2 * 500 * MS),
            ..closed(threads * 3, 8 * SECOND)
        };
        assert_as_high(&plan, &losses, seed);
    }
}

#[test]
fn the_users_of_a_load_with_stages_come_and_go_as_planned() {
    for seed in seeds(60) {
        let (threads, losses) = losses(seed);
        let most = threads * 4;
        let shape = Shape::ClosedStages {
            start: 1,
            stages: stages([(4 * SECOND, most), (2 * SECOND, most), (4 * SECOND, 1)]),
        };
        let plan = Plan {
            threads,
            seed,
            ..staged(shape, most)
        };
        assert_as_high(&plan, &losses, seed);
    }
}

#[test]
fn a_load_without_users_of_a_schedule_hands_nothing_on() {
    let plan = shaped(Shape::Paced, 2, SECOND);
    let mut takeover = TakeOver {
        at_ns: 0,
        lost: 0..1,
        joined: 0..0,
        heirs: Vec::new(),
        left: Vec::new(),
    };
    Allotments::new(&plan).hand_on(&mut takeover, &[7]);
    assert_eq!(takeover.left, [None]);
    assert!(Handle::of_workers(1).takeovers_since(0).is_empty());
}
