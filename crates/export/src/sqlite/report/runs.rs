//! The tables of runs and of their intervals.

use super::times::exact;
use crate::sqlite::row::Row;
use loadline_json::{Counts, Distribution, Interval, Quantiles, Run, Statistic};
use loadline_record::{Role, RoleKind};
use rusqlite::Connection;
use serde::Serialize;

/// The figures of the response and service times in a run's row.
const FIGURES: [(&str, Statistic); 6] = [
    ("mean", Statistic::Mean),
    ("p50", Statistic::P50),
    ("p90", Statistic::P90),
    ("p99", Statistic::P99),
    ("p99_9", Statistic::P99_9),
    ("max", Statistic::Max),
];

pub(super) fn insert(
    connection: &Connection,
    id: u64,
    run: &Run,
    role: Option<&Role>,
) -> rusqlite::Result<()> {
    let summary = &run.summary;
    let row = with_role(Row::default().integer("id", id), role)
        .text("version", run.version.as_str())
        .text("started_at", run.started_at.as_str())
        .text("url", run.plan.requests.first().map(|one| one.url.as_str()))
        .text("plan", json(&run.plan).as_str())
        .text("environment", json(&run.environment).as_str())
        .stretch("duration_ns", summary.duration_s)
        .stretch("drained_ns", summary.drained_s)
        .flag("complete", summary.complete)
        .text("ended", word(&summary.ended).as_str())
        .text("aborted_by", summary.aborted_by.as_deref())
        .integer("unsent", summary.unfinished.unsent)
        .text("validity", summary.validity.grade.name());
    let row = with_counts(row, &summary.counts);
    let row = with_figures(row, "response", &summary.response_time_us);
    let row = with_figures(row, "service", &summary.service_time_us);
    row.insert(connection, "runs")
}

pub(super) fn insert_intervals(
    connection: &Connection,
    run: u64,
    intervals: &[Interval],
) -> rusqlite::Result<()> {
    for (number, interval) in (1..).zip(intervals) {
        let row = Row::of_run(run)
            .integer("number", number)
            .stretch("start_ns", interval.start_s)
            .stretch("end_ns", interval.end_s);
        let row = with_counts(row, &interval.counts)
            .real("in_flight_mean", interval.in_flight_mean)
            .integer("in_flight_max", interval.in_flight_max)
            .integer("users", interval.users.map(u64::from))
            .integer("iterations", interval.iterations);
        let row = with_quantiles(row, "response", &interval.response_time_us);
        let row = with_quantiles(row, "service", &interval.service_time_us);
        row.insert(connection, "intervals")?;
    }
    Ok(())
}

fn with_role(row: Row, role: Option<&Role>) -> Row {
    let known = role.filter(|role| role.kind != RoleKind::Unknown);
    row.text("role", known.map(|role| role.kind.name()))
        .text("role_name", known.and_then(|role| role.name.as_deref()))
        .integer("role_number", known.map(|role| u64::from(role.number)))
}

fn with_counts(row: Row, counts: &Counts) -> Row {
    row.integer("planned", counts.planned)
        .integer("sent", counts.sent)
        .integer("answered", counts.answered)
        .integer("completed", counts.completed)
        .integer("failed", counts.failed)
        .integer("rejected", counts.rejected)
        .integer("in_flight", counts.in_flight)
        .integer("reconnects", counts.reconnects)
        .integer("resent", counts.resent)
        .integer("connections", counts.connections)
        .integer("bytes_in", counts.bytes_in)
        .integer("bytes_out", counts.bytes_out)
        .real("rate", counts.rate.0)
}

fn with_figures(row: Row, time: &str, times: &Distribution) -> Row {
    FIGURES.iter().fold(row, |row, (name, statistic)| {
        row.time(format!("{time}_{name}_ns"), exact(times, *statistic))
    })
}

fn with_quantiles(row: Row, time: &str, quantiles: &Quantiles) -> Row {
    let each = [
        ("p50", quantiles.p50),
        ("p90", quantiles.p90),
        ("p99", quantiles.p99),
        ("max", quantiles.max),
    ];
    each.into_iter().fold(row, |row, (name, value)| {
        row.time(format!("{time}_{name}_ns"), value)
    })
}

/// Returns a value as JSON text.
pub(super) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("keys are text")
}

/// Returns a value that is a single word in the JSON.
pub(super) fn word(value: &impl Serialize) -> String {
    json(value).trim_matches('"').to_owned()
}
