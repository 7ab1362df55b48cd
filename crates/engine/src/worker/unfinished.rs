//! The unfinished work of a worker when it ends: exchanges in flight, unsent arrivals, the waiting
//! time of each, and its cause.

use super::Worker;
use super::user_pool::UserPool;
use crate::activity::Activity;
use loadline_reactor::Host;
use loadline_record::Unfinished;

/// The unfinished exchanges and arrivals, and the number of those that waited because of Loadline.
/// Nanoseconds on the host's clock.
pub(super) struct UnfinishedWork {
    /// The end of the worker.
    now_ns: u64,
    /// The begin of the measured part.
    zero_ns: u64,
    /// The end of the schedule: arrivals at or after this instant were not due.
    until_ns: u64,
    is_open: bool,
    /// True if users hold starts of the load's schedule.
    has_schedule: bool,
    /// The total time for which users held starts and did not send them although they were free.
    held_ns: u64,
    left: Unfinished,
}

/// Returns the total time for which the exchanges of the measured part in flight have been in
/// flight.
pub(super) fn flight_ns<H: Host, S>(pool: &UserPool<H, S>, now_ns: u64) -> u64 {
    let zero_ns = pool.worker.zero_ns();
    let mut all_ns = 0;
    pool.each_activity(|activity| {
        let flight_ns = |count: u32, begun_ns: u64| {
            u64::from(count) * now_ns.saturating_sub(begun_ns.max(zero_ns))
        };
        let mut sum_ns = flight_ns(activity.in_flight.get(), activity.begun_ns.get());
        activity.each_concurrent(|batch| sum_ns += flight_ns(batch.left, batch.begun_ns));
        all_ns += sum_ns;
    });
    all_ns
}

impl UnfinishedWork {
    pub(super) fn new<H: Host>(worker: &Worker<H>, now_ns: u64, until_ns: u64) -> Self {
        UnfinishedWork {
            now_ns,
            zero_ns: worker.zero_ns(),
            until_ns,
            is_open: worker.times_from_schedule(),
            has_schedule: worker.pacer.is_open(),
            held_ns: 0,
            left: Unfinished::default(),
        }
    }

    /// Counts the unfinished exchanges and arrivals of a worker's users and of its schedule.
    pub(super) fn count<H: Host, S>(mut self, pool: &UserPool<H, S>) -> Unfinished {
        let worker = &pool.worker;
        pool.each_activity(|activity| self.member(activity));
        let held = pool.retired_ns.iter();
        held.for_each(|at_ns| self.unsent(*at_ns, 1));
        let begin_ns = worker.begin_ns.get();
        let until_ns = self.until_ns.saturating_sub(begin_ns);
        let taken = self.left.unsent;
        worker.pacer.each_untaken(until_ns, &mut |at_ns, count| {
            self.unsent(begin_ns.saturating_add(at_ns), count);
        });
        let may_grow = worker.users.get() < worker.most_users;
        let could_grow = may_grow && self.left.unsent > taken;
        let more = worker
            .backlog
            .could_have_sent(self.now_ns, worker.users.get(), self.held_ns);
        let more = if could_grow { u64::MAX } else { more };
        self.left.by_loadline = more.min(self.left.unsent);
        self.left.by_target = self.left.unsent - self.left.by_loadline;
        self.left
    }

    /// Counts the exchanges that a user has in flight, and the starts that it holds.
    fn member(&mut self, activity: &Activity) {
        self.own_starts(activity);
        activity.each_concurrent(|batch| {
            (0..batch.left).for_each(|_| self.in_flight(batch.begun_ns, batch.begun_ns, 0));
        });
        let Some(first_ns) = activity.since_ns.get() else {
            return;
        };
        let in_flight = activity.in_flight.get();
        let begun_ns = activity.begun_ns.get();
        let later = activity.later.borrow();
        let mut starts = std::iter::once(first_ns).chain(later.iter().rev().copied());
        for _ in 0..in_flight {
            let intended_ns = starts.next().unwrap_or(begun_ns);
            self.in_flight(intended_ns, begun_ns, activity.late_ns.get());
        }
        // What is due after a pause is not due yet.
        if !self.has_schedule || activity.is_pausing() {
            return;
        }
        starts.for_each(|intended_ns| self.unsent(intended_ns, 1));
        if in_flight == 0 && activity.waiting.get() == 0 {
            self.held_ns += self.now_ns.saturating_sub(first_ns);
        }
    }

    /// Counts the starts of a user who paces itself that fell due while it waited, and were not
    /// made.
    fn own_starts(&mut self, activity: &Activity) {
        let Some(starts) = activity.own_starts() else {
            return;
        };
        if let Some(held) = starts.held() {
            self.unsent(held.intended_ns, 1);
        }
        let since_ns = activity.oldest_sent_ns();
        let due = since_ns.map(|since_ns| starts.due_between(since_ns, self.now_ns));
        due.into_iter()
            .flatten()
            .for_each(|intended_ns| self.unsent(intended_ns, 1));
    }

    fn in_flight(&mut self, intended_ns: u64, begun_ns: u64, late_ns: u64) {
        if intended_ns < self.zero_ns {
            return;
        }
        let service_ns = self.now_ns.saturating_sub(begun_ns);
        let response_ns = self.now_ns.saturating_sub(intended_ns);
        self.left.in_flight += 1;
        self.left.ages.service.record_ns(service_ns);
        self.age(response_ns, late_ns, 1);
    }

    /// Counts arrivals that fell due at this instant and were not sent.
    fn unsent(&mut self, intended_ns: u64, count: u64) {
        let is_in_run = (self.zero_ns..self.until_ns).contains(&intended_ns);
        if !self.is_open || !is_in_run {
            return;
        }
        self.left.unsent += count;
        self.age(self.now_ns.saturating_sub(intended_ns), 0, count);
    }

    /// Records the age of this many; `late_ns` of it was caused by Loadline.
    fn age(&mut self, age_ns: u64, late_ns: u64, count: u64) {
        self.left.oldest_ns = self.left.oldest_ns.max(age_ns);
        self.left.ages.response.record_many_ns(age_ns, count);
        if self.is_open {
            let undelayed_ns = age_ns.saturating_sub(late_ns);
            self.left.ages.undelayed.record_many_ns(undelayed_ns, count);
        }
    }
}
