//! The conditions of warnings. Their words are in [`Cause`](loadline_findings::Cause).

use crate::confidence::samples_needed;
use crate::effect::checked_times;
use loadline_findings::{Cause, Finding, Findings, Grade, Shortfall};
use loadline_plan::{Arrivals, Clocked, HttpVersion, Shape, Statistic};
use loadline_record::{Counts, Ended, Model, OddAgent, Summary, Unfinished};
use std::collections::BTreeMap;
use std::time::Duration;

/// Responses below this share of the arrivals that fell due deserve a warning.
const RATE_KEPT: f64 = 0.99;
/// Reconnects above this share of the responses deserve a warning.
const FEW_RECONNECTS: f64 = 0.01;
/// Requests sent again above this share of those sent deserve a warning.
const FEW_RESENT: f64 = 0.001;
/// Failures above this share of what ended deserve a warning.
const FEW_FAILED: f64 = 0.01;
/// Arrivals without a response above this share of those that fell due deserve a warning.
const FEW_UNANSWERED: f64 = 0.01;
/// A closed loop without a response in this last part of the run gets a warning.
const LONG_PART: u64 = 10;

/// All warnings that do not depend on which percentiles are shown, the gravest first.
pub(crate) fn warnings(summary: &Summary, validity: &Findings) -> Vec<Finding> {
    let below = rate_below_asked(summary, validity);
    let failed = many_requests_failed(summary, below.as_ref());
    let found = [
        early_end(summary),
        nothing_answered(summary),
        left_out(summary),
        below,
        failed,
        unanswered(summary),
        not_successful(summary),
        extra_bytes(&summary.total.counts),
        reconnects(summary),
        resent(summary),
    ];
    let odd = summary.odd_agents.iter().map(odd_agent);
    let found = found.into_iter().flatten().chain(odd);
    found.map(warning).collect()
}

fn odd_agent(odd: &OddAgent) -> Cause {
    Cause::OddAgent {
        agent: odd.agent.clone(),
        percentile: odd.percentile,
        own_ns: odd.own_ns,
        rest_ns: odd.rest_ns,
    }
}

/// Creates a finding about the target or the user, which is no evidence against the measurement.
fn warning(cause: Cause) -> Finding {
    Finding {
        grade: Grade::Valid,
        cause,
    }
}

/// True if nothing was answered, or many requests failed or had a status other than 2xx.
pub(crate) fn many_failed(summary: &Summary) -> bool {
    let counts = &summary.total.counts;
    counts.answered == 0 || fail_often(counts) || not_successful(summary).is_some()
}

fn fail_often(counts: &Counts) -> bool {
    counts.failures() as f64 > counts.ended() as f64 * FEW_FAILED
}

fn early_end(summary: &Summary) -> Option<Cause> {
    let after = Duration::from_nanos(summary.duration_ns);
    let planned = summary.plan.duration;
    match &summary.ended {
        Ended::Duration
        | Ended::Requests
        | Ended::Stages
        | Ended::Precise
        | Ended::Decided
        | Ended::Unknown => None,
        Ended::Interrupted => Some(Cause::Interrupted { after, planned }),
        Ended::Aborted(check) => Some(Cause::Aborted {
            check: check.clone(),
            of_script: !summary.aborts_on(check),
            after,
        }),
        Ended::Failed(error) => Some(Cause::WorkerFailed {
            error: error.clone(),
            after: Some(after).filter(|_| !summary.lasted_as_planned()),
        }),
        Ended::Threw(error) => Some(Cause::ScriptThrew {
            error: error.clone(),
            after,
        }),
    }
}

fn nothing_answered(summary: &Summary) -> Option<Cause> {
    let Counts {
        sent,
        answered,
        failed,
        ..
    } = summary.total.counts;
    let is_known = !summary.lacks_figures();
    (answered == 0 && is_known).then_some(Cause::NothingAnswered {
        sent,
        failed,
        has_script: summary.plan.scripts().next().is_some(),
    })
}

fn left_out(summary: &Summary) -> Option<Cause> {
    let addresses = summary.left_out.clone();
    (!addresses.is_empty()).then_some(Cause::LeftOut { addresses })
}

