//! The reason why arrivals of an open load wait: for a connection, or for Loadline.
//!
//! While arrivals wait, each connection is either in use or free and not used by Loadline. The time
//! that connections were free since the last instant without waiting arrivals gives the number of
//! further requests that could have been sent: as many as were sent meanwhile per unit of time in
//! use. During a stall of the loop all of them count as free, because responses that had arrived
//! were not read.
//!
//! A stall also leaves arrivals behind that the connections then have to catch up with. Those wait
//! for a connection, and would not if the loop had gone on: as long as the backlog lasts, each is
//! put off by the length of the stall, or by all of its wait if that is shorter. A stall in a
//! backlog that did not begin with one puts nothing off that the target would not have: it may have
//! read no request meanwhile.

use std::cell::Cell;

/// The use of the connections since arrivals began to wait. Nanoseconds on the host's clock.
#[derive(Debug, Default)]
pub(crate) struct Backlog {
    /// The last instant at which a user was idle.
    since_ns: Cell<u64>,
    /// The number of requests sent since then.
    sent: Cell<u64>,
    /// The total time for which their connections had been free for them.
    free_ns: Cell<u64>,
    /// The longest delay of a start for which an idle user waited: the loop did not wake it.
    woken_late_ns: Cell<u64>,
    /// The total length of the loop's stalls since then, as far as they were noticed.
    noticed_ns: Cell<u64>,
}

impl Backlog {
    /// Resets the backlog, because an idle user means that no arrival waits.
    #[inline]
    pub(crate) fn is_empty_at(&self, now_ns: u64) {
        self.since_ns.set(now_ns);
        self.sent.set(0);
        self.free_ns.set(0);
        self.woken_late_ns.set(0);
        self.noticed_ns.set(0);
    }

    /// Receives that an idle user was woken for a start that was due at this instant.
    #[inline]
    pub(crate) fn woken(&self, now_ns: u64, due_ns: u64) {
        let late_ns = now_ns.saturating_sub(due_ns);
        self.woken_late_ns
            .set(self.woken_late_ns.get().max(late_ns));
    }

    /// Counts requests that were sent together on a connection that had been free for them this
    /// long.
    #[inline]
    pub(crate) fn sent(&self, count: u64, free_ns: u64) {
        self.sent.set(self.sent.get() + count);
        self.free_ns.set(self.free_ns.get().saturating_add(free_ns));
    }

    /// Counts a stall of the loop, in which none of this many connections was used; `waited` is
    /// true if arrivals waited already when it began.
    pub(super) fn stalled(&self, stalled_ns: u64, users: u32, waited: bool) {
        let free_ns = stalled_ns.saturating_mul(u64::from(users));
        self.free_ns.set(self.free_ns.get().saturating_add(free_ns));
        let began_with_stall = self.noticed_ns.get() > 0 || !waited;
        if began_with_stall {
            self.noticed_ns
                .set(self.noticed_ns.get().saturating_add(stalled_ns));
        }
    }

    /// Returns the time by which the loop's stalls put off what waits: stalls end before an idle
    /// user is woken and before they are noticed, and either may miss a part.
    #[inline]
    pub(crate) fn stalled_ns(&self) -> u64 {
        self.woken_late_ns.get().max(self.noticed_ns.get())
    }

    /// Returns how many more requests could have been sent until `now_ns` by this many users, of
    /// whom some hold starts that they did not send, for `held_ns` in total.
    pub(super) fn could_have_sent(&self, now_ns: u64, users: u32, held_ns: u64) -> u64 {
        let length_ns = now_ns.saturating_sub(self.since_ns.get());
        let whole_ns = u128::from(length_ns) * u128::from(users);
        let free_ns = u128::from(self.free_ns.get()) + u128::from(held_ns);
        let used_ns = whole_ns.saturating_sub(free_ns);
        if free_ns == 0 {
            return 0;
        }
        let more = (u128::from(self.sent.get()) * free_ns).checked_div(used_ns);
        more.map_or(u64::MAX, |more| u64::try_from(more).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_in_use_could_not_have_sent_more() {
        let backlog = Backlog::default();
        backlog.is_empty_at(1_000);
        backlog.sent(50, 0);
        assert_eq!(backlog.could_have_sent(9_000, 50, 0), 0);
    }

    #[test]
    fn what_was_free_as_long_as_in_use_could_have_sent_as_much() {
        let backlog = Backlog::default();
        backlog.is_empty_at(1_000);
        backlog.sent(10, 3_000);
        backlog.sent(10, 1_000);
        assert_eq!(backlog.could_have_sent(5_000, 2, 0), 20);
        backlog.is_empty_at(5_000);
        assert_eq!(backlog.could_have_sent(6_000, 2, 2_000), u64::MAX);
    }

    #[test]
    fn a_stall_puts_off_what_waits_until_a_user_is_idle() {
        let backlog = Backlog::default();
        backlog.woken(8_000, 1_000);
        backlog.sent(1, 9_000);
        assert_eq!(backlog.stalled_ns(), 7_000);
        backlog.stalled(5_000, 2, false);
        backlog.stalled(4_000, 2, true);
        assert_eq!(backlog.stalled_ns(), 9_000);
        backlog.is_empty_at(20_000);
        assert_eq!(backlog.stalled_ns(), 0);
    }

    #[test]
    fn a_stall_while_arrivals_wait_for_the_target_puts_nothing_off() {
        let backlog = Backlog::default();
        backlog.stalled(5_000, 2, true);
        assert_eq!(backlog.stalled_ns(), 0);
    }
}
