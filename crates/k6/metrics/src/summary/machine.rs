//! The newer form of the summary for programs, which `--new-machine-readable-summary` selects.

use super::block::Check;
use super::data::number;
use super::text::{by_name, is_shown};
use super::{Ended, Shown};
use crate::threshold::Aggregation;
use crate::{Sink, Tally};
use serde_json::{Map, Value, json};

/// The description of a run in addition to its measurements.
#[derive(Clone, Debug)]
pub struct Described {
    /// The source of the script.
    pub script: String,
    /// The version of k6 that is emulated.
    pub version: String,
    /// The time at which the summary is created, in RFC 3339.
    pub at: String,
}

/// Returns the summary in its newer form. A full one contains all metrics.
pub fn machine_readable(ended: &Ended<'_>, is_full: bool, described: &Described) -> Value {
    let shown = ended.shown();
    let shown = shown.iter().filter(|shown| is_shown(shown, is_full));
    let metrics: Vec<Value> = shown.map(|shown| metric(ended, shown)).collect();
    json!({
        "version": "1.0.0",
        "config": {
            "script": described.script,
            "duration": ended.elapsed_ns as f64 / 1e9,
            "execution": "local",
        },
        "metadata": { "generated_at": described.at, "k6_version": described.version },
        "results": { "checks": checks(ended), "metrics": metrics },
    })
}

fn entry(name: &str, kind: &str, contains: &str, values: Value) -> Value {
    json!({ "name": name, "type": kind, "contains": contains, "values": values })
}

fn checks(ended: &Ended<'_>) -> Value {
    let checks = by_name(ended.totals.tally.checks().iter());
    if checks.is_empty() {
        return json!({ "metrics": [], "results": [] });
    }
    let passes: u64 = checks.iter().map(|check| check.1).sum();
    let fails: u64 = checks.iter().map(|check| check.2).sum();
    let total = passes + fails;
    let rate = |name: &str, count: u64| entry(name, "rate", "default", share(count, total));
    json!({
        "metrics": [
            entry("checks_total", "counter", "default", json!({ "count": total })),
            rate("checks_failed", fails),
            rate("checks_succeeded", passes),
        ],
        "results": check_results(&ended.totals.tally),
    })
}

/// Returns the name of each check, and how often it passed and failed; those of one name are added
/// up.
pub fn check_results(tally: &Tally) -> Vec<Value> {
    let checks = by_name(tally.checks().iter()).into_iter();
    let result =
        |(name, passes, fails): Check| json!({ "name": name, "passes": passes, "fails": fails });
    checks.map(result).collect()
}

fn share(matches: u64, total: u64) -> Value {
    let rate = matches as f64 / total.max(1) as f64;
    json!({ "matches": matches, "rate": number(rate), "total": total })
}

fn metric(ended: &Ended<'_>, shown: &Shown) -> Value {
    let values = match &shown.sink {
        Sink::Counter(counter) => json!({ "count": number(counter.count) }),
        Sink::Gauge(gauge) => json!({
            "value": number(gauge.value),
            "min": number(gauge.min),
            "max": number(gauge.max),
        }),
        Sink::Rate(rate) => share(rate.passes, rate.total),
        sink @ Sink::Trend(_) => stats(ended, sink),
    };
    let contains = shown.contains.name();
    entry(&shown.name(), shown.sink.kind().name(), contains, values)
}

/// Returns the statistics of a trend; `p(95)` is called `p95` here.
fn stats(ended: &Ended<'_>, sink: &Sink) -> Value {
    let stats = ended.trend_stats.iter().filter_map(|name| {
        let value = Aggregation::parse(name)?.of(sink, ended.elapsed_ns);
        Some((name.replace(['(', ')'], ""), number(value)))
    });
    Value::Object(stats.collect::<Map<_, _>>())
}
