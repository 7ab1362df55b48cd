//! The requests by name.

use super::us;
use crate::names::with_scenarios;
use loadline_json as json;
use loadline_metrics::{Key, Series};
use loadline_record::Summary;
use loadline_units::rounding;

pub(super) fn names(summary: &Summary) -> Vec<json::Named> {
    let length_ns = summary.rated_ns();
    let shown = with_scenarios(&summary.total.series);
    let series = shown.busiest().into_iter();
    series
        .map(|(key, series)| named(key, series, length_ns))
        .collect()
}

fn named(key: &Key, series: &Series, length_ns: u64) -> json::Named {
    let owned = |(tag, value): (&str, &str)| (tag.to_owned(), value.to_owned());
    let statuses = series.statuses.iter();
    json::Named {
        name: key.name().to_owned(),
        tags: key.tags().map(owned).collect(),
        answered: series.answered,
        failed: series.failed,
        statuses: statuses
            .map(|(status, count)| (status.to_string(), *count))
            .collect(),
        rate: json::PerSecond(rounding::per_second(series.completed, length_ns)),
        response_time_us: times(series),
    }
}

fn times(series: &Series) -> json::NamedTimes {
    let percentile = |percentile| series.percentile_ns(percentile).map(|ns| us(ns as f64));
    json::NamedTimes {
        mean: series.mean_ns().map(us),
        p50: percentile(50.0),
        p90: percentile(90.0),
        p95: percentile(95.0),
        p99: percentile(99.0),
        max: percentile(100.0),
    }
}
