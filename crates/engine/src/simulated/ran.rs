//! The result of a run, and the invariants of every run.

use super::server::{Seen, Server};
use crate::{EndReason, Event};
use loadline_record::{Counts, ErrorKind, Exchange, Model, Outcome, Snapshot, Times, Unfinished};

/// The result of a run.
#[derive(Debug, PartialEq)]
pub(crate) struct Ran {
    pub(crate) intervals: Vec<Snapshot>,
    /// The tallies of scenarios, encoded, each with the number of intervals before it.
    pub(crate) tallies: Vec<(usize, Vec<u8>)>,
    /// The sum of all intervals.
    pub(crate) total: Snapshot,
    /// The exchanges that ended, by worker and by scenario of each worker, in the order in which
    /// they ended.
    pub(crate) logs: Vec<Vec<Exchange>>,
    pub(crate) reason: EndReason,
    pub(crate) unfinished: Unfinished,
    /// The whole requests that the server received.
    pub(crate) seen: Vec<Seen>,
    /// The instants at which the server noticed that connections were closed.
    pub(crate) ended: Vec<u64>,
    /// The number of connections that the server accepted.
    pub(crate) accepted: usize,
}

impl Ran {
    pub(crate) fn new(events: Vec<Event>, logs: Vec<Vec<Exchange>>, server: &Server) -> Self {
        let (mut intervals, mut tallies) = (Vec::new(), Vec::new());
        let mut end = None;
        for event in events {
            assert!(end.is_none(), "nothing follows the end");
            match event {
                Event::Interval(snapshot) => intervals.push(*snapshot),
                Event::Tally(tally) => {
                    let bytes = tally.encode().expect("bytes");
                    tallies.push((intervals.len(), bytes));
                }
                Event::Log { .. } | Event::Slow(_) | Event::Parts(_) | Event::Changed(_) => {
                    unreachable!("only intervals go through the merger")
                }
                Event::Ended { reason, unfinished } => end = Some((reason, *unfinished)),
            }
        }
        let mut total = Snapshot::empty(0);
        intervals.iter().for_each(|interval| total.append(interval));
        let (reason, unfinished) = end.expect("a run ends");
        Ran {
            intervals,
            tallies,
            total,
            logs,
            reason,
            unfinished,
            seen: server.take_seen(),
            ended: server.take_ended(),
            accepted: server.accepted(),
        }
    }

    /// Returns the exchanges of all workers by their intended start, then by their actual one.
    pub(crate) fn log(&self) -> Vec<Exchange> {
        let mut log = self.logs.concat();
        log.sort_by_key(|exchange| (exchange.intended_ns, exchange.start_ns, exchange.end_ns));
        log
    }

    /// Returns one time of each exchange of the log.
    pub(crate) fn each<T>(&self, time: impl Fn(&Exchange) -> T) -> Vec<T> {
        self.log().iter().map(time).collect()
    }

    /// Returns the arrivals of the requests at the server, in order.
    pub(crate) fn arrivals(&self) -> Vec<u64> {
        let mut arrivals: Vec<u64> = self.seen.iter().map(|seen| seen.at_ns).collect();
        arrivals.sort_unstable();
        arrivals
    }

    /// Returns the numbers of exchanges planned, sent, answered, failed and in flight at the end.
    pub(crate) fn counts(&self) -> [u64; 5] {
        let Counts {
            planned,
            sent,
            answered,
            failed,
            in_flight,
            ..
        } = self.total.counts;
        [planned, sent, answered, failed, in_flight]
    }

    /// Returns the number of failures by kind.
    pub(crate) fn errors(&self) -> Vec<(ErrorKind, u64)> {
        let errors = self.total.errors.iter();
        errors
            .map(|(kind, failures)| (*kind, failures.count))
            .collect()
    }

    /// Returns the numbers of exchanges in flight and of unsent arrivals, and the age of the
    /// oldest.
    pub(crate) fn left(&self) -> [u64; 3] {
        let Unfinished {
            in_flight,
            unsent,
            oldest_ns,
            ..
        } = self.unfinished;
        [in_flight, unsent, oldest_ns]
    }

    /// Returns the number of unsent arrivals by cause: the target, the plan, and the generator
    /// itself.
    pub(crate) fn causes(&self) -> [u64; 3] {
        let left = &self.unfinished;
        [left.by_target, left.by_plan, left.by_loadline]
    }

    /// Checks the invariants of every run, including runs with faults.
    pub(crate) fn assert_invariants(&self, models: &[Model]) {
        self.hold_the_balance();
        self.hold_the_intervals_together();
        self.logs.iter().flatten().for_each(hold_the_identities);
        self.hold_the_histograms_to_the_log(models);
    }

