//! From the kernel's receive timestamps to the monotonic clock.

use super::sys;
use std::cell::Cell;

/// How long one reading of the two clocks is good for. The wall clock is slewed by at most
/// 500 ppm, so it drifts less than 5 µs in that time.
const GOOD_FOR_NS: u64 = 10_000_000;

/// Receive timestamps are of the wall clock; this maps them to the monotonic one.
pub(crate) struct ReceiveClock {
    /// Wall clock minus monotonic clock.
    offset_ns: Cell<i64>,
    read_at_ns: Cell<u64>,
}

impl ReceiveClock {
    pub(crate) fn new() -> Self {
        let clock = ReceiveClock {
            offset_ns: Cell::new(0),
            read_at_ns: Cell::new(0),
        };
        clock.read();
        clock
    }

    /// Reads both clocks again if the last reading is old.
    pub(crate) fn refresh(&self, now_ns: u64) {
        if now_ns.saturating_sub(self.read_at_ns.get()) > GOOD_FOR_NS {
            self.read();
        }
    }

    pub(crate) fn monotonic_ns(&self, wall_ns: u64) -> u64 {
        wall_ns.wrapping_add_signed(-self.offset_ns.get())
    }

    /// Reads the wall clock between two readings of the monotonic one, so that the offset is right
    /// to half of what a reading takes.
    fn read(&self) {
        let before_ns = sys::monotonic_ns();
        let wall_ns = sys::wall_ns();
        let after_ns = sys::monotonic_ns();
        let middle_ns = before_ns + (after_ns - before_ns) / 2;
        self.offset_ns.set(wall_ns as i64 - middle_ns as i64);
        self.read_at_ns.set(after_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wall_clock_now_is_the_monotonic_clock_now() {
        let clock = ReceiveClock::new();
        let before_ns = sys::monotonic_ns();
        let mapped_ns = clock.monotonic_ns(sys::wall_ns());
        let after_ns = sys::monotonic_ns();
        // The reading may be preempted: what is certain is that the error is no larger than the
        // time all the readings took, which a stopped machine makes long. A millisecond is ample.
        assert!(mapped_ns + 1_000_000 > before_ns, "{mapped_ns} {before_ns}");
        assert!(mapped_ns < after_ns + 1_000_000, "{mapped_ns} {after_ns}");
    }
}
