//! Prometheus remote write: protobuf of version 1 in snappy blocks.
//!
//! Each metric becomes series by k6's rules, with its names after a prefix: a counter
//! `…_total`, a gauge as it is, a rate `…_rate`, a distribution a native histogram with its unit
//! (`…_seconds`), and gauges of some statistics (`…_p99`). The names never collide, so that both
//! are sent, and boards of both kinds work. Everything is cumulative since the begin of the run.
//! Histograms travel in messages of their own: a receiver that refuses them still has the rest.
//!
//! The format: <https://prometheus.io/docs/specs/prw/remote_write_spec/>.

mod setup;

pub(crate) use setup::open;

use crate::exporter::{Kind, Layout, Message};
use crate::histogram::{Exponential, ZERO_THRESHOLD};
use crate::{Batch, Buckets, Histogram, Measured, SeriesKey, Unit, Value};
use prost::Message as _;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The most series of one message.
const MOST_SERIES_AT_ONCE: usize = 5_000;
/// The most buckets of a histogram, from the first with a value to the last.
const MOST_BUCKETS: u32 = 160;
/// The value that ends a series.
const STALE: u64 = 0x7ff0_0000_0000_0002;

/// What is written, and under which names.
#[derive(Clone, Debug, PartialEq)]
struct Form {
    /// What all names begin with.
    prefix: String,
    /// The statistics of distributions that are gauges.
    stats: Vec<Stat>,
    /// True if distributions are native histograms.
    histograms: bool,
    /// The finest schema of native histograms.
    schema: i32,
    /// True if all series end with the run.
    marks_stale: bool,
}

/// A statistic of a distribution.
#[derive(Clone, Debug, PartialEq)]
struct Stat {
    /// What its names end in.
    suffix: String,
    figure: Figure,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Figure {
    Mean,
    Min,
    Max,
    Count,
    Sum,
    Percentile(f64),
}

impl Stat {
    /// Parses k6's name of a statistic, such as `p(99)` or `avg`; `None` if it is none.
    fn parse(name: &str) -> Option<Stat> {
        let percentile = name
            .strip_prefix("p(")
            .and_then(|rest| rest.strip_suffix(')'));
        let figure = match (name, percentile) {
            (_, Some(text)) => {
                let number: f64 = text.parse().ok()?;
                Figure::Percentile(Some(number).filter(|one| (0.0..=100.0).contains(one))?)
            }
            ("avg", _) => Figure::Mean,
            ("min", _) => Figure::Min,
            ("max", _) => Figure::Max,
            ("med", _) => Figure::Percentile(50.0),
            ("count", _) => Figure::Count,
            ("sum", _) => Figure::Sum,
            _ => return None,
        };
        let suffix = match percentile {
            Some(text) => format!("p{}", text.replace('.', "")),
            None => name.to_owned(),
        };
        Some(Stat { suffix, figure })
    }

    fn of(&self, histogram: &Histogram) -> f64 {
        let value = match self.figure {
            Figure::Mean => histogram.mean(),
            Figure::Min => histogram.min(),
            Figure::Max => histogram.max(),
            Figure::Count => Some(histogram.count() as f64),
            Figure::Sum => Some(histogram.sum()),
            Figure::Percentile(percentile) => histogram.percentile(percentile),
        };
        value.unwrap_or_default()
    }
}

/// The layout of one run.
struct RemoteWrite {
    form: Form,
    /// All that was measured since the begin of the run.
    total: Measured,
    /// The time of the last message, in milliseconds since 1970.
    last_ms: i64,
}

impl RemoteWrite {
    fn new(form: Form) -> RemoteWrite {
        RemoteWrite {
            form,
            total: Measured::default(),
            last_ms: 0,
        }
    }

    /// Returns all series as they stand now.
    fn series(&self) -> (Vec<TimeSeries>, Vec<TimeSeries>) {
        let (mut values, mut histograms) = (Vec::new(), Vec::new());
        for (key, value) in self.total.iter() {
            let one = |suffix: &str, value| self.value(key, suffix, value);
            match value {
                Value::Counter(sum) => values.push(one("_total", *sum)),
                Value::Gauge(last, _) => values.push(one("", *last)),
                Value::Rate(nonzero, all) => {
                    let share = *nonzero as f64 / (*all).max(1) as f64;
                    values.push(one("_rate", share));
                }
                Value::Histogram(histogram) => {
                    for stat in &self.form.stats {
                        values.push(one(&format!("_{}", stat.suffix), stat.of(histogram)));
                    }
                    if self.form.histograms {
                        histograms.push(self.histogram(key, histogram));
                        histograms.extend(self.exemplars(key, histogram));
                    }
                }
            }
        }
        (values, histograms)
    }

