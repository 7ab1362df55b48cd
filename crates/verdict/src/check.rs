//! Holding a check against what was recorded.
//!
//! What is looked at: percentiles, mean and so on of one of the times of an exchange; failed
//! exchanges as a share of those that ended, or as a count, and answers with a status, one of a class
//! or any other than 2xx likewise; answered exchanges a second. Without
//! a single sample there is nothing to look at, and the check fails: silence is no success.

use crate::Quantity;
use loadline_plan::{Bound, Check, Clocked, Comparison, Metric, Statistic};
use loadline_record::{Counts, Distribution, Snapshot, Summary};
use std::cmp::Ordering;
use std::time::Duration;

/// What became of one check.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckResult {
    /// The condition as typed.
    pub text: String,
    /// What the run says of the condition.
    pub outcome: CheckOutcome,
    /// What was measured; `None` without a single sample.
    pub actual: Option<Quantity>,
    /// What it was compared with.
    pub bound: Quantity,
    /// Samples behind `actual`: of the time looked at, or exchanges that ended.
    pub samples: u64,
}

/// What a run says of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckOutcome {
    /// It holds.
    Kept,
    /// It does not hold, or there was not a single sample.
    Broken,
    /// The run can't decide it.
    NotKnown,
}

impl CheckOutcome {
    /// Its name in the JSON: `kept`, `broken`, `not_known`.
    pub fn name(self) -> &'static str {
        match self {
            CheckOutcome::Kept => "kept",
            CheckOutcome::Broken => "broken",
            CheckOutcome::NotKnown => "not_known",
        }
    }
}

impl CheckResult {
    /// Whether the condition holds.
    pub fn is_kept(&self) -> bool {
        self.outcome == CheckOutcome::Kept
    }

    /// Whether there is evidence against the condition. A run may end early on this, where a check
    /// that is not kept would end it before the first answer.
    pub fn is_broken(&self) -> bool {
        self.outcome == CheckOutcome::Broken && self.actual.is_some()
    }
}

/// Holds every check against `snapshot`, which covers `duration`.
pub fn evaluate_all(checks: &[Check], snapshot: &Snapshot, duration: Duration) -> Vec<CheckResult> {
    checks
        .iter()
        .map(|check| evaluate(check, snapshot, duration))
        .collect()
}

/// Holds every check of a run against all of its requests.
pub fn evaluate_run(summary: &Summary) -> Vec<CheckResult> {
    let duration = Duration::from_nanos(summary.rated_ns());
    evaluate_all(&summary.plan.checks, &summary.total, duration)
}

/// Holds every check against all requests of several runs together. Their histograms are put
/// together, so that no percentile is averaged; a rate is taken over the sum of their times.
pub fn evaluate_together(checks: &[Check], runs: &[&Summary]) -> Vec<CheckResult> {
    let mut all = Snapshot::empty(0);
    runs.iter().for_each(|run| all.append(&run.total));
    let rated_ns = runs.iter().map(|run| run.rated_ns()).sum();
    evaluate_all(checks, &all, Duration::from_nanos(rated_ns))
}

/// Holds `check` against `snapshot`, which covers `duration`.
///
/// A bound whose unit does not fit the metric (a time for a rate) never holds; plans that were
/// parsed have none.
pub fn evaluate(check: &Check, snapshot: &Snapshot, duration: Duration) -> CheckResult {
    let (actual, samples) = measure(check, snapshot, duration);
    let bound = Quantity::from(check.bound);
    let ordering = actual.and_then(|actual| actual.compare(bound));
    CheckResult {
        text: check.text.clone(),
        outcome: match ordering.is_some_and(|ordering| holds(check.comparison, ordering)) {
            true => CheckOutcome::Kept,
            false => CheckOutcome::Broken,
        },
        actual,
        bound,
        samples,
    }
}

fn holds(comparison: Comparison, ordering: Ordering) -> bool {
    match comparison {
        Comparison::Less => ordering.is_lt(),
        Comparison::LessOrEqual => ordering.is_le(),
        Comparison::Greater => ordering.is_gt(),
        Comparison::GreaterOrEqual => ordering.is_ge(),
    }
}

fn measure(check: &Check, snapshot: &Snapshot, duration: Duration) -> (Option<Quantity>, u64) {
    match check.metric {
        Metric::Time(clocked, statistic) => {
            let times = distribution(snapshot, clocked);
            (time(times, statistic), times.len())
        }
        Metric::Errors => errors(&snapshot.counts, check.bound),
        Metric::Non2xx | Metric::Statuses(_) => statuses(check, snapshot),
        Metric::Rate => rate(&snapshot.counts, duration),
    }
}

fn distribution(snapshot: &Snapshot, clocked: Clocked) -> &Distribution {
    match clocked {
        Clocked::Response => &snapshot.times.response,
        Clocked::Service => &snapshot.times.service,
        Clocked::Blocked => &snapshot.times.blocked,
        Clocked::Lateness => &snapshot.times.lateness,
    }
}

fn time(times: &Distribution, statistic: Statistic) -> Option<Quantity> {
    if times.is_empty() {
        return None;
    }
    Some(Quantity::TimeNs(match statistic {
        Statistic::Mean => times.mean_ns(),
        Statistic::Min => times.min_ns() as f64,
        Statistic::Max => times.max_ns() as f64,
        Statistic::Stdev => times.stdev_ns(),
        Statistic::Percentile(percentile) => times.percentile_ns(percentile) as f64,
    }))
}

/// A count is a count even when nothing ended; a share of nothing is not a number.
fn errors(counts: &Counts, bound: Bound) -> (Option<Quantity>, u64) {
    part(counts.failed, counts.answered + counts.failed, bound)
}

/// The answers whose status the check counts.
fn statuses(check: &Check, snapshot: &Snapshot) -> (Option<Quantity>, u64) {
    let counted = |status: u16| check.metric.counts_status(status) == Some(true);
    let statuses = snapshot.statuses.iter();
    let those = statuses.filter(|(status, _)| counted(**status));
    let count = those.map(|(_, count)| count).sum();
    part(count, snapshot.counts.answered, check.bound)
}

/// A count of some, or their share, as the bound has it.
fn part(count: u64, all: u64, bound: Bound) -> (Option<Quantity>, u64) {
    let actual = match bound {
        Bound::Count(_) => Some(Quantity::Count(count)),
        _ if all == 0 => None,
        _ => Some(Quantity::Share(count as f64 / all as f64)),
    };
    (actual, all)
}

fn rate(counts: &Counts, duration: Duration) -> (Option<Quantity>, u64) {
    let per_second = counts.answered as f64 / duration.as_secs_f64();
    let actual = (!duration.is_zero()).then_some(Quantity::PerSecond(per_second));
    (actual, counts.answered)
}

#[cfg(test)]
mod tests;
