//! The judgement of a run that still goes on, from what was recorded so far.
//!
//! It is what the result would be if the run ended now, except for two things that only the end
//! shows: requests without a response are still awaited and decide nothing, and a run that is not
//! complete does not count as broken off.

use crate::check::{CheckResult, Observed, evaluate_observed};
use crate::validity::validity;
use crate::{Cause, Findings};
use loadline_record::Summary;

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
        SoFar {
            checks: evaluate_observed(&summary.plan.checks, &observed),
            findings,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CheckOutcome, Grade, RunResult};
    use loadline_plan::Plan;
    use loadline_record::{Environment, Header, Snapshot};
    use std::time::SystemTime;

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
