//! The presence of loops in the process: without one there is nobody to make room for.

use std::sync::atomic::{AtomicUsize, Ordering};

static LOOPS: AtomicUsize = AtomicUsize::new(0);

/// True if the process has a loop. Safe in the handler of a signal.
pub(crate) fn has_loops() -> bool {
    LOOPS.load(Ordering::Relaxed) > 0
}

/// A loop, as long as it lives.
pub(super) struct Presence(());

impl Presence {
    pub(super) fn new() -> Presence {
        LOOPS.fetch_add(1, Ordering::Relaxed);
        Presence(())
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        LOOPS.fetch_sub(1, Ordering::Relaxed);
    }
}
