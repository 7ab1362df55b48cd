//! The judgement of a run that still goes on, from what was recorded so far.
//!
//! It is what the result would be if the run ended now, except for two things that only the end
//! shows: requests without a response are still awaited, and a run that is not complete does not
//! count as broken off.
//!
//! What is awaited decides a check in one case. In an open loop as many of the requests that wait
//! are younger than a time as fell due within it, at most; the others have waited longer. If these
//! are enough to break a percentile's bound, the check fails: so a target that froze shows before
//! its responses come.

use crate::check::{CheckResult, Observed, evaluate_observed};
use crate::validity::validity;
use crate::{Cause, CheckOutcome, Findings};
use loadline_plan::{Bound, Check, Clocked, Comparison, Metric, Statistic};
use loadline_record::{Model, Summary};

/// The judgement of a run that continues.
#[derive(Clone, Debug, PartialEq)]
pub struct SoFar {
    /// The plan's checks, evaluated on the requests that have ended.
    pub checks: Vec<CheckResult>,
    /// The reasons to doubt the result if it ended now.
    pub findings: Findings,
}

impl SoFar {
    /// Judges what was recorded so far. It takes about as long as a few percentiles: once a second
    /// is not too often.
    pub fn of(summary: &Summary) -> SoFar {
        let mut findings = validity(summary);
        let is_of_the_end = |cause: &Cause| matches!(cause, Cause::BrokenOff);
        findings.list.retain(|found| !is_of_the_end(&found.cause));
        let observed = Observed {
            unfinished: None,
            ..Observed::of_run(summary)
        };
        let mut checks = evaluate_observed(&summary.plan.checks, &observed);
        for (result, check) in checks.iter_mut().zip(&summary.plan.checks) {
            if result.outcome != CheckOutcome::Failed && is_broken_by_waiting(check, summary) {
                fail(result);
            }
        }
        SoFar { checks, findings }
    }
}

/// The value is beyond the bound, and nobody knows yet how far.
fn fail(result: &mut CheckResult) {
    result.outcome = CheckOutcome::Failed;
    result.undecided = None;
    result.actual = Some(result.bound);
    result.is_at_least = true;
    result.estimate_holds = false;
}

/// True if the requests that surely have waited for longer than its bound break a check on a
/// percentile of the response time.
fn is_broken_by_waiting(check: &Check, summary: &Summary) -> bool {
    let is_below = matches!(check.comparison, Comparison::Less | Comparison::LessOrEqual);
    let (Metric::Time(Clocked::Response, Statistic::Percentile(percentile)), Bound::TimeNs(ns)) =
        (check.metric, check.bound)
    else {
        return false;
    };
    if !is_below || check.is_of_part() || summary.model != Model::Open {
        return false;
    }
    let times = &summary.total.times.response;
    let waiting = summary.unfinished.count();
    let older = waiting.saturating_sub(due_within(ns, summary));
    let slower = times.len() - times.count_up_to_ns(ns) + older;
    let may_be_slower = (1.0 - percentile / 100.0) * (times.len() + waiting) as f64;
    older > 0 && slower as f64 > may_be_slower
}

/// Returns the number of arrivals in the last intervals that are this long together, at least.
fn due_within(length_ns: u64, summary: &Summary) -> u64 {
    let mut due = 0;
    let end_ns = summary.rows.last().map_or(0, |row| row.end_ns);
    for row in summary.rows.iter().rev() {
        due += row.counts.planned;
        if end_ns - row.start_ns >= length_ns {
            return due;
        }
    }
    // The run has not lasted so long.
    u64::MAX
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CheckOutcome, Grade, RunResult};
    use loadline_plan::Plan;
    use loadline_record::{Environment, Header, Snapshot};
    use std::time::SystemTime;

    #[test]
    fn a_freeze_breaks_a_check_before_its_responses_come() {
        let mut summary = going_on();
        summary.model = Model::Open;
        let outcome = |summary: &Summary| SoFar::of(summary).checks[0].clone();
        // Two further seconds in which 1 000 requests are sent each, and none ends.
        for second in 1..3 {
            assert_eq!(outcome(&summary).outcome, CheckOutcome::Passed, "{second}");
            let mut interval = Snapshot::empty(second * 1_000_000_000);
            interval.end_ns = (second + 1) * 1_000_000_000;
            (interval.counts.planned, interval.counts.sent) = (1_000, 1_000);
            interval.counts.in_flight = second * 1_000 + 10;
            summary.observe(&interval);
        }
        let broken = outcome(&summary);
        assert_eq!(broken.outcome, CheckOutcome::Failed);
        assert_eq!(
            (broken.actual, broken.is_at_least),
            (Some(broken.bound), true)
        );
        summary.model = Model::Closed;
        assert_eq!(
            outcome(&summary).outcome,
            CheckOutcome::Passed,
            "nothing is due"
        );
    }

    /// A second of 1 000 responses after 5 ms each, with ten requests in flight at its end.
    fn going_on() -> Summary {
        let plan = Plan {
            checks: vec!["p90<10ms".parse().unwrap()],
            ..Plan::default()
        };
        let header = Header::new(&plan, Environment::default(), SystemTime::UNIX_EPOCH);
        let mut summary = Summary::new(header);
        let mut interval = Snapshot::empty(0);
        interval.end_ns = 1_000_000_000;
        (interval.counts.planned, interval.counts.sent) = (1_010, 1_010);
        (interval.counts.answered, interval.counts.completed) = (1_000, 1_000);
        interval.counts.in_flight = 10;
        interval.times.response.record_many_ns(5_000_000, 1_000);
        interval.times.service.record_many_ns(5_000_000, 1_000);
        summary.observe(&interval);
        summary
    }

    #[test]
    fn a_run_that_goes_on_is_not_one_that_broke_off() {
        let summary = going_on();
        let found = SoFar::of(&summary).findings;
        assert_eq!(found.grade(), Grade::Valid, "{found:?}");
        assert_eq!(RunResult::new(summary).grade(), Grade::Suspect);
    }

    #[test]
    fn requests_that_are_still_awaited_decide_no_check() {
        let checks = SoFar::of(&going_on()).checks;
        assert_eq!(checks[0].outcome, CheckOutcome::Passed, "{checks:?}");
        let nothing = Summary::new(Header::new(
            &going_on().plan,
            Environment::default(),
            SystemTime::UNIX_EPOCH,
        ));
        assert_eq!(SoFar::of(&nothing).checks[0].actual, None);
    }
}
