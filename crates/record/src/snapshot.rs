//! What was recorded in one interval: counts, times, statuses and failures.
//!
//! Snapshots add up in two ways, both without loss: [`Snapshot::merge`] with another worker's of
//! the same interval, [`Snapshot::append`] with the next interval's.

use crate::{Arrivals, Distribution, ErrorKind, Workers};
use loadline_metrics::{CustomMetrics, SeriesSet};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What was recorded in one interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// When the interval began, in nanoseconds from the run's start.
    pub start_ns: u64,
    /// When the interval ended, in nanoseconds from the run's start.
    pub end_ns: u64,
    /// Whether it is the drain behind the window: its times count, and rates and rows have none of
    /// it.
    pub drain: bool,
    /// What was counted.
    pub counts: Counts,
    /// What was timed.
    pub times: Times,
    /// Answers by status code.
    pub statuses: BTreeMap<u16, u64>,
    /// Failures by kind.
    pub errors: BTreeMap<ErrorKind, Failures>,
    /// What the workers did with their time.
    pub workers: Workers,
    /// The pattern of the requests of an open load; of a single interval only, for several of them
    /// see [`Pattern`](crate::Pattern).
    pub arrivals: Arrivals,
    /// The requests by name; empty where all have the same.
    pub series: SeriesSet,
    /// What a script counted by itself.
    pub metrics: CustomMetrics,
}

/// What is counted in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Arrivals whose intended start fell due; in a closed load the same as `sent`.
    pub planned: u64,
    /// Exchanges begun.
    pub sent: u64,
    /// Exchanges that ended with a whole response, whatever its status.
    pub answered: u64,
    /// Answers that ended in the interval, whenever their exchange was begun: in the warm-up too.
    /// Not those that came in the drain. Rates are taken of these.
    #[serde(default)]
    pub completed: u64,
    /// How long exchanges were in flight in the window, added up, until their answer was read. Of
    /// those in flight at the end it is known there alone, and told with the last interval.
    /// Nanoseconds.
    #[serde(default)]
    pub flight_ns: u64,
    /// Exchanges that ended without one.
    pub failed: u64,
    /// Exchanges begun and not yet ended, at the interval's end.
    pub in_flight: u64,
    /// How long exchanges were in flight within the interval, until their response was read, added
    /// up. Nanoseconds; by the interval's length the mean of those in flight.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub in_flight_ns: u64,
    /// The most exchanges that were in flight at once; of several workers the sum of what each had,
    /// an upper bound. 0 in files of versions that did not count it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub in_flight_max: u64,
    /// Keep-alive connections that the server had closed and that were replaced silently.
    pub reconnects: u64,
    /// Requests that went out once more. Each is one of those sent.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub resent: u64,
    /// Connections closed because of extra bytes: more came than the answers' lengths told.
    #[serde(default, rename = "surplus")]
    pub closed_for_extra_bytes: u64,
    /// Exchanges that took longer than the timeout and went on, where the plan says so.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub late: u64,
    /// Arrivals that fell due when no user was free and were not started, where the plan says so.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dropped: u64,
    /// Starts that users who pace themselves did not make, as they still waited for a response.
    /// Each has its place among the response times: how long it waited until its user went on.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub missed: u64,
    /// Iterations that were interrupted, of behaviours that can be.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub interrupted: u64,
    /// Connections that came up.
    pub connections: u64,
    /// Bytes received, as they passed (inside TLS).
    pub bytes_in: u64,
    /// Bytes sent, as they passed (inside TLS).
    pub bytes_out: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Failures of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failures {
    /// How many.
    pub count: u64,
    /// What the first of them said; empty if not known.
    pub example: String,
}