    fn value(&self, key: &SeriesKey, suffix: &str, value: f64) -> TimeSeries {
        TimeSeries {
            labels: self.labels(key, suffix),
            samples: vec![Sample {
                value,
                timestamp: self.last_ms,
            }],
            ..TimeSeries::default()
        }
    }

    fn histogram(&self, key: &SeriesKey, histogram: &Histogram) -> TimeSeries {
        TimeSeries {
            labels: self.labels(key, suffix(key.unit)),
            histograms: vec![native(histogram, self.form.schema, self.last_ms)],
            ..TimeSeries::default()
        }
    }

    /// Returns the traces of single values of a histogram, if there are any. They follow it: a
    /// receiver takes those of a series that it knows.
    fn exemplars(&self, key: &SeriesKey, histogram: &Histogram) -> Option<TimeSeries> {
        let exemplars = histogram.exemplars();
        (!exemplars.is_empty()).then(|| TimeSeries {
            labels: self.labels(key, suffix(key.unit)),
            exemplars: exemplars.iter().map(exemplar).collect(),
            ..TimeSeries::default()
        })
    }

    /// Returns the labels in the order of their names, as the format requires. As in k6, those
    /// without a value are left out.
    fn labels(&self, key: &SeriesKey, suffix: &str) -> Vec<Label> {
        let name = format!("{}{}{suffix}", self.form.prefix, key.metric);
        let mut labels = BTreeMap::from([("__name__".to_owned(), valid_name(&name))]);
        for (name, value) in key.labels.iter().filter(|(_, value)| !value.is_empty()) {
            let name = valid_name(name);
            labels.entry(name).or_insert_with(|| value.clone());
        }
        let label = |(name, value)| Label { name, value };
        labels.into_iter().map(label).collect()
    }
}

impl Layout for RemoteWrite {
    fn write(&mut self, batches: &[Arc<Batch>]) -> Vec<Message> {
        let mut at_ns = 0;
        for batch in batches {
            self.total.merge(&batch.measured);
            at_ns = at_ns.max(batch.at_ns);
        }
        // Of two samples of one time the receiver keeps one.
        self.last_ms = (self.last_ms + 1).max((at_ns / 1_000_000) as i64);
        let (values, histograms) = self.series();
        self.total.forget_exemplars();
        let mut messages = packed(values, Kind::Values);
        messages.extend(packed(histograms, Kind::Histograms));
        messages
    }

    fn end(&mut self) -> Vec<Message> {
        if !self.form.marks_stale || self.total.is_empty() {
            return Vec::new();
        }
        self.last_ms += 1;
        let (mut values, histograms) = self.series();
        values.extend(histograms);
        for series in &mut values {
            series.histograms.clear();
            series.samples = vec![Sample {
                value: f64::from_bits(STALE),
                timestamp: self.last_ms,
            }];
        }
        packed(values, Kind::Values)
    }

    fn go_without(&mut self, kind: Kind, reason: &str) -> Option<&'static str> {
        let are_refused = kind == Kind::Histograms && reason.contains("histogram");
        (are_refused && std::mem::take(&mut self.form.histograms)).then_some(
            "it takes no native histograms, so that only gauges and counters are sent; start it \
             with --enable-feature=native-histograms.",
        )
    }

    fn has_overflowed(&self) -> bool {
        self.total.has_overflowed()
    }
}

/// Returns what the name of a histogram of this unit ends in.
fn suffix(unit: Unit) -> &'static str {
    match unit {
        Unit::None => "",
        Unit::Seconds => "_seconds",
        Unit::Milliseconds => "_milliseconds",
        Unit::Bytes => "_bytes",
    }
}

fn exemplar(exemplar: &crate::Exemplar) -> Exemplar {
    let label = |name: &str, value: String| Label {
        name: name.to_owned(),
        value,
    };
    Exemplar {
        labels: vec![
            label("span_id", format!("{:016x}", exemplar.span_id)),
            label("trace_id", format!("{:032x}", exemplar.trace_id)),
        ],
        value: exemplar.value,
        timestamp: (exemplar.at_ns / 1_000_000) as i64,
    }
}

/// Returns a name with `_` in place of what Prometheus does not allow.
pub(crate) fn valid_name(name: &str) -> String {
    let valid = |letter: char| match letter {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => letter,
        _ => '_',
    };
    let mut text: String = name.chars().map(valid).collect();
    if text.is_empty() || text.starts_with(|letter: char| letter.is_ascii_digit()) {
        text.insert(0, '_');
    }
    text
}

