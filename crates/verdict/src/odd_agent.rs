//! Agents whose response times differ from those of the others.
//!
//! Each agent is compared with all others together, by the test of Kolmogorov and Smirnov; the most
//! different one is set aside before the rest is compared again, so that it makes no other agent
//! look odd. Only a difference that matters counts.
//!
//! That test takes each time for an independent one. Those of a second are alike, so that an agent
//! that was interrupted in a few seconds differs by more than chance from others on the very same
//! machine. A path that is longer, or a machine that is slower, is so all the time: the difference
//! must also be there second by second, by more than it varies from one to the next. Seconds of the
//! others are the same seconds, so what the target does to all of them is no difference.

use crate::confidence::samples_needed;
use loadline_record::{COMPARED_PERCENTILES, Distribution, OddAgent, PartTimes};
use loadline_stats::{compare_samples, lasts};

/// The probability below which response times differ by more than chance.
const CHANCE: f64 = 1e-6;
/// The probability below which a difference of the seconds of a run is there all the time.
const CHANCE_OVER_TIME: f64 = 1e-4;
/// The least difference of a percentile, as a share of the lower one.
const EFFECT: f64 = 0.1;
/// The least difference of a percentile, in nanoseconds.
const EFFECT_NS: u64 = 200_000;

/// Returns the agents whose response times differ from those of the others, the most different
/// first. Without names, or times of each of them, nobody is odd; nor in a run of less than four
/// seconds.
pub fn odd_agents(names: &[String], times: &[PartTimes]) -> Vec<OddAgent> {
    let mut left: Vec<(&String, &PartTimes)> = names.iter().zip(times).collect();
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
fn differing(agents: &[(&String, &PartTimes)], index: usize) -> Option<Differing> {
    let (name, own) = agents[index];
    let others = agents.iter().enumerate();
    let others = others.filter(|(other, _)| *other != index);
    let others: Vec<&PartTimes> = others.map(|(_, (_, times))| *times).collect();
    let mut rest = Distribution::default();
    others.iter().for_each(|other| rest.merge(&other.all));
    let found = compare_samples(own.all.steps(), rest.steps())?;
    if found.chance >= CHANCE {
        return None;
    }
    let least = own.all.len().min(rest.len());
    let compared = COMPARED_PERCENTILES.into_iter().enumerate();
    let compared = compared.filter_map(|(place, percentile)| {
        let agent = OddAgent {
            agent: name.clone(),
            percentile,
            own_ns: own.all.percentile_ns(percentile),
            rest_ns: rest.percentile_ns(percentile),
        };
        let is_known = least >= samples_needed(percentile);
        (is_known && matters(&agent) && is_always_there(own, &others, place)).then_some(agent)
    });
    let agent = compared.max_by(|one, other| effect(one).total_cmp(&effect(other)))?;
    Some(Differing {
        index,
        distance: found.distance,
        agent,
    })
}

/// True if an agent has more of its times within a percentile of all than others, or less, second
/// by second. `place` is that of the percentile.
fn is_always_there(own: &PartTimes, others: &[&PartTimes], place: usize) -> bool {
    let company = others.iter().filter(|other| other.company == own.company);
    let company: Vec<_> = company.map(|other| &other.stretches).collect();
    let differences = own.stretches.iter().enumerate().filter_map(|(at, own)| {
        let of_others = || company.iter().filter_map(|stretches| stretches.get(at));
        let samples: u64 = of_others().map(|stretch| stretch.samples).sum();
        let within: u64 = of_others().map(|stretch| stretch.within[place]).sum();
        (own.samples > 0 && samples > 0).then(|| {
            let expected = own.samples as f64 * within as f64 / samples as f64;
            own.within[place] as f64 - expected
        })
    });
    lasts(&differences.collect::<Vec<f64>>(), CHANCE_OVER_TIME)
}

fn matters(agent: &OddAgent) -> bool {
    effect(agent) > EFFECT && agent.own_ns.abs_diff(agent.rest_ns) > EFFECT_NS
}

/// Returns by how much a percentile of an agent differs, as a share of the lower one.
fn effect(agent: &OddAgent) -> f64 {
    let lower = agent.own_ns.min(agent.rest_ns).max(1);
    agent.own_ns.abs_diff(agent.rest_ns) as f64 / lower as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_record::TimesOfParts;

    const MS: u64 = 1_000_000;
    const SECONDS: u64 = 10;

    /// Returns response times between a value and twice that.
    fn times(from_ns: u64, count: u64) -> Distribution {
        let mut times = Distribution::default();
        (0..count).for_each(|index| times.record_ns(from_ns + from_ns * index / count));
        times
    }

    fn names(count: usize) -> Vec<String> {
        (1..=count).map(|number| format!("web-{number}")).collect()
    }

    /// Returns the odd ones of so many agents in a run of some seconds, in each of which an agent
    /// has these times.
    fn odd_of(
        agents: usize,
        seconds: u64,
        second: impl Fn(usize, u64) -> Distribution,
    ) -> Vec<OddAgent> {
        odd_agents(&names(agents), &run(agents, seconds, second))
    }

    fn run(
        agents: usize,
        seconds: u64,
        second: impl Fn(usize, u64) -> Distribution,
    ) -> Vec<PartTimes> {
        let mut parts = TimesOfParts::new(agents);
        for at in 0..seconds {
            let each: Vec<_> = (0..agents).map(|agent| second(agent, at)).collect();
            parts.observe(&each.iter().map(Some).collect::<Vec<_>>());
        }
        parts.each()
    }

    /// Returns the odd ones of agents with so many times of these lengths a second.
    fn odd_of_steady(each: &[(u64, u64)]) -> Vec<OddAgent> {
        odd_of(each.len(), SECONDS, |agent, _| {
            let (from_ns, count) = each[agent];
            times(from_ns, count)
        })
    }

    #[test]
    fn the_agent_that_differs_is_named_and_no_other() {
        let usual = (10 * MS, 200);
        let found = odd_of_steady(&[usual, (14 * MS, 200), usual, usual]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].agent, "web-2");
        assert!(found[0].own_ns > found[0].rest_ns);
    }

    #[test]
    fn of_two_agents_the_slower_one_is_named() {
        let found = odd_of_steady(&[(10 * MS, 200), (15 * MS, 200)]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].agent, "web-2");
    }

    #[test]
    fn an_agent_is_odd_beside_a_target_that_slows_down() {
        let found = odd_of(3, SECONDS, |agent, at| {
            let slower = if agent == 2 { 13 } else { 10 };
            times(slower * MS * (1 + at), 200)
        });
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].agent, "web-3");
    }

    #[test]
    fn an_agent_that_was_interrupted_now_and_then_is_not_odd() {
        // One of three processes on a machine waits for a core in most seconds: mostly the second.
        let waits = [1, 1, 2, 1, 0, 1, 3, 1, 2, 1, 1, 0, 3, 1, 3, 2, 1, 3, 1, 3];
        let second = |agent: usize, at: u64| {
            let slower = if waits[at as usize] == agent { 3 } else { 1 };
            times(slower * 10 * MS, 100)
        };
        let run = run(3, 20, second);
        let mut rest = run[0].all.clone();
        rest.merge(&run[2].all);
        let alone = compare_samples(run[1].all.steps(), rest.steps()).expect("times");
        assert!(alone.chance < CHANCE, "{alone:?}");
        let (own_ns, rest_ns) = (run[1].all.percentile_ns(50.0), rest.percentile_ns(50.0));
        assert!(own_ns * 10 > rest_ns * 12, "{own_ns} {rest_ns}");
        assert_eq!(odd_agents(&names(3), &run), []);
    }

    #[test]
    fn agents_whose_seconds_are_not_beside_each_other_are_not_compared() {
        let mut times = run(2, SECONDS, |agent, _| {
            times((10 + 5 * agent as u64) * MS, 200)
        });
        assert_eq!(odd_agents(&names(2), &times).len(), 1);
        times[1].company = 1;
        assert_eq!(odd_agents(&names(2), &times), []);
    }

    #[test]
    fn what_is_alike_rare_or_too_little_is_not_odd() {
        let usual = (10 * MS, 200);
        assert_eq!(odd_of_steady(&[usual; 3]), []);
        // 5 % matter to nobody, although they are no chance.
        let close = [(10 * MS, 10_000), (10_500_000, 10_000)];
        assert_eq!(odd_of_steady(&close), []);
        // 20 µs of 10 are within what a wake-up takes.
        assert_eq!(odd_of_steady(&[(10_000, 200), (30_000, 200)]), []);
        assert_eq!(odd_of_steady(&[(10 * MS, 1), (20 * MS, 1)]), []);
        assert_eq!(odd_of_steady(&[(10 * MS, 0), usual]), []);
        assert_eq!(odd_agents(&[], &[]), []);
        // Three seconds show nothing that lasts.
        let short = |seconds| {
            odd_of(2, seconds, |agent, _| {
                times((10 + 9 * agent as u64) * MS, 900)
            })
        };
        assert_eq!((short(3).len(), short(4).len()), (0, 1));
    }
}
