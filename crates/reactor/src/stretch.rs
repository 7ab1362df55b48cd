//! A limit on the data that a task may receive without a break.
//!
//! A peer that sends faster than its data is read keeps its socket readable for ever, and a task
//! that goes on as long as it can would never let its loop check clocks and other sockets.
//! Therefore a socket counts the data of reads that filled their buffer (any other read reached the
//! end of the available data). Once that is much or has taken long, the socket returns *pending*
//! and wakes its task at once: all other tasks run first, and the deadline is checked. The data
//! between two breaks is a *stretch*.

use std::cell::Cell;

/// The most bytes of a stretch.
pub(crate) const MOST_BYTES: u64 = 1 << 20;
/// The longest duration of a stretch.
pub(crate) const LONGEST_NS: u64 = 1_000_000;

/// The data that a socket has received since its task last waited.
#[derive(Debug, Default)]
pub(crate) struct Stretch {
    bytes: Cell<u64>,
    since_ns: Cell<u64>,
    over: Cell<bool>,
}

impl Stretch {
    /// Counts a read that filled its buffer. Returns true if the stretch ends with it.
    #[cold]
    pub(crate) fn ends_with(&self, bytes: usize, now_ns: u64) -> bool {
        if self.bytes.get() == 0 {
            self.since_ns.set(now_ns);
        }
        self.bytes.set(self.bytes.get() + bytes as u64);
        let lasted_ns = now_ns.saturating_sub(self.since_ns.get());
        self.over
            .set(self.bytes.get() >= MOST_BYTES || lasted_ns >= LONGEST_NS);
        self.over.get()
    }

    /// True if the stretch has ended, and the task has not waited since.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.over.get()
    }

    /// Begins a new stretch, because the task waits. Returns true if the task could have gone on.
    pub(crate) fn restart(&self) -> bool {
        self.bytes.set(0);
        self.over.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_with_many_bytes_or_after_a_long_time() {
        let stretch = Stretch::default();
        let reads = (0..).take_while(|_| !stretch.ends_with(1 << 16, 5));
        assert_eq!(reads.count(), 15);
        assert!(stretch.is_over());
        assert!(stretch.restart());
        assert!(!stretch.is_over() && !stretch.restart());
        assert!(!stretch.ends_with(1, 10));
        assert!(!stretch.ends_with(1, 9 + LONGEST_NS));
        assert!(stretch.ends_with(1, 10 + LONGEST_NS));
    }

    #[test]
    fn time_counts_from_the_first_read_after_a_wait() {
        let stretch = Stretch::default();
        assert!(!stretch.ends_with(1, 10));
        assert!(!stretch.restart());
        assert!(!stretch.ends_with(1, 10 + LONGEST_NS));
    }
}
