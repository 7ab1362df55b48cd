//! The parents of all processes.
//!
//! Every refresh reads the list of processes, but only the parents of new processes: a process
//! joins a tree at its start. A process whose parent ends first stays in the tree that it joined.

use crate::proc::{Proc, ReadFailure, numbers_in};
use std::collections::{BTreeSet, HashMap};

/// The longest line of ancestors; in folders made up for tests it may be a cycle.
const LONGEST_LINE: usize = 1_000;

/// All processes with their parents.
#[derive(Debug, Default)]
pub(crate) struct Table {
    known: HashMap<u32, Known>,
    /// The processes that are new since `forget_fresh`.
    fresh: BTreeSet<u32>,
    round: u64,
}

#[derive(Debug)]
struct Known {
    parent: u32,
    /// The first and the last round in which the process existed.
    first: u64,
    round: u64,
}

impl Table {
    /// Reads the list of processes again.
    pub(crate) fn refresh(&mut self, proc: &Proc) -> Result<(), ReadFailure> {
        self.round += 1;
        for pid in numbers_in(&proc.path(""))? {
            match self.known.get_mut(&pid) {
                Some(known) => known.round = self.round,
                None => self.add(pid, proc),
            }
        }
        self.known.retain(|_, known| known.round == self.round);
        Ok(())
    }

    fn add(&mut self, pid: u32, proc: &Proc) {
        // A process that has ended meanwhile is ignored.
        if let Ok(stat) = proc.stat(pid) {
            let parent = u32::try_from(stat.ppid).unwrap_or(0);
            let known = Known {
                parent,
                first: self.round,
                round: self.round,
            };
            self.known.insert(pid, known);
            self.fresh.insert(pid);
        }
    }

    /// Returns the processes that are new since [`forget_fresh`](Self::forget_fresh).
    pub(crate) fn fresh(&self) -> &BTreeSet<u32> {
        &self.fresh
    }

    /// Forgets the new processes, after all trees have checked them.
    pub(crate) fn forget_fresh(&mut self) {
        self.fresh.clear();
    }

    /// All processes.
    pub(crate) fn pids(&self) -> impl Iterator<Item = u32> + '_ {
        self.known.keys().copied()
    }

    /// Returns the number of times that the list was read.
    pub(crate) fn round(&self) -> u64 {
        self.round
    }

    /// True if a process first appeared after this round.
    pub(crate) fn is_newer(&self, pid: u32, round: u64) -> bool {
        self.known
            .get(&pid)
            .is_some_and(|known| known.first > round)
    }

    /// True if a process existed when the list was last read.
    pub(crate) fn has(&self, pid: u32) -> bool {
        self.known.contains_key(&pid)
    }

    /// Returns a process, its parent, its parent's parent and so on.
    pub(crate) fn line_of(&self, pid: u32) -> impl Iterator<Item = u32> + '_ {
        let parent = |pid: &u32| Some(self.known.get(pid)?.parent).filter(|parent| *parent != 0);
        std::iter::successors(Some(pid), parent).take(LONGEST_LINE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    #[test]
    fn new_processes_are_told_once_and_gone_ones_forgotten() {
        let fixture = Fixture::new();
        fixture.process(1, 0, "init");
        fixture.process(7, 1, "server");
        let mut table = Table::default();
        table.refresh(&fixture.proc()).unwrap();
        assert_eq!(table.fresh().len(), 2);
        table.forget_fresh();
        fixture.process(9, 7, "worker");
        fixture.end(7);
        table.refresh(&fixture.proc()).unwrap();
        table.refresh(&fixture.proc()).unwrap();
        assert!(table.fresh().iter().eq(&[9]));
        assert!(table.pids().all(|pid| pid != 7));
        assert_eq!(table.line_of(9).collect::<Vec<_>>(), [9, 7]);
    }

    #[test]
    fn a_circle_of_parents_comes_to_an_end() {
        let fixture = Fixture::new();
        fixture.process(3, 4, "a");
        fixture.process(4, 3, "b");
        let mut table = Table::default();
        table.refresh(&fixture.proc()).unwrap();
        assert!(table.line_of(3).count() <= LONGEST_LINE);
    }
}
