//! An endpoint that Prometheus scrapes: `GET /metrics`, text of version 0.0.4, or protobuf with
//! native histograms for whoever takes that.
//!
//! Names and values are those of remote write, but for distributions: histograms with fixed bounds
//! (`…_seconds_bucket`), two of them a doubling, from 2^-14 to 2^6. Each bound is one of the
//! buckets in which values are counted here, so that none changes its bucket.
//!
//! The format: <https://prometheus.io/docs/instrumenting/exposition_formats/>.

mod protobuf;
mod server;
mod setup;

pub(crate) use setup::open;

use crate::exporter::{Layout, Message};
use crate::prometheus::valid_name;
use crate::{Batch, Histogram, Measured, SeriesKey, Unit, Value, exponential};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The schema of the bounds: two of them a doubling.
const SCHEMA: i32 = 1;
/// The first and the last bound, as buckets of that schema.
const BOUNDS: std::ops::RangeInclusive<i32> = -28..=12;

/// What clients read of one run. It is written when one comes, not in each interval.
pub(super) struct Exposition {
    /// What all names begin with.
    prefix: String,
    /// All that was measured since the begin of the run.
    total: Measured,
}

/// The exposition, shared by the exporter and the server.
#[derive(Clone)]
pub(super) struct Shared(Arc<Mutex<Exposition>>);

/// The series of one name.
struct Family<'a> {
    kind: &'static str,
    help: String,
    series: Vec<(&'a SeriesKey, &'a Value)>,
}

impl Layout for Shared {
    fn write(&mut self, batches: &[Arc<Batch>]) -> Vec<Message> {
        let mut exposition = self.locked();
        for batch in batches {
            exposition.total.merge(&batch.measured);
        }
        Vec::new()
    }

    fn has_overflowed(&self) -> bool {
        self.locked().total.has_overflowed()
    }
}

impl Shared {
    /// Creates an exposition without series, whose names begin with this.
    fn new(prefix: &str) -> Shared {
        Shared(Arc::new(Mutex::new(Exposition {
            prefix: prefix.to_owned(),
            total: Measured::default(),
        })))
    }

    fn locked(&self) -> MutexGuard<'_, Exposition> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Exposition {
    /// Returns the text of all series.
    fn text(&self) -> Vec<u8> {
        text(&self.families()).into_bytes()
    }

    /// Returns all series as messages of protobuf.
    fn protobuf(&self) -> Vec<u8> {
        let mut body = Vec::new();
        for (name, family) in &self.families() {
            protobuf::write(name, family, &mut body);
        }
        body
    }

    fn families(&self) -> BTreeMap<String, Family<'_>> {
        let mut families: BTreeMap<String, Family<'_>> = BTreeMap::new();
        for (key, value) in self.total.iter() {
            let (suffix, kind) = suffix_and_kind(key, value);
            let name = valid_name(&format!("{}{}{suffix}", self.prefix, key.metric));
            let family = families.entry(name).or_insert_with(|| Family {
                kind,
                help: help(&key.metric).to_owned(),
                series: Vec::new(),
            });
            // A metric of a script may have the name of another one with another kind.
            if family.kind == kind {
                family.series.push((key, value));
            }
        }
        families
    }
}

fn suffix_and_kind(key: &SeriesKey, value: &Value) -> (&'static str, &'static str) {
    match (value, key.unit) {
        (Value::Counter(_), _) => ("_total", "counter"),
        (Value::Gauge(..), _) => ("", "gauge"),
        (Value::Rate(..), _) => ("_rate", "gauge"),
        (Value::Histogram(_), Unit::Seconds) => ("_seconds", "histogram"),
        (Value::Histogram(_), Unit::Milliseconds) => ("_milliseconds", "histogram"),
        (Value::Histogram(_), Unit::Bytes) => ("_bytes", "histogram"),
        (Value::Histogram(_), Unit::None) => ("", "histogram"),
    }
}

