//! The counts of a test's users and iterations over all processes of its machine.
//!
//! k6 is one process: the numbers that it gives to users and iterations have no gap, and
//! `exec.instance` counts all of them. Processes of one machine have the same from counts in memory
//! that they share. Processes that share no memory give numbers in stripes (`part.rs`).

use loadline_reactor::SharedCounts;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;

/// A count of `exec.instance`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    /// Users that are initialised.
    Ready,
    /// Users in an iteration.
    Active,
    /// Iterations that ended by themselves.
    Complete,
    /// Iterations that were cancelled.
    Interrupted,
}

/// The places of the counts in the shared memory: those of `Count` come first.
const USERS: usize = 4;
const FIRST_SCENARIO: usize = 5;

/// The counts of a test whose processes share memory.
#[derive(Debug)]
pub struct TestCounts(SharedCounts);

impl TestCounts {
    /// Creates the counts of a test with so many scenarios.
    ///
    /// # Errors
    /// The system's reason, if it provides no memory for them.
    pub fn create(scenarios: usize) -> io::Result<Self> {
        SharedCounts::create(FIRST_SCENARIO + scenarios).map(TestCounts)
    }

    /// Opens the counts at a place that [`place`](Self::place) has returned, in another process.
    ///
    /// # Errors
    /// The system's reason, if they can't be opened.
    pub fn open(place: &Path, scenarios: usize) -> io::Result<Self> {
        SharedCounts::open(place, FIRST_SCENARIO + scenarios).map(TestCounts)
    }

    /// Returns the place at which other processes of the machine open the counts, as long as this
    /// process has them.
    pub fn place(&self) -> PathBuf {
        self.0.place()
    }

    /// Returns the number of the next user, from 1.
    pub(crate) fn next_user(&self) -> u32 {
        self.0.count(USERS).fetch_add(1, Relaxed) as u32 + 1
    }

    /// Returns the number of the next iteration of a scenario, from 0.
    pub(crate) fn next_iteration(&self, scenario: usize) -> u64 {
        let begun = self.0.count(FIRST_SCENARIO + scenario);
        begun.fetch_add(1, Relaxed)
    }

    /// Returns a count.
    pub(crate) fn read(&self, count: Count) -> u64 {
        self.0.count(count as usize).load(Relaxed)
    }

    /// Adds one to a count.
    pub(crate) fn add(&self, count: Count) {
        self.0.count(count as usize).fetch_add(1, Relaxed);
    }

    /// Takes one from a count.
    pub(crate) fn subtract(&self, count: Count) {
        self.0.count(count as usize).fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_that_share_the_counts_leave_no_gap() {
        let first = TestCounts::create(2).expect("memory");
        let second = TestCounts::open(&first.place(), 2).expect("the same memory");
        let users = [&first, &second, &second, &first].map(TestCounts::next_user);
        assert_eq!(users, [1, 2, 3, 4]);
        let numbers = [&second, &first, &second].map(|counts| counts.next_iteration(1));
        assert_eq!(numbers, [0, 1, 2]);
        assert_eq!(first.next_iteration(0), 0, "each scenario has its own");
        first.add(Count::Active);
        second.add(Count::Active);
        second.subtract(Count::Active);
        assert_eq!(first.read(Count::Active), 1);
        assert!(TestCounts::open(&first.place(), 3).is_err());
    }
}
