//! The metrics that a script counted by itself: the words that text, page and comparison share.

use crate::layout;
use loadline_metrics::{CustomMetric, Gauge, Key, MetricUnit, Values};
use loadline_record::Summary;
use loadline_units as units;

/// The percentiles of a trend that are shown.
pub(crate) const PERCENTILES: [f64; 4] = [50.0, 90.0, 95.0, 99.0];

/// A metric as it is shown.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MetricLine {
    /// Its name and tags.
    pub(crate) label: String,
    /// The kind of the metric: what is computed from its values.
    pub(crate) kind: &'static str,
    /// Its figures by name; none without a value.
    pub(crate) figures: Vec<(String, String)>,
}

/// Every metric of a run, in the order of their names; one without a value only if none of its name
/// has any.
pub(crate) fn lines(summary: &Summary) -> Vec<MetricLine> {
    let rated_ns = summary.rated_ns();
    let line = |(key, metric): (&Key, &CustomMetric)| MetricLine {
        label: layout::harmless(&key.to_string()),
        kind: metric.kind().name(),
        figures: texts(metric, rated_ns),
    };
    let metrics = &summary.total.metrics;
    let has_values = |name: &str| {
        let mut of_name = metrics.iter().filter(|(key, _)| key.name() == name);
        of_name.any(|(_, metric)| metric.count() > 0)
    };
    let is_shown =
        |(key, metric): &(&Key, &CustomMetric)| metric.count() > 0 || !has_values(key.name());
    metrics.iter().filter(is_shown).map(line).collect()
}

/// Every figure of every metric with the words of a check, `payload.p95`, and its number.
pub(crate) fn numbers(summary: &Summary) -> Vec<(String, f64)> {
    let rated_ns = summary.rated_ns();
    let metrics = summary.total.metrics.iter();
    let of = |(key, metric): (&Key, &CustomMetric)| {
        let (name, tags) = (key.name().to_owned(), tags(key));
        let numbers = figures(metric, rated_ns).into_iter();
        numbers.map(move |(figure, number)| (format!("{name}.{figure}{tags}"), number))
    };
    metrics.flat_map(of).collect()
}

/// The tags in braces, if there are any.
fn tags(key: &Key) -> String {
    let all = key.to_string();
    all[key.name().len()..].to_owned()
}

/// Returns a note on values that are in no metric, if there are any.
pub(crate) fn left_out(summary: &Summary) -> Option<String> {
    let values = summary.total.metrics.left_out();
    (values > 0).then(|| {
        format!(
            "{} not counted: there are more metrics than {} (--max-series), or metrics of one name \
             and different kinds.",
            match values {
                1 => "1 value is".to_owned(),
                _ => format!("{} values are", units::count(values)),
            },
            units::count(summary.plan.max_series.into())
        )
    })
}

fn texts(metric: &CustomMetric, rated_ns: u64) -> Vec<(String, String)> {
    let figures = figures(metric, rated_ns).into_iter();
    let shown = |(name, number): (String, f64)| {
        let text = text(&name, number, metric.unit);
        (name, text)
    };
    figures.map(shown).collect()
}

/// The figures of a metric by the words of a check; none without a value.
pub(crate) fn figures(metric: &CustomMetric, rated_ns: u64) -> Vec<(String, f64)> {
    let count = ("count".to_owned(), metric.count() as f64);
    let named = |name: &str, number: f64| (name.to_owned(), number);
    match &metric.values {
        Values::Counter(counter) => {
            let per_second = counter.in_window.value() * 1e9 / rated_ns.max(1) as f64;
            vec![
                named("sum", counter.sum.value()),
                named("rate", per_second),
                count,
            ]
        }
        Values::Rate(rate) => {
            let share = rate.share().into_iter();
            share
                .flat_map(|share| [named("share", share), count.clone()])
                .collect()
        }
        Values::Gauge(gauge) => {
            let figures = |gauge: &Gauge| {
                [
                    named("last", gauge.last),
                    named("min", gauge.min),
                    named("max", gauge.max),
                ]
            };
            gauge.iter().flat_map(figures).collect()
        }
        Values::Trend(trend) => {
            let percentiles = PERCENTILES
                .iter()
                .map(|percentile| (format!("p{percentile}"), trend.percentile(*percentile)));
            let mut figures = vec![("mean".to_owned(), trend.mean())];
            figures.extend(percentiles);
            figures.push(("min".to_owned(), trend.min()));
            figures.push(("max".to_owned(), trend.max()));
            let known = |(name, number): (String, Option<f64>)| Some((name, number?));
            let mut figures: Vec<_> = figures.into_iter().filter_map(known).collect();
            figures.extend((trend.count() > 0).then_some(count));
            figures
        }
    }
}

/// A figure as text.
pub(crate) fn text(figure: &str, number: f64, unit: MetricUnit) -> String {
    match figure {
        "count" => units::count(number as u64),
        "share" => units::share(number),
        "rate" => format!("{}/s", in_unit(unit, number)),
        _ => in_unit(unit, number),
    }
}

/// A number in the unit of its metric.
fn in_unit(unit: MetricUnit, value: f64) -> String {
    let sign = if value < 0.0 { "-" } else { "" };
    match unit {
        MetricUnit::None => units::number(value),
        MetricUnit::Milliseconds => format!("{sign}{}", units::time(value.abs() * 1e6)),
        MetricUnit::Bytes => format!("{sign}{}", units::bytes(value.abs())),
    }
}
