//! The format of protobuf, which has native histograms: families of series, each with its length
//! before it.
//!
//! A histogram has both forms: that of fixed bounds for whoever does not know the other one.
//!
//! The format: `metrics.proto` of <https://github.com/prometheus/client_model>.

use super::{Family, cumulative, labels};
use crate::histogram::ZERO_THRESHOLD;
use crate::prometheus::{Span, spans};
use crate::{Histogram, SeriesKey, Value};
use prost::Message;

/// The beginning of the `Accept` of a client that takes this format.
pub(super) const MEDIA_TYPE: &str = "application/vnd.google.protobuf";
/// The type of such a response.
pub(super) const CONTENT_TYPE: &str = "application/vnd.google.protobuf; \
    proto=io.prometheus.client.MetricFamily; encoding=delimited";

/// The finest schema of native histograms, as in remote write.
const SCHEMA: i32 = 5;
/// The most buckets of a native histogram.
const MOST_BUCKETS: u32 = 160;

/// Adds a family with its length before it.
pub(super) fn write(name: &str, family: &Family<'_>, body: &mut Vec<u8>) {
    let metrics = family.series.iter();
    let message = MetricFamily {
        name: name.to_owned(),
        help: family.help.clone(),
        kind: match family.kind {
            "counter" => 0,
            "gauge" => 1,
            _ => 4,
        },
        metrics: metrics.map(|(key, value)| metric(key, value)).collect(),
    };
    message
        .encode_length_delimited(body)
        .expect("a vector has room for every message");
}

fn metric(key: &SeriesKey, value: &Value) -> Metric {
    let label = |(name, value)| Label { name, value };
    let mut metric = Metric {
        labels: labels(key).into_iter().map(label).collect(),
        ..Metric::default()
    };
    match value {
        Value::Counter(sum) => metric.counter = Some(Number { value: *sum }),
        Value::Gauge(last, _) => metric.gauge = Some(Number { value: *last }),
        Value::Rate(nonzero, all) => {
            let value = *nonzero as f64 / (*all).max(1) as f64;
            metric.gauge = Some(Number { value });
        }
        Value::Histogram(histogram) => metric.histogram = Some(both(histogram)),
    }
    metric
}

fn both(histogram: &Histogram) -> BothHistograms {
    let written = histogram.to_schema(SCHEMA, MOST_BUCKETS);
    let (positive_spans, positive_deltas) = spans(&written.positive);
    let (negative_spans, negative_deltas) = spans(&written.negative);
    let bucket = |(upper_bound, cumulative_count)| Bucket {
        cumulative_count,
        upper_bound,
    };
    BothHistograms {
        count: histogram.count(),
        sum: histogram.sum(),
        buckets: cumulative(histogram).into_iter().map(bucket).collect(),
        schema: written.schema,
        zero_threshold: ZERO_THRESHOLD,
        zero_count: written.zero,
        negative_spans,
        negative_deltas,
        positive_spans,
        positive_deltas,
    }
}

/// The series of one metric.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct MetricFamily {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(string, tag = "2")]
    help: String,
    #[prost(int32, tag = "3")]
    kind: i32,
    #[prost(message, repeated, tag = "4")]
    pub(super) metrics: Vec<Metric>,
}

/// A series.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct Metric {
    #[prost(message, repeated, tag = "1")]
    labels: Vec<Label>,
    #[prost(message, optional, tag = "2")]
    gauge: Option<Number>,
    #[prost(message, optional, tag = "3")]
    counter: Option<Number>,
    #[prost(message, optional, tag = "7")]
    pub(super) histogram: Option<BothHistograms>,
}

#[derive(Clone, PartialEq, prost::Message)]
struct Label {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    value: String,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
struct Number {
    #[prost(double, tag = "1")]
    value: f64,
}

/// A histogram with fixed bounds and with the buckets of a schema.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct BothHistograms {
    #[prost(uint64, tag = "1")]
    pub(super) count: u64,
    #[prost(double, tag = "2")]
    sum: f64,
    #[prost(message, repeated, tag = "3")]
    pub(super) buckets: Vec<Bucket>,
    #[prost(sint32, tag = "5")]
    schema: i32,
    #[prost(double, tag = "6")]
    zero_threshold: f64,
    #[prost(uint64, tag = "7")]
    zero_count: u64,
    #[prost(message, repeated, tag = "9")]
    negative_spans: Vec<Span>,
    #[prost(sint64, repeated, tag = "10")]
    negative_deltas: Vec<i64>,
    #[prost(message, repeated, tag = "12")]
    positive_spans: Vec<Span>,
    #[prost(sint64, repeated, tag = "13")]
    pub(super) positive_deltas: Vec<i64>,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct Bucket {
    #[prost(uint64, tag = "1")]
    pub(super) cumulative_count: u64,
    #[prost(double, tag = "2")]
    pub(super) upper_bound: f64,
}
