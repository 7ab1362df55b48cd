//! Holding a check against what was recorded.
//!
//! What is looked at: percentiles, mean and so on of one of the times of an exchange; failed
//! exchanges as a share of those that ended, or as a count, and responses with a status, one of a
//! class or any other than 2xx likewise; answered exchanges a second. Without a single sample there
//! is nothing to look at, and the check fails: silence is no success.
//!
//! A check is *kept* or *broken* only where neither the requests that had no response at the end of
//! the run nor the small number of samples leave that open; else it is *not known*:
//!
//! - **A percentile** is looked at twice: as if all unfinished requests ended now, and as if none
//!   ever did. A request that has waited for longer than the bound is beyond it either way. Where
//!   both say the same, that is the outcome. Where they differ the estimate of Kaplan and Meier
//!   decides ([`Censored`](loadline_record::Censored)), if its 95 % interval lies on one side of
//!   the bound, or if the percentile lies beyond all that is known, and so beyond the bound.
//! - **A percentile of few samples**, fewer than a report prints it of, is decided by the binomial
//!   bound at 95 %: ten answers that all took too long break `p99<10ms`, while ten that did not
//!   don't prove it kept.
//! - **The largest time, the mean and the standard deviation** are those of the estimate. Where one
//!   is a lower bound, what lies above it decides: for the mean that every request ends by its
//!   timeout.
//! - **Metrics of a script** have no unfinished values; a percentile of few of them is decided by
//!   the binomial bound too. A metric, or a figure of it, that the run does not have leaves the
//!   check not known.
//! - **Shares and counts** of failures, or of responses with some statuses: an unfinished request
//!   may become one or not, and if that matters, the check is not known. They are facts of the
//!   requests that were made, and have no binomial bound: `errors<1%` is kept by ten requests of
//!   which none failed.

mod custom;
mod rule;
mod uncut;

pub(crate) use uncut::failed_by_beginning;

use crate::Quantity;
use loadline_plan::{Bound, Check, Clocked, Comparison, Metric};
use loadline_record::{Blocks, Bounded, Censored, Counts, Snapshot, Summary, Unfinished};
use rule::Ruling;
use std::cmp::Ordering;
use std::time::Duration;

/// The result of one check.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckResult {
    /// The condition as typed.
    pub text: String,
    /// The outcome of the condition in the run.
    pub outcome: CheckOutcome,
    /// The reason why the outcome is not known, if it is not.
    pub undecided: Option<WhyUndecided>,
    /// The measured value; `None` without a sample.
    pub actual: Option<Quantity>,
    /// True if `actual` is a lower bound, because it lies beyond what is known of unfinished
    /// requests.
    pub is_at_least: bool,
    /// True if the condition holds for `actual`, whatever its confidence; for a lower bound, if it
    /// holds for all greater values.
    pub estimate_holds: bool,
    /// The value that it was compared with.
    pub bound: Quantity,
    /// The number of samples of `actual`: of the evaluated time, or exchanges that ended.
    pub samples: u64,
}

/// The reason why a run can't decide a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyUndecided {
    /// It depends on how requests end that had no response when the run ended: on this many of
    /// them.
    Unfinished(u64),
    /// The percentile takes at least this many samples.
    FewSamples(u64),
    /// No script counted a metric of this name that has this figure.
    NoMetric,
}

/// The data on which checks are evaluated.
#[derive(Clone, Copy, Debug)]
pub struct Observed<'a> {
    /// The records.
    pub total: &'a Snapshot,
    /// The time over which rates are taken.
    pub duration: Duration,
    /// The requests without a response at the end; `None` for a part of a run that continues.
    pub unfinished: Option<&'a Unfinished>,
    /// Response and service times in stretches, to see how much they depend on each other.
    pub stretches: Option<(&'a Blocks, &'a Blocks)>,
    /// The longest time of an exchange.
    pub timeout: Option<Duration>,
}

impl<'a> Observed<'a> {
    /// All of a run.
    pub fn of_run(summary: &'a Summary) -> Observed<'a> {
        Observed {
            total: &summary.total,
            duration: Duration::from_nanos(summary.rated_ns()),
            unfinished: Some(&summary.unfinished),
            stretches: Some((&summary.response_blocks, &summary.service_blocks)),
            timeout: Some(summary.plan.connection.timeout),
        }
    }

    /// A part of a run; only requests that have ended are looked at.
    pub fn of_part(total: &'a Snapshot, duration: Duration) -> Observed<'a> {
        Observed {
            total,
            duration,
            unfinished: None,
            stretches: None,
            timeout: None,
        }
    }

    /// Returns the number of requests without a response.
    fn open(&self) -> u64 {
        self.unfinished.map_or(0, Unfinished::count)
    }
}

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckOutcome {
    /// The condition holds.
    Passed,
    /// The condition does not hold, or there was not a single sample.
    Failed,
    /// The run can't decide it.
    Undecided,
}

impl CheckOutcome {
    /// Its word in a report.
    pub fn word(self) -> &'static str {
        match self {
            CheckOutcome::Passed => "passed",
            CheckOutcome::Failed => "failed",
            CheckOutcome::Undecided => "undecided",
        }
    }
}

impl CheckResult {
    /// True if the check passed.
    pub fn passed(&self) -> bool {
        self.outcome == CheckOutcome::Passed
    }

