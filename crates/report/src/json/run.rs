//! One run, with its intervals.

use super::{names, summary, us, watch};
use loadline_json as json;
use loadline_record::{Counts, Quantiles, Row, Summary};
use loadline_units::rounding;
use loadline_verdict::RunResult;

pub(super) fn run(run: &RunResult) -> json::Run {
    let summary = &run.summary;
    json::Run {
        schema: json::SCHEMA,
        version: summary.version.clone(),
        started_at: humantime::format_rfc3339_nanos(summary.started_at).to_string(),
        started_monotonic_ns: summary.started_monotonic_ns,
        plan: summary.plan.clone(),
        long_bodies: summary.long_bodies.clone(),
        environment: summary.environment.clone(),
        intervals: intervals(summary),
        names_over_time: names::over_time(summary),
        summary: summary::summary(run),
    }
}

fn intervals(summary: &Summary) -> Vec<json::Interval> {
    let start_ns = summary.total.start_ns;
    let from_start = |ns: u64| json::Seconds(rounding::seconds(ns.saturating_sub(start_ns)));
    let interval = |row: &Row| json::Interval {
        start_s: from_start(row.start_ns),
        end_s: from_start(row.end_ns),
        counts: counts(&row.counts, row.end_ns.saturating_sub(row.start_ns)),
        in_flight_mean: in_flight_mean(row),
        in_flight_max: row.counts.most_in_flight(),
        response_time_us: quantiles(&row.response),
        service_time_us: quantiles(&row.service),
        users: row.users,
        iterations: row.iterations,
        watch: watch::interval(&summary.watch, row.end_ns),
    };
    summary.rows.iter().map(interval).collect()
}

fn in_flight_mean(row: &Row) -> Option<f64> {
    let length_ns = row.end_ns.saturating_sub(row.start_ns);
    let mean = row.counts.in_flight_mean(length_ns);
    mean.map(rounding::rate)
}

/// Returns the counts of a stretch of this length.
pub(super) fn counts(counts: &Counts, length_ns: u64) -> json::Counts {
    json::Counts {
        planned: counts.planned,
        sent: counts.sent,
        answered: counts.answered,
        completed: counts.completed,
        failed: counts.failed,
        rejected: counts.rejected,
        in_flight: counts.in_flight,
        reconnects: counts.reconnects,
        resent: counts.resent,
        surplus: counts.closed_for_extra_bytes,
        dropped: counts.dropped,
        missed: counts.missed,
        connections: counts.connections,
        bytes_in: counts.bytes_in,
        bytes_out: counts.bytes_out,
        rate: json::PerSecond(rounding::per_second(counts.completed, length_ns)),
    }
}

fn quantiles(quantiles: &Quantiles) -> json::Quantiles {
    let has_times = quantiles.max_ns > 0;
    let us = |ns: u64| has_times.then(|| us(ns as f64));
    json::Quantiles {
        p50: us(quantiles.p50_ns),
        p90: us(quantiles.p90_ns),
        p99: us(quantiles.p99_ns),
        max: us(quantiles.max_ns),
    }
}
