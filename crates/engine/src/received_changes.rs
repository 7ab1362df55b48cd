//! The changes of the load as received by the workers, for the count of planned arrivals.
//!
//! All workers change their load at the same instant, and receive the change before. A worker whose
//! loop stalled receives it late and changes on receipt; from then on the arrivals of each worker
//! are counted by its own instants, so that planned remains the sum of sent and unsent.

use crate::pacer::Planned;
use crate::report::ReceivedChange;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The changes that each worker has reported and that are not yet applied to the count.
pub(crate) struct ReceivedChanges {
    waiting: Vec<VecDeque<ReceivedChange>>,
    /// True if the workers changed at different instants.
    differ: bool,
}

impl ReceivedChanges {
    pub(crate) fn new(workers: usize) -> Self {
        ReceivedChanges {
            waiting: vec![VecDeque::new(); workers],
            differ: false,
        }
    }

    /// Adds the changes that workers reported.
    pub(crate) fn receive(&mut self, changes: Vec<ReceivedChange>) {
        for change in changes {
            self.waiting[change.worker as usize].push_back(change);
        }
    }

    /// Applies to the count the changes that take effect before `until_ns`. Workers that are gone
    /// report no further changes.
    pub(crate) fn pass_on(
        &mut self,
        planned: &mut Planned,
        until_ns: u64,
        is_gone: impl Fn(usize) -> bool,
    ) {
        while let Some(next) = self.next(until_ns) {
            let agrees = |worker: &usize| {
                let own = self.waiting[*worker].front();
                own.is_some_and(|own| own.is_same(&next)) || (own.is_none() && is_gone(*worker))
            };
            self.differ |= !(0..self.waiting.len()).all(|worker| agrees(&worker));
            if !self.differ {
                planned.change(next.change.at_ns, next.change.level);
                for waiting in &mut self.waiting {
                    waiting.pop_front();
                }
                continue;
            }
            let mut passed: BTreeMap<usize, ReceivedChange> = BTreeMap::new();
            let mut reporting = BTreeSet::new();
            for (worker, waiting) in self.waiting.iter_mut().enumerate() {
                while let Some(own) = waiting.front().filter(|own| own.change.at_ns < until_ns) {
                    planned.change_of(worker, own.change.at_ns, own.change.level);
                    passed.insert(own.number, *own);
                    reporting.insert(worker);
                    waiting.pop_front();
                }
            }
            // What a lost worker would have sent changes with what the others send of it.
            let is_silent = |worker: &usize| {
                !reporting.contains(worker) && self.waiting[*worker].is_empty() && is_gone(*worker)
            };
            for worker in (0..self.waiting.len()).filter(is_silent) {
                for change in passed.values().map(|received| received.change) {
                    planned.change_of(worker, change.at_ns, change.level);
                }
            }
        }
    }

    /// Returns the first change that takes effect before `until_ns`.
    fn next(&self, until_ns: u64) -> Option<ReceivedChange> {
        let fronts = self.waiting.iter().filter_map(VecDeque::front);
        let due = fronts.filter(|next| next.change.at_ns < until_ns);
        due.min_by_key(|next| next.number).copied()
    }
}