    /// True if there is evidence against the condition. A run may end early on this; a check
    /// without a sample, which has failed too, would otherwise end it before the first response.
    pub fn failed(&self) -> bool {
        self.outcome == CheckOutcome::Failed && self.actual.is_some()
    }
}

/// Evaluates every check on `snapshot`, a part of a run that covers `duration`.
pub fn evaluate_all(checks: &[Check], snapshot: &Snapshot, duration: Duration) -> Vec<CheckResult> {
    evaluate_observed(checks, &Observed::of_part(snapshot, duration))
}

/// Evaluates every check of a run on all of its requests. Where the beginning was left out a check
/// must pass with it as well: see [`failed_by_beginning`].
pub(crate) fn evaluate_run(summary: &Summary) -> Vec<CheckResult> {
    let found = evaluate_observed(&summary.plan.checks, &Observed::of_run(summary));
    match &summary.uncut {
        Some(uncut) => uncut::failed_or_without(found, uncut::on_all(summary, uncut)),
        None => found,
    }
}

/// The conditions that the run's script set, as its tool has judged them.
pub(crate) fn declared(summary: &Summary) -> impl Iterator<Item = CheckResult> {
    summary.declared.iter().map(|check| CheckResult {
        text: check.text.clone(),
        outcome: match check.holds {
            true => CheckOutcome::Passed,
            false => CheckOutcome::Failed,
        },
        undecided: None,
        actual: check.actual.map(Quantity::Number),
        is_at_least: false,
        estimate_holds: check.holds,
        bound: Quantity::Number(check.bound),
        samples: check.samples,
    })
}

/// Evaluates every check on all requests of several runs together. Their histograms are put
/// together, those of the ages too, so that no percentile is averaged; a rate is taken over the sum
/// of their times. Where the beginning of a run was left out a check must pass with it as well.
pub fn evaluate_together(checks: &[Check], runs: &[&Summary]) -> Vec<CheckResult> {
    let measured = runs.iter().map(|run| (&run.total, run.rated_ns()));
    let found = evaluate_sum(checks, runs, measured);
    if runs.iter().all(|run| run.uncut.is_none()) {
        return found;
    }
    let uncut = runs.iter().map(|run| match &run.uncut {
        Some(uncut) => (&uncut.total, uncut.rated_ns),
        None => (&run.total, run.rated_ns()),
    });
    uncut::failed_or_without(found, evaluate_sum(checks, runs, uncut))
}

/// Evaluates every check on the sum of these snapshots of several runs, each of this many
/// nanoseconds.
fn evaluate_sum<'a>(
    checks: &[Check],
    runs: &[&Summary],
    snapshots: impl Iterator<Item = (&'a Snapshot, u64)>,
) -> Vec<CheckResult> {
    let (mut all, mut rated_ns) = (Snapshot::empty(0), 0);
    for (snapshot, of_it_ns) in snapshots {
        all.append(snapshot);
        rated_ns += of_it_ns;
    }
    let mut unfinished = Unfinished::default();
    for run in runs {
        unfinished.merge(&run.unfinished);
    }
    let timeouts = runs.iter().map(|run| run.plan.connection.timeout);
    let observed = Observed {
        total: &all,
        duration: Duration::from_nanos(rated_ns),
        unfinished: Some(&unfinished),
        stretches: None,
        timeout: timeouts.max(),
    };
    evaluate_observed(checks, &observed)
}

/// Evaluates every check on what was observed.
pub fn evaluate_observed(checks: &[Check], observed: &Observed<'_>) -> Vec<CheckResult> {
    checks
        .iter()
        .map(|check| evaluate(check, observed))
        .collect()
}

/// Evaluates `check` on what was observed.
///
/// A bound whose unit does not fit the metric (a time for a rate) never holds; plans that were
/// parsed have none.
pub fn evaluate(check: &Check, observed: &Observed<'_>) -> CheckResult {
    let condition = Condition::of(check);
    let (ruling, samples) = match check.is_of_part() {
        true => rule_on_part(check, condition, observed),
        false => rule(check, condition, observed),
    };
    let actual = ruling.actual;
    CheckResult {
        text: check.text.clone(),
        outcome: ruling.outcome,
        undecided: ruling.undecided,
        actual: actual.map(Bounded::value),
        is_at_least: actual.is_some_and(Bounded::is_at_least),
        estimate_holds: actual.is_some_and(|actual| condition.holds_for_all(actual)),
        bound: condition.bound,
        samples,
    }
}

/// The condition of a check on a number.
#[derive(Clone, Copy, Debug)]
struct Condition {
    comparison: Comparison,
    bound: Quantity,
}

impl Condition {
    fn of(check: &Check) -> Condition {
        Condition {
            comparison: check.comparison,
            bound: Quantity::from(check.bound),
        }
    }

