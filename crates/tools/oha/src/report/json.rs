//! The report as JSON: oha's keys in oha's order. A value that is not a finite number is null.

use super::super::distribution::{Distribution, Extremes, PERCENTILES};
use super::Measured;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Number, Value, json};
use std::collections::BTreeMap;

/// An object that keeps the order of its keys.
struct Object(Vec<(&'static str, Part)>);

enum Part {
    Value(Value),
    Object(Object),
    /// Keys that occurred while the run lasted, with their counts.
    Counts(Vec<(String, u64)>),
}

impl Serialize for Part {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Part::Value(value) => value.serialize(serializer),
            Part::Object(object) => object.serialize(serializer),
            Part::Counts(counts) => {
                let mut map = serializer.serialize_map(Some(counts.len()))?;
                for (key, count) in counts {
                    map.serialize_entry(key, count)?;
                }
                map.end()
            }
        }
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, part) in &self.0 {
            map.serialize_entry(key, part)?;
        }
        map.end()
    }
}

/// Returns a run as JSON, without a line's end.
pub(in super::super) fn json(measured: &Measured) -> String {
    let tally = &measured.tally;
    let mut keys = vec![
        ("summary", summary(measured)),
        ("metrics", metrics(measured)),
        ("responseTimeHistogram", histogram(&tally.latency)),
        ("latencyPercentiles", percentiles(&tally.latency)),
        ("firstByteHistogram", histogram(&tally.first_byte)),
        ("firstBytePercentiles", percentiles(&tally.first_byte)),
    ];
    if let Some(both) = &tally.by_status {
        keys.push(("responseTimeHistogramSuccessful", histogram(&both[0])));
        keys.push(("latencyPercentilesSuccessful", percentiles(&both[0])));
        keys.push(("responseTimeHistogramNotSuccessful", histogram(&both[1])));
        keys.push(("latencyPercentilesNotSuccessful", percentiles(&both[1])));
    }
    keys.push(("rps", rates(&tally.windows.rates())));
    keys.push(("details", details(measured)));
    let statuses = tally.statuses.iter();
    let statuses = statuses.map(|(status, count)| (status.to_string(), *count));
    keys.push(("statusCodeDistribution", Part::Counts(statuses.collect())));
    let mut errors = measured.errors();
    errors.sort();
    keys.push(("errorDistribution", Part::Counts(errors)));
    serde_json::to_string_pretty(&Object(keys)).expect("keys are text")
}

/// Returns a number, or null if it is not finite.
fn number(value: f64) -> Part {
    Part::Value(Number::from_f64(value).map_or(Value::Null, Value::Number))
}

fn summary(measured: &Measured) -> Part {
    let latency = measured.tally.latency.extremes();
    Part::Object(Object(vec![
        ("successRate", number(measured.success_rate())),
        ("total", number(measured.total)),
        ("slowest", number(latency.slowest())),
        ("fastest", number(latency.fastest())),
        ("average", number(latency.average())),
        ("requestsPerSec", number(measured.requests_per_second())),
        ("totalData", Part::Value(json!(measured.tally.bytes))),
        (
            "sizePerRequest",
            Part::Value(json!(measured.bytes_per_request())),
        ),
        ("sizePerSec", number(measured.bytes_per_second())),
    ]))
}

fn metrics(measured: &Measured) -> Part {
    let times = &measured.tally.latency;
    let ms = |seconds: f64| number((seconds * 1e6).round() / 1e3);
    let latency = Object(vec![
        ("min", ms(times.extremes().fastest())),
        ("mean", ms(times.extremes().average())),
        ("p50", ms(times.percentile(50.0))),
        ("p95", ms(times.percentile(95.0))),
        ("p99", ms(times.percentile(99.0))),
        ("max", ms(times.extremes().slowest())),
    ]);
    Part::Object(Object(vec![
        ("success_rate", number(measured.success_rate())),
        ("requests_per_sec", number(measured.requests_per_second())),
        ("latency_ms", Part::Object(latency)),
    ]))
}

/// Returns the counts by label. Bars with the same label are added up.
fn histogram(times: &Distribution) -> Part {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for (label, count) in times.bars() {
        *counts.entry(label.to_string()).or_default() += count;
    }
    Part::Counts(counts.into_iter().collect())
}

fn percentiles(times: &Distribution) -> Part {
    named_percentiles(|percent| times.percentile(percent))
}

fn named_percentiles(of: impl Fn(f64) -> f64) -> Part {
    const NAMES: [&str; 9] = [
        "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p99.9", "p99.99",
    ];
    let each = NAMES.into_iter().zip(PERCENTILES);
    let each = each.map(|(name, percent)| (name, number(of(percent))));
    Part::Object(Object(each.collect()))
}

fn rates(rates: &[f64]) -> Part {
    let count = rates.len() as f64;
    let mean = rates.iter().sum::<f64>() / count;
    let squares: f64 = rates.iter().map(|rate| (rate - mean).powi(2)).sum();
    let at = |percent: f64| {
        let index = (percent / 100.0 * count) as usize;
        rates.get(index).copied().unwrap_or(f64::NAN)
    };
    Part::Object(Object(vec![
        ("mean", number(mean)),
        ("stddev", number((squares / (count - 1.0).max(0.0)).sqrt())),
        ("max", number(rates.last().copied().unwrap_or(f64::NAN))),
        ("min", number(rates.first().copied().unwrap_or(f64::NAN))),
        ("percentiles", named_percentiles(at)),
    ]))
}

fn details(measured: &Measured) -> Part {
    let three = |times: &Extremes| {
        Part::Object(Object(vec![
            ("average", number(times.average())),
            ("fastest", number(times.fastest())),
            ("slowest", number(times.slowest())),
        ]))
    };
    let tally = &measured.tally;
    Part::Object(Object(vec![
        ("DNSDialup", three(&tally.dial)),
        ("DNSLookup", three(&tally.lookup)),
        ("firstByte", three(tally.first_byte.extremes())),
    ]))
}