/// What is timed. Each is a distribution of nanoseconds.
///
/// `response`, `service`, `blocked` and `lateness` hold the answered exchanges and those that timed
/// out (with the time they had waited: a lower bound); `first_byte`, `rest` and `wakeup` the
/// answered ones alone; `resolve`, `connect` and `tls` belong to connections, not to exchanges.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    /// From the intended start to the last byte.
    pub response: Distribution,
    /// From the send (or the dial where one was needed) to the last byte.
    pub service: Distribution,
    /// Of `service`: that of the requests that fell due when as many users were busy as the load
    /// had at its beginning, and were sent because it might take more. Empty where it might not.
    pub omitted: Distribution,
    /// From the intended start until a connection was free.
    pub blocked: Distribution,
    /// From there to the start: the delay that Loadline added.
    pub lateness: Distribution,
    /// `response` without the delay that Loadline added to it (`lateness`), to a microsecond or a
    /// thousandth. Open loads only: a closed one has no such delay.
    pub undelayed: Distribution,
    /// From the intended start of an iteration to its last response; of iterations of several
    /// requests alone, as it is the response time of the others.
    pub iteration: Distribution,
    /// Looking up a name.
    pub resolve: Distribution,
    /// Making a TCP or Unix connection.
    pub connect: Distribution,
    /// The TLS handshake.
    pub tls: Distribution,
    /// From the send to the first byte of the response.
    pub first_byte: Distribution,
    /// From the first byte of the response to the last.
    pub rest: Distribution,
    /// From the kernel's receive to our read; empty where the kernel's clock is not used.
    pub wakeup: Distribution,
    /// Of the exchanges that were [`Split`](crate::Split): from the intended start to the start.
    pub split_wait: Distribution,
    /// From there until the request left for the network device.
    pub split_send: Distribution,
    /// From there until the last packet of the response was received.
    pub split_wire: Distribution,
    /// From there to our read.
    pub split_wakeup: Distribution,
    /// From there until the response was known to be whole.
    pub split_parse: Distribution,
    /// All but the first of these: what a clock in user space takes for that of the wire.
    pub split_user: Distribution,
}

impl Snapshot {
    /// A snapshot in which nothing was recorded, of no length.
    pub fn empty(start_ns: u64) -> Snapshot {
        Snapshot {
            start_ns,
            end_ns: start_ns,
            ..Snapshot::default()
        }
    }

    /// Adds what another worker recorded in the same interval.
    pub fn merge(&mut self, other: &Snapshot) {
        self.start_ns = self.start_ns.min(other.start_ns);
        self.end_ns = self.end_ns.max(other.end_ns);
        let add = |sum: &mut u64, count: u64| *sum = sum.saturating_add(count);
        self.add(other);
        self.arrivals.merge(&other.arrivals);
        add(&mut self.counts.in_flight, other.counts.in_flight);
        add(&mut self.counts.in_flight_max, other.counts.in_flight_max);
    }

    /// Adds so many exchanges that were in flight all the time.
    pub fn add_in_flight(&mut self, count: u64) {
        let length_ns = self.length_ns();
        let counts = &mut self.counts;
        let add = |sum: &mut u64, count: u64| *sum = sum.saturating_add(count);
        add(&mut counts.in_flight, count);
        add(&mut counts.in_flight_ns, count.saturating_mul(length_ns));
        if counts.in_flight_max > 0 {
            add(&mut counts.in_flight_max, count);
        }
    }

    /// Adds what was recorded in the next interval; exchanges in flight are those at its end.
    pub fn append(&mut self, next: &Snapshot) {
        if !next.drain {
            self.end_ns = next.end_ns;
        }
        self.add(next);
        self.counts.in_flight = next.counts.in_flight;
        self.counts.in_flight_max = self.counts.in_flight_max.max(next.counts.in_flight_max);
    }

    /// Whether every exchange is accounted for: those in flight before the interval and those begun
    /// in it have been answered, have failed or are in flight at its end.
    pub fn balanced(&self, in_flight_before: u64) -> bool {
        let counts = &self.counts;
        let begun = u128::from(in_flight_before) + u128::from(counts.sent);
        let ended = u128::from(counts.answered) + u128::from(counts.failed);
        begun == ended + u128::from(counts.in_flight)
    }

    /// The interval's length in nanoseconds.
    pub fn length_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns)
    }

    /// Failures of all kinds.
    pub fn failures(&self) -> u64 {
        self.errors
            .values()
            .fold(0, |sum, failures| sum.saturating_add(failures.count))
    }

    fn add(&mut self, other: &Snapshot) {
        self.counts.add(&other.counts);
        self.times.merge(&other.times);
        for (&status, &count) in &other.statuses {
            let sum = self.statuses.entry(status).or_default();
            *sum = sum.saturating_add(count);
        }
        for (&kind, failures) in &other.errors {
            self.errors.entry(kind).or_default().add(failures);
        }
        self.series.merge(&other.series);
        self.metrics.merge(&other.metrics);
        for (&worker, times) in &other.workers {
            self.workers.entry(worker).or_default().add(times);
        }
    }
}

impl Counts {
    /// Arrivals that fell due and were not sent, but for those that were missed.
    pub(crate) fn unsent(&self) -> u64 {
        let left_out = self.planned.saturating_sub(self.sent);
        left_out.saturating_sub(self.missed)
    }

    /// At least so many more than were sent, dropped or missed were planned.
    pub(crate) fn plan_at_least(&mut self, unsent: u64) {
        let gone = self.dropped.saturating_add(self.missed);
        let known = self.sent.saturating_add(gone);
        self.planned = self.planned.max(known.saturating_add(unsent));
    }

