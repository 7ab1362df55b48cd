//! The part of a figure that is not the target's: the delay that Loadline added, or the wait for
//! one of the connections that the plan allows.
//!
//! Every response time of an open load is recorded twice, as it was and without the delay that
//! Loadline added to it. So each figure can be computed with that delay and without it, and a
//! result is judged by their difference, not by a possible cause. A figure is *affected* when more
//! than a tenth of it, and more than 50 µs, is not the target's. The delay that Loadline added must
//! also move the figure further than chance does ([`is_within_chance`]): in a short run the p99
//! rests on a few requests, and two or three late ones move it less than the next run would.

use crate::confidence::interval_at;
use crate::{CheckOutcome, CheckResult, Quantity, evaluate_run};
use loadline_findings::Effect;
use loadline_plan::{Clocked, Metric, Plan, Shape, Statistic};
use loadline_record::{Blocks, Bounded, Censored, Distribution, Model, Summary};
use loadline_stats::normal_quantile;

/// A figure is affected when more than this part of it is not the target's, …
pub const AFFECTED_PART: f64 = 0.1;
/// … and more than this, in nanoseconds.
pub const AFFECTED_NS: f64 = 50_000.0;
/// The confidence of the interval within which a difference may be chance. It is above that of the
/// printed intervals, because several figures of each run are judged.
const CHANCE: f64 = 0.99;
/// The connections that a plan allows were the limit when more than this share of them was in use
/// on average. Waiting begins about there: in a queue with many servers (M/M/c) nobody waits
/// before.
const IN_USE: f64 = 0.8;
/// A median service time of the whole run above this multiple of the shortest of an interval is
/// that of a target that became slower.
const SLOWER: f64 = 1.5;
/// In the plan's favour: fewer requests unsent, or waiting, than this share are a detail.
const DETAIL: f64 = 0.01;

/// The effect between two kinds of times; `None` where one of them was not recorded, or is only
/// known to be greater than something.
fn between(with: Censored<'_>, without: Censored<'_>, statistic: Statistic) -> Option<Effect> {
    let is_known = !with.times.is_empty() && with.times.len() == without.times.len();
    if !is_known {
        return None;
    }
    Some(Effect {
        statistic,
        with_ns: figure(with, statistic)?,
        without_ns: figure(without, statistic)?,
    })
}

/// True if the effect is a large part of the statistic.
fn is_large(effect: &Effect) -> bool {
    let ours_ns = (effect.with_ns - effect.without_ns).abs();
    ours_ns > AFFECTED_NS && ours_ns > effect.with_ns * AFFECTED_PART
}

fn figure(times: Censored<'_>, statistic: Statistic) -> Option<f64> {
    let figure = match statistic {
        Statistic::Mean => times.mean_ns(),
        Statistic::Min => Bounded::Exactly(times.times.min_ns() as f64),
        Statistic::Max => times.max_ns().map(|ns| ns as f64),
        Statistic::Stdev => times.stdev_ns(),
        Statistic::Percentile(percentile) => times.percentile(percentile).map(|ns| ns as f64),
    };
    match figure {
        Bounded::Exactly(ns) => Some(ns),
        Bounded::AtLeast(_) => None,
    }
}

/// The response times, and the ages of what has no response, without the delay that Loadline added.
fn undelayed(summary: &Summary) -> Censored<'_> {
    summary
        .unfinished
        .beside_undelayed(&summary.total.times.undelayed)
}

/// A figure of the response time with the delay that Loadline added and without it, if that delay
/// is a large part of it and more than chance. Never in a closed load, which has no such delay, nor
/// in a record that does not hold it.
pub(crate) fn own_delay(summary: &Summary, statistic: Statistic) -> Option<Effect> {
    let (with, without) = (summary.response(), undelayed(summary));
    between(with, without, statistic)
        .filter(is_large)
        .filter(|effect| !is_within_chance(with, without, effect))
}

/// True if chance alone, in as many requests, moves the figure as far as our delay did.
///
/// The requests are taken as independent. That is the narrowest interval, so the rule stays strict.
/// A percentile without our delay must lie in the interval that the ranks of the percentile with it
/// give ([`interval_at`]). A mean must lie within z·s/√n (the central limit theorem) of the mean
/// without our delay, where s is the standard deviation without it. A minimum, a maximum and a
/// standard deviation have no interval that holds for every distribution, so chance excuses nothing
/// there.
fn is_within_chance(with: Censored<'_>, without: Censored<'_>, effect: &Effect) -> bool {
    match effect.statistic {
        Statistic::Percentile(percentile) => {
            let interval = interval_at(CHANCE, with, &Blocks::default(), percentile);
            let without_ns = effect.without_ns;
            let is_above = |end: Bounded| without_ns >= end.value() as f64;
            let is_below = |end: Bounded| end.is_at_least() || without_ns <= end.value() as f64;
            interval.lower_ns.is_none_or(is_above) && interval.upper_ns.is_none_or(is_below)
        }
        Statistic::Mean => {
            let z = normal_quantile(1.0 - (1.0 - CHANCE) / 2.0);
            let error_ns = without.stdev_ns().value() / (without.len() as f64).sqrt();
            (effect.with_ns - effect.without_ns).abs() <= z * error_ns
        }
        Statistic::Min | Statistic::Max | Statistic::Stdev => false,
    }
}

