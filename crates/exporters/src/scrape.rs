//! An endpoint that Prometheus scrapes: `GET /metrics`, text of version 0.0.4.
//!
//! Names and values are those of remote write, but for distributions: histograms with fixed bounds
//! (`…_seconds_bucket`), two of them a doubling, from 2^-14 to 2^6. Each bound is one of the
//! buckets in which values are counted here, so that none changes its bucket.
//!
//! The format: <https://prometheus.io/docs/instrumenting/exposition_formats/>.

mod server;
mod setup;

pub(crate) use setup::open;

use crate::exporter::{Layout, Message};
use crate::prometheus::valid_name;
use crate::{Batch, Histogram, Measured, SeriesKey, Unit, Value, exponential};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The schema of the bounds: two of them a doubling.
const SCHEMA: i32 = 1;
/// The first and the last bound, as buckets of that schema.
const BOUNDS: std::ops::RangeInclusive<i32> = -28..=12;

/// The layout of one run.
pub(super) struct Exposition {
    /// All that was measured since the begin of the run.
    total: Measured,
}

/// A family of series in the text.
struct Family {
    kind: &'static str,
    help: String,
    lines: String,
}

impl Layout for Exposition {
    fn write(&mut self, batches: Vec<Batch>) -> Vec<Message> {
        for batch in batches {
            self.total.merge(&batch.measured);
        }
        vec![Message::of(self.text().into_bytes())]
    }

    fn has_overflowed(&self) -> bool {
        self.total.has_overflowed()
    }
}

impl Exposition {
    fn text(&self) -> String {
        let mut families: BTreeMap<String, Family> = BTreeMap::new();
        for (key, value) in self.total.iter() {
            add(&mut families, key, value);
        }
        let mut text = String::new();
        for (name, family) in families {
            let Family { kind, help, lines } = family;
            // Writing to a text can't fail.
            let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n{lines}");
        }
        text
    }
}

fn add(families: &mut BTreeMap<String, Family>, key: &SeriesKey, value: &Value) {
    let (suffix, kind) = match (value, key.unit) {
        (Value::Counter(_), _) => ("_total", "counter"),
        (Value::Gauge(..), _) => ("", "gauge"),
        (Value::Rate(..), _) => ("_rate", "gauge"),
        (Value::Histogram(_), Unit::Seconds) => ("_seconds", "histogram"),
        (Value::Histogram(_), Unit::Milliseconds) => ("_milliseconds", "histogram"),
        (Value::Histogram(_), Unit::Bytes) => ("_bytes", "histogram"),
        (Value::Histogram(_), Unit::None) => ("", "histogram"),
    };
    let name = valid_name(&format!("loadline_{}{suffix}", key.metric));
    let family = families.entry(name.clone()).or_insert_with(|| Family {
        kind,
        help: help(&key.metric).to_owned(),
        lines: String::new(),
    });
    // A metric of a script may have the name of another one with another kind.
    if family.kind != kind {
        return;
    }
    let labels = labels(key);
    match value {
        Value::Counter(sum) => add_line(&mut family.lines, &name, &labels, *sum),
        Value::Gauge(last, _) => add_line(&mut family.lines, &name, &labels, *last),
        Value::Rate(nonzero, all) => {
            let share = *nonzero as f64 / (*all).max(1) as f64;
            add_line(&mut family.lines, &name, &labels, share);
        }
        Value::Histogram(histogram) => {
            add_histogram(&mut family.lines, &name, &labels, histogram);
        }
    }
}

fn add_histogram(lines: &mut String, name: &str, labels: &str, histogram: &Histogram) {
    let comma = if labels.is_empty() { "" } else { "," };
    for (bound, count) in cumulative(histogram) {
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

/// Returns each bound with the number of values up to it; the last one has no bound.
fn cumulative(histogram: &Histogram) -> Vec<(String, u64)> {
    let written = histogram.to_schema(SCHEMA, u32::MAX);
    let below = written.zero + written.negative.values().sum::<u64>();
    let first = written.positive.range(..BOUNDS.start());
    let mut passed = below + first.map(|(_, count)| count).sum::<u64>();
    let mut buckets = Vec::new();
    for bucket in BOUNDS {
        passed += written.positive.get(&bucket).copied().unwrap_or_default();
        buckets.push((exponential(SCHEMA, bucket).to_string(), passed));
    }
    buckets.push(("+Inf".to_owned(), histogram.count()));
    buckets
}

fn labels(key: &SeriesKey) -> String {
    let mut seen = BTreeMap::new();
    for (name, value) in key.labels.iter().filter(|(_, value)| !value.is_empty()) {
        let value = value
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\n', "\\n");
        seen.entry(valid_name(name)).or_insert(value);
    }
    let label = |(name, value): (String, String)| format!("{name}=\"{value}\"");
    seen.into_iter().map(label).collect::<Vec<_>>().join(",")
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
    use super::*;
    use crate::native::labels as labelled;

    fn exposed(series: &[(&str, Unit, Value)]) -> String {
        let mut measured = Measured::default();
        for (metric, unit, value) in series {
            let key = SeriesKey {
                metric: (*metric).into(),
                unit: *unit,
                labels: labelled([("name", "a \"b\"")]),
            };
            measured.add(key, value.clone());
        }
        let mut layout = Exposition {
            total: Measured::default(),
        };
        let message = layout.write(vec![Batch {
            measured,
            ..Batch::default()
        }]);
        String::from_utf8(message[0].body.clone()).unwrap()
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