    /// How many exchanges were in flight on average in an interval of this length; `None` if that
    /// was not counted.
    pub fn in_flight_mean(&self, length_ns: u64) -> Option<f64> {
        let mean = || self.in_flight_ns as f64 / length_ns.max(1) as f64;
        self.most_in_flight().map(|_| mean())
    }

    /// The most exchanges that were in flight at once; `None` if that was not counted.
    pub fn most_in_flight(&self) -> Option<u64> {
        let is_counted = self.in_flight_max > 0 || (self.sent == 0 && self.in_flight == 0);
        is_counted.then_some(self.in_flight_max)
    }

    /// Adds all but `in_flight` and `in_flight_max`, which are states and not sums. Saturating,
    /// because the numbers may come from a file.
    fn add(&mut self, other: &Counts) {
        let add = |sum: &mut u64, count: u64| *sum = sum.saturating_add(count);
        add(&mut self.planned, other.planned);
        add(&mut self.sent, other.sent);
        add(&mut self.answered, other.answered);
        add(&mut self.completed, other.completed);
        add(&mut self.flight_ns, other.flight_ns);
        add(&mut self.in_flight_ns, other.in_flight_ns);
        add(&mut self.failed, other.failed);
        add(&mut self.reconnects, other.reconnects);
        add(&mut self.resent, other.resent);
        add(
            &mut self.closed_for_extra_bytes,
            other.closed_for_extra_bytes,
        );
        add(&mut self.late, other.late);
        add(&mut self.dropped, other.dropped);
        add(&mut self.missed, other.missed);
        add(&mut self.interrupted, other.interrupted);
        add(&mut self.connections, other.connections);
        add(&mut self.bytes_in, other.bytes_in);
        add(&mut self.bytes_out, other.bytes_out);
    }
}

impl Failures {
    pub(crate) fn add(&mut self, other: &Failures) {
        self.count = self.count.saturating_add(other.count);
        if self.example.is_empty() {
            self.example.clone_from(&other.example);
        }
    }
}

impl Times {
    /// How many distributions there are.
    pub(crate) const KINDS: usize = 19;

    /// Adds all that the other one holds, without loss.
    pub fn merge(&mut self, other: &Times) {
        for ((_, own), (_, others)) in self.each_mut().into_iter().zip(other.each()) {
            own.merge(others);
        }
    }

    /// What a closed-loop tool would have timed, with as many users as this open load had
    /// connections at its beginning: `service − omitted`, count by count.
    ///
    /// A user of such a tool takes what falls due while it is idle, times it from the send, and
    /// sends nothing until it is answered; what falls due while all are busy is not sent in its
    /// time. A request is therefore kept if one of the first users would have been idle, by their
    /// number alone: it takes one of their closed-loop slots until its iteration
    /// ends. Where connections may not
    /// grow each request has a slot, waits for it unseen in `blocked`, and the service time is
    /// that tool's latency as it stands. Where they may, what is kept is what users who let the
    /// rest pass would have timed (a loss system), had the rest not loaded the target.
    ///
    /// A tool that sends as fast as it is answered, and not at the rate of this load, times more of
    /// the short ones in the same time and as few of the long ones: it hides more than this.
    pub fn closed_loop(&self) -> Distribution {
        self.service.without(&self.omitted)
    }

