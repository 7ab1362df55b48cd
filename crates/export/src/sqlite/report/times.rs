//! The tables of times: their distributions, their percentiles and the histogram.

use crate::sqlite::row::Row;
use loadline_json::{ConfidenceInterval, Distribution, Percentiles, Statistic, Summary, Us};
use loadline_record::Distribution as Recorded;
use loadline_verdict::samples_needed;
use rusqlite::Connection;

/// Inserts every measured time of a run.
pub(super) fn insert_all(
    connection: &Connection,
    run: u64,
    summary: &Summary,
) -> rusqlite::Result<()> {
    let phases = &summary.phases;
    let always = [
        ("response", &summary.response_time_us),
        ("service", &summary.service_time_us),
        ("blocked", &summary.blocked_us),
        ("lateness", &summary.lateness_us),
        ("resolve", &phases.resolve_us),
        ("connect", &phases.connect_us),
        ("tls", &phases.tls_us),
        ("first_byte", &phases.first_byte_us),
        ("rest", &phases.rest_us),
        ("wakeup", &summary.wakeup_us),
    ];
    let iteration = summary
        .iteration_us
        .iter()
        .map(|times| ("iteration", times));
    for (name, times) in always.into_iter().chain(iteration) {
        insert(connection, run, name, times)?;
    }
    Ok(())
}

fn insert(
    connection: &Connection,
    run: u64,
    name: &str,
    times: &Distribution,
) -> rusqlite::Result<()> {
    Row::of_run(run)
        .text("time", name)
        .integer("count", times.count)
        .integer("unfinished", times.unfinished)
        .time("mean_ns", times.mean)
        .flag("mean_is_lower_bound", is_bound(times, Statistic::Mean))
        .time("stdev_ns", times.stdev)
        .flag("stdev_is_lower_bound", is_bound(times, Statistic::Stdev))
        .time("min_ns", times.min)
        .time("max_ns", times.max)
        .flag("max_is_lower_bound", is_bound(times, Statistic::Max))
        .insert(connection, "times")?;
    for (percentile, statistic) in Statistic::PERCENTILES {
        let intervals = times.confidence_intervals.as_ref();
        let interval = intervals.map(|all| of_percentile(&all.percentiles, statistic));
        let printed = printed(times, percentile, statistic);
        let end = |end: fn(&ConfidenceInterval) -> Option<Us>| {
            printed.and(interval.as_ref().and_then(end))
        };
        Row::of_run(run)
            .text("time", name)
            .real("percentile", percentile)
            .time("value_ns", printed)
            .flag(
                "is_lower_bound",
                printed.is_some() && is_bound(times, statistic),
            )
            .time("lower_ns", end(|interval| interval.lower))
            .time("upper_ns", end(|interval| interval.upper))
            .insert(connection, "percentiles")?;
    }
    Ok(())
}

/// Inserts each distinct response time, to three digits, with its count.
pub(super) fn insert_histogram(
    connection: &Connection,
    run: u64,
    times: &Recorded,
) -> rusqlite::Result<()> {
    let Some(histogram) = times.recorded() else {
        return Ok(());
    };
    for (value_ns, count) in times.steps() {
        Row::of_run(run)
            .integer("lower_ns", histogram.lowest_equivalent(value_ns))
            .integer("upper_ns", histogram.highest_equivalent(value_ns))
            .integer("count", count)
            .insert(connection, "histogram")?;
    }
    Ok(())
}

/// Returns the figure, unless there are too few samples or it is only a lower bound.
pub(super) fn exact(times: &Distribution, statistic: Statistic) -> Option<Us> {
    let mut percentiles = Statistic::PERCENTILES.into_iter();
    let value = match percentiles.find(|(_, of)| *of == statistic) {
        Some((percentile, _)) => printed(times, percentile, statistic),
        None if statistic == Statistic::Mean => times.mean,
        None if statistic == Statistic::Stdev => times.stdev,
        None => times.max,
    };
    value.filter(|_| !is_bound(times, statistic))
}

/// Returns the percentile if there are enough samples for it.
fn printed(times: &Distribution, percentile: f64, statistic: Statistic) -> Option<Us> {
    let samples = times.count + times.unfinished.unwrap_or(0);
    let value = of_percentile(&times.percentiles, statistic);
    value.filter(|_| samples >= samples_needed(percentile))
}

fn is_bound(times: &Distribution, statistic: Statistic) -> bool {
    let bounds = times.at_least.as_ref();
    bounds.is_some_and(|bounds| bounds.contains(&statistic))
}

fn of_percentile<T: Clone>(all: &Percentiles<T>, statistic: Statistic) -> T {
    let found = match statistic {
        Statistic::Mean | Statistic::Stdev | Statistic::Max | Statistic::P50 => &all.p50,
        Statistic::P75 => &all.p75,
        Statistic::P90 => &all.p90,
        Statistic::P95 => &all.p95,
        Statistic::P99 => &all.p99,
        Statistic::P99_9 => &all.p99_9,
        Statistic::P99_99 => &all.p99_99,
    };
    found.clone()
}
