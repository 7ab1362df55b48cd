//! An interval that owns its data, or several merged into one.

use loadline_engine::AnyTally;
use loadline_record::watched::Watched;
use loadline_record::{Header, LoadChange, Note, SlowRequest, Snapshot};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// One interval of a run, or several that follow each other, merged because their consumer was
/// late.
#[derive(Clone, Debug)]
pub struct Stretch {
    /// The run: its plan, its machine, its start, its role among others.
    pub run: Arc<Header>,
    /// The number of the first interval, from 0.
    pub first: u64,
    /// The number of the last interval; equal to the first unless intervals were merged.
    pub last: u64,
    /// The record of the stretch. That of the drain is marked so, and never merged with others.
    pub snapshot: Snapshot,
    /// The counts of the scenarios, if they count.
    pub tally: Option<AnyTally>,
    /// The resources used in the stretch, if anything is watched.
    pub watched: Option<Watched>,
    /// The changes of the load since the stretch before, in order.
    pub changes: Vec<LoadChange>,
    /// The notes since the stretch before, in the order of writing.
    pub notes: Vec<Note>,
    /// The slowest requests of each of its intervals and workers, if a consumer wants them.
    pub slow: Vec<SlowRequest>,
    /// The record of each agent, if a consumer wants them.
    pub agents: Vec<AgentRecord>,
}

/// The record of one agent. Arrivals that are planned are those of the run alone.
#[derive(Clone, Debug)]
pub struct AgentRecord {
    /// The name of the agent; those of one name have one record.
    pub agent: String,
    /// What it did in the stretch.
    pub snapshot: Snapshot,
    /// True if other agents have joined its reports: then the record has the number of its
    /// responses alone.
    pub is_joined: bool,
}

impl Stretch {
    /// Returns the number of intervals in it.
    pub fn intervals(&self) -> u64 {
        self.last - self.first + 1
    }

    /// True if the other one follows it in the same run, and both are part of the window.
    pub(super) fn takes(&self, next: &Stretch) -> bool {
        let is_window = !self.snapshot.drain && !next.snapshot.drain;
        is_window && Arc::ptr_eq(&self.run, &next.run)
    }

    /// Lengthens it by the next one; counts and times are those of both.
    pub(super) fn lengthen(&mut self, next: &Stretch) {
        self.last = next.last;
        self.snapshot.lengthen(&next.snapshot);
        AnyTally::add(&mut self.tally, next.tally.clone());
        match (&mut self.watched, &next.watched) {
            (Some(own), Some(next)) => own.lengthen(next),
            (own @ None, next) => own.clone_from(next),
            (Some(_), None) => {}
        }
        self.changes.extend(&next.changes);
        self.notes.extend_from_slice(&next.notes);
        self.slow.extend_from_slice(&next.slow);
        AgentRecord::lengthen_all(&mut self.agents, &next.agents);
    }
}

impl AgentRecord {
    /// Adds a record for the same interval.
    pub(crate) fn add(all: &mut Vec<AgentRecord>, agent: &str, snapshot: Snapshot) {
        match all.iter_mut().find(|one| one.agent == agent) {
            Some(own) => own.snapshot.merge(&snapshot),
            None => all.push(AgentRecord {
                agent: agent.to_owned(),
                snapshot,
                is_joined: false,
            }),
        }
    }

    /// Returns what a record of all agents has of each, whose workers these are; nothing of one
    /// whose workers are not in it.
    pub fn joined(whole: &Snapshot, agents: Vec<(String, Range<u32>)>) -> Vec<AgentRecord> {
        let mut answered: BTreeMap<String, u64> = BTreeMap::new();
        for (agent, workers) in agents {
            let mut own = whole.workers.range(workers).peekable();
            if own.peek().is_some() {
                let own = own.map(|(_, times)| times.answered).sum::<u64>();
                *answered.entry(agent).or_default() += own;
            }
        }
        let record = |(agent, answered)| {
            let mut snapshot = Snapshot::empty(whole.start_ns);
            (snapshot.end_ns, snapshot.drain) = (whole.end_ns, whole.drain);
            (snapshot.counts.answered, snapshot.counts.completed) = (answered, answered);
            AgentRecord {
                agent,
                snapshot,
                is_joined: true,
            }
        };
        answered.into_iter().map(record).collect()
    }

    /// Lengthens records by those of the next interval.
    fn lengthen_all(all: &mut Vec<AgentRecord>, next: &[AgentRecord]) {
        for next in next {
            match all.iter_mut().find(|one| one.agent == next.agent) {
                Some(own) => own.snapshot.lengthen(&next.snapshot),
                None => all.push(next.clone()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_record::WorkerTimes;

    #[test]
    fn of_agents_in_groups_the_responses_are_known_and_who_says_nothing_is_left_out() {
        let mut whole = Snapshot::empty(1_000);
        whole.end_ns = 2_000;
        for (worker, answered) in [(0, 1), (1, 20), (2, 300), (5, 4_000)] {
            let times = WorkerTimes {
                answered,
                ..WorkerTimes::default()
            };
            whole.workers.insert(worker, times);
        }
        let agents = [("b", 0..2), ("a", 2..3), ("gone", 3..5), ("a", 5..6)];
        let agents = agents.map(|(name, workers)| (name.to_owned(), workers));
        let records = AgentRecord::joined(&whole, agents.to_vec());
        let told: Vec<_> = records
            .iter()
            .map(|one| (one.agent.as_str(), one.snapshot.counts.answered))
            .collect();
        assert_eq!(told, [("a", 4_300), ("b", 21)]);
        assert!(records.iter().all(|one| one.is_joined));
        assert_eq!(records[0].snapshot.length_ns(), 1_000);
    }
}
