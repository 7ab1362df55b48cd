//! Changes of the load as the workers heard of them, for the count of planned arrivals.
//!
//! All workers change their load at the same instant, which they hear of before. A worker whose
//! loop stalled hears of it late and changes when it hears of it; from then on the arrivals of each
//! worker are counted by its own instants, so that planned stays sent and unsent together.

use crate::pacer::Planned;
use crate::worker::Heard;
use std::collections::VecDeque;

/// What each worker has told, and the count was not told yet.
pub(crate) struct HeardChanges {
    waiting: Vec<VecDeque<Heard>>,
    /// Whether the workers differ.
    differ: bool,
}

impl HeardChanges {
    pub(crate) fn new(workers: usize) -> Self {
        HeardChanges {
            waiting: vec![VecDeque::new(); workers],
            differ: false,
        }
    }

    /// A worker told of these.
    pub(crate) fn heard(&mut self, worker: usize, changes: Vec<Heard>) {
        self.waiting[worker].extend(changes);
    }

    /// Tells the count of those that hold from an instant before `until_ns` on. Workers that are
    /// gone tell of nothing any more.
    pub(crate) fn pass_on(
        &mut self,
        planned: &mut Planned,
        until_ns: u64,
        is_gone: impl Fn(usize) -> bool,
    ) {
        while let Some(next) = self.next(until_ns) {
            let tells = |worker: &usize| {
                let own = self.waiting[*worker].front();
                own == Some(&next) || (own.is_none() && is_gone(*worker))
            };
            self.differ |= !(0..self.waiting.len()).all(|worker| tells(&worker));
            if !self.differ {
                planned.change(next.change.at_ns, next.change.level);
                for waiting in &mut self.waiting {
                    waiting.pop_front();
                }
                continue;
            }
            for (worker, waiting) in self.waiting.iter_mut().enumerate() {
                while let Some(own) = waiting.front().filter(|own| own.change.at_ns < until_ns) {
                    planned.change_of(worker, own.change.at_ns, own.change.level);
                    waiting.pop_front();
                }
            }
        }
    }

    /// The first change that holds before `until_ns`.
    fn next(&self, until_ns: u64) -> Option<Heard> {
        let fronts = self.waiting.iter().filter_map(VecDeque::front);
        let due = fronts.filter(|heard| heard.change.at_ns < until_ns);
        due.min_by_key(|heard| heard.number).copied()
    }
}
