//! The records of one interval: counts, times, statuses and failures.
//!
//! Snapshots add up in two ways, both without loss: [`Snapshot::merge`] with another worker's of
//! the same interval, [`Snapshot::append`] with the next interval's.

use crate::{Arrivals, Distribution, ErrorKind, ErrorResponses, Exceptions, Traced, Workers};
use loadline_metrics::{CustomMetrics, SeriesSet};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The records of one interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// The begin of the interval, in nanoseconds from the run's start.
    pub start_ns: u64,
    /// The end of the interval, in nanoseconds from the run's start.
    pub end_ns: u64,
    /// True if it is the drain after the window: its times count, but it is not in rates and rows.
    pub drain: bool,
    /// The counts.
    pub counts: Counts,
    /// The times.
    pub times: Times,
    /// The responses by status code.
    pub statuses: BTreeMap<u16, u64>,
    /// The rejected responses by status code; see [`Counts::rejected`].
    pub rejected: BTreeMap<u16, u64>,
    /// The failures by kind.
    pub errors: BTreeMap<ErrorKind, Failures>,
    /// The use of time by the workers.
    pub workers: Workers,
    /// The pattern of the requests of an open load, of a single interval only; see
    /// [`Pattern`](crate::Pattern) for several intervals.
    pub arrivals: Arrivals,
    /// The requests by name; empty if all have the same.
    pub series: SeriesSet,
    /// The custom metrics of a script.
    pub metrics: CustomMetrics,
    /// The slowest requests that carried a sampled trace.
    pub traced: Traced,
    /// Responses that report errors, if these are kept.
    pub error_responses: ErrorResponses,
    /// The exceptions of a script that nothing in it handled.
    pub exceptions: Exceptions,
}

/// The counts of an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// The arrivals whose request fell due: after the pauses of a script before it; none if the
    /// iteration sends no request. In a closed load equal to `sent`.
    pub planned: u64,
    /// The exchanges begun.
    pub sent: u64,
    /// The exchanges that ended with a whole response, whatever its status.
    pub answered: u64,
    /// The responses that ended in the interval, whenever their exchange was begun, including in
    /// the warm-up. Responses in the drain do not count. Rates are computed from these.
    #[serde(default)]
    pub completed: u64,
    /// The sum of the times that exchanges were in flight in the window, until their response was
    /// read. For those in flight at the end it is known only then, and is added to the last
    /// interval. Nanoseconds.
    #[serde(default)]
    pub flight_ns: u64,
    /// The exchanges that ended without a whole response.
    pub failed: u64,
    /// The responses that a script rejected: it declared their requests failed. Each is one of
    /// those answered. One is counted when the script rejects it, which may be after the interval
    /// in which it was received.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rejected: u64,
    /// The exchanges begun and not yet ended, at the interval's end.
    pub in_flight: u64,
    /// The sum of the times that exchanges were in flight within the interval, until their response
    /// was read. Nanoseconds; divided by the interval's length it is the mean in flight.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub in_flight_ns: u64,
    /// The maximum number of exchanges in flight at once; for several workers the sum of their
    /// maxima, an upper bound. 0 in files of versions that did not count it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub in_flight_max: u64,
    /// The keep-alive connections that the server had closed and that were replaced silently.
    pub reconnects: u64,
    /// The requests that were sent again. Each is one of those sent.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub resent: u64,
    /// The connections closed because of extra bytes, beyond the lengths of their responses.
    #[serde(default, rename = "surplus")]
    pub closed_for_extra_bytes: u64,
    /// The exchanges that exceeded the timeout and continued, if the plan says so.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub late: u64,
    /// The arrivals that fell due when no user was free and were not started, if the plan says so.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub dropped: u64,
    /// The starts that self-paced users missed, as they still waited for a response. Each is in the
    /// response times with its wait until the user continued.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub missed: u64,
    /// The interrupted iterations, for behaviours that can be interrupted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub interrupted: u64,
    /// The connections opened.
    pub connections: u64,
    /// The bytes received (inside TLS).
    pub bytes_in: u64,
    /// The bytes sent (inside TLS).
    pub bytes_out: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Failures of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failures {
    /// The number of failures.
    pub count: u64,
    /// The text of the first one; empty if not known.
    pub example: String,
}