fn rate_below_asked(summary: &Summary, validity: &Findings) -> Option<Cause> {
    let Counts {
        planned,
        answered,
        failed,
        in_flight,
        ..
    } = summary.total.counts;
    let not_due = not_due(summary);
    let asked = planned + not_due;
    let kept = answered as f64 >= asked as f64 * RATE_KEPT;
    let only_under_way = asked.saturating_sub(answered) <= usually_under_way(summary);
    let is_open = summary.model == Model::Open;
    if !is_open || kept || only_under_way || answered == 0 || reports_unsent(validity) {
        return None;
    }
    let Unfinished {
        unsent, by_stop, ..
    } = summary.unfinished;
    let causes = [
        (unsent.saturating_sub(by_stop), Shortfall::Unsent),
        (by_stop + not_due, Shortfall::NotDue),
        (in_flight, Shortfall::InFlight),
        (failed, Shortfall::Failed),
    ];
    let (_, shortfall) = causes.into_iter().max_by_key(|(count, _)| *count)?;
    Some(Cause::RateBelowAsked {
        asked: summary.asked_per_s(),
        achieved: summary.answers_per_s(),
        shortfall,
    })
}

/// Returns the number of arrivals of an even rate for which no request fell due, as a script paused
/// before it or sent none.
fn not_due(summary: &Summary) -> u64 {
    let is_even = summary.plan.load.shape.arrivals() == Some(Arrivals::Constant);
    let is_one_rate = matches!(summary.plan.load.shape, Shape::Rate { .. });
    let is_scripted = summary.plan.script.is_some();
    if !is_even || !is_one_rate || !is_scripted || !summary.changes.is_empty() {
        return 0;
    }
    let over_ns = summary.occupied_ns().unwrap_or(summary.duration_ns);
    let arrivals = summary.asked_per_s() * over_ns as f64 / 1e9;
    (arrivals as u64).saturating_sub(summary.total.counts.planned)
}

/// Says that many requests failed, unless that there was no response, or that the rate is lower for
/// it, says as much.
fn many_requests_failed(summary: &Summary, below: Option<&Cause>) -> Option<Cause> {
    let is_said = matches!(
        below,
        Some(Cause::RateBelowAsked {
            shortfall: Shortfall::Failed,
            ..
        })
    );
    let counts = &summary.total.counts;
    let is_new = counts.answered > 0 && !is_said;
    (is_new && fail_often(counts)).then(|| Cause::ManyFailed {
        failed: counts.failures(),
        ended: counts.ended(),
    })
}

/// True if the validity reports already that most of the rest was never sent.
fn reports_unsent(validity: &Findings) -> bool {
    let is_unsent = |finding: &Finding| {
        matches!(
            finding.cause,
            Cause::Unsent { .. }
                | Cause::Dropped { .. }
                | Cause::Missed { .. }
                | Cause::PlanLimit { .. }
        )
    };
    validity.list.iter().any(is_unsent)
}

/// Some requests are always in flight when a run ends. They deserve a warning if they are more
/// than that, if many are older than nearly all responses were, or if every user waited for long.
fn unanswered(summary: &Summary) -> Option<Cause> {
    let unfinished = &summary.unfinished;
    let unsent = unfinished.unsent - unfinished.unreported();
    let in_flight = unfinished.in_flight;
    let waiting = unsent.saturating_add(in_flight);
    let is_open = summary.model == Model::Open;
    let too_many = is_open && waiting > usually_under_way(summary);
    let few = (summary.total.counts.planned as f64 * FEW_UNANSWERED) as u64;
    let p99_ns = summary.total.times.response.percentile_ns(99.0);
    let oldest_ns = unfinished.oldest_ns;
    let ages = &unfinished.ages.response;
    let old = match unfinished.ages_are_known() {
        true => ages.len() - ages.count_up_to_ns(p99_ns),
        false if oldest_ns > p99_ns => waiting,
        false => 0,
    };
    let all_wait = all_users_wait(summary);
    (too_many || old > few || all_wait).then_some(Cause::Unanswered {
        unsent,
        in_flight,
        oldest_ns,
        counted: unfinished.ages_are_known(),
    })
}

