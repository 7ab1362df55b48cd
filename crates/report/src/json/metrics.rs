//! The metrics that a script counted by itself.

use crate::metrics::PERCENTILES;
use loadline_json as json;
use loadline_metrics::{CustomMetric, Key, MetricKind, MetricUnit, Values};
use loadline_record::Summary;

pub(super) fn metrics(summary: &Summary) -> Vec<json::CustomMetric> {
    let seconds = summary.rated_ns() as f64 / 1e9;
    let metrics = summary.total.metrics.iter();
    metrics
        .map(|(key, metric)| with_figures(named(key, metric), &metric.values, seconds))
        .collect()
}

pub(super) fn kind(metric: &CustomMetric) -> json::MetricKind {
    match metric.kind() {
        MetricKind::Trend => json::MetricKind::Trend,
        MetricKind::Counter => json::MetricKind::Counter,
        MetricKind::Rate => json::MetricKind::Rate,
        MetricKind::Gauge => json::MetricKind::Gauge,
    }
}

fn named(key: &Key, metric: &CustomMetric) -> json::CustomMetric {
    let owned = |(tag, value): (&str, &str)| (tag.to_owned(), value.to_owned());
    json::CustomMetric {
        name: key.name().to_owned(),
        tags: key.tags().map(owned).collect(),
        kind: kind(metric),
        unit: match metric.unit {
            MetricUnit::None => None,
            unit @ (MetricUnit::Milliseconds | MetricUnit::Bytes) => Some(unit.name().to_owned()),
        },
        count: metric.count(),
        sum: None,
        rate: None,
        share: None,
        last: None,
        min: None,
        max: None,
        mean: None,
        percentiles: Default::default(),
    }
}

fn with_figures(metric: json::CustomMetric, values: &Values, seconds: f64) -> json::CustomMetric {
    match values {
        Values::Counter(counter) => json::CustomMetric {
            sum: Some(counter.sum.value()),
            rate: (seconds > 0.0).then(|| counter.in_window.value() / seconds),
            ..metric
        },
        Values::Rate(rate) => json::CustomMetric {
            share: rate.share(),
            ..metric
        },
        Values::Gauge(gauge) => json::CustomMetric {
            last: gauge.map(|gauge| gauge.last),
            min: gauge.map(|gauge| gauge.min),
            max: gauge.map(|gauge| gauge.max),
            ..metric
        },
        Values::Trend(trend) => {
            let percentile =
                |percentile: &f64| Some((format!("p{percentile}"), trend.percentile(*percentile)?));
            json::CustomMetric {
                min: trend.min(),
                max: trend.max(),
                mean: trend.mean(),
                percentiles: PERCENTILES.iter().filter_map(percentile).collect(),
                ..metric
            }
        }
    }
}