/// A figure of the response time with the wait for one of the connections that the plan allows and
/// without it, if that wait is a large part of it; `None` where the plan was not the limit.
pub(crate) fn plan_wait(summary: &Summary, statistic: Statistic) -> Option<Effect> {
    if !is_limited_by_plan(summary) {
        return None;
    }
    between(summary.response(), summary.service(), statistic).filter(is_large)
}

/// True if requests waited, or were never sent, because the plan allows fewer connections than its
/// rate requires with this target, which was no slower for it.
///
/// What was never sent has its cause in the record. Where all was sent, it shows in how many
/// connections were in use: by Little's law the rate times the service time (J. D. C. Little, "A
/// proof for the queuing formula L = λW", *Operations Research* 9 (1961)). A target that stalls for
/// a moment keeps requests waiting with few connections in use.
pub fn is_limited_by_plan(summary: &Summary) -> bool {
    let plan = &summary.plan;
    let is_plain = plan.connection.pipeline == 1 && plan.script.is_none();
    let is_even = matches!(plan.load.shape, Shape::Rate { .. });
    if summary.model == Model::Closed || summary.duration_ns == 0 {
        return false;
    }
    let planned = summary.total.counts.planned as f64;
    let unfinished = &summary.unfinished;
    if unfinished.unsent as f64 > planned * DETAIL {
        return unfinished.by_plan > unfinished.by_target.max(unfinished.by_loadline);
    }
    let most = f64::from(plan.load.max_users) * f64::from(summary.parts);
    let has_waited = summary.total.times.blocked.percentile_ns(99.0) as f64 > AFFECTED_NS;
    let is_full = connections_in_use(summary) > most * IN_USE;
    is_plain && is_even && has_waited && is_full && !became_slower(summary)
}

/// Returns the mean number of requests in flight, including those without a response at the end.
pub(crate) fn connections_in_use(summary: &Summary) -> f64 {
    let sum_ns = |times: &Distribution| times.mean_ns() * times.len() as f64;
    let ended_ns = sum_ns(&summary.total.times.service);
    let unfinished_ns = sum_ns(&summary.unfinished.ages.service);
    (ended_ns + unfinished_ns) / summary.duration_ns.max(1) as f64
}

fn became_slower(summary: &Summary) -> bool {
    let medians = summary.rows.iter().map(|row| row.service.p50_ns);
    let shortest_ns = medians.filter(|ns| *ns > 0).min().unwrap_or(0);
    let median_ns = summary.total.times.service.percentile_ns(50.0);
    median_ns as f64 > shortest_ns as f64 * SLOWER
}

/// Returns a check that passes with the delay that Loadline added and fails without it, or the
/// reverse: its figure, and its outcome with the delay.
pub(crate) fn decided_by_own_delay(summary: &Summary) -> Option<(Effect, CheckOutcome)> {
    let times = &summary.total.times;
    let looks_at_response = |metric: &Metric| matches!(metric, Metric::Time(Clocked::Response, _));
    let mut checks = summary.plan.checks.iter();
    let is_known = times.undelayed.len() == times.response.len() && !times.response.is_empty();
    if !is_known || !checks.any(|check| looks_at_response(&check.metric)) {
        return None;
    }
    let mut without = summary.clone();
    without.total.times.response = times.undelayed.clone();
    if let Some(uncut) = &mut without.uncut {
        let times = &mut uncut.total.times;
        times.response = times.undelayed.clone();
    }
    let pairs = evaluate_run(summary)
        .into_iter()
        .zip(evaluate_run(&without));
    let checks = summary.plan.checks.iter().zip(pairs);
    let mut flipped = checks.filter(|(_, (with, without))| is_flipped(with, without));
    let (check, (with, without)) = flipped.next()?;
    let Metric::Time(_, statistic) = check.metric else {
        return None;
    };
    let effect = Effect {
        statistic,
        with_ns: known_ns(&with)?,
        without_ns: known_ns(&without)?,
    };
    Some((effect, with.outcome))
}

/// Returns the time that a check measured, if it is not a lower bound.
fn known_ns(result: &CheckResult) -> Option<f64> {
    match result.actual {
        Some(Quantity::TimeNs(ns)) if !result.is_at_least => Some(ns),
        _ => None,
    }
}

fn is_flipped(with: &CheckResult, without: &CheckResult) -> bool {
    matches!(
        (with.outcome, without.outcome),
        (CheckOutcome::Passed, CheckOutcome::Failed) | (CheckOutcome::Failed, CheckOutcome::Passed)
    )
}

/// The figures of times that the checks of a plan name, each with the time that it is of.
pub(crate) fn checked_times(plan: &Plan) -> impl Iterator<Item = (Clocked, Statistic)> + '_ {
    plan.checks.iter().filter_map(|check| match check.metric {
        Metric::Time(clocked, statistic) => Some((clocked, statistic)),
        Metric::Errors
        | Metric::Non2xx
        | Metric::Statuses(_)
        | Metric::Rate
        | Metric::Custom(_) => None,
    })
}

/// The figures of the response time that the checks of a plan name.
pub(crate) fn checked(summary: &Summary) -> impl Iterator<Item = Statistic> + '_ {
    let of_response = |(clocked, _): &(Clocked, Statistic)| *clocked == Clocked::Response;
    let figures = checked_times(&summary.plan).filter(of_response);
    figures.map(|(_, statistic)| statistic)
}