    /// Checks that sent = answered + failed + in flight, in every interval and at the end.
    fn hold_the_balance(&self) {
        let mut in_flight = 0;
        for interval in &self.intervals {
            assert!(
                interval.balanced(in_flight),
                "{in_flight} before: {:?}",
                interval.counts
            );
            assert_eq!(
                interval.statuses.values().sum::<u64>(),
                interval.counts.answered
            );
            assert_eq!(interval.failures(), interval.counts.failed);
            for failures in interval.errors.values() {
                assert_ne!(failures.example, "", "every kind has an example");
            }
            in_flight = interval.counts.in_flight;
        }
        let counts = &self.total.counts;
        assert!(self.total.balanced(0), "{counts:?}");
        assert_eq!(counts.in_flight, self.unfinished.in_flight);
        let left_out = self.unfinished.unsent + counts.dropped + counts.missed;
        assert_eq!(counts.planned, counts.sent + left_out);
        self.hold_the_ages();
    }

    /// Checks that each unfinished exchange has its age, and each unsent arrival its cause.
    fn hold_the_ages(&self) {
        let left = &self.unfinished;
        // How long the requests of a lost worker have been under way, only it knows.
        let is_lost = self.reason == EndReason::Failed;
        assert!(is_lost || left.ages_are_known(), "{left:?}");
        let causes = left.by_target + left.by_plan + left.by_loadline + left.by_stop;
        assert_eq!(causes, left.unsent);
        let oldest_ns = left.ages.response.max_ns();
        assert!(oldest_ns.abs_diff(left.oldest_ns) <= left.oldest_ns / 1_000);
        assert!(left.ages.service.max_ns() <= oldest_ns);
    }

    fn hold_the_intervals_together(&self) {
        let mut start_ns = 0;
        for interval in &self.intervals {
            assert_eq!(interval.start_ns, start_ns);
            start_ns = interval.end_ns;
        }
    }

    /// Checks that the histograms contain exactly the exchanges of the log, except for missed
    /// starts.
    fn hold_the_histograms_to_the_log(&self, models: &[Model]) {
        let mut times = Times::default();
        for (log, model) in self.logs.iter().zip(models.iter().cycle()) {
            log.iter()
                .for_each(|exchange| time(exchange, *model, &mut times));
        }
        for ((name, ours), (_, theirs)) in times.each().into_iter().zip(self.total.times.each()) {
            let has_missed = matches!(name, "response" | "blocked" | "lateness" | "undelayed")
                && self.total.counts.missed > 0;
            let is_unlogged = matches!(
                name,
                "resolve" | "connect" | "tls" | "omitted" | "iteration"
            );
            if !has_missed && !is_unlogged {
                assert_eq!(ours, theirs, "{name}");
            }
        }
        let logged: usize = self.logs.iter().map(Vec::len).sum();
        let counts = &self.total.counts;
        assert_eq!(logged as u64, counts.answered + counts.failed);
    }
}

fn hold_the_identities(exchange: &Exchange) {
    let Exchange {
        intended_ns,
        ready_ns,
        start_ns,
        dial_ns,
        first_byte_ns,
        end_ns,
        ..
    } = *exchange;
    let course = [intended_ns, ready_ns, start_ns, first_byte_ns, end_ns];
    assert!(course.is_sorted(), "{exchange:?}");
    assert!(start_ns + dial_ns <= end_ns, "{exchange:?}");
    let response_ns = exchange.response_ns();
    assert_eq!(response_ns, end_ns - intended_ns);
    assert_eq!(response_ns, exchange.delay_ns() + exchange.service_ns());
}

/// Records an exchange in the histograms to which it belongs.
fn time(exchange: &Exchange, model: Model, times: &mut Times) {
    let answered = matches!(exchange.outcome, Outcome::Answered { .. });
    if answered || exchange.outcome == Outcome::Failed(ErrorKind::Timeout) {
        let zero_if_closed = |ns| if model == Model::Open { ns } else { 0 };
        times.response.record_ns(exchange.response_ns());
        times.service.record_ns(exchange.service_ns());
        let (blocked_ns, lateness_ns) = (exchange.blocked_ns(), exchange.lateness_ns());
        times.blocked.record_ns(zero_if_closed(blocked_ns));
        // A delay below the resolution of the histogram is not subtracted.
        let response_ns = exchange.response_ns();
        let told_apart = lateness_ns > (response_ns / 1_000).max(1_000);
        let undelayed_ns = response_ns - if told_apart { lateness_ns } else { 0 };
        if model == Model::Open {
            times.undelayed.record_ns(undelayed_ns);
        }
        times.lateness.record_ns(zero_if_closed(lateness_ns));
    }
    if answered {
        times.first_byte.record_ns(exchange.wait_ns());
        times.rest.record_ns(exchange.rest_ns());
    }
    if answered && exchange.wakeup_ns > 0 {
        times.wakeup.record_ns(exchange.wakeup_ns);
    }
}
