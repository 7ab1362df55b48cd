//! Conversion of the kernel's receive timestamps to the monotonic clock.
//!
//! A *reading* takes the wall clock between two readings of the monotonic one, its *bracket*. If
//! the thread is preempted between them the bracket is wide, and the offset may be wrong by half of
//! its width, for every timestamp until the next reading. Therefore several readings are made until
//! one is narrow, and an offset from a narrow bracket is not replaced by one from a wide bracket:
//! both clocks are slewed alike (`timekeeping_adjust` in the kernel's kernel/time/timekeeping.c
//! changes the speed of both), so an old offset stays valid until the wall clock is set. Even a
//! wide bracket reveals that, when the old offset lies outside of it.

use super::sys;
use std::cell::Cell;

/// The time for which a reading of the two clocks is used: after it a change of the wall clock is
/// noticed.
const GOOD_FOR_NS: u64 = 10_000_000;
/// The width up to which a bracket counts as narrow: its offset is exact to half a microsecond, and
/// no further reading is made.
const NARROW_NS: u64 = 1_000;
/// The width above which a bracket counts as wide, because the thread was preempted or interrupted:
/// three readings take a tenth of it if each is a system call.
const WIDE_NS: u64 = 10_000;
/// The most readings of the clocks to find a narrow bracket.
const READINGS: usize = 5;

/// Converts receive timestamps, which are of the wall clock, to the monotonic one.
pub(crate) struct ReceiveClock {
    /// The wall clock minus the monotonic clock.
    offset_ns: Cell<i64>,
    /// The width of the bracket of `offset_ns`.
    width_ns: Cell<u64>,
    read_at_ns: Cell<u64>,
}

impl ReceiveClock {
    pub(crate) fn new() -> Self {
        Self::with(&mut Reading::take)
    }

    fn with(read: &mut impl FnMut() -> Reading) -> Self {
        let first = narrowest(read);
        ReceiveClock {
            offset_ns: Cell::new(first.offset_ns()),
            width_ns: Cell::new(first.width_ns()),
            read_at_ns: Cell::new(first.after_ns),
        }
    }

    /// Reads both clocks again if the last reading is old.
    pub(crate) fn refresh(&self, now_ns: u64) {
        self.refresh_with(now_ns, &mut Reading::take);
    }

    fn refresh_with(&self, now_ns: u64, read: &mut impl FnMut() -> Reading) {
        if now_ns.saturating_sub(self.read_at_ns.get()) <= GOOD_FOR_NS {
            return;
        }
        let reading = narrowest(read);
        self.read_at_ns.set(reading.after_ns);
        let is_better = reading.width_ns() <= WIDE_NS.max(self.width_ns.get());
        if is_better || !reading.allows(self.offset_ns.get()) {
            self.offset_ns.set(reading.offset_ns());
            self.width_ns.set(reading.width_ns());
        }
    }

    pub(crate) fn monotonic_ns(&self, wall_ns: u64) -> u64 {
        wall_ns.wrapping_add_signed(-self.offset_ns.get())
    }
}

/// Returns the narrowest of several readings; stops at the first one that is narrow enough.
fn narrowest(read: &mut impl FnMut() -> Reading) -> Reading {
    let mut best = read();
    for _ in 1..READINGS {
        if best.width_ns() <= NARROW_NS {
            break;
        }
        let next = read();
        if next.width_ns() < best.width_ns() {
            best = next;
        }
    }
    best
}

/// A time of the wall clock, between two readings of the monotonic one.
#[derive(Clone, Copy)]
struct Reading {
    before_ns: u64,
    wall_ns: u64,
    after_ns: u64,
}

impl Reading {
    fn take() -> Reading {
        Reading {
            before_ns: sys::monotonic_ns(),
            wall_ns: sys::wall_ns(),
            after_ns: sys::monotonic_ns(),
        }
    }

    fn width_ns(&self) -> u64 {
        self.after_ns.saturating_sub(self.before_ns)
    }

    /// Returns the wall clock minus the monotonic clock, exact to half of the width.
    fn offset_ns(&self) -> i64 {
        let middle_ns = self.before_ns + self.width_ns() / 2;
        self.wall_ns as i64 - middle_ns as i64
    }