fn text(families: &BTreeMap<String, Family<'_>>) -> String {
    let mut text = String::new();
    for (name, family) in families {
        let Family { kind, help, series } = family;
        // Writing to a text can't fail.
        let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
        for (key, value) in series {
            add(&mut text, name, key, value);
        }
    }
    text
}

fn add(text: &mut String, name: &str, key: &SeriesKey, value: &Value) {
    let labels = written(key);
    match value {
        Value::Counter(sum) => add_line(text, name, &labels, *sum),
        Value::Gauge(last, _) => add_line(text, name, &labels, *last),
        Value::Rate(nonzero, all) => {
            let share = *nonzero as f64 / (*all).max(1) as f64;
            add_line(text, name, &labels, share);
        }
        Value::Histogram(histogram) => add_histogram(text, name, &labels, histogram),
    }
}

fn add_histogram(lines: &mut String, name: &str, labels: &str, histogram: &Histogram) {
    let comma = if labels.is_empty() { "" } else { "," };
    for (bound, count) in cumulative(histogram) {
        let bound = match bound.is_finite() {
            true => bound.to_string(),
            false => "+Inf".to_owned(),
        };
        let labels = format!("{labels}{comma}le=\"{bound}\"");
        add_line(lines, &format!("{name}_bucket"), &labels, count as f64);
    }
    add_line(lines, &format!("{name}_sum"), labels, histogram.sum());
    let count = histogram.count() as f64;
    add_line(lines, &format!("{name}_count"), labels, count);
}

fn add_line(lines: &mut String, name: &str, labels: &str, value: f64) {
    // Writing to a text can't fail.
    let _ = match labels.is_empty() {
        true => writeln!(lines, "{name} {value}"),
        false => writeln!(lines, "{name}{{{labels}}} {value}"),
    };
}

/// Returns each bound with the number of values up to it; the last bound is infinite.
fn cumulative(histogram: &Histogram) -> Vec<(f64, u64)> {
    let written = histogram.to_schema(SCHEMA, u32::MAX);
    let mut passed = written.zero + written.negative.sum();
    let mut above = written.positive.iter().peekable();
    let mut buckets = Vec::new();
    for bound in BOUNDS {
        while let Some((_, count)) = above.next_if(|(bucket, _)| *bucket <= bound) {
            passed += count;
        }
        buckets.push((exponential(SCHEMA, bound), passed));
    }
    buckets.push((f64::INFINITY, histogram.count()));
    buckets
}

/// Returns the labels that have a value, in the order of their names.
fn labels(key: &SeriesKey) -> BTreeMap<String, String> {
    let mut labels = BTreeMap::new();
    for (name, value) in key.labels.iter().filter(|(_, value)| !value.is_empty()) {
        let label = labels.entry(valid_name(name));
        label.or_insert_with(|| value.clone());
    }
    labels
}

fn written(key: &SeriesKey) -> String {
    let label = |(name, value): (String, String)| {
        let value = value
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\n', "\\n");
        format!("{name}=\"{value}\"")
    };
    let labels = labels(key).into_iter().map(label);
    labels.collect::<Vec<_>>().join(",")
}

fn help(metric: &str) -> &'static str {
    match metric {
        "requests" => "Arrivals and exchanges, by what became of them.",
        "responses" => "Responses.",
        "failures" => "Exchanges without a response, by error kind.",
        "failed_requests" => "Exchanges without a response, by the name of the request.",
        "response" => "Response time, from the intended start.",
        "service" => "Service time, from the start.",
        "lateness" => "Delay added by Loadline.",
        "in_flight" => "Exchanges in flight.",
        "connections" => "Connections opened.",
        "reconnects" => "Kept-alive connections that the server had closed and that were replaced.",
        "received_bytes" => "Bytes received, inside TLS.",
        "sent_bytes" => "Bytes sent, inside TLS.",
        _ => "A metric of the script.",
    }
}

