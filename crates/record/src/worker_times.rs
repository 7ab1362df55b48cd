//! The use of time by a worker's thread, and its output: the generator measures itself.

use crate::{Counts, SparseDistribution};
use std::collections::{BTreeMap, BTreeSet};

/// The length in nanoseconds from which an iteration of a worker's loop is a stall: no regular work
/// of a loop takes so long, so the process was stopped, had no core, or a script computed. It is
/// Hyperfoil's order of magnitude for a jitter that matters.
pub const STALL_NS: u64 = 50_000_000;

/// The workers of a run by their number, with their use of time.
pub type Workers = BTreeMap<u32, WorkerTimes>;

/// The use of a worker's time, in nanoseconds, and its scheduling by the kernel. All are sums, so
/// that intervals add up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkerTimes {
    /// The time that passed.
    pub wall_ns: u64,
    /// The part of it that the thread computed, in user and kernel space.
    pub cpu_ns: u64,
    /// The part of it in which the loop polled repeatedly for events, as the next deadline was too
    /// near to sleep: that occupies the core and is not work.
    pub polled_ns: u64,
    /// The part of it in which the thread was ready to run and had no core: field 2 of schedstat
    /// (Linux, Documentation/scheduler/sched-stats). 0 if the kernel does not provide it.
    pub queued_ns: u64,
    /// The lengths of the loop's iterations: from the instant at which the loop could continue to
    /// its next poll for events.
    pub loop_iterations: SparseDistribution,
    /// The sum of the loop iterations longer than [`STALL_NS`].
    pub stalled_ns: u64,
    /// The responses to its requests.
    pub answered: u64,
    /// The connections that it opened.
    pub connections: u64,
    /// The bytes that it received, inside TLS.
    pub bytes_in: u64,
    /// The bytes that it sent, inside TLS.
    pub bytes_out: u64,
    /// The cores on which its thread ran at the end of an interval.
    pub cores: BTreeSet<u32>,
    /// The maximum time by which the kernel may delay its timers, in nanoseconds; `None` if it is
    /// not known.
    pub timer_slack_ns: Option<u64>,
}

impl WorkerTimes {
    /// Returns the share of its time that the thread computed, without polling before deadlines.
    pub fn cpu_share(&self) -> f64 {
        share(self.computed_ns(), self.wall_ns)
    }

    /// Returns the time that the thread computed, without polling before deadlines.
    pub fn computed_ns(&self) -> u64 {
        self.cpu_ns.saturating_sub(self.polled_ns)
    }

    /// Returns the share of its time that the thread polled before deadlines.
    pub fn polled_share(&self) -> f64 {
        share(self.polled_ns, self.wall_ns)
    }

    /// Returns the share of its time that the thread waited for the CPU.
    pub fn queued_share(&self) -> f64 {
        share(self.queued_ns, self.wall_ns)
    }

    /// Returns the share of its time in which the loop stalled.
    pub fn stalled_share(&self) -> f64 {
        share(self.stalled_ns, self.wall_ns)
    }

    /// Adds `count` loop iterations of one length.
    pub fn add_loop_iterations(&mut self, length_ns: u64, count: u64) {
        self.loop_iterations.record_many_ns(length_ns, count);
        if length_ns > STALL_NS {
            let stalled_ns = length_ns.saturating_mul(count);
            self.stalled_ns = self.stalled_ns.saturating_add(stalled_ns);
        }
    }

    /// Sets the counts of the worker in the same time.
    pub fn counted(&mut self, counts: &Counts) {
        self.answered = counts.answered;
        self.connections = counts.connections;
        self.bytes_in = counts.bytes_in;
        self.bytes_out = counts.bytes_out;
    }

    /// Adds another stretch of time. Saturating, because the numbers may come from a file.
    pub fn add(&mut self, other: &WorkerTimes) {
        let add = |sum: &mut u64, time: u64| *sum = sum.saturating_add(time);
        add(&mut self.wall_ns, other.wall_ns);
        add(&mut self.cpu_ns, other.cpu_ns);
        add(&mut self.polled_ns, other.polled_ns);
        add(&mut self.queued_ns, other.queued_ns);
        add(&mut self.stalled_ns, other.stalled_ns);
        add(&mut self.answered, other.answered);
        add(&mut self.connections, other.connections);
        add(&mut self.bytes_in, other.bytes_in);
        add(&mut self.bytes_out, other.bytes_out);
        self.loop_iterations.merge(&other.loop_iterations);
        self.cores.extend(&other.cores);
        self.timer_slack_ns = self.timer_slack_ns.max(other.timer_slack_ns);
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
    fn polling_before_a_deadline_is_no_computing() {
        let times = WorkerTimes {
            wall_ns: 1_000,
            cpu_ns: 980,
            polled_ns: 700,
            ..WorkerTimes::default()
        };
        assert_eq!((times.cpu_share(), times.polled_share()), (0.28, 0.7));
        let preempted = WorkerTimes {
            polled_ns: 990,
            ..times
        };
        assert_eq!(preempted.cpu_share(), 0.0);
    }

    #[test]
    fn shares_are_of_the_time_that_passed() {
        let mut times = WorkerTimes {
            wall_ns: 1_000,
            cpu_ns: 400,
            queued_ns: 50,
            stalled_ns: 100,
            ..WorkerTimes::default()
        };
        times.add(&WorkerTimes {
            wall_ns: 1_000,
            cpu_ns: 800,
            queued_ns: 50,
            ..WorkerTimes::default()
        });
        assert_eq!((times.cpu_share(), times.queued_share()), (0.6, 0.05));
        assert_eq!(times.stalled_share(), 0.05);
        assert_eq!(WorkerTimes::default().cpu_share(), 0.0);
    }

    #[test]
    fn stretches_of_time_have_the_cores_of_each() {
        let on = |core: u32, timer_slack_ns: u64| WorkerTimes {
            cores: [core].into(),
            timer_slack_ns: Some(timer_slack_ns),
            ..WorkerTimes::default()
        };
        let mut times = on(3, 1);
        times.add(&on(1, 50_000));
        times.add(&WorkerTimes::default());
        assert_eq!(times.cores, [1, 3].into());
        assert_eq!(times.timer_slack_ns, Some(50_000));
    }

    #[test]
    fn only_turns_that_are_far_too_long_stand_still() {
        let mut times = WorkerTimes::default();
        times.add_loop_iterations(30_000, 1_000);
        times.add_loop_iterations(STALL_NS, 1);
        assert_eq!(times.stalled_ns, 0);
        times.add_loop_iterations(200_000_000, 2);
        assert_eq!(times.stalled_ns, 400_000_000);
        let lengths = times.loop_iterations.distribution();
        assert_eq!(lengths.len(), 1_003);
        assert_eq!(lengths.percentile_ns(50.0), 30_015);
    }
}
