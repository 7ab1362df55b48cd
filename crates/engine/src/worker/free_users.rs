//! Whether a user was free when an arrival fell due: only one that found none is dropped.
//!
//! The worker looks at arrivals when it gets to it, which may be long after they fell due. So it
//! keeps the stretches in which none of its users was free, and asks about the arrival's instant.

use std::cell::{Cell, RefCell};
use std::ops::Range;

/// How many users are free, and when none was. A user is free from the instant it is there, whether
/// it had a turn yet or not, but for its iterations. Nanoseconds on the host's clock.
#[derive(Debug, Default)]
pub(crate) struct FreeUsers {
    count: Cell<u32>,
    /// Since when none is free, if so.
    none_from_ns: Cell<u64>,
    /// Stretches without a free user that are over.
    without: RefCell<Vec<Range<u64>>>,
}

impl FreeUsers {
    /// A user is free from now on. `is_asked` says whether anybody will ask about earlier instants.
    pub(crate) fn one_more(&self, now_ns: u64, is_asked: bool) {
        let count = self.count.get();
        self.count.set(count + 1);
        if count == 0 && is_asked {
            let without = self.none_from_ns.get()..now_ns;
            self.without.borrow_mut().push(without);
        }
    }

    /// A free user begins an iteration.
    pub(crate) fn one_less(&self, now_ns: u64) {
        self.count.set(self.count.get().saturating_sub(1));
        if self.count.get() == 0 {
            self.none_from_ns.set(now_ns);
        }
    }

    /// Whether no user was free at this instant, as far as is known since [`forget`](Self::forget).
    pub(crate) fn had_none_at(&self, at_ns: u64) -> bool {
        let is_without = self.count.get() == 0 && at_ns >= self.none_from_ns.get();
        is_without || self.without.borrow().iter().any(|one| one.contains(&at_ns))
    }

    /// Whether any is free, or became so since [`forget`](Self::forget).
    pub(crate) fn had_any(&self) -> bool {
        self.count.get() > 0 || !self.without.borrow().is_empty()
    }

    /// Nobody asks about instants before now any more.
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
