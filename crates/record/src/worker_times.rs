//! What a worker's thread did with its time: the generator, measured by itself.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The workers of a run by their number, with what became of their time.
pub type Workers = BTreeMap<u32, WorkerTimes>;

/// What became of a worker's time, in nanoseconds. Sums, so that intervals add up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerTimes {
    /// The time that passed.
    pub wall_ns: u64,
    /// How much of it the thread computed, in user and kernel space.
    pub cpu_ns: u64,
    /// How much of it the thread could have computed and had no core: field 2 of schedstat (Linux,
    /// Documentation/scheduler/sched-stats). 0 where the kernel does not tell.
    pub queued_ns: u64,
}

impl WorkerTimes {
    /// The share of its time that the thread computed.
    pub fn cpu_share(&self) -> f64 {
        share(self.cpu_ns, self.wall_ns)
    }

    /// The share of its time that the thread waited for a core.
    pub fn queued_share(&self) -> f64 {
        share(self.queued_ns, self.wall_ns)
    }

    /// Adds another stretch of time. Saturating, because the numbers may come from a file.
    pub fn add(&mut self, other: &WorkerTimes) {
        let add = |sum: &mut u64, time: u64| *sum = sum.saturating_add(time);
        add(&mut self.wall_ns, other.wall_ns);
        add(&mut self.cpu_ns, other.cpu_ns);
        add(&mut self.queued_ns, other.queued_ns);
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    part as f64 / whole as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_the_time_that_passed() {
        let mut times = WorkerTimes {
            wall_ns: 1_000,
            cpu_ns: 400,
            queued_ns: 50,
        };
        times.add(&WorkerTimes {
            wall_ns: 1_000,
            cpu_ns: 800,
            queued_ns: 50,
        });
        assert_eq!((times.cpu_share(), times.queued_share()), (0.6, 0.05));
        assert_eq!(WorkerTimes::default().cpu_share(), 0.0);
    }
}
