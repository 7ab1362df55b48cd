//! An instant of its own for each point of a series.
//!
//! InfluxDB keeps one point of a series and an instant, the last that it receives. Users who run
//! side by side measure in the same nanosecond more often than one would think: clocks of virtual
//! machines go in steps of ten.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

/// The coarsest unit in which a point is moved, in nanoseconds: what it is moved by is no longer
/// than what its measurement took. In milliseconds and seconds points are meant to be few.
const COARSEST_NS: u64 = 1_000;

/// The instants of the last two messages, by series.
#[derive(Default)]
pub(super) struct Instants {
    hasher: RandomState,
    taken: HashSet<u64>,
    /// Those of the message before, which another process may have measured at the same time.
    taken_before: HashSet<u64>,
}

impl Instants {
    /// Begins with the next message.
    pub(super) fn next_message(&mut self) {
        std::mem::swap(&mut self.taken, &mut self.taken_before);
        self.taken.clear();
    }

    /// Returns the first instant from this one on that no point of the series has. Its unit is of
    /// so many nanoseconds.
    pub(super) fn free(&mut self, series: &str, instant: u64, unit_ns: u64) -> u64 {
        if unit_ns > COARSEST_NS {
            return instant;
        }
        let mut free = instant;
        while !self.take(series, free) {
            free += 1;
        }
        free
    }

    fn take(&mut self, series: &str, instant: u64) -> bool {
        let hash = self.hasher.hash_one((series, instant));
        !self.taken_before.contains(&hash) && self.taken.insert(hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_a_series_have_an_instant_each() {
        let mut instants = Instants::default();
        let free = |instants: &mut Instants, series| instants.free(series, 7, 1);
        assert_eq!([(); 3].map(|()| free(&mut instants, "a")), [7, 8, 9]);
        assert_eq!(free(&mut instants, "b"), 7);
        instants.next_message();
        assert_eq!(free(&mut instants, "a"), 10);
        instants.next_message();
        instants.next_message();
        assert_eq!(free(&mut instants, "a"), 7);
    }

    #[test]
    fn coarse_instants_are_kept() {
        let mut instants = Instants::default();
        assert_eq!([(); 2].map(|()| instants.free("a", 7, 1_000_000)), [7, 7]);
    }
}
