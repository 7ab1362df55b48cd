//! The probe budget: the distance between expensive readings.
//!
//! The cost of a reading depends on the watched process: it may have ten open files or ten
//! thousand. So the CPU time of a reading is measured, and the next one waits until this one took a
//! five-thousandth of the time. Time that a hypervisor takes from the core meanwhile looks like CPU
//! time as well, so of two successive readings the cheaper one counts.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// The default budget: a reading may take one part in this many of a core.
const PARTS: u32 = 5_000;
/// Samples come a little early or late; a reading that falls due within this time is due now.
const SLACK_NS: u64 = 100_000_000;

/// The share of a core that one kind of reading may take, and the time of the next one.
#[derive(Debug)]
pub(crate) struct ProbeBudget {
    /// A reading may take one part in this many of a core.
    parts: u32,
    /// The shortest time between two readings.
    least_ns: u64,
    /// The time at which the next reading falls due.
    due_ns: u64,
    /// The cost of the reading before; zero before the first.
    before: Duration,
}

impl ProbeBudget {
    /// Creates a budget of readings with at least this distance; the first is due at once.
    pub(crate) fn every(least: Duration) -> Self {
        ProbeBudget {
            parts: PARTS,
            least_ns: least.as_nanos() as u64,
            due_ns: 0,
            before: Duration::ZERO,
        }
    }

    /// Sets the budget to one part in this many of a core.
    pub(crate) fn allow(&mut self, parts: u32) {
        self.parts = parts;
    }

    /// True if a reading is due at this time.
    pub(crate) fn is_due(&self, now_ns: u64) -> bool {
        now_ns.saturating_add(SLACK_NS) >= self.due_ns
    }

    /// Makes a reading at this time, and schedules the next one according to its cost.
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

/// Returns the CPU time that this thread has used.
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