/// The times of an interval. Each is a distribution of nanoseconds.
///
/// `response`, `service`, `blocked` and `lateness` contain the answered exchanges and those that
/// timed out (with the time they had waited: a lower bound); `first_byte`, `rest` and `wakeup` only
/// the answered ones; `resolve`, `connect` and `tls` belong to connections, not to exchanges.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    /// The time from the intended start to the last byte.
    pub response: Distribution,
    /// The time from the send (or the dial if one was needed) to the last byte.
    pub service: Distribution,
    /// The part of `service` of the requests that fell due when as many users were busy as the load
    /// had at its beginning, and were sent because it was allowed more. Empty if it was not.
    pub omitted: Distribution,
    /// The time from the intended start until a connection was free.
    pub blocked: Distribution,
    /// The time from that instant to the start: the delay that Loadline added.
    pub lateness: Distribution,
    /// The values of `response` without the delay that Loadline added to them (`lateness`), to a
    /// microsecond or a thousandth. Open loads only: a closed one has no such delay.
    pub undelayed: Distribution,
    /// The time from the intended start of an iteration to its last response; only for iterations
    /// of several requests, since for others it is the response time.
    pub iteration: Distribution,
    /// The duration of name resolution.
    pub resolve: Distribution,
    /// The time to open a TCP or Unix connection.
    pub connect: Distribution,
    /// The duration of the TLS handshake.
    pub tls: Distribution,
    /// The time from the send to the first byte of the response.
    pub first_byte: Distribution,
    /// The time from the first byte of the response to the last.
    pub rest: Distribution,
    /// The time from the kernel's receive to the read by Loadline; empty if the kernel's clock is
    /// not used.
    pub wakeup: Distribution,
    /// For exchanges that were [`Split`](crate::Split): the time from the intended start to the
    /// start.
    pub split_wait: Distribution,
    /// The time from the start until the request left for the network device.
    pub split_send: Distribution,
    /// The time from that instant until the last packet of the response was received.
    pub split_wire: Distribution,
    /// The time from that receive to the read by Loadline.
    pub split_wakeup: Distribution,
    /// The time from the read until the response was known to be complete.
    pub split_parse: Distribution,
    /// The sum of all these except the first: the time that a clock in user space would measure for
    /// the network and the server.
    pub split_user: Distribution,
}

impl Snapshot {
    /// Returns a snapshot without records, of zero length.
    pub fn empty(start_ns: u64) -> Snapshot {
        Snapshot {
            start_ns,
            end_ns: start_ns,
            ..Snapshot::default()
        }
    }

    /// Adds the records of another worker in the same interval.
    pub fn merge(&mut self, other: &Snapshot) {
        self.start_ns = self.start_ns.min(other.start_ns);
        self.end_ns = self.end_ns.max(other.end_ns);
        let add = |sum: &mut u64, count: u64| *sum = sum.saturating_add(count);
        self.add(other);
        self.arrivals.merge(&other.arrivals);
        add(&mut self.counts.in_flight, other.counts.in_flight);
        add(&mut self.counts.in_flight_max, other.counts.in_flight_max);
    }

    /// Adds exchanges that were in flight during the whole interval.
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

    /// Adds the records of the next interval; exchanges in flight are those at its end.
    pub fn append(&mut self, next: &Snapshot) {
        if !next.drain {
            self.end_ns = next.end_ns;
        }
        self.add(next);
        self.counts.in_flight = next.counts.in_flight;
        self.counts.in_flight_max = self.counts.in_flight_max.max(next.counts.in_flight_max);
    }

    /// Lengthens the interval by the next one, for a reader who could not take each of them: as
    /// [`append`](Self::append), and the pattern of the arrivals is that of both.
    pub fn lengthen(&mut self, next: &Snapshot) {
        let offset_ns = next.start_ns.saturating_sub(self.start_ns);
        self.arrivals.follow_with(&next.arrivals, offset_ns);
        self.append(next);
    }

    /// True if every exchange is accounted for: those in flight before the interval and those begun
    /// in it were answered, failed or are in flight at its end.
    pub fn balanced(&self, in_flight_before: u64) -> bool {
        let counts = &self.counts;
        let begun = u128::from(in_flight_before) + u128::from(counts.sent);
        let ended = u128::from(counts.answered) + u128::from(counts.failed);
        begun == ended + u128::from(counts.in_flight)
    }

    /// Returns the interval's length in nanoseconds.
    pub fn length_ns(&self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns)
    }

    /// Returns the number of failures of all kinds.
    pub fn failures(&self) -> u64 {
        self.errors
            .values()
            .fold(0, |sum, failures| sum.saturating_add(failures.count))
    }

    /// Returns the failures because no connection could be opened, except those for want of a
    /// resource of this machine, and the text of one.
    pub fn failed_dials(&self) -> (u64, &str) {
        let kinds = [ErrorKind::Connect, ErrorKind::Tls, ErrorKind::Resolve];
        let failures = || kinds.iter().filter_map(|kind| self.errors.get(kind));
        let count = failures().fold(0, |sum: u64, failures| sum.saturating_add(failures.count));
        let example = failures().map(|failures| &*failures.example).next();
        (count, example.unwrap_or_default())
    }

    /// Returns the responses with a status for which `is_bad` is true, except those that a script
    /// rejected: these are among the [failures](Counts::failures).
    pub fn accepted_with(&self, is_bad: impl Fn(u16) -> bool) -> u64 {
        let count = |statuses: &BTreeMap<u16, u64>| {
            let bad = statuses.iter().filter(|(status, _)| is_bad(**status));
            bad.fold(0, |sum: u64, (_, count)| sum.saturating_add(*count))
        };
        count(&self.statuses).saturating_sub(count(&self.rejected))
    }

    fn add(&mut self, other: &Snapshot) {
        self.counts.add(&other.counts);
        self.times.merge(&other.times);
        add_by_status(&mut self.statuses, &other.statuses);
        add_by_status(&mut self.rejected, &other.rejected);
        for (&kind, failures) in &other.errors {
            self.errors.entry(kind).or_default().add(failures);
        }
        self.series.merge(&other.series);
        self.metrics.merge(&other.metrics);
        self.traced.merge(&other.traced);
        self.error_responses.merge(&other.error_responses);
        self.exceptions.merge(&other.exceptions);
        for (&worker, times) in &other.workers {
            self.workers.entry(worker).or_default().add(times);
        }
    }
}

