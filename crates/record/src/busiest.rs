//! The stretch of a run in which one of its workers computed most.
//!
//! Under a load that rises or comes in waves, a worker may have no time left in a part of a run
//! that is idle on average. So every ten seconds in a row are examined: Artillery warns after the
//! same time.

use crate::{Snapshot, Workers};
use std::collections::VecDeque;

/// The minimum length of a stretch, in nanoseconds.
const STRETCH_NS: u64 = 10_000_000_000;

/// Some seconds of a run, with the load of the worker that computed most in them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// The begin, in nanoseconds from the run's start.
    pub start_ns: u64,
    /// The end, in nanoseconds from the run's start.
    pub end_ns: u64,
    /// The share of the stretch that the worker computed, from 0 to 1.
    pub cpu_share: f64,
}

/// Finds the busiest stretch while the run lasts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Busiest {
    /// The last intervals: only as many as a stretch needs.
    recent: VecDeque<Interval>,
    found: Option<Stretch>,
}

#[derive(Clone, Debug, PartialEq)]
struct Interval {
    start_ns: u64,
    end_ns: u64,
    /// The number of each worker, the time that passed for it and the time that it computed.
    workers: Vec<(u32, u64, u64)>,
}

impl Busiest {
    /// Adds the next interval.
    pub fn observe(&mut self, interval: &Snapshot) {
        self.recent.push_back(Interval {
            start_ns: interval.start_ns,
            end_ns: interval.end_ns,
            workers: times(&interval.workers),
        });
        while self.recent.len() > 1 && self.length_ns_from(1) >= STRETCH_NS {
            self.recent.pop_front();
        }
        if self.length_ns_from(0) >= STRETCH_NS {
            self.compare(interval.end_ns);
        }
    }

    /// Returns the stretch in which a worker computed the largest share of its time; `None` for a
    /// run that is shorter than a stretch.
    pub fn stretch(&self) -> Option<Stretch> {
        self.found
    }

    /// Returns the time from the begin of an interval to the end of the last one.
    fn length_ns_from(&self, index: usize) -> u64 {
        let ends = (self.recent.get(index), self.recent.back());
        match ends {
            (Some(first), Some(last)) => last.end_ns.saturating_sub(first.start_ns),
            _ => 0,
        }
    }

    fn compare(&mut self, end_ns: u64) {
        let now = Stretch {
            start_ns: self.recent.front().map_or(end_ns, |first| first.start_ns),
            end_ns,
            cpu_share: self.largest_share(),
        };
        if self
            .found
            .is_none_or(|found| found.cpu_share < now.cpu_share)
        {
            self.found = Some(now);
        }
    }

    /// Returns the share of the worker that computed most, over all of the intervals.
    fn largest_share(&self) -> f64 {
        let workers = self.recent.back().map_or(&[][..], |last| &last.workers);
        let shares = workers.iter().map(|(worker, ..)| self.share(*worker));
        shares.fold(0.0, f64::max)
    }

    fn share(&self, worker: u32) -> f64 {
        let intervals = self.recent.iter().flat_map(|interval| &interval.workers);
        let own = intervals.filter(|(number, ..)| *number == worker);
        let (wall_ns, cpu_ns) = own.fold((0.0, 0.0), |(wall_ns, cpu_ns), (_, wall, cpu)| {
            (wall_ns + *wall as f64, cpu_ns + *cpu as f64)
        });
        if wall_ns > 0.0 { cpu_ns / wall_ns } else { 0.0 }
    }
}

fn times(workers: &Workers) -> Vec<(u32, u64, u64)> {
    let times = workers.iter();
    times
        .map(|(worker, times)| (*worker, times.wall_ns, times.computed_ns()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WorkerTimes;

    const SECOND_NS: u64 = 1_000_000_000;

    /// Returns a second in which worker 0 was idle and worker 1 computed for this share of it.
    fn second(index: u64, share: f64) -> Snapshot {
        let worker = |share: f64| WorkerTimes {
            wall_ns: SECOND_NS,
            cpu_ns: (SECOND_NS as f64 * share) as u64,
            ..WorkerTimes::default()
        };
        let mut snapshot = Snapshot::empty(index * SECOND_NS);
        snapshot.end_ns = (index + 1) * SECOND_NS;
        snapshot.workers = [(0, worker(0.0)), (1, worker(share))].into();
        snapshot
    }

    fn observed(shares: &[f64]) -> Busiest {
        let mut busiest = Busiest::default();
        for (index, share) in shares.iter().enumerate() {
            busiest.observe(&second(index as u64, *share));
        }
        busiest
    }

    #[test]
    fn finds_where_a_worker_computed_most() {
        let mut shares = [0.1; 60];
        shares[20..32].fill(0.9);
        let found = observed(&shares).stretch().unwrap();
        assert_eq!(
            (found.start_ns, found.end_ns),
            (20 * SECOND_NS, 30 * SECOND_NS)
        );
        assert!((found.cpu_share - 0.9).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn a_shorter_run_has_none() {
        assert_eq!(observed(&[0.99; 9]).stretch(), None);
        assert!(observed(&[0.99; 10]).stretch().is_some());
    }

    #[test]
    fn keeps_no_more_than_a_stretch() {
        let busiest = observed(&[0.5; 3_600]);
        assert_eq!(busiest.recent.len(), 10);
    }

    #[test]
    fn long_intervals_are_stretches_of_their_own() {
        let mut busiest = Busiest::default();
        let mut minute = second(0, 0.7);
        minute.end_ns = 60 * SECOND_NS;
        busiest.observe(&minute);
        assert_eq!(busiest.stretch().unwrap().end_ns, 60 * SECOND_NS);
    }
}
