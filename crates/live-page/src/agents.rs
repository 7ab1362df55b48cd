//! The agents of a run that goes on: what each has done so far, and in the latest interval.

use crate::api::AgentSoFar;
use loadline_record::{Distribution, Snapshot};
use loadline_runner::AgentRecord;
use loadline_units::rounding::per_second;

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
                ..AgentSoFar::default()
            };
            agents.insert(at, new);
            at
        });
        agents[at] = after(&agents[at], &record.snapshot);
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

fn after(agent: &AgentSoFar, latest: &Snapshot) -> AgentSoFar {
    let us = |times: &Distribution, percentile| {
        (!times.is_empty()).then(|| times.percentile_ns(percentile) as f64 / 1e3)
    };
    let (counts, times) = (&latest.counts, &latest.times);
    AgentSoFar {
        name: agent.name.clone(),
        is_silent: false,
        answered: agent.answered + counts.answered,
        failed: agent.failed + counts.failed,
        rate_per_s: per_second(counts.completed, latest.length_ns()),
        p50_us: us(&times.response, 50.0),
        p99_us: us(&times.response, 99.0),
        lateness_p99_us: us(&times.lateness, 99.0),
    }
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
}