    /// Every distribution with its name, in the order in which an exchange goes through them.
    pub fn each(&self) -> [(&'static str, &Distribution); Times::KINDS] {
        [
            ("response", &self.response),
            ("service", &self.service),
            ("blocked", &self.blocked),
            ("lateness", &self.lateness),
            ("resolve", &self.resolve),
            ("connect", &self.connect),
            ("tls", &self.tls),
            ("first_byte", &self.first_byte),
            ("rest", &self.rest),
            ("wakeup", &self.wakeup),
            ("split_wait", &self.split_wait),
            ("split_send", &self.split_send),
            ("split_wire", &self.split_wire),
            ("split_wakeup", &self.split_wakeup),
            ("split_parse", &self.split_parse),
            ("split_user", &self.split_user),
            ("omitted", &self.omitted),
            ("undelayed", &self.undelayed),
            ("iteration", &self.iteration),
        ]
    }

    /// As [`each`](Times::each), to be changed.
    pub fn each_mut(&mut self) -> [(&'static str, &mut Distribution); Times::KINDS] {
        [
            ("response", &mut self.response),
            ("service", &mut self.service),
            ("blocked", &mut self.blocked),
            ("lateness", &mut self.lateness),
            ("resolve", &mut self.resolve),
            ("connect", &mut self.connect),
            ("tls", &mut self.tls),
            ("first_byte", &mut self.first_byte),
            ("rest", &mut self.rest),
            ("wakeup", &mut self.wakeup),
            ("split_wait", &mut self.split_wait),
            ("split_send", &mut self.split_send),
            ("split_wire", &mut self.split_wire),
            ("split_wakeup", &mut self.split_wakeup),
            ("split_parse", &mut self.split_parse),
            ("split_user", &mut self.split_user),
            ("omitted", &mut self.omitted),
            ("undelayed", &mut self.undelayed),
            ("iteration", &mut self.iteration),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{any_exchange, any_snapshot, recorded, second};
    use proptest::prelude::*;

    fn merged(one: &Snapshot, two: &Snapshot) -> Snapshot {
        let mut sum = one.clone();
        sum.merge(two);
        sum
    }

    fn appended(one: &Snapshot, two: &Snapshot) -> Snapshot {
        let mut sum = one.clone();
        sum.append(two);
        sum
    }

    #[test]
    fn merging_takes_the_union_of_the_time_and_adds_what_is_in_flight() {
        let sum = merged(&second(0), &second(1));
        assert_eq!((sum.start_ns, sum.end_ns), (0, 2_000_000_000));
        assert_eq!(sum.counts.in_flight, 2);
    }

    #[test]
    fn appending_keeps_what_is_in_flight_at_the_end() {
        let sum = appended(&second(0), &second(1));
        assert_eq!((sum.start_ns, sum.end_ns), (0, 2_000_000_000));
        assert_eq!(sum.counts.in_flight, 1);
        assert_eq!(sum.counts.sent, 9);
        assert!(sum.balanced(0));
    }

    #[test]
    fn the_first_example_stays() {
        let mut sum = Snapshot::empty(0);
        for example in ["", "first", "second"] {
            let failures = Failures {
                count: 1,
                example: example.to_owned(),
            };
            let mut next = Snapshot::empty(0);
            next.errors.insert(ErrorKind::Read, failures);
            sum.append(&next);
        }
        assert_eq!(sum.errors[&ErrorKind::Read].count, 3);
        assert_eq!(sum.errors[&ErrorKind::Read].example, "first");
        assert_eq!(sum.failures(), 3);
    }

    #[test]
    fn a_lost_exchange_unbalances() {
        let mut snapshot = second(0);
        assert!(snapshot.balanced(0));
        assert!(!snapshot.balanced(1));
        snapshot.counts.answered -= 1;
        assert!(!snapshot.balanced(0));
    }

    #[test]
    fn every_distribution_is_named_once() {
        let mut times = Times::default();
        for (index, (_, distribution)) in times.each_mut().into_iter().enumerate() {
            distribution.record_ns(index as u64);
        }
        let mut names: Vec<_> = times.each().iter().map(|(name, _)| *name).collect();
        for (index, (name, distribution)) in times.each().into_iter().enumerate() {
            assert_eq!(distribution.max_ns(), index as u64, "{name}");
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), 19);
    }

    proptest! {
        #[test]
        fn merging_commutes(one in any_snapshot(), two in any_snapshot()) {
            prop_assert_eq!(merged(&one, &two), merged(&two, &one));
        }

        #[test]
        fn merging_associates(
            one in any_snapshot(), two in any_snapshot(), three in any_snapshot(),
        ) {
            let left = merged(&merged(&one, &two), &three);
            prop_assert_eq!(left, merged(&one, &merged(&two, &three)));
        }

        #[test]
        fn appending_associates(
            one in any_snapshot(), two in any_snapshot(), three in any_snapshot(),
        ) {
            let left = appended(&appended(&one, &two), &three);
            prop_assert_eq!(left, appended(&one, &appended(&two, &three)));
        }

        #[test]
        fn sums_do_not_depend_on_the_order_of_intervals(
            one in any_snapshot(), two in any_snapshot(),
        ) {
            let (mut there, mut back) = (appended(&one, &two), appended(&two, &one));
            for sum in [&mut there, &mut back] {
                (sum.start_ns, sum.end_ns, sum.counts.in_flight) = (0, 0, 0);
            }
            prop_assert_eq!(there, back);
        }

        #[test]
        fn workers_together_saw_what_one_would_have_seen(
            exchanges in prop::collection::vec(any_exchange(), 0..60),
            workers in 1..5_usize,
        ) {
            let mut sum = Snapshot::empty(0);
            for worker in 0..workers {
                let own: Vec<_> = exchanges.iter().skip(worker).step_by(workers).copied().collect();
                sum.merge(&recorded(&own, 1, 1_000));
            }
            prop_assert_eq!(sum, recorded(&exchanges, workers as u64, 1_000));
        }
    }
}
