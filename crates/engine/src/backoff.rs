//! The wait of a user of a closed load after a dial that failed.
//!
//! Nothing else limits the rate of dials: a server that is down refuses within microseconds. A user
//! that dialled again at once would use a whole core and count a hundred thousand failures per
//! second that are no more informative than ten. In an open load the schedule limits the dials, so
//! no user waits.

use std::cell::Cell;

/// The wait after the first failure, in nanoseconds.
const FIRST_NS: u64 = 1_000_000;
/// The longest wait, in nanoseconds.
const LONGEST_NS: u64 = 100_000_000;

/// The waits of a user after dials that failed.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    /// The wait after the next failure; 0 before the first.
    next_ns: Cell<u64>,
    /// The wait that is due after the last exchange.
    wait_ns: Cell<u64>,
}

impl Backoff {
    /// Records a dial that failed.
    pub(crate) fn failed(&self) {
        let wait_ns = self.next_ns.get().max(FIRST_NS);
        self.wait_ns.set(wait_ns);
        self.next_ns.set((wait_ns * 2).min(LONGEST_NS));
    }

    /// Records that a connection was opened, or that an existing one served.
    pub(crate) fn succeeded(&self) {
        self.next_ns.set(0);
        self.wait_ns.set(0);
    }

    /// Returns the wait before the next exchange, in nanoseconds, and resets it.
    pub(crate) fn take_ns(&self) -> u64 {
        self.wait_ns.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_up_to_a_tenth_of_a_second_and_begins_anew() {
        let backoff = Backoff::default();
        let mut waits = Vec::new();
        for _ in 0..9 {
            backoff.failed();
            waits.push(backoff.take_ns() / FIRST_NS);
            assert_eq!(backoff.take_ns(), 0);
        }
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 64, 100, 100]);
        backoff.succeeded();
        assert_eq!(backoff.take_ns(), 0);
        backoff.failed();
        assert_eq!(backoff.take_ns(), FIRST_NS);
    }
}