/// True if at the end of a closed loop every user waited, longer than any had for a response and
/// for a good part of the run: the target had stopped to respond, and few requests show it.
fn all_users_wait(summary: &Summary) -> bool {
    let ages = &summary.unfinished.ages.response;
    let slowest_ns = summary.total.times.response.max_ns();
    let long_ns = slowest_ns.max(summary.duration_ns / LONG_PART);
    summary.model == Model::Closed
        && !ages.is_empty()
        && ages.len() >= u64::from(summary.plan.load.users)
        && ages.count_up_to_ns(long_ns) == 0
}

/// Returns the most requests that may be in flight at any instant: by Little's law λ·R on average,
/// and in a Poisson process hardly ever more than three standard deviations above that.
fn usually_under_way(summary: &Summary) -> u64 {
    let rate = summary.total.counts.planned as f64 / summary.duration_ns.max(1) as f64;
    let mean = rate * summary.total.times.response.mean_ns();
    (mean + 3.0 * mean.sqrt()).ceil() as u64
}

fn not_successful(summary: &Summary) -> Option<Cause> {
    let other: BTreeMap<u16, u64> = summary
        .total
        .statuses
        .iter()
        .map(|(s, n)| (*s, *n))
        .filter(|(s, _)| s / 100 != 2)
        .collect();
    let (&status, _) = other.iter().max_by_key(|(_, count)| **count)?;
    let count = other.values().sum();
    Some(Cause::NotSuccessful {
        count,
        answered: summary.total.counts.answered,
        status,
    })
}

fn extra_bytes(counts: &Counts) -> Option<Cause> {
    let Counts {
        closed_for_extra_bytes: count,
        answered,
        ..
    } = *counts;
    (count > 0).then_some(Cause::ExtraBytes { count, answered })
}

/// Connections that Loadline closed for extra bytes have a warning of their own.
fn reconnects(summary: &Summary) -> Option<Cause> {
    let counts = &summary.total.counts;
    let count = counts
        .reconnects
        .saturating_sub(counts.closed_for_extra_bytes);
    let answered = counts.answered;
    let many = count as f64 > answered as f64 * FEW_RECONNECTS;
    many.then(|| Cause::Reconnects {
        count,
        answered,
        is_http2: summary.plan.connection.http == HttpVersion::V2,
    })
}

fn resent(summary: &Summary) -> Option<Cause> {
    let Counts {
        resent: count,
        sent,
        ..
    } = summary.total.counts;
    let many = count as f64 > sent as f64 * FEW_RESENT;
    many.then(|| Cause::Resent {
        count,
        sent,
        is_http2: summary.plan.connection.http == HttpVersion::V2,
    })
}

/// Returns the finding that there are fewer samples than these percentiles and those of the checks
/// need.
pub(crate) fn few_samples(summary: &Summary, percentiles: &[f64]) -> Option<Finding> {
    if summary.response().times.is_empty() {
        return None;
    }
    let samples = summary.response().len();
    let checked = checked_times(&summary.plan).filter_map(percentile_of);
    let mut percentiles: Vec<f64> = percentiles.iter().copied().chain(checked).collect();
    percentiles.retain(|percentile| samples_needed(*percentile) > samples);
    percentiles.sort_by(f64::total_cmp);
    percentiles.dedup();
    let needed = samples_needed(*percentiles.last()?);
    let seconds = summary.duration_ns as f64 / 1e9 * needed as f64 / samples as f64;
    Some(warning(Cause::FewSamples {
        percentiles,
        samples,
        needed,
        length: Some(Duration::from_secs(seconds.ceil() as u64)),
    }))
}

/// Returns the percentile of a figure that a check names, if it is one.
fn percentile_of((_, statistic): (Clocked, Statistic)) -> Option<f64> {
    match statistic {
        Statistic::Percentile(percentile) => Some(percentile),
        Statistic::Mean | Statistic::Min | Statistic::Max | Statistic::Stdev => None,
    }
}