    /// True if the condition sets an upper bound.
    fn is_upper(self) -> bool {
        matches!(self.comparison, Comparison::Less | Comparison::LessOrEqual)
    }

    fn holds(self, actual: Quantity) -> bool {
        let ordering = actual.compare(self.bound);
        ordering.is_some_and(|ordering| holds(self.comparison, ordering))
    }

    /// True if the condition holds for the number; for a lower bound, if it holds for all greater
    /// values.
    fn holds_for_all(self, actual: Bounded<Quantity>) -> bool {
        match actual {
            Bounded::Exactly(actual) => self.holds(actual),
            Bounded::AtLeast(least) => !self.is_upper() && self.holds(least),
        }
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

/// The ruling on some of the requests. Of what had no response at the end the names are not
/// known: where there are several names the check is decided only if it comes out the same with
/// none and with all of these requests.
fn rule_on_part(check: &Check, condition: Condition, observed: &Observed<'_>) -> (Ruling, u64) {
    if observed.total.series.is_empty() {
        return rule(check, condition, observed);
    }
    let total = observed.total.of_check(check);
    let without = Observed::of_part(&total, observed.duration);
    let with = Observed {
        unfinished: observed.unfinished,
        timeout: observed.timeout,
        ..without
    };
    let (found, samples) = rule(check, condition, &without);
    let worst = rule(check, condition, &with).0;
    match found.outcome == worst.outcome {
        true => (found, samples),
        false => (found.left_open(observed.open()), samples),
    }
}

fn rule(check: &Check, condition: Condition, observed: &Observed<'_>) -> (Ruling, u64) {
    let total = observed.total;
    match check.metric {
        Metric::Time(clocked, statistic) => rule::time(clocked, statistic, condition, observed),
        Metric::Errors => {
            let counts = &total.counts;
            part(
                counts.failures(),
                counts.ended(),
                check.bound,
                condition,
                observed,
            )
        }
        Metric::Non2xx | Metric::Statuses(_) => {
            let (counted, answered) = (statuses(check, total), total.counts.answered);
            part(counted, answered, check.bound, condition, observed)
        }
        Metric::Custom(figure) => custom::rule(check, figure, condition, observed),
        Metric::Rate => {
            let (actual, samples) = rate(&total.counts, observed.duration);
            (Ruling::plain(condition, actual), samples)
        }
    }
}

/// The times of this kind, with the ages of those that have none yet. Nothing is known of how long
/// unfinished requests were blocked or late.
fn times<'a>(observed: &Observed<'a>, clocked: Clocked) -> Censored<'a> {
    let times = &observed.total.times;
    match (clocked, observed.unfinished) {
        (Clocked::Response, Some(open)) => open.beside_response(&times.response),
        (Clocked::Service, Some(open)) => open.beside_service(&times.service),
        (Clocked::Response, None) => (&times.response).into(),
        (Clocked::Service, None) => (&times.service).into(),
        (Clocked::Blocked, _) => (&times.blocked).into(),
        (Clocked::Lateness, _) => (&times.lateness).into(),
    }
}

/// Counts the responses with a status that the check counts.
fn statuses(check: &Check, total: &Snapshot) -> u64 {
    let counted = |status: u16| check.metric.counts_status(status) == Some(true);
    let statuses = total.statuses.iter();
    let those = statuses.filter(|(status, _)| counted(**status));
    those.map(|(_, count)| count).sum()
}

/// A count of some, or their share, as the bound has it, and how many all are. A count is a count
/// even when nothing ended; a share of nothing is not a number.
fn part(
    count: u64,
    all: u64,
    bound: Bound,
    condition: Condition,
    observed: &Observed<'_>,
) -> (Ruling, u64) {
    let of = |count: u64, all: u64| match bound {
        Bound::Count(_) => Some(Quantity::Count(count)),
        Bound::TimeNs(_) | Bound::Share(_) | Bound::PerSecond(_) | Bound::Number(_) => {
            (all > 0).then(|| Quantity::Share(count as f64 / all as f64))
        }
    };
    let open = observed.open();
    let ends = of(count, all + open).zip(of(count + open, all + open));
    (Ruling::between(condition, of(count, all), ends, open), all)
}

fn rate(counts: &Counts, duration: Duration) -> (Option<Quantity>, u64) {
    let per_second = counts.completed as f64 / duration.as_secs_f64();
    let actual = (!duration.is_zero()).then_some(Quantity::PerSecond(per_second));
    (actual, counts.answered)
}

#[cfg(test)]
mod tests;
