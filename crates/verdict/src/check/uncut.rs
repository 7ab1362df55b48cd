//! Checks where the beginning of a run was left out: they must pass on all of it as well.
//!
//! What comes before a run is steady is in no figure. But a stall at the beginning may be a stall
//! like any other, and a check that passes only without it has failed.

use super::{CheckOutcome, CheckResult, Observed, evaluate_observed};
use loadline_record::{Summary, Uncut};
use std::time::Duration;

/// Returns the results without the beginning; for a check that passed so and failed with the
/// beginning, the result with it.
pub(super) fn failed_or_without(
    without: Vec<CheckResult>,
    with: Vec<CheckResult>,
) -> Vec<CheckResult> {
    let pairs = without.into_iter().zip(with);
    pairs
        .map(|(without, with)| match fails_by_it(&without, &with) {
            true => with,
            false => without,
        })
        .collect()
}

/// The checks that failed because of the beginning that was left out, and passed without it.
pub(crate) fn failed_by_beginning(summary: &Summary) -> Vec<String> {
    let Some(uncut) = &summary.uncut else {
        return Vec::new();
    };
    let without = evaluate_observed(&summary.plan.checks, &Observed::of_run(summary));
    let pairs = without.into_iter().zip(on_all(summary, uncut));
    pairs
        .filter(|(without, with)| fails_by_it(without, with))
        .map(|(without, _)| without.text)
        .collect()
}

/// Returns the results with the beginning.
pub(super) fn on_all(summary: &Summary, uncut: &Uncut) -> Vec<CheckResult> {
    let observed = Observed {
        total: &uncut.total,
        duration: Duration::from_nanos(uncut.rated_ns),
        stretches: Some((&uncut.response_blocks, &uncut.service_blocks)),
        ..Observed::of_run(summary)
    };
    evaluate_observed(&summary.plan.checks, &observed)
}

fn fails_by_it(without: &CheckResult, with: &CheckResult) -> bool {
    without.outcome == CheckOutcome::Passed && with.outcome == CheckOutcome::Failed
}

#[cfg(test)]
mod tests {
    use super::super::{evaluate_run, evaluate_together};
    use super::*;
    use crate::comparison::tests::plan;
    use crate::simulated::{Target, begun};
    use loadline_plan::Plan;
    use loadline_record::{Ended, IntervalArchive, Transient, Unfinished};

    /// Twelve seconds; four of them are ten times as slow, and left out.
    fn warmed_up(check: &str) -> Summary {
        let plan = Plan {
            checks: vec![check.parse().expect("a check")],
            ..plan(500, 50)
        };
        let (mut summary, mut archive) = (begun(&plan), IntervalArchive::default());
        for second in Target::Warming(10.0, 4.0).seconds(12, 1) {
            summary.observe(&second);
            archive.observe(&second);
        }
        summary.finish(Ended::Duration, Unfinished::default());
        summary.transient = Some(Transient::Cut { intervals: 5 });
        archive.cut(summary)
    }

    #[test]
    fn a_check_that_fails_because_of_the_beginning_has_failed() {
        let summary = warmed_up("p99<15ms");
        let result = &evaluate_run(&summary)[0];
        assert_eq!(result.outcome, CheckOutcome::Failed);
        assert_eq!(
            result.samples,
            summary.uncut.as_ref().unwrap().total.times.response.len()
        );
        assert_eq!(failed_by_beginning(&summary), ["p99<15ms"]);
    }

    #[test]
    fn repeats_are_held_with_their_beginnings_too() {
        let [one, other] = ["p99<15ms"; 2].map(warmed_up);
        let whole = Summary {
            uncut: None,
            ..other.clone()
        };
        let outcome = |runs: &[&Summary]| evaluate_together(&one.plan.checks, runs)[0].outcome;
        assert_eq!(outcome(&[&whole, &whole]), CheckOutcome::Passed);
        assert_eq!(outcome(&[&one, &other]), CheckOutcome::Failed);
        assert_eq!(outcome(&[&whole, &other]), CheckOutcome::Failed);
    }

    #[test]
    fn a_check_that_holds_on_all_is_told_by_the_rest() {
        for check in ["p99<200ms", "p50<10us"] {
            let summary = warmed_up(check);
            let result = &evaluate_run(&summary)[0];
            assert_eq!(result.samples, summary.total.times.response.len());
            assert!(failed_by_beginning(&summary).is_empty(), "{check}");
        }
    }
}
