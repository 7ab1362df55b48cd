//! The requests by name.

use super::us;
use crate::names::{percentile_ns, with_scenarios};
use loadline_json as json;
use loadline_metrics::{Key, Series};
use loadline_record::{Moment, Summary};
use loadline_units::rounding;

pub(super) fn names(summary: &Summary) -> Vec<json::Named> {
    let length_ns = summary.rated_ns();
    let shown = with_scenarios(&summary.total.series);
    let series = shown.busiest().into_iter();
    series
        .map(|(key, series)| named(key, series, length_ns))
        .collect()
}

/// The busiest names over time, where there are several.
pub(super) fn over_time(summary: &Summary) -> Option<json::NamesOverTime> {
    let moments = summary.names.moments();
    let busiest = summary.names.busiest(&summary.total.series);
    let start_ns = summary.total.start_ns;
    let from_start = |ns: u64| json::Seconds(rounding::seconds(ns.saturating_sub(start_ns)));
    (!busiest.is_empty()).then(|| json::NamesOverTime {
        start_s: moments
            .iter()
            .map(|moment| from_start(moment.start_ns))
            .collect(),
        end_s: moments
            .iter()
            .map(|moment| from_start(moment.end_ns))
            .collect(),
        names: busiest
            .into_iter()
            .map(|(key, of_name)| course(key, of_name, moments))
            .collect(),
    })
}

fn course(key: &Key, of_name: &[(usize, Series)], moments: &[Moment]) -> json::NameCourse {
    let owned = |(tag, value): (&str, &str)| (tag.to_owned(), value.to_owned());
    let mut all = vec![Series::default(); moments.len()];
    for (index, series) in of_name {
        all[*index].merge(series);
    }
    let length_ns = |moment: &Moment| moment.end_ns.saturating_sub(moment.start_ns);
    let rate = |(series, moment): (&Series, &Moment)| {
        json::PerSecond(rounding::per_second(series.completed, length_ns(moment)))
    };
    let percentile = |percentile: f64| {
        let of = |series: &Series| series.percentile_ns(percentile).map(|ns| us(ns as f64));
        all.iter().map(of).collect()
    };
    json::NameCourse {
        name: key.name().to_owned(),
        tags: key.tags().map(owned).collect(),
        rate: all.iter().zip(moments).map(rate).collect(),
        failed: all.iter().map(|series| series.failed).collect(),
        p50_us: percentile(50.0),
        p95_us: percentile(95.0),
        p99_us: percentile(99.0),
    }
}

fn named(key: &Key, series: &Series, length_ns: u64) -> json::Named {
    let owned = |(tag, value): (&str, &str)| (tag.to_owned(), value.to_owned());
    let statuses = series.statuses.iter();
    json::Named {
        name: key.name().to_owned(),
        tags: key.tags().map(owned).collect(),
        answered: series.answered,
        failed: series.failed,
        rejected: series.rejected,
        statuses: statuses
            .map(|(status, count)| (status.to_string(), *count))
            .collect(),
        rate: json::PerSecond(rounding::per_second(series.completed, length_ns)),
        response_time_us: times(series),
    }
}

fn times(series: &Series) -> json::NamedTimes {
    let percentile = |percentile| percentile_ns(series, percentile).map(|ns| us(ns as f64));
    json::NamedTimes {
        mean: series.mean_ns().map(us),
        p50: percentile(50.0),
        p90: percentile(90.0),
        p95: percentile(95.0),
        p99: percentile(99.0),
        max: percentile(100.0),
    }
}
