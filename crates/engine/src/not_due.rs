//! Arrivals of an open load for which no request is due, and the time that users pause.

use crate::activity::Activity;
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::ops::Range;

/// The arrivals for which no request is due, and the pauses of users, of one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NotDue {
    /// The arrivals whose iteration has ended without a request, or pauses at the end of the run.
    pub(crate) requestless: u64,
    /// The arrivals at the end of the interval whose request is due after a pause of the behaviour.
    pub(crate) pausing: u64,
    /// The sum of the times that users paused, in nanoseconds.
    pub(crate) paused_ns: u64,
}

impl NotDue {
    /// Returns the same at the end of a run, which no pause outlasts.
    pub(crate) fn at_end(self) -> Self {
        NotDue {
            requestless: self.requestless + self.pausing,
            pausing: 0,
            ..self
        }
    }

    /// Adds those of other users.
    pub(crate) fn add(&mut self, other: NotDue) {
        self.requestless += other.requestless;
        self.pausing += other.pausing;
        self.paused_ns += other.paused_ns;
    }
}

/// Counts the same for the users of a worker. Instants are nanoseconds on the host's clock, and
/// never before the begin of the measured part.
#[derive(Debug, Default)]
pub(crate) struct NotDueCounter {
    requestless: Cell<u64>,
    /// The users that pause, and wait for nothing else.
    users: Cell<u32>,
    /// The time that users paused until `at_ns`.
    paused_ns: Cell<u64>,
    at_ns: Cell<u64>,
}

impl NotDueCounter {
    /// Counts arrivals whose iteration has ended without a request.
    pub(crate) fn ended_without_request(&self, arrivals: u64) {
        self.requestless.set(self.requestless.get() + arrivals);
    }

    /// Counts a user that pauses from this instant on.
    pub(crate) fn pause_begins(&self, at_ns: u64) {
        self.follow(at_ns);
        self.users.set(self.users.get() + 1);
    }

    /// Counts the end of the pause of a user.
    pub(crate) fn pause_ends(&self, at_ns: u64) {
        self.follow(at_ns);
        self.users.set(self.users.get() - 1);
    }

    /// Returns what was counted until this instant since the last call. `pausing_arrivals` counts
    /// the arrivals that users who pause hold.
    pub(crate) fn take(&self, at_ns: u64, pausing_arrivals: impl FnOnce() -> u64) -> NotDue {
        self.follow(at_ns);
        NotDue {
            requestless: self.requestless.take(),
            pausing: match self.users.get() {
                0 => 0,
                _ => pausing_arrivals(),
            },
            paused_ns: self.paused_ns.take(),
        }
    }

    fn follow(&self, at_ns: u64) {
        let length_ns = at_ns.saturating_sub(self.at_ns.get());
        let paused_ns = u64::from(self.users.get()) * length_ns;
        self.paused_ns.set(self.paused_ns.get() + paused_ns);
        self.at_ns.set(at_ns);
    }
}

/// Returns the number of arrivals in this time that a user holds while it pauses.
pub(crate) fn pausing_arrivals(activity: &Activity, times_ns: &Range<u64>) -> u64 {
    let first_ns = activity.since_ns.get().filter(|_| activity.is_pausing());
    let later = activity.later.borrow();
    let later = later.iter().filter(|_| first_ns.is_some());
    let held = first_ns.iter().chain(later);
    held.filter(|at_ns| times_ns.contains(at_ns)).count() as u64
}

/// The requests that fell due, of the arrivals of a schedule.
#[derive(Debug, Default)]
pub(crate) struct DueRequests {
    arrivals: u64,
    requestless: u64,
    /// The requests that were returned.
    due: u64,
}

impl DueRequests {
    /// Returns how many requests fell due in an interval with these arrivals.
    ///
    /// An arrival that waits for a user counts as one. If its iteration then pauses or sends none,
    /// a later arrival is left out in its place, if there is one.
    pub(crate) fn of(&mut self, arrivals: u64, not_due: NotDue) -> u64 {
        self.arrivals += arrivals;
        self.requestless += not_due.requestless;
        let none = self.requestless + not_due.pausing;
        let due = self.arrivals.saturating_sub(none).max(self.due);
        let further = due - self.due;
        self.due = due;
        further
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_pause_is_shared_out_among_the_intervals() {
        let counter = NotDueCounter::default();
        counter.pause_begins(600);
        counter.pause_begins(900);
        let first = counter.take(1_000, || 2);
        counter.pause_ends(1_100);
        counter.ended_without_request(3);
        counter.pause_ends(1_200);
        let second = counter.take(2_000, || unreachable!("nobody pauses"));
        let parts = |one: NotDue| (one.requestless, one.pausing, one.paused_ns);
        assert_eq!((parts(first), parts(second)), ((0, 2, 500), (3, 0, 300)));
    }

    #[test]
    fn a_request_falls_due_after_its_pause_and_none_without_one() {
        let mut due = DueRequests::default();
        let not_due = |requestless, pausing| NotDue {
            requestless,
            pausing,
            paused_ns: 0,
        };
        assert_eq!(due.of(10, not_due(2, 5)), 3);
        assert_eq!(due.of(10, not_due(0, 5)), 10);
        assert_eq!(due.of(0, not_due(0, 0)), 5);
        // An arrival that waited for a user was due in an earlier interval.
        assert_eq!(due.of(0, not_due(0, 1)), 0);
        assert_eq!(due.of(3, not_due(1, 0)), 2);
    }
}
