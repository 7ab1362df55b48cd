//! The agents of a run that goes on: what each has done so far, and in the latest interval.

use crate::api::AgentSoFar;
use loadline_record::Distribution;
use loadline_runner::AgentRecord;
use loadline_units::rounding::per_second;

/// The most agents that each event lists.
const MOST_LISTED: usize = 64;

/// Returns those that an event lists, by name: all, or of many the silent ones and the first of the
/// others.
pub(crate) fn listed(agents: &[AgentSoFar]) -> Vec<AgentSoFar> {
    let silent = agents.iter().filter(|one| one.is_silent).count();
    let mut places = MOST_LISTED.saturating_sub(silent);
    let mut silent_places = MOST_LISTED;
    let has_place = |one: &&AgentSoFar| {
        let places = match one.is_silent {
            true => &mut silent_places,
            false => &mut places,
        };
        let has_place = *places > 0;
        *places = places.saturating_sub(1);
        has_place
    };
    agents.iter().filter(has_place).cloned().collect()
}

/// Adds the records of an interval to what the agents have done before it.
pub(crate) fn observe(agents: &mut Vec<AgentSoFar>, records: &[AgentRecord]) {
    for agent in agents.iter_mut() {
        *agent = silent(agent);
    }
    // A process of this machine has no name.
    for record in records.iter().filter(|record| !record.agent.is_empty()) {
        let at = agents.binary_search_by(|one| one.name.cmp(&record.agent));
        let at = at.unwrap_or_else(|at| {
            let name = record.agent.clone();
            let new = AgentSoFar {
                name,
                failed: Some(0),
                ..AgentSoFar::default()
            };
            agents.insert(at, new);
            at
        });
        agents[at] = after(&agents[at], record);
    }
}

/// An agent of which nothing came.
fn silent(agent: &AgentSoFar) -> AgentSoFar {
    AgentSoFar {
        name: agent.name.clone(),
        answered: agent.answered,
        failed: agent.failed,
        is_silent: true,
        ..AgentSoFar::default()
    }
}

fn after(agent: &AgentSoFar, record: &AgentRecord) -> AgentSoFar {
    let latest = &record.snapshot;
    let us = |times: &Distribution, percentile| {
        (!times.is_empty()).then(|| times.percentile_ns(percentile) as f64 / 1e3)
    };
    let (counts, times) = (&latest.counts, &latest.times);
    AgentSoFar {
        name: agent.name.clone(),
        is_silent: false,
        answered: agent.answered + counts.answered,
        failed: failed_so_far(agent, record),
        rate_per_s: per_second(counts.completed, latest.length_ns()),
        p50_us: us(&times.response, 50.0),
        p99_us: us(&times.response, 99.0),
        lateness_p99_us: us(&times.lateness, 99.0),
    }
}

/// The requests without a response, if they were known in each interval.
fn failed_so_far(agent: &AgentSoFar, record: &AgentRecord) -> Option<u64> {
    let before = agent.failed.filter(|_| !record.is_joined)?;
    Some(before + record.snapshot.counts.failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    const TIMES_NS: [u64; 3] = [1_000_000, 2_000_000, 3_000_000];

    fn record(agent: &str) -> AgentRecord {
        AgentRecord {
            agent: agent.to_owned(),
            snapshot: samples::second(0, TIMES_NS),
            is_joined: false,
        }
    }

    #[test]
    fn what_agents_do_adds_up_and_whoever_says_nothing_is_silent() {
        let answered = TIMES_NS.len() as u64;
        let mut agents = Vec::new();
        observe(&mut agents, &[record("two"), record("one"), record("")]);
        observe(&mut agents, &[record("one")]);
        let told: Vec<_> = agents
            .iter()
            .map(|one| (one.name.as_str(), one.answered, one.is_silent))
            .collect();
        assert_eq!(
            told,
            [("one", 2 * answered, false), ("two", answered, true)]
        );
        assert!(agents[0].rate_per_s > 0.0 && agents[0].p99_us >= agents[0].p50_us);
        assert_eq!((agents[1].rate_per_s, agents[1].p99_us), (0.0, None));
    }

    #[test]
    fn of_an_agent_that_is_joined_the_responses_are_known_alone() {
        let mut joined = record("one");
        joined.is_joined = true;
        joined.snapshot.times = Default::default();
        let mut agents = Vec::new();
        observe(&mut agents, &[record("one"), record("two")]);
        assert_eq!(agents[0].failed, Some(0));
        observe(&mut agents, &[joined, record("two")]);
        assert_eq!(agents[0].answered, 2 * TIMES_NS.len() as u64);
        assert_eq!((agents[0].failed, agents[0].p50_us), (None, None));
        assert_eq!(agents[1].failed, Some(0));
    }

    #[test]
    fn of_many_agents_all_that_are_silent_have_a_place_before_others() {
        let agent = |number: usize| AgentSoFar {
            name: format!("agent-{number:03}"),
            is_silent: number >= 98,
            ..AgentSoFar::default()
        };
        let agents: Vec<AgentSoFar> = (0..100).map(agent).collect();
        assert_eq!(listed(&agents[..MOST_LISTED]), agents[..MOST_LISTED]);
        let listed = listed(&agents);
        assert_eq!(listed.len(), MOST_LISTED);
        assert_eq!(listed[..MOST_LISTED - 2], agents[..MOST_LISTED - 2]);
        assert_eq!(listed[MOST_LISTED - 2..], agents[98..]);
        let silent: Vec<AgentSoFar> = agents.iter().map(silent).collect();
        assert_eq!(super::listed(&silent).len(), MOST_LISTED);
    }
}
