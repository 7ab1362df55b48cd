//! The figures that a closed-loop tool would have shown of an open load, and the reason why they
//! are not those of users.
//!
//! Such a tool sends its next request when the last one is answered and times each from its send.
//! While the target stalls it sends little, so that a wait of many arrivals shows in a few
//! requests: *coordinated omission* (Gil Tene, "How NOT to Measure Latency", 2013). What it times
//! is known from the same run ([`Times::closed_loop`]); our response time is the truth beside it.

use crate::{percentiles, quantity};
use loadline_record::{Distribution, Model, Summary, Times};
use loadline_units as units;

/// The percentiles at which a stall may show, other than the p99: far out if it is shorter than a
/// hundredth of the run, and further in if a request of each user is more than a hundredth of all,
/// so that a closed-loop tool has the stall at its p99 as well.
const BESIDES: [f64; 6] = [50.0, 75.0, 90.0, 95.0, 99.9, 99.99];
/// The percentiles that a sentence names.
const NOTED: [f64; 3] = [90.0, 95.0, 99.0];
/// Shorter ones are hiccups, which every run has.
const SHORTEST_STALL_NS: u64 = 10_000_000;

/// The reason why response time is longer than the times of a closed-loop tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Difference {
    /// It hardly is.
    None,
    /// Mostly through us.
    Lateness,
    /// The plan allows fewer connections than its rate needs: requests waited for one.
    Plan,
    /// The target kept requests waiting.
    Stall,
}

/// A run as a closed-loop tool would have shown it, beside how it was.
pub(crate) struct ClosedLoop<'a> {
    pub(crate) times: &'a Times,
    /// The times that the tool would have measured.
    pub(crate) shown: Distribution,
    /// The number of users that it would have had.
    pub(crate) users: u64,
    /// True if the plan, and not the target, kept requests waiting.
    by_plan: bool,
}