    /// True if the clocks may differ by this much, given that the wall clock was read between the
    /// two readings of the monotonic one.
    fn allows(&self, offset_ns: i64) -> bool {
        let least_ns = self.wall_ns as i64 - self.after_ns as i64;
        let most_ns = self.wall_ns as i64 - self.before_ns as i64;
        (least_ns..=most_ns).contains(&offset_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFFSET_NS: i64 = 1_700_000_000_000_000_000;
    const MS: u64 = 1_000_000;

    /// Clocks that differ by [`OFFSET_NS`], read by a thread that is stopped for these times
    /// between the first and the second reading.
    struct Clocks {
        now_ns: u64,
        offset_ns: i64,
        stops_ns: Vec<u64>,
        readings: usize,
    }

    impl Clocks {
        fn at(now_ns: u64, stops_ns: &[u64]) -> Clocks {
            Clocks {
                now_ns,
                offset_ns: OFFSET_NS,
                stops_ns: stops_ns.to_vec(),
                readings: 0,
            }
        }

        fn read(&mut self) -> Reading {
            let stop_ns = self.stops_ns.get(self.readings).copied().unwrap_or(0);
            self.readings += 1;
            let before_ns = self.now_ns;
            let at_ns = before_ns + stop_ns + 20;
            self.now_ns = at_ns + 20;
            Reading {
                before_ns,
                wall_ns: at_ns.wrapping_add_signed(self.offset_ns),
                after_ns: self.now_ns,
            }
        }
    }

    fn clock(stops_ns: &[u64]) -> ReceiveClock {
        let mut clocks = Clocks::at(MS, stops_ns);
        ReceiveClock::with(&mut || clocks.read())
    }

    #[test]
    fn a_reading_that_was_preempted_is_made_again() {
        let clock = clock(&[4 * MS, 30_000]);
        assert_eq!(clock.offset_ns.get(), OFFSET_NS);
    }

    #[test]
    fn a_narrow_reading_is_the_only_one() {
        let mut clocks = Clocks::at(MS, &[]);
        ReceiveClock::with(&mut || clocks.read());
        assert_eq!(clocks.readings, 1);
    }

    #[test]
    fn an_offset_stays_while_all_readings_are_preempted() {
        let clock = clock(&[]);
        let mut clocks = Clocks::at(60 * MS, &[3 * MS; READINGS]);
        clock.refresh_with(60 * MS, &mut || clocks.read());
        assert_eq!(clocks.readings, READINGS);
        assert_eq!(clock.offset_ns.get(), OFFSET_NS);
    }

    #[test]
    fn a_first_offset_that_was_preempted_is_replaced_by_a_better_one() {
        let clock = clock(&[3 * MS; READINGS]);
        assert_eq!(clock.offset_ns.get(), OFFSET_NS + 3 * MS as i64 / 2);
        let mut clocks = Clocks::at(60 * MS, &[MS; READINGS]);
        clock.refresh_with(60 * MS, &mut || clocks.read());
        assert_eq!(clock.offset_ns.get(), OFFSET_NS + MS as i64 / 2);
        let mut clocks = Clocks::at(90 * MS, &[]);
        clock.refresh_with(90 * MS, &mut || clocks.read());
        assert_eq!(clock.offset_ns.get(), OFFSET_NS);
    }

    #[test]
    fn a_wall_clock_that_is_set_shows_in_a_preempted_reading_too() {
        let clock = clock(&[]);
        let mut clocks = Clocks::at(60 * MS, &[3 * MS; READINGS]);
        clocks.offset_ns += 5_000 * MS as i64;
        clock.refresh_with(60 * MS, &mut || clocks.read());
        let error_ns = clock.offset_ns.get() - clocks.offset_ns;
        assert!(error_ns.unsigned_abs() <= 3 * MS / 2, "{error_ns}");
    }

    #[test]
    fn the_clocks_are_not_read_again_at_once() {
        let clock = clock(&[]);
        let mut clocks = Clocks::at(MS, &[]);
        clock.refresh_with(MS + GOOD_FOR_NS, &mut || clocks.read());
        assert_eq!(clocks.readings, 0);
    }

    #[test]
    fn the_wall_clock_now_is_the_monotonic_clock_now() {
        let clock = ReceiveClock::new();
        let before_ns = sys::monotonic_ns();
        let mapped_ns = clock.monotonic_ns(sys::wall_ns());
        let after_ns = sys::monotonic_ns();
        // The reading may be preempted: the error is certainly no larger than the duration of all
        // readings, which a stopped machine makes long. A millisecond is ample.
        assert!(mapped_ns + 1_000_000 > before_ns, "{mapped_ns} {before_ns}");
        assert!(mapped_ns < after_ns + 1_000_000, "{mapped_ns} {after_ns}");
    }
}
