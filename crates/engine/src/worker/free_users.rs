//! The availability of users at the instants of arrivals: only an arrival that found no free user
//! is dropped.
//!
//! The worker may handle arrivals long after they fell due. Therefore it keeps the periods in which
//! none of its users was free, and looks up the arrival's instant.

use std::cell::{Cell, RefCell};
use std::ops::Range;

/// The number of free users, and the periods without any. A user is free from the instant of its
/// creation, even before its first turn, except during its iterations. Nanoseconds on the host's
/// clock.
#[derive(Debug, Default)]
pub(crate) struct FreeUsers {
    count: Cell<u32>,
    /// The instant since which no user is free, if none is.
    none_from_ns: Cell<u64>,
    /// Periods without a free user that are over.
    without: RefCell<Vec<Range<u64>>>,
}

impl FreeUsers {
    /// Counts a user that is free from now on. `is_recorded` is true if earlier instants will be
    /// looked up.
    pub(crate) fn one_more(&self, now_ns: u64, is_recorded: bool) {
        let count = self.count.get();
        self.count.set(count + 1);
        if count == 0 && is_recorded {
            let without = self.none_from_ns.get()..now_ns;
            self.without.borrow_mut().push(without);
        }
    }

    /// Counts a free user that begins an iteration.
    pub(crate) fn one_less(&self, now_ns: u64) {
        self.count.set(self.count.get().saturating_sub(1));
        if self.count.get() == 0 {
            self.none_from_ns.set(now_ns);
        }
    }

    /// True if no user was free at this instant, as far as is known since [`forget`](Self::forget).
    pub(crate) fn had_none_at(&self, at_ns: u64) -> bool {
        let is_without = self.count.get() == 0 && at_ns >= self.none_from_ns.get();
        is_without || self.without.borrow().iter().any(|one| one.contains(&at_ns))
    }

    /// True if any user is free, or became free since [`forget`](Self::forget).
    pub(crate) fn had_any(&self) -> bool {
        self.count.get() > 0 || !self.without.borrow().is_empty()
    }

    /// Forgets all periods, because earlier instants will not be looked up any more.
    pub(crate) fn forget(&self) {
        self.without.borrow_mut().clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_is_without_a_free_user_from_the_last_begin_to_the_first_end() {
        let users = FreeUsers::default();
        users.one_more(0, false);
        users.one_more(0, false);
        users.one_less(10);
        assert!(!users.had_none_at(15));
        users.one_less(20);
        assert!(users.had_none_at(20) && !users.had_none_at(19) && !users.had_any());
        users.one_more(30, true);
        users.one_less(40);
        let none_at = [19, 20, 29, 30, 39, 40].map(|at_ns| users.had_none_at(at_ns));
        assert_eq!(none_at, [false, true, true, false, false, true]);
        assert!(users.had_any());
        users.forget();
        assert!(!users.had_none_at(29) && users.had_none_at(40) && !users.had_any());
    }
}
