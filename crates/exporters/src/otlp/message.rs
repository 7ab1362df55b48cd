//! The messages of OpenTelemetry's protocol, as far as metrics need them: in protobuf, and in its
//! JSON, whose keys are in camel case, whose numbers of 64 bits are texts, and whose identifiers
//! are hexadecimal.

use serde::{Serialize, Serializer};

/// Metrics to export.
#[derive(Clone, PartialEq, prost::Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ExportRequest {
    #[prost(message, repeated, tag = "1")]
    pub(super) resource_metrics: Vec<ResourceMetrics>,
}

/// The response to metrics.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct ExportResponse {
    #[prost(message, optional, tag = "1")]
    pub(super) partial_success: Option<PartialSuccess>,
}

/// What of the metrics was not accepted.
#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct PartialSuccess {
    #[prost(int64, tag = "1")]
    pub(super) rejected_points: i64,
    #[prost(string, tag = "2")]
    pub(super) message: String,
}

/// The metrics of one resource.
#[derive(Clone, PartialEq, prost::Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResourceMetrics {
    #[prost(message, optional, tag = "1")]
    pub(super) resource: Option<Resource>,
    #[prost(message, repeated, tag = "2")]
    pub(super) scope_metrics: Vec<ScopeMetrics>,
}

/// What the metrics are about.
#[derive(Clone, PartialEq, prost::Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Resource {
    #[prost(message, repeated, tag = "1")]
    pub(super) attributes: Vec<Attribute>,
}

/// The metrics of one program.
#[derive(Clone, PartialEq, prost::Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ScopeMetrics {
    #[prost(message, optional, tag = "1")]
    pub(super) scope: Option<Scope>,
    #[prost(message, repeated, tag = "2")]
    pub(super) metrics: Vec<Metric>,
}

/// The program that measured.
#[derive(Clone, PartialEq, prost::Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Scope {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(string, tag = "2")]
    pub(super) version: String,
}

/// A metric with the points of all its series.
#[derive(Clone, PartialEq, prost::Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Metric {
    #[prost(string, tag = "1")]
    pub(super) name: String,
    #[prost(string, tag = "3")]
    pub(super) unit: String,
    #[prost(oneof = "Data", tags = "5, 7, 9, 10")]
    #[serde(flatten)]
    pub(super) data: Option<Data>,
}

/// The points of a metric.
#[derive(Clone, PartialEq, prost::Oneof, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Data {
    #[prost(message, tag = "5")]
    Gauge(Gauge),
    #[prost(message, tag = "7")]
    Sum(Sum),
    #[prost(message, tag = "9")]
    #[serde(rename = "histogram")]
    Fixed(Fixed),
    #[prost(message, tag = "10")]
    #[serde(rename = "exponentialHistogram")]
    Exponential(Exponential),
}

/// Last values.
#[derive(Clone, PartialEq, prost::Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Gauge {
    #[prost(message, repeated, tag = "1")]
    pub(super) data_points: Vec<NumberPoint>,
}

/// Sums; a temporality of 1 is a difference, 2 since the begin.
#[derive(Clone, PartialEq, prost::Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Sum {
    #[prost(message, repeated, tag = "1")]
    pub(super) data_points: Vec<NumberPoint>,
    #[prost(int32, tag = "2")]
    pub(super) aggregation_temporality: i32,
    #[prost(bool, tag = "3")]
    pub(super) is_monotonic: bool,
}

/// Histograms with fixed bounds.
#[derive(Clone, PartialEq, prost::Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Fixed {
    #[prost(message, repeated, tag = "1")]
    pub(super) data_points: Vec<FixedPoint>,
    #[prost(int32, tag = "2")]
    pub(super) aggregation_temporality: i32,
}

/// Histograms with exponential buckets.
#[derive(Clone, PartialEq, prost::Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Exponential {
    #[prost(message, repeated, tag = "1")]
    pub(super) data_points: Vec<ExponentialPoint>,
    #[prost(int32, tag = "2")]
    pub(super) aggregation_temporality: i32,
}

/// A number of one series.
#[derive(Clone, PartialEq, prost::Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NumberPoint {
    #[prost(fixed64, tag = "2")]
    #[serde(serialize_with = "as_text")]
    pub(super) start_time_unix_nano: u64,
    #[prost(fixed64, tag = "3")]
    #[serde(serialize_with = "as_text")]
    pub(super) time_unix_nano: u64,
    #[prost(oneof = "Number", tags = "4")]
    #[serde(flatten)]
    pub(super) value: Option<Number>,
    #[prost(message, repeated, tag = "7")]
    pub(super) attributes: Vec<Attribute>,
}

#[derive(Clone, Copy, PartialEq, prost::Oneof, Serialize)]
pub(super) enum Number {
    #[prost(double, tag = "4")]
    #[serde(rename = "asDouble", serialize_with = "as_double")]
    Double(f64),
}

