//! Agents whose response times differ from those of the others.
//!
//! Each agent is compared with all others together, by the test of Kolmogorov and Smirnov; the most
//! different one is set aside before the rest is compared again, so that it makes no other agent
//! look odd. Response times of a stretch of time are alike, so only a probability far below the
//! usual ones counts, and only a difference that matters.

use crate::confidence::samples_needed;
use loadline_record::{Distribution, OddAgent};
use loadline_stats::compare_samples;

/// The probability below which response times differ by more than chance.
const CHANCE: f64 = 1e-6;
/// The least difference of a percentile, as a share of the lower one.
const EFFECT: f64 = 0.1;
/// The least difference of a percentile, in nanoseconds.
const EFFECT_NS: u64 = 200_000;
/// The percentiles that are compared: of higher ones a single burst decides.
const PERCENTILES: [f64; 2] = [50.0, 95.0];

/// Returns the agents whose response times differ from those of the others, the most different
/// first. Without names, or times of each of them, nobody is odd.
pub fn odd_agents(names: &[String], times: &[Distribution]) -> Vec<OddAgent> {
    let mut left: Vec<(&String, &Distribution)> = names.iter().zip(times).collect();
    let mut odd = Vec::new();
    while left.len() > 1 {
        let differing = (0..left.len()).filter_map(|index| differing(&left, index));
        let Some(most) = differing.max_by(|one, other| one.order().total_cmp(&other.order()))
        else {
            break;
        };
        left.remove(most.index);
        odd.push(most.agent);
    }
    odd
}

/// An agent that differs from the others.
struct Differing {
    index: usize,
    distance: f64,
    agent: OddAgent,
}

impl Differing {
    /// Returns the number by which the most different one is found: of two agents the slower one.
    fn order(&self) -> f64 {
        let is_slower = self.agent.own_ns > self.agent.rest_ns;
        self.distance + if is_slower { 1e-9 } else { 0.0 }
    }
}

/// Compares one of the agents with all others.
fn differing(agents: &[(&String, &Distribution)], index: usize) -> Option<Differing> {
    let (name, own) = agents[index];
    let mut rest = Distribution::default();
    let others = agents
        .iter()
        .enumerate()
        .filter(|(other, _)| *other != index);
    others.for_each(|(_, (_, times))| rest.merge(times));
    let found = compare_samples(own.steps(), rest.steps())?;
    let known = |percentile: &f64| own.len().min(rest.len()) >= samples_needed(*percentile);
    let compared = PERCENTILES.into_iter().filter(known).map(|percentile| {
        let (own_ns, rest_ns) = (
            own.percentile_ns(percentile),
            rest.percentile_ns(percentile),
        );
        OddAgent {
            agent: name.clone(),
            percentile,
            own_ns,
            rest_ns,
        }
    });
    let agent = compared.max_by(|one, other| effect(one).total_cmp(&effect(other)))?;
    let matters = effect(&agent) > EFFECT && agent.own_ns.abs_diff(agent.rest_ns) > EFFECT_NS;
    (found.chance < CHANCE && matters).then_some(Differing {
        index,
        distance: found.distance,
        agent,
    })
}

/// Returns by how much a percentile of an agent differs, as a share of the lower one.
fn effect(agent: &OddAgent) -> f64 {
    let lower = agent.own_ns.min(agent.rest_ns).max(1);
    agent.own_ns.abs_diff(agent.rest_ns) as f64 / lower as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Returns response times between a value and twice that.
    fn times(from_ns: u64, count: u64) -> Distribution {
        let mut times = Distribution::default();
        (0..count).for_each(|index| times.record_ns(from_ns + from_ns * index / count));
        times
    }

    fn names(count: usize) -> Vec<String> {
        (1..=count).map(|number| format!("web-{number}")).collect()
    }

    #[test]
    fn the_agent_that_differs_is_named_and_no_other() {
        let usual = || times(10 * MS, 2_000);
        let found = odd_agents(
            &names(4),
            &[usual(), times(14 * MS, 2_000), usual(), usual()],
        );
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].agent, "web-2");
        assert!(found[0].own_ns > found[0].rest_ns);
    }

    #[test]
    fn of_two_agents_the_slower_one_is_named() {
        let found = odd_agents(&names(2), &[times(10 * MS, 2_000), times(15 * MS, 2_000)]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].agent, "web-2");
    }

    #[test]
    fn what_is_alike_rare_or_too_little_is_not_odd() {
        let usual = || times(10 * MS, 2_000);
        assert!(odd_agents(&names(3), &[usual(), usual(), usual()]).is_empty());
        // 5 % matter to nobody, although they are no chance.
        let close = times(10_500_000, 100_000);
        assert!(odd_agents(&names(2), &[times(10 * MS, 100_000), close]).is_empty());
        // 20 µs of 10 are within what a wake-up takes.
        let short = [times(10_000, 2_000), times(30_000, 2_000)];
        assert!(odd_agents(&names(2), &short).is_empty());
        let few = [times(10 * MS, 8), times(20 * MS, 8)];
        assert!(odd_agents(&names(2), &few).is_empty());
        let nothing = [Distribution::default(), usual()];
        assert!(odd_agents(&names(2), &nothing).is_empty());
        assert!(odd_agents(&[], &[]).is_empty());
    }
}
