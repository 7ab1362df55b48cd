//! How long a user of a closed load waits after a dial that failed.
//!
//! Nothing else paces it: a server that is away refuses within microseconds, and a user that
//! dialled again at once would burn a core and count a hundred thousand failures a second that say
//! no more than ten. In an open load the schedule paces the dials, so nobody waits there.

use std::cell::Cell;

/// The wait after the first failure.
const FIRST_NS: u64 = 1_000_000;
/// The wait after many.
const LONGEST_NS: u64 = 100_000_000;

/// How long a user waits after a dial that failed.
#[derive(Debug, Default)]
pub(crate) struct Backoff {
    /// What the next failure costs; 0 before the first.
    next_ns: Cell<u64>,
    /// What the last exchange asks for.
    wait_ns: Cell<u64>,
}

impl Backoff {
    /// A dial failed.
    pub(crate) fn failed(&self) {
        let wait_ns = self.next_ns.get().max(FIRST_NS);
        self.wait_ns.set(wait_ns);
        self.next_ns.set((wait_ns * 2).min(LONGEST_NS));
    }

    /// A connection came up, or one that stood served.
    pub(crate) fn succeeded(&self) {
        self.next_ns.set(0);
        self.wait_ns.set(0);
    }

    /// How long to wait before the next exchange. Asked once, it is waited for.
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
