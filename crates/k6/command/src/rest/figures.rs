//! The measurements so far in the form of the REST API: metrics, groups and checks.

use super::{Check, Group, Metric};
use loadline_k6_metrics::{Observed, Outcome, Sink, Totals, average, summary};
use serde_json::Value;
use std::collections::BTreeMap;

/// Returns the metrics and submetrics that have values. `outcomes` are the last results of the
/// thresholds.
pub(crate) fn metrics(totals: &Totals, outcomes: &[Outcome], elapsed_ns: u64) -> Vec<Metric> {
    let metric = |observed: Observed<'_>| Metric {
        kind: observed.sink.kind().name(),
        contains: observed.contains.name(),
        is_tainted: is_tainted(&observed.name, outcomes),
        sample: sample(observed.sink, elapsed_ns),
        name: observed.name,
    };
    totals.observed().into_iter().map(metric).collect()
}

/// True if a threshold of the metric was crossed; `None` if no threshold of it was judged.
fn is_tainted(name: &str, outcomes: &[Outcome]) -> Option<bool> {
    let mut own = outcomes.iter().filter(|outcome| outcome.metric == name);
    let first = own.next()?;
    Some(!first.is_ok || own.any(|outcome| !outcome.is_ok))
}

fn sample(sink: &Sink, elapsed_ns: u64) -> BTreeMap<String, f64> {
    let figures: Vec<(&str, f64)> = match sink {
        Sink::Counter(counter) => {
            let seconds = elapsed_ns as f64 / 1e9;
            let rate = match seconds > 0.0 {
                true => counter.count / seconds,
                false => 0.0,
            };
            vec![("count", counter.count), ("rate", rate)]
        }
        Sink::Gauge(gauge) => vec![("value", gauge.value)],
        Sink::Rate(rate) => vec![("rate", rate.share())],
        Sink::Trend(trend) => {
            let percentiles = trend.interpolated(&[0.5, 0.9, 0.95]);
            let named = ["med", "p(90)", "p(95)"].into_iter().zip(percentiles);
            let rest = [
                ("avg", average(trend)),
                ("min", trend.min().unwrap_or(0.0)),
                ("max", trend.max().unwrap_or(0.0)),
            ];
            named.chain(rest).collect()
        }
    };
    let named = figures.into_iter();
    named
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// Returns the root group. `md5_hex` computes the identifiers.
pub(crate) fn groups(totals: &Totals, md5_hex: &dyn Fn(&str) -> String) -> Group {
    group(&summary::root_group(totals, md5_hex))
}

fn group(value: &Value) -> Group {
    let list = |name: &str| value[name].as_array().into_iter().flatten();
    Group {
        id: text(value, "id"),
        path: text(value, "path"),
        name: text(value, "name"),
        checks: list("checks").map(check).collect(),
        groups: list("groups").map(group).collect(),
    }
}

fn check(value: &Value) -> Check {
    Check {
        id: text(value, "id"),
        path: text(value, "path"),
        name: text(value, "name"),
        passes: value["passes"].as_u64().unwrap_or(0),
        fails: value["fails"].as_u64().unwrap_or(0),
    }
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}
