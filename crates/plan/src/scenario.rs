//! Scenarios: several loads at once in one plan, each with its own requests and its own time.

use crate::{Client, Load, Order, Plan, Request, Script, Shape, Stage, Think};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// The tag of a series that holds the name of its scenario.
pub const SCENARIO_TAG: &str = "scenario";

/// 2^64 divided by the golden ratio: multiples of it spread the seeds of scenarios as far apart as
/// possible.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// One of several loads of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// The properties that do not depend on the kind of load.
    #[serde(flatten)]
    pub part: Part,
    /// The requests; never empty, unless a [script names its URLs](Script::names_urls).
    pub requests: Vec<Request>,
    /// The script that makes the requests, if there is one; the scenario then has one request,
    /// whose URL is the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub script: Option<Script>,
    /// The order in which the scenario's users take the requests.
    pub order: Order,
    /// The time for which the scenario's users wait between two iterations, in a closed load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub think: Option<Think>,
    /// The users' handling of responses.
    #[serde(default, skip_serializing_if = "Client::is_plain")]
    pub client: Client,
    /// The amount of load, and its model.
    pub load: Load,
    /// The time during which requests are started, from the scenario's own start on.
    pub duration: Option<Duration>,
    /// The number of iterations, begun and ended, that ends the scenario.
    pub request_limit: Option<u64>,
}

/// The properties of a scenario among the others of its plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// The scenario's name, unique in the plan.
    pub name: String,
    /// The time from the beginning of the measured part to the start of the scenario's load. A
    /// scenario that starts at 0 takes part in the warm-up.
    #[serde(default, skip_serializing_if = "Duration::is_zero")]
    pub start: Duration,
    /// The time for which iterations may go on after the scenario's last start.
    #[serde(default, skip_serializing_if = "Duration::is_zero")]
    pub graceful_stop: Duration,
    /// The most iterations that each user begins. For closed loads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iterations_per_user: Option<u64>,
    /// The treatment of an arrival that falls due when no user is free. For open loads.
    #[serde(default, skip_serializing_if = "LateArrivals::wait")]
    pub late_arrivals: LateArrivals,
    /// The time for which a user that leaves before the load ends may go on with its iteration,
    /// which is then interrupted; to the end of the load if `None`. For stages of a closed load,
    /// and behaviours that can be interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graceful_ramp_down: Option<Duration>,
    /// Tags of all the scenario's series, in addition to its name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tags: BTreeMap<String, String>,
}

/// The treatment of an arrival of an open load that falls due when no user is free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LateArrivals {
    /// It waits for a user; one is added if the load may have more.
    #[default]
    Wait,
    /// It is dropped: counted, but not started. A user is added for later arrivals if the load may
    /// have more.
    Drop,
}

impl LateArrivals {
    /// True if late arrivals wait for a user.
    pub fn wait(&self) -> bool {
        *self == LateArrivals::Wait
    }
}

impl Part {
    /// Returns the tags of the scenario's series, including the tag of its name.
    pub fn series_tags(&self) -> BTreeMap<String, String> {
        let mut tags = self.tags.clone();
        tags.insert(SCENARIO_TAG.to_owned(), self.name.clone());
        tags
    }
}

impl Plan {
    /// Returns a plan for each scenario alone; a copy of the plan itself if it has no scenarios.
    pub fn parts(&self) -> Vec<Plan> {
        if self.scenarios.is_empty() {
            return vec![self.clone()];
        }
        let rest = Plan {
            requests: Vec::new(),
            list: None,
            scenarios: Vec::new(),
            ..self.clone()
        };
        let alone = |(index, scenario): (usize, &Scenario)| Plan {
            part: Some(Box::new(scenario.part.clone())),
            requests: scenario.requests.clone(),
            script: scenario.script.clone(),
            order: scenario.order,
            think: scenario.think,
            client: scenario.client.clone(),
            load: scenario.load.clone(),
            duration: scenario.duration,
            request_limit: scenario.request_limit,
            // Different seeds, so that two scenarios do not draw the same random arrivals.
            seed: self.seed.wrapping_add((index as u64).wrapping_mul(GOLDEN)),
            ..rest.clone()
        };
        self.scenarios.iter().enumerate().map(alone).collect()
    }

    /// Returns the scripts of the plan and of its scenarios.
    pub fn scripts(&self) -> impl Iterator<Item = &Script> {
        let scenarios = self.scenarios.iter();
        let own = scenarios.filter_map(|scenario| scenario.script.as_ref());
        self.script.iter().chain(own)
    }

