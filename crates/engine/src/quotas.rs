//! The starts of closed loads that have a number of them: how many each worker was given, and how
//! those that a lost worker had left are divided.
//!
//! A load may have a number of starts for all of its users, or one for each of them. Either way the
//! starts that users have taken are reported once a second, so that what a lost worker had left is
//! what it was given less what it has reported.

use crate::control::TakeOver;
use crate::pacer::{most_users, share, starts_of};
use crate::shares::Shares;
use loadline_plan::Plan;
use loadline_schedule::{Stripe, Stripes};
use std::ops::Range;

/// The starts of lost users that others take over.
pub(crate) struct Quotas {
    lost: Stripes,
    left: Option<u64>,
}

impl Quotas {
    /// Creates the quotas of the users in this share, who had so many starts left; `None` if they
    /// are not limited.
    pub(crate) fn new(lost: Stripes, left: Option<u64>) -> Self {
        Quotas { lost, left }
    }

    /// Returns the starts of the user with this number among so many in all; `None` if they are not
    /// limited. All lost users have equal parts of those that were left.
    pub(crate) fn of(&self, number: u32, users: u32) -> Option<u64> {
        let stripe = Stripe {
            index: self.lost.count(number.into()) as u32,
            of: self.lost.count(users.into()) as u32,
        };
        Some(share(self.left?, stripe))
    }

    /// Returns the numbers of the lost users, of so many users in all, that a worker takes over
    /// whose share was `before` and is `after` now.
    pub(crate) fn taken(
        &self,
        users: u32,
        before: &Stripes,
        after: &Stripes,
    ) -> impl Iterator<Item = u32> {
        let is_taken = |number: &u32| {
            let number = u64::from(*number);
            after.contains(number) && !before.contains(number)
        };
        (0..users).filter(is_taken)
    }
}

/// The starts of closed loads that each worker of a run was given.
#[derive(Debug)]
pub struct Allotments {
    /// For each scenario those of each worker; `None` if they are not limited.
    scenarios: Vec<Option<Allotment>>,
    shares: Shares,
}

#[derive(Debug)]
struct Allotment {
    of_workers: Vec<u64>,
    /// The number of users.
    users: u32,
}

impl Allotments {
    /// Creates what the workers of a plan begin with.
    pub fn new(plan: &Plan) -> Self {
        let scenarios = plan.parts();
        Allotments {
            scenarios: scenarios.iter().map(Allotment::of).collect(),
            shares: Shares::new(plan.threads),
        }
    }

    /// Notes in a takeover what the lost workers had left in each scenario, of which they have
    /// reported this many starts, and hands that on to the heirs.
    pub fn hand_on(&mut self, takeover: &mut TakeOver, begun: &[u64]) {
        let mut left = Vec::new();
        for (number, scenario) in self.scenarios.iter_mut().enumerate() {
            let begun = begun.get(number).copied().unwrap_or(0);
            let scenario = scenario.as_mut();
            left.push(scenario.map(|scenario| scenario.take_back(&takeover.lost, begun)));
        }
        takeover.left = left;
        let before = self.shares.clone();
        let lost = self.shares.hand_on(takeover);
        for (scenario, left) in self.scenarios.iter_mut().zip(&takeover.left) {
            if let Some(scenario) = scenario {
                let quotas = Quotas::new(lost.clone(), *left);
                scenario.give(&takeover.heirs, &quotas, (&before, &self.shares));
            }
        }
    }
}

impl Allotment {
    fn of(plan: &Plan) -> Option<Self> {
        if plan.load.shape.is_open() {
            return None;
        }
        let of = plan.threads;
        let stripes = (0..of).map(|index| Stripe { index, of });
        let each = plan.part.as_ref().and_then(|part| part.iterations_per_user);
        let users = most_users(plan);
        let starts = |stripe| match (plan.request_limit, each) {
            (Some(limit), _) => Some(starts_of(limit, plan, stripe)),
            (None, each) => Some(share(users.into(), stripe).saturating_mul(each?)),
        };
        let of_workers: Option<Vec<u64>> = stripes.map(starts).collect();
        Some(Allotment {
            of_workers: of_workers?,
            users,
        })
    }

    /// Returns what these workers had left, and takes it from them.
    fn take_back(&mut self, workers: &Range<u32>, begun: u64) -> u64 {
        let own = workers.start as usize..workers.end as usize;
        let given = self.of_workers.get_mut(own).unwrap_or_default();
        let sum: u64 = given.iter().sum();
        given.fill(0);
        sum.saturating_sub(begun)
    }

    /// Gives the heirs what lost workers had left.
    fn give(&mut self, heirs: &[u32], quotas: &Quotas, (before, after): (&Shares, &Shares)) {
        for heir in heirs {
            let (before, after) = (before.of(*heir), after.of(*heir));
            let taken = quotas.taken(self.users, &before, &after);
            let more: u64 = taken
                .filter_map(|number| quotas.of(number, self.users))
                .sum();
            if let Some(given) = self.of_workers.get_mut(*heir as usize) {
                *given += more;
            }
        }
    }
}