fn packed(mut series: Vec<TimeSeries>, kind: Kind) -> Vec<Message> {
    let mut messages = Vec::new();
    while !series.is_empty() {
        let rest = series.split_off(series.len().min(MOST_SERIES_AT_ONCE));
        let request = WriteRequest { timeseries: series };
        let compressed = snap::raw::Encoder::new().compress_vec(&request.encode_to_vec());
        messages.push(Message {
            body: compressed.expect("a message is far below the 4 GB of snappy"),
            kind,
        });
        series = rest;
    }
    messages
}

fn native(histogram: &Histogram, schema: i32, timestamp: i64) -> NativeHistogram {
    let Exponential {
        schema,
        positive,
        negative,
        zero,
    } = histogram.to_schema(schema, MOST_BUCKETS);
    let (positive_spans, positive_deltas) = spans(&positive);
    let (negative_spans, negative_deltas) = spans(&negative);
    NativeHistogram {
        count: Some(Count::Int(histogram.count())),
        sum: histogram.sum(),
        schema,
        zero_threshold: ZERO_THRESHOLD,
        zero_count: Some(ZeroCount::Int(zero)),
        negative_spans,
        negative_deltas,
        positive_spans,
        positive_deltas,
        timestamp,
    }
}

/// Returns buckets as runs of indices, and their counts as differences from bucket to bucket. The
/// first offset is an index, the others are gaps.
pub(crate) fn spans(buckets: &Buckets) -> (Vec<Span>, Vec<i64>) {
    let (mut spans, mut deltas) = (Vec::<Span>::new(), Vec::new());
    let (mut next, mut before) = (0, 0);
    for (bucket, count) in buckets.iter() {
        match spans.last_mut() {
            Some(span) if bucket == next => span.length += 1,
            _ => spans.push(Span {
                offset: bucket - next,
                length: 1,
            }),
        }
        deltas.push(count as i64 - before);
        (next, before) = (bucket + 1, count as i64);
    }
    (spans, deltas)
}

/// Series to store.
#[derive(Clone, PartialEq, prost::Message)]
struct WriteRequest {
    #[prost(message, repeated, tag = "1")]
    timeseries: Vec<TimeSeries>,
}

/// A series with samples, histograms or traces of single values.
#[derive(Clone, PartialEq, prost::Message)]
struct TimeSeries {
    #[prost(message, repeated, tag = "1")]
    labels: Vec<Label>,
    #[prost(message, repeated, tag = "2")]
    samples: Vec<Sample>,
    #[prost(message, repeated, tag = "3")]
    exemplars: Vec<Exemplar>,
    #[prost(message, repeated, tag = "4")]
    histograms: Vec<NativeHistogram>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Label {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    value: String,
}

/// A value at an instant, in milliseconds since 1970.
#[derive(Clone, PartialEq, prost::Message)]
struct Sample {
    #[prost(double, tag = "1")]
    value: f64,
    #[prost(int64, tag = "2")]
    timestamp: i64,
}

/// A value with the labels of its trace, at an instant in milliseconds since 1970.
#[derive(Clone, PartialEq, prost::Message)]
struct Exemplar {
    #[prost(message, repeated, tag = "1")]
    labels: Vec<Label>,
    #[prost(double, tag = "2")]
    value: f64,
    #[prost(int64, tag = "3")]
    timestamp: i64,
}

/// A histogram at an instant.
#[derive(Clone, PartialEq, prost::Message)]
struct NativeHistogram {
    #[prost(oneof = "Count", tags = "1")]
    count: Option<Count>,
    #[prost(double, tag = "3")]
    sum: f64,
    #[prost(sint32, tag = "4")]
    schema: i32,
    #[prost(double, tag = "5")]
    zero_threshold: f64,
    #[prost(oneof = "ZeroCount", tags = "6")]
    zero_count: Option<ZeroCount>,
    #[prost(message, repeated, tag = "8")]
    negative_spans: Vec<Span>,
    #[prost(sint64, repeated, tag = "9")]
    negative_deltas: Vec<i64>,
    #[prost(message, repeated, tag = "11")]
    positive_spans: Vec<Span>,
    #[prost(sint64, repeated, tag = "12")]
    positive_deltas: Vec<i64>,
    #[prost(int64, tag = "15")]
    timestamp: i64,
}

#[derive(Clone, Copy, PartialEq, prost::Oneof)]
enum Count {
    #[prost(uint64, tag = "1")]
    Int(u64),
}

#[derive(Clone, Copy, PartialEq, prost::Oneof)]
enum ZeroCount {
    #[prost(uint64, tag = "6")]
    Int(u64),
}

/// Buckets in a row.
#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(crate) struct Span {
    #[prost(sint32, tag = "1")]
    offset: i32,
    #[prost(uint32, tag = "2")]
    length: u32,
}

#[cfg(test)]
mod tests;