    /// Returns the plan with these scenarios: its load, requests and duration become those of all
    /// scenarios together.
    #[must_use]
    pub fn with_scenarios(self, scenarios: Vec<Scenario>) -> Plan {
        let sum = |of: fn(&Load) -> u32| {
            let each = scenarios.iter().map(|scenario| of(&scenario.load));
            each.fold(0, u32::saturating_add)
        };
        let is_open = scenarios
            .iter()
            .any(|scenario| scenario.load.shape.is_open());
        Plan {
            requests: scenarios
                .iter()
                .flat_map(|scenario| scenario.requests.clone())
                .collect(),
            load: Load {
                users: sum(|load| load.users),
                max_users: sum(|load| load.max_users),
                shape: Shape::Scenarios { is_open },
            },
            duration: scenarios
                .iter()
                .map(Scenario::length)
                .try_fold(Duration::ZERO, |longest, length| Some(longest.max(length?))),
            request_limit: None,
            think: None,
            client: Client::default(),
            scenarios,
            ..self
        }
    }
}

impl Scenario {
    /// Returns the longest time from the beginning of the measured part to the end of the scenario;
    /// `None` if only its iterations end it.
    pub fn length(&self) -> Option<Duration> {
        let (start, stop) = (self.part.start, self.part.graceful_stop);
        Some(self.duration?.saturating_add(start).saturating_add(stop))
    }
}

/// Spreads users over classes by weight, by the largest remainder method: each class gets its exact
/// share, rounded down; the users that are left over go one each to the classes with the largest
/// remainders, the first of equal ones before the others.
///
/// If no weight is above 0, no class gets a user.
pub fn spread_by_weight(users: u32, weights: &[u32]) -> Vec<u32> {
    let sum: u64 = weights.iter().copied().map(u64::from).sum();
    if sum == 0 {
        return vec![0; weights.len()];
    }
    let share = |weight: &u32| u64::from(users) * u64::from(*weight);
    let mut spread: Vec<u32> = weights
        .iter()
        .map(|weight| u32::try_from(share(weight) / sum).unwrap_or(users))
        .collect();
    let mut by_remainder: Vec<usize> = (0..weights.len()).collect();
    by_remainder.sort_by_key(|index| std::cmp::Reverse(share(&weights[*index]) % sum));
    let left = users - spread.iter().sum::<u32>();
    for index in by_remainder.into_iter().take(left as usize) {
        spread[index] += 1;
    }
    spread
}

impl Load {
    /// Splits the users of a closed load among classes, by the classes' weights; where stages ramp
    /// them, the users at the start and at the end of each stage. Not for open loads, which it
    /// would turn into closed ones.
    pub fn split_by_weight(&self, weights: &[u32]) -> Vec<Load> {
        let class = |index: usize| {
            let share = |users: u32| spread_by_weight(users, weights)[index];
            let (users, shape) = match &self.shape {
                Shape::ClosedStages { start, stages } => {
                    let start = share(*start);
                    let target = |stage: &Stage<u32>| Stage {
                        target: share(stage.target),
                        ..*stage
                    };
                    let stages: Vec<_> = stages.iter().map(target).collect();
                    let targets = stages.iter().map(|stage| stage.target);
                    let most = targets.fold(start, u32::max);
                    (most, Shape::ClosedStages { start, stages })
                }
                Shape::Closed
                | Shape::Rate { .. }
                | Shape::RateStages { .. }
                | Shape::Burst { .. }
                | Shape::Paced
                | Shape::Scenarios { .. } => (share(self.users), Shape::Closed),
            };
            Load {
                users,
                max_users: users,
                shape,
            }
        };
        (0..weights.len()).map(class).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_are_split_by_weight_at_their_ends() {
        let stage = |seconds, target| Stage {
            duration: Duration::from_secs(seconds),
            target,
        };
        let load = Load {
            users: 10,
            max_users: 10,
            shape: Shape::ClosedStages {
                start: 0,
                stages: vec![stage(5, 10), stage(10, 5), stage(5, 0)],
            },
        };
        let classes = load.split_by_weight(&[3, 1]);
        assert_eq!([classes[0].users, classes[1].users], [8, 2]);
        let targets = |load: &Load| match &load.shape {
            Shape::ClosedStages { stages, .. } => stages.iter().map(|stage| stage.target).collect(),
            _ => Vec::new(),
        };
        assert_eq!(targets(&classes[0]), [8, 4, 0]);
        assert_eq!(targets(&classes[1]), [2, 1, 0]);
    }

    #[test]
    fn users_are_spread_by_weight_and_none_is_lost() {
        assert_eq!(spread_by_weight(9, &[2, 1]), [6, 3]);
        assert_eq!(spread_by_weight(10, &[1, 1, 1]), [4, 3, 3]);
        assert_eq!(spread_by_weight(10, &[3, 0, 1]), [8, 0, 2]);
        assert_eq!(spread_by_weight(2, &[1, 5, 5]), [0, 1, 1]);
        assert_eq!(spread_by_weight(u32::MAX, &[u32::MAX]), [u32::MAX]);
        assert_eq!(spread_by_weight(5, &[0, 0]), [0, 0]);
        for users in 0..50 {
            let spread = spread_by_weight(users, &[7, 3, 13, 1]);
            assert_eq!(spread.iter().sum::<u32>(), users);
        }
    }
}
