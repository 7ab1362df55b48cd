//! The tables of counts: by name, by status, by error kind, and of the scripts' metrics.

use super::runs::{json, word};
use crate::sqlite::row::Row;
use loadline_json::{CustomMetric, Failures, Named};
use loadline_record::ErrorKind;
use rusqlite::Connection;
use std::collections::BTreeMap;

pub(super) fn insert_names(
    connection: &Connection,
    run: u64,
    names: &[Named],
) -> rusqlite::Result<()> {
    for named in names {
        let times = &named.response_time_us;
        Row::of_run(run)
            .text("name", named.name.as_str())
            .text("tags", json(&named.tags).as_str())
            .integer("answered", named.answered)
            .integer("failed", named.failed)
            .integer("rejected", named.rejected)
            .real("rate", named.rate.0)
            .time("response_mean_ns", times.mean)
            .time("response_p50_ns", times.p50)
            .time("response_p90_ns", times.p90)
            .time("response_p95_ns", times.p95)
            .time("response_p99_ns", times.p99)
            .time("response_max_ns", times.max)
            .insert(connection, "names")?;
    }
    Ok(())
}

pub(super) fn insert_statuses(
    connection: &Connection,
    run: u64,
    statuses: &BTreeMap<u16, u64>,
) -> rusqlite::Result<()> {
    for (status, count) in statuses {
        Row::of_run(run)
            .integer("status", u64::from(*status))
            .integer("count", *count)
            .insert(connection, "statuses")?;
    }
    Ok(())
}

pub(super) fn insert_errors(
    connection: &Connection,
    run: u64,
    errors: &BTreeMap<ErrorKind, Failures>,
) -> rusqlite::Result<()> {
    for (kind, failures) in errors {
        let example = Some(failures.example.as_str()).filter(|example| !example.is_empty());
        Row::of_run(run)
            .text("kind", kind.name())
            .integer("count", failures.count)
            .text("example", example)
            .insert(connection, "errors")?;
    }
    Ok(())
}

pub(super) fn insert_metrics(
    connection: &Connection,
    run: u64,
    metrics: &[CustomMetric],
) -> rusqlite::Result<()> {
    for metric in metrics {
        let percentile = |name: &str| metric.percentiles.get(name).copied();
        Row::of_run(run)
            .text("name", metric.name.as_str())
            .text("tags", json(&metric.tags).as_str())
            .text("kind", word(&metric.kind).as_str())
            .text("unit", metric.unit.as_deref())
            .integer("count", metric.count)
            .real("sum", metric.sum)
            .real("rate", metric.rate)
            .real("share", metric.share)
            .real("last", metric.last)
            .real("min", metric.min)
            .real("max", metric.max)
            .real("mean", metric.mean)
            .real("p50", percentile("p50"))
            .real("p90", percentile("p90"))
            .real("p95", percentile("p95"))
            .real("p99", percentile("p99"))
            .insert(connection, "metrics")?;
    }
    Ok(())
}
