//! The probe budget: how far apart expensive readings are.
//!
//! What a reading costs depends on what is watched: a process with ten open files or with ten
//! thousand. So its CPU time is measured, and the next one waits until this one was a
//! five-thousandth of the time. What a hypervisor takes from the core meanwhile looks like CPU time
//! as well, so of two readings that follow each other the cheaper one counts.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// A reading may take one part of this many of a core, if nothing else is said.
const PARTS: u32 = 5_000;
/// Looks come a little early or late; a reading that is due by then is due now.
const SLACK_NS: u64 = 100_000_000;

/// The share of a core that one kind of reading may take, and when the next one is due.
#[derive(Debug)]
pub(crate) struct ProbeBudget {
    /// A reading may take one part of this many of a core.
    parts: u32,
    /// The shortest time between two readings.
    least_ns: u64,
    /// When the next one is due.
    due_ns: u64,
    /// What the reading before cost; nothing yet.
    before: Duration,
}

impl ProbeBudget {
    /// Readings that are this far apart at least; the first is due at once.
    pub(crate) fn every(least: Duration) -> Self {
        ProbeBudget {
            parts: PARTS,
            least_ns: least.as_nanos() as u64,
            due_ns: 0,
            before: Duration::ZERO,
        }
    }

    /// From now on a reading may take one part of this many of a core.
    pub(crate) fn allow(&mut self, parts: u32) {
        self.parts = parts;
    }

    /// Whether a reading is due at this time.
    pub(crate) fn is_due(&self, now_ns: u64) -> bool {
        now_ns.saturating_add(SLACK_NS) >= self.due_ns
    }

    /// Carries out a reading at this time, and puts the next one off as long as this one cost.
    pub(crate) fn spend<T>(&mut self, now_ns: u64, reading: impl FnOnce() -> T) -> T {
        let begin = cpu_time();
        let read = reading();
        self.put_off(now_ns, cpu_time().saturating_sub(begin));
        read
    }

    fn put_off(&mut self, now_ns: u64, cost: Duration) {
        let counts = cost.min(std::mem::replace(&mut self.before, cost));
        let rest_ns = (counts * self.parts).as_nanos() as u64;
        self.due_ns = now_ns.saturating_add(rest_ns.max(self.least_ns));
    }
}

/// What this thread has used so far.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn the_first_reading_is_due_at_once() {
        assert!(ProbeBudget::every(Duration::from_secs(5)).is_due(0));
    }

    #[test]
    fn a_cheap_reading_keeps_its_distance() {
        let mut budget = ProbeBudget::every(Duration::from_secs(5));
        budget.put_off(SECOND, Duration::from_micros(10));
        assert!(!budget.is_due(5 * SECOND));
        assert!(budget.is_due(6 * SECOND - SLACK_NS));
    }

    #[test]
    fn a_dear_reading_waits_until_it_was_a_five_thousandth() {
        let mut budget = ProbeBudget::every(Duration::ZERO);
        budget.put_off(0, Duration::from_millis(6));
        budget.put_off(0, Duration::from_millis(7));
        assert!(!budget.is_due(29 * SECOND));
        assert!(budget.is_due(30 * SECOND));
    }

    #[test]
    fn one_that_was_held_up_alone_puts_nothing_off() {
        let mut budget = ProbeBudget::every(Duration::ZERO);
        for cost_us in [40_000, 20, 40_000] {
            budget.put_off(SECOND, Duration::from_micros(cost_us));
            assert!(budget.is_due(SECOND), "{cost_us}");
        }
    }
}
