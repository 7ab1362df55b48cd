//! Times, and how sure their percentiles are.

use super::us;
use crate::confidence::LEVEL;
use loadline_json as json;
use loadline_record::{Bounded, Censored};
use loadline_verdict::{ConfidenceInterval, RunResult};

pub(super) fn distribution<'a>(times: impl Into<Censored<'a>>) -> json::Distribution {
    let all = times.into();
    let times = all.times;
    let us = |ns: f64| (!times.is_empty()).then(|| us(ns));
    json::Distribution {
        count: times.len(),
        mean: us(all.mean_ns().value()),
        stdev: us(all.stdev_ns().value()),
        min: us(times.min_ns() as f64),
        max: us(all.max_ns().value() as f64),
        percentiles: json::Percentiles::each(|p| us(all.percentile(p).value() as f64)),
        ..json::Distribution::default()
    }
}

/// The response time, with the confidence intervals of its percentiles.
pub(super) fn response(run: &RunResult) -> json::Distribution {
    with_confidence(run.summary.response(), response_intervals(run))
}

/// The service time, with the confidence intervals of its percentiles.
pub(super) fn service(run: &RunResult) -> json::Distribution {
    with_confidence(run.summary.service(), service_intervals(run))
}

/// These times, with the number of requests that had no response and are counted with their ages,
/// and the figures that are lower bounds for that.
fn with_confidence(
    times: Censored<'_>,
    intervals: json::ConfidenceIntervals,
) -> json::Distribution {
    json::Distribution {
        confidence_intervals: Some(intervals),
        unfinished: Some(times.ages.len()),
        at_least: Some(lower_bounds(times)),
        ..distribution(times)
    }
}

fn lower_bounds(times: Censored<'_>) -> Vec<json::Statistic> {
    if times.times.is_empty() {
        return Vec::new();
    }
    let moments = [
        (json::Statistic::Mean, times.mean_ns().is_at_least()),
        (json::Statistic::Stdev, times.stdev_ns().is_at_least()),
        (json::Statistic::Max, times.max_ns().is_at_least()),
    ];
    let percentiles = json::Statistic::PERCENTILES;
    let percentiles = percentiles.map(|(p, name)| (name, times.percentile(p).is_at_least()));
    let all = moments.into_iter().chain(percentiles);
    all.filter_map(|(name, is_bound)| is_bound.then_some(name))
        .collect()
}

pub(super) fn response_intervals(run: &RunResult) -> json::ConfidenceIntervals {
    confidence_intervals(|percentile| run.response_interval(percentile))
}

pub(super) fn service_intervals(run: &RunResult) -> json::ConfidenceIntervals {
    confidence_intervals(|percentile| run.service_interval(percentile))
}

fn confidence_intervals(interval: impl Fn(f64) -> ConfidenceInterval) -> json::ConfidenceIntervals {
    let found = json::Percentiles::each(interval);
    json::ConfidenceIntervals {
        level: json::Share(LEVEL),
        adjusted: found.p99_99.adjusted,
        percentiles: found.map(confidence_interval),
    }
}

fn confidence_interval(found: ConfidenceInterval) -> json::ConfidenceInterval {
    let end = |end: Option<Bounded>| end.map(|ns| us(ns.value() as f64));
    let is_at_least = |end: Option<Bounded>| end.is_some_and(Bounded::is_at_least);
    let ends = [
        (json::End::Lower, found.lower_ns),
        (json::End::Upper, found.upper_ns),
    ];
    let bounds = ends.into_iter().filter(|(_, end)| is_at_least(*end));
    json::ConfidenceInterval {
        lower: end(found.lower_ns),
        upper: end(found.upper_ns),
        at_least: bounds.map(|(end, _)| end).collect(),
        independent: found.independent,
        still_needed: found.still_needed,
    }
}
