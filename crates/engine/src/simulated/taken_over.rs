//! Workers that are lost in an open load, and whose arrivals the others take over: each arrival
//! from then on is sent once, and planned = sent + unsent + lost.

use super::plans::{MS, SECOND, shaped, time};
use super::ran::Ran;
use super::world::World;
use crate::control::TakeOver;
use crate::shares::Shares;
use loadline_plan::{Arrivals, Plan, Rate, Shape};
use loadline_schedule::{Law, Schedule};

/// A loss: the worker, when it is lost, and when the others take its share over; from the begin of
/// the load.
#[derive(Clone, Copy, Debug)]
struct Loss {
    worker: u32,
    lost_ns: u64,
    from_ns: u64,
}

/// A run with losses, one after the other.
#[derive(Debug)]
struct Case {
    plan: Plan,
    losses: Vec<Loss>,
}

/// Returns numbers that follow from a seed.
pub(crate) fn numbers(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |below| {
        // The generator of Knuth's MMIX.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    }
}

impl Case {
    fn new(seed: u64) -> Case {
        let mut number = numbers(seed);
        let threads = 2 + number(4) as u32;
        let arrivals = [Arrivals::Constant, Arrivals::Poisson][number(2) as usize];
        // None is due at the end of an interval, which could count it as well as the next one.
        let rate = Rate {
            count: 60 + number(200),
            per_ns: SECOND + 1,
        };
        let (seconds, warmup_ns) = (6, number(2) * 500 * MS);
        let limit = (number(3) == 0).then(|| rate.count * 5);
        let plan = Plan {
            threads,
            seed,
            warmup: time(warmup_ns),
            request_limit: limit,
            ..shaped(Shape::Rate { rate, arrivals }, 60, seconds * SECOND)
        };
        let first = Loss {
            worker: number(threads.into()) as u32,
            lost_ns: warmup_ns + SECOND * number(2) + (200 + number(700)) * MS,
            from_ns: 0,
        };
        let first = first.taken_after((200 + number(1_500)) * MS);
        let mut losses = vec![first];
        // A worker that has sent all of a limited number takes nothing over.
        if threads > 2 && limit.is_none() && number(2) == 0 {
            let others = (0..threads).filter(|worker| *worker != first.worker);
            let others: Vec<u32> = others.collect();
            let at_ns = first.from_ns.max(warmup_ns) - warmup_ns + SECOND;
            let second = Loss {
                worker: others[number(others.len() as u64) as usize],
                lost_ns: warmup_ns + at_ns / SECOND * SECOND + (200 + number(700)) * MS,
                from_ns: 0,
            };
            losses.push(second.taken_after(200 * MS));
        }
        Case { plan, losses }
    }

    fn warmup_ns(&self) -> u64 {
        self.plan.warmup.as_nanos() as u64
    }

    /// Returns the takeovers, each by all workers that are left.
    fn takeovers(&self) -> Vec<TakeOver> {
        let mut left: Vec<u32> = (0..self.plan.threads).collect();
        let takeover = |loss: &Loss| {
            left.retain(|worker| *worker != loss.worker);
            TakeOver {
                at_ns: loss.from_ns,
                lost: loss.worker..loss.worker + 1,
                joined: 0..0,
                heirs: left.clone(),
                left: Vec::new(),
            }
        };
        self.losses.iter().map(takeover).collect()
    }

    fn run(&self) -> Ran {
        let mut world = World::new(self.plan.clone()).serves_in(MS);
        for (loss, takeover) in self.losses.iter().copied().zip(self.takeovers()) {
            world = world.at(loss.lost_ns, move |hands| hands.lose(loss.worker));
            world = world.at(loss.from_ns - 150 * MS, move |hands| {
                hands.handle.take_over(takeover);
            });
        }
        world.run()
    }

    /// Returns the arrivals of the measured part, each with its instant from the begin of the load
    /// and whether it is lost.
    fn arrivals(&self) -> Vec<(u64, bool)> {
        let Shape::Rate { rate, arrivals } = self.plan.load.shape.clone() else {
            unreachable!("all loads have a rate")
        };
        let law = match arrivals {
            Arrivals::Constant => Law::Even,
            Arrivals::Poisson => Law::Poisson,
        };
        let schedule = Schedule::constant(rate, law, self.plan.seed);
        let end_ns = self.plan.duration.map_or(0, |end| end.as_nanos() as u64);
        let limit = self.plan.request_limit.unwrap_or(u64::MAX);
        let all = schedule.arrivals(loadline_schedule::Stripe::WHOLE);
        let mut all = all.take_while(|one| one.at_ns < end_ns && one.index < limit);
        let arrivals = std::iter::from_fn(|| {
            let arrival = all.next()?;
            let at_ns = arrival.at_ns + self.warmup_ns();
            Some((at_ns, self.is_lost(at_ns, arrival.index)))
        });
        arrivals.collect()
    }

    /// True if an arrival is due after the last report of the worker that has it then, and before
    /// the others take it over.
    fn is_lost(&self, at_ns: u64, index: u64) -> bool {
        let mut shares = Shares::new(self.plan.threads);
        for (loss, takeover) in self.losses.iter().zip(self.takeovers()) {
            let reported_ns = (loss.lost_ns - self.warmup_ns()) / SECOND * SECOND;
            let is_silent = (self.warmup_ns() + reported_ns..loss.from_ns).contains(&at_ns);
            if is_silent && shares.of(loss.worker).contains(index) {
                return true;
            }
            if at_ns >= loss.from_ns {
                shares.hand_on(&takeover);
            }
        }
        false
    }
}

impl Loss {
    fn taken_after(self, ns: u64) -> Loss {
        Loss {
            from_ns: self.lost_ns + ns,
            ..self
        }
    }
}

#[test]
fn what_is_planned_is_sent_or_unsent_or_lost_whoever_is_lost() {
    for seed in 0..300 {
        let case = Case::new(seed);
        let ran = case.run();
        let arrivals = case.arrivals();
        let lost = arrivals.iter().filter(|(_, is_lost)| *is_lost).count() as u64;
        let planned = arrivals.len() as u64;
        let [found, sent, ..] = ran.counts();
        assert_eq!(ran.unfinished.lost, lost, "{seed}: {case:?}");
        assert_eq!(ran.unfinished.unsent, lost, "{seed}: {case:?}");
        assert_eq!((found, sent), (planned, planned - lost), "{seed}: {case:?}");
    }
}

#[test]
fn each_arrival_after_a_takeover_is_sent_once_at_its_instant() {
    for seed in 0..100 {
        let mut case = Case::new(seed);
        case.plan.warmup = time(0);
        case.plan.request_limit = None;
        let from_ns = case.losses.last().map_or(0, |loss| loss.from_ns);
        // Those of the last milliseconds are in flight at the end.
        let range = from_ns..6 * SECOND - 10 * MS;
        let arrivals = case.arrivals().into_iter().map(|(at_ns, _)| at_ns);
        let expected: Vec<u64> = arrivals.filter(|at_ns| range.contains(at_ns)).collect();
        let intended = case.run().each(|exchange| exchange.intended_ns);
        let sent = intended.into_iter().filter(|at_ns| range.contains(at_ns));
        assert_eq!(sent.collect::<Vec<u64>>(), expected, "{seed}: {case:?}");
    }
}