fn add_by_status(sums: &mut BTreeMap<u16, u64>, counts: &BTreeMap<u16, u64>) {
    for (&status, &count) in counts {
        let sum = sums.entry(status).or_default();
        *sum = sum.saturating_add(count);
    }
}

impl Counts {
    /// Returns the exchanges that ended, with a response or without one.
    pub fn ended(&self) -> u64 {
        self.answered.saturating_add(self.failed)
    }

    /// Returns the failures of both kinds: exchanges without a whole response, and responses that a
    /// script rejected.
    pub fn failures(&self) -> u64 {
        self.failed.saturating_add(self.rejected)
    }

    /// Returns the arrivals that fell due and were not sent, except those that were missed.
    pub(crate) fn unsent(&self) -> u64 {
        let left_out = self.planned.saturating_sub(self.sent);
        left_out.saturating_sub(self.missed)
    }

    /// Raises `planned` to at least the sent, dropped and missed arrivals plus this many unsent
    /// ones.
    pub(crate) fn plan_at_least(&mut self, unsent: u64) {
        let gone = self.dropped.saturating_add(self.missed);
        let known = self.sent.saturating_add(gone);
        self.planned = self.planned.max(known.saturating_add(unsent));
    }

    /// Returns the mean number of exchanges in flight in an interval of this length; `None` if it
    /// was not counted.
    pub fn in_flight_mean(&self, length_ns: u64) -> Option<f64> {
        let mean = || self.in_flight_ns as f64 / length_ns.max(1) as f64;
        self.most_in_flight().map(|_| mean())
    }

    /// Returns the maximum number of exchanges in flight at once; `None` if it was not counted.
    pub fn most_in_flight(&self) -> Option<u64> {
        let is_counted = self.in_flight_max > 0 || (self.sent == 0 && self.in_flight == 0);
        is_counted.then_some(self.in_flight_max)
    }

    /// Adds all counts except `in_flight` and `in_flight_max`, which are states and not sums.
    /// Saturating, because the numbers may come from a file.
    fn add(&mut self, other: &Counts) {
        let add = |sum: &mut u64, count: u64| *sum = sum.saturating_add(count);
        add(&mut self.planned, other.planned);
        add(&mut self.sent, other.sent);
        add(&mut self.answered, other.answered);
        add(&mut self.completed, other.completed);
        add(&mut self.flight_ns, other.flight_ns);
        add(&mut self.in_flight_ns, other.in_flight_ns);
        add(&mut self.failed, other.failed);
        add(&mut self.rejected, other.rejected);
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
    /// The number of distributions.
    pub(crate) const KINDS: usize = 19;

    /// Adds all times of another one, without loss.
    pub fn merge(&mut self, other: &Times) {
        for ((_, own), (_, others)) in self.each_mut().into_iter().zip(other.each()) {
            own.merge(others);
        }
    }

    /// Returns the times that a closed-loop tool would have measured, with as many users as this
    /// open load had connections at its beginning: `service − omitted`, count by count.
    ///
    /// A user of such a tool takes an arrival that falls due while the user is idle, measures it
    /// from the send, and sends nothing more before the response; arrivals that fall due while all
    /// users are busy are not sent in time. A request is therefore included if one of the first
    /// users would have been idle, by their number alone: it takes one of their closed-loop slots
    /// until its iteration ends. If the number of connections can't grow, each request has a slot
    /// and waits for it in `blocked`, and the service time is the latency of that tool. If it can
    /// grow, the included times are those that users would have measured who drop the other
    /// arrivals (a loss system), had the dropped ones not loaded the target.
    ///
    /// A tool that sends as fast as responses arrive, and not at the rate of this load, records
    /// more of the short times in the same time and as few of the long ones: it hides more than
    /// this.
    pub fn closed_loop(&self) -> Distribution {
        self.service.without(&self.omitted)
    }

    /// Returns every distribution with its name, in the order in which an exchange goes through
    /// them.
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

    /// Returns the same list as [`each`](Times::each), mutable.
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