impl<'a> ClosedLoop<'a> {
    /// `None` for a closed load or without a response time.
    pub(crate) fn of(summary: &'a Summary) -> Option<ClosedLoop<'a>> {
        let times = &summary.total.times;
        let shown = times.closed_loop();
        let is_comparable = summary.model == Model::Open && !times.response.is_empty();
        (is_comparable && !shown.is_empty()).then(|| ClosedLoop {
            times,
            shown,
            users: u64::from(summary.plan.load.users) * u64::from(summary.parts),
            by_plan: loadline_verdict::is_limited_by_plan(summary),
        })
    }

    pub(crate) fn difference(&self) -> Difference {
        match self.difference_at(99.0) {
            _ if self.by_plan => Difference::Plan,
            Difference::None if BESIDES.iter().any(|p| self.hides_stall_at(*p)) => {
                Difference::Stall
            }
            difference @ (Difference::None
            | Difference::Lateness
            | Difference::Plan
            | Difference::Stall) => difference,
        }
    }

    /// Requests that waited longer for a connection than its p99, before they were sent.
    pub(crate) fn waited(&self) -> u64 {
        let blocked = &self.times.blocked;
        blocked.len() - blocked.count_up_to_ns(self.shown.percentile_ns(99.0))
    }

    /// Returns the reason for the difference, as sentences.
    pub(crate) fn reason(&self) -> String {
        match self.difference() {
            Difference::None => "The two agree: nothing kept requests waiting for long before \
                                 they were sent."
                .to_owned(),
            Difference::Lateness => "Most of the difference is delay added by Loadline: this \
                                     machine could not keep up with the schedule. Lower the rate, \
                                     or use more threads."
                .to_owned(),
            Difference::Plan => {
                "The difference is the wait for one of the connections that the plan allows. \
                 Allow more (--max-connections)."
                    .to_owned()
            }
            Difference::Stall => self.stall(),
        }
    }

    /// The difference in one sentence and its reason, where the target stalled.
    pub(crate) fn note(&self) -> Option<String> {
        let instead = self.instead()?;
        Some(format!("{instead} {}", self.stall()))
    }

    /// The difference in one sentence, where the target stalled.
    pub(crate) fn instead(&self) -> Option<String> {
        if self.difference() != Difference::Stall {
            return None;
        }
        let both = [&self.times.response, &self.shown];
        let is_known = |percentile: &f64| {
            let missing = both.map(|times| percentiles::missing(times, *percentile));
            missing == [0, 0]
        };
        let at = NOTED.into_iter().filter(is_known).map(|percentile| {
            let [truth, shown] =
                both.map(|times| percentiles::cell(times, percentile).trim().to_owned());
            let name = quantity::percentile(percentile);
            format!("a {name} of {shown} in place of {truth}")
        });
        let at: Vec<String> = at.collect();
        (!at.is_empty()).then(|| format!("A closed-loop tool would have shown {}.", at.join(", ")))
    }

    fn difference_at(&self, percentile: f64) -> Difference {
        let at = |times: &Distribution| times.percentile_ns(percentile);
        let (response_ns, shown_ns) = (at(&self.times.response), at(&self.shown));
        let difference_ns = response_ns.saturating_sub(shown_ns);
        let left_out_ns = at(&self.times.service).saturating_sub(shown_ns);
        match () {
            () if response_ns <= 2 * shown_ns => Difference::None,
            () if at(&self.times.blocked).max(left_out_ns) > difference_ns / 2 => Difference::Stall,
            () => Difference::Lateness,
        }
    }

    /// True if a stall that does not show at the p99 kept requests waiting here.
    fn hides_stall_at(&self, percentile: f64) -> bool {
        let response_ns = self.times.response.percentile_ns(percentile);
        let hidden_ns = response_ns.saturating_sub(self.shown.percentile_ns(percentile));
        percentiles::missing(&self.times.response, percentile) == 0
            && hidden_ns > SHORTEST_STALL_NS
            && self.difference_at(percentile) == Difference::Stall
    }

    fn stall(&self) -> String {
        let (waited, omitted) = (self.waited(), self.times.omitted.len());
        match (waited, omitted) {
            (_, 0) => self.hidden_wait(waited),
            (0, _) => self.left_out(omitted),
            _ => format!("{} {}", self.left_out(omitted), self.hidden_wait(waited)),
        }
    }

    fn hidden_wait(&self, waited: u64) -> String {
        format!(
            "{} waited more than {} for a free connection before they were sent. A closed-loop \
             tool sends nothing while it waits for responses and times each request from its \
             send, so this wait is in none of its figures.",
            units::counted(waited, "request"),
            units::time(self.shown.percentile_ns(99.0) as f64),
        )
    }

    fn left_out(&self, omitted: u64) -> String {
        format!(
            "{} fell due while {} had no response, and were sent on further connections. A \
             closed-loop tool with {} sends nothing while all of them wait, so these requests are \
             in none of its figures.",
            units::counted(omitted, "request"),
            units::counted(self.users, "earlier one"),
            units::counted(self.users, "user"),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn a_stall_that_connections_grew_in_is_one_all_the_same() {
        let summary = samples::stalled_while_growing();
        let found = ClosedLoop::of(&summary).unwrap();
        assert_eq!(found.difference(), Difference::Stall);
        assert_eq!((found.waited(), found.users), (0, 50));
        // 50 of the stall's second are kept.
        let omitted = summary.total.times.omitted.len();
        assert!((1_900..=2_000).contains(&omitted), "{omitted}");
        assert!(found.shown.percentile_ns(99.0) < 2_000_000);
        insta::assert_snapshot!(found.note().unwrap());
    }

    #[test]
    fn a_stall_that_the_p99_has_in_both_shows_further_in() {
        let mut summary = samples::steady();
        let times = &mut summary.total.times;
        // Of a fifth of all requests that a stall kept, a tenth went out before it was over.
        times.response.record_many_ns(500_000_000, 4_500);
        times.service.record_many_ns(500_000_000, 450);
        times.service.record_many_ns(130_000, 4_050);
        times.blocked.record_many_ns(499_000_000, 4_050);
        let found = ClosedLoop::of(&summary).unwrap();
        assert_eq!(found.difference_at(99.0), Difference::None);
        assert_eq!(found.difference(), Difference::Stall);
    }

    #[test]
    fn percentiles_of_too_few_requests_are_not_named() {
        let instead = |requests: u64| {
            let mut summary = samples::steady();
            let times = &mut summary.total.times;
            for times in [&mut times.response, &mut times.service, &mut times.blocked] {
                times.reset();
            }
            times.response.record_many_ns(500_000_000, requests);
            times.service.record_many_ns(1_000_000, requests);
            times.blocked.record_many_ns(499_000_000, requests);
            let found = ClosedLoop::of(&summary).unwrap();
            assert_eq!(found.difference(), Difference::Stall);
            found.instead()
        };
        let some = instead(200).expect("the p90 and the p95 are known");
        assert!(
            some.contains("a p90 of") && some.contains("a p95 of"),
            "{some}"
        );
        assert!(!some.contains("p99") && !some.contains("more"), "{some}");
        assert_eq!(instead(20), None);
    }

    #[test]
    fn growing_without_a_stall_hides_nothing() {
        let mut summary = samples::steady();
        let times = &mut summary.total.times;
        times.omitted = times.service.clone();
        times.service.merge(&times.omitted);
        let found = ClosedLoop::of(&summary).unwrap();
        assert_eq!(found.difference(), Difference::None);
        assert_eq!(found.note(), None);
    }

    #[test]
    fn without_a_request_that_it_would_have_sent_there_is_nothing_to_compare() {
        let mut summary = samples::steady();
        summary.total.times.omitted = summary.total.times.service.clone();
        assert!(ClosedLoop::of(&summary).is_none());
    }

    #[test]
    fn lateness_and_a_steady_run_are_told_apart() {
        let difference = |summary: &Summary| ClosedLoop::of(summary).unwrap().difference();
        assert_eq!(difference(&samples::stalled()), Difference::Stall);
        assert_eq!(difference(&samples::late()), Difference::Lateness);
        assert_eq!(difference(&samples::steady()), Difference::None);
    }
}