/// A histogram with fixed bounds of one series.
#[derive(Clone, PartialEq, prost::Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FixedPoint {
    #[prost(fixed64, tag = "2")]
    #[serde(serialize_with = "as_text")]
    pub(super) start_time_unix_nano: u64,
    #[prost(fixed64, tag = "3")]
    #[serde(serialize_with = "as_text")]
    pub(super) time_unix_nano: u64,
    #[prost(fixed64, tag = "4")]
    #[serde(serialize_with = "as_text")]
    pub(super) count: u64,
    #[prost(double, optional, tag = "5")]
    pub(super) sum: Option<f64>,
    #[prost(fixed64, repeated, tag = "6")]
    #[serde(serialize_with = "as_texts")]
    pub(super) bucket_counts: Vec<u64>,
    #[prost(double, repeated, tag = "7")]
    pub(super) explicit_bounds: Vec<f64>,
    #[prost(message, repeated, tag = "8")]
    pub(super) exemplars: Vec<Exemplar>,
    #[prost(message, repeated, tag = "9")]
    pub(super) attributes: Vec<Attribute>,
    #[prost(double, optional, tag = "11")]
    pub(super) min: Option<f64>,
    #[prost(double, optional, tag = "12")]
    pub(super) max: Option<f64>,
}

/// A histogram with exponential buckets of one series.
#[derive(Clone, PartialEq, prost::Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ExponentialPoint {
    #[prost(message, repeated, tag = "1")]
    pub(super) attributes: Vec<Attribute>,
    #[prost(fixed64, tag = "2")]
    #[serde(serialize_with = "as_text")]
    pub(super) start_time_unix_nano: u64,
    #[prost(fixed64, tag = "3")]
    #[serde(serialize_with = "as_text")]
    pub(super) time_unix_nano: u64,
    #[prost(fixed64, tag = "4")]
    #[serde(serialize_with = "as_text")]
    pub(super) count: u64,
    #[prost(double, optional, tag = "5")]
    pub(super) sum: Option<f64>,
    #[prost(sint32, tag = "6")]
    pub(super) scale: i32,
    #[prost(fixed64, tag = "7")]
    #[serde(serialize_with = "as_text")]
    pub(super) zero_count: u64,
    #[prost(message, optional, tag = "8")]
    pub(super) positive: Option<Buckets>,
    #[prost(message, optional, tag = "9")]
    pub(super) negative: Option<Buckets>,
    #[prost(message, repeated, tag = "11")]
    pub(super) exemplars: Vec<Exemplar>,
    #[prost(double, optional, tag = "12")]
    pub(super) min: Option<f64>,
    #[prost(double, optional, tag = "13")]
    pub(super) max: Option<f64>,
    #[prost(double, tag = "14")]
    pub(super) zero_threshold: f64,
}

/// Consecutive buckets, from the one with this index on.
#[derive(Clone, PartialEq, prost::Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Buckets {
    #[prost(sint32, tag = "1")]
    pub(super) offset: i32,
    #[prost(uint64, repeated, tag = "2")]
    #[serde(serialize_with = "as_texts")]
    pub(super) bucket_counts: Vec<u64>,
}

/// A value with the trace in which it was measured.
#[derive(Clone, PartialEq, prost::Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Exemplar {
    #[prost(fixed64, tag = "2")]
    #[serde(serialize_with = "as_text")]
    pub(super) time_unix_nano: u64,
    #[prost(double, optional, tag = "3")]
    pub(super) as_double: Option<f64>,
    #[prost(bytes = "vec", tag = "4")]
    #[serde(serialize_with = "as_hex")]
    pub(super) span_id: Vec<u8>,
    #[prost(bytes = "vec", tag = "5")]
    #[serde(serialize_with = "as_hex")]
    pub(super) trace_id: Vec<u8>,
}

/// A name with a value.
#[derive(Clone, PartialEq, prost::Message, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Attribute {
    #[prost(string, tag = "1")]
    key: String,
    #[prost(message, optional, tag = "2")]
    value: Option<AnyValue>,
}

#[derive(Clone, PartialEq, prost::Message, Serialize)]
#[serde(rename_all = "camelCase")]
struct AnyValue {
    #[prost(oneof = "Kind", tags = "1")]
    #[serde(flatten)]
    value: Option<Kind>,
}

#[derive(Clone, PartialEq, prost::Oneof, Serialize)]
enum Kind {
    #[prost(string, tag = "1")]
    #[serde(rename = "stringValue")]
    Text(String),
}

/// Returns an attribute whose value is a text.
pub(super) fn text(name: &str, value: &str) -> Attribute {
    Attribute {
        key: name.to_owned(),
        value: Some(AnyValue {
            value: Some(Kind::Text(value.to_owned())),
        }),
    }
}

fn as_text<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(number)
}

fn as_texts<S: Serializer>(numbers: &[u64], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(numbers.iter().map(u64::to_string))
}

/// Writes a number; one that JSON does not have as the text that protobuf has for it.
fn as_double<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    match number {
        number if number.is_finite() => serializer.serialize_f64(*number),
        number if number.is_nan() => serializer.serialize_str("NaN"),
        number if *number > 0.0 => serializer.serialize_str("Infinity"),
        _ => serializer.serialize_str("-Infinity"),
    }
}

fn as_hex<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    serializer.serialize_str(&text)
}