#[cfg(test)]
mod tests {
    use super::protobuf::MetricFamily;
    use super::*;
    use crate::native::labels as labelled;
    use prost::Message as _;

    /// What is exposed of these, as text and as protobuf.
    fn both(series: &[(&str, Unit, Value)]) -> (String, Vec<u8>) {
        let mut measured = Measured::default();
        for (metric, unit, value) in series {
            let key = SeriesKey {
                metric: (*metric).into(),
                unit: *unit,
                labels: labelled([("name", "a \"b\"")]),
            };
            measured.add(key, value.clone());
        }
        let mut shared = Shared::new("loadline_");
        let batch = Batch {
            measured,
            ..Batch::default()
        };
        assert_eq!(shared.write(&[Arc::new(batch)]), []);
        let exposition = shared.locked();
        let text = String::from_utf8(exposition.text());
        (text.unwrap(), exposition.protobuf())
    }

    fn exposed(series: &[(&str, Unit, Value)]) -> String {
        both(series).0
    }

    #[test]
    fn protobuf_has_the_same_with_native_histograms() {
        let mut histogram = Histogram::default();
        for value in [0.25, 0.5, 0.5] {
            histogram.add(value, 1);
        }
        let (_, binary) = both(&[
            (
                "response",
                Unit::Seconds,
                Value::Histogram(Box::new(histogram)),
            ),
            ("responses", Unit::None, Value::Counter(3.0)),
        ]);
        let mut rest = &binary[..];
        let mut families = Vec::new();
        while !rest.is_empty() {
            families.push(MetricFamily::decode_length_delimited(&mut rest).unwrap());
        }
        let names: Vec<&str> = families.iter().map(|family| family.name.as_str()).collect();
        assert_eq!(
            names,
            ["loadline_response_seconds", "loadline_responses_total"]
        );
        let histogram = families[0].metrics[0].histogram.clone().unwrap();
        assert_eq!(
            (histogram.count, &histogram.positive_deltas[..]),
            (3, &[1, 1][..])
        );
        let half = histogram.buckets.iter().find(|one| one.upper_bound == 0.25);
        assert_eq!(half.unwrap().cumulative_count, 1);
    }

    #[test]
    fn counters_and_gauges_have_a_line_each() {
        let text = exposed(&[
            ("responses", Unit::None, Value::Counter(3.0)),
            ("in_flight", Unit::None, Value::Gauge(2.0, 1)),
        ]);
        assert_eq!(
            text,
            "# HELP loadline_in_flight Exchanges in flight.\n\
             # TYPE loadline_in_flight gauge\n\
             loadline_in_flight{name=\"a \\\"b\\\"\"} 2\n\
             # HELP loadline_responses_total Responses.\n\
             # TYPE loadline_responses_total counter\n\
             loadline_responses_total{name=\"a \\\"b\\\"\"} 3\n"
        );
    }

    #[test]
    fn buckets_count_what_lies_up_to_their_bounds() {
        let mut histogram = Histogram::default();
        for value in [0.0, 1e-9, 0.5, 0.51, 1_000.0] {
            histogram.add(value, 1);
        }
        let text = exposed(&[(
            "response",
            Unit::Seconds,
            Value::Histogram(Box::new(histogram)),
        )]);
        let count = |bound: &str| {
            let end = format!("le=\"{bound}\"}} ");
            let line = text.lines().find(|line| line.contains(&end)).unwrap();
            line.rsplit_once(' ').unwrap().1.to_owned()
        };
        assert_eq!(
            (count("0.00006103515625"), count("0.25")),
            ("2".into(), "2".into())
        );
        assert_eq!((count("0.5"), count("1")), ("3".into(), "4".into()));
        assert_eq!((count("64"), count("+Inf")), ("4".into(), "5".into()));
        assert!(text.contains("loadline_response_seconds_count{name=\"a \\\"b\\\"\"} 5\n"));
    }
}
