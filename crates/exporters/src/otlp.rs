//! OpenTelemetry's protocol in protobuf over HTTP or gRPC, or in JSON over HTTP.
//!
//! Distributions are exponential histograms with the buckets that they have here; a receiver that
//! knows only histograms with fixed bounds has them by a variable, and in k6's runs, as k6 sends
//! them. Everything is cumulative since the begin of the run, or a difference if the variable
//! `OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE` requests that.
//!
//! The format: <https://opentelemetry.io/docs/specs/otlp/>.

mod locust;
mod message;
mod setup;

pub use locust::locust;
pub(crate) use setup::{open, receiver_of};

use crate::channel::{Refusal, first_line};
use crate::exporter::{Layout, Message};
use crate::histogram::ZERO_THRESHOLD;
use crate::{Batch, Histogram, Measured, SeriesKey, Unit, Value};
use message::{
    Attribute, Buckets, Data, Exemplar, Exponential, ExponentialPoint, ExportRequest,
    ExportResponse, Fixed, FixedPoint, Gauge, Metric, Number, NumberPoint, Resource,
    ResourceMetrics, Scope, ScopeMetrics, Sum, text,
};
use prost::Message as _;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The finest scale of a histogram, as in OpenTelemetry's own libraries before they coarsen it.
const SCALE: i32 = 8;
/// The most buckets of a histogram, from the first with a value to the last.
const MOST_BUCKETS: u32 = 160;

/// The bounds of histograms with fixed bounds that OpenTelemetry's libraries have by themselves.
const BOUNDS: [f64; 15] = [
    0.0, 5.0, 10.0, 25.0, 50.0, 75.0, 100.0, 250.0, 500.0, 750.0, 1_000.0, 2_500.0, 5_000.0,
    7_500.0, 10_000.0,
];

/// The program whose names metrics have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Names {
    /// Loadline's own, and those of the semantic conventions.
    Native,
    /// k6's, in k6's runs.
    K6 {
        /// True if a rate is two counters, as in k6 before it had one with an attribute.
        has_two_counters: bool,
    },
    /// Locust's, in Locust's runs.
    Locust,
}

/// The encoding of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Protobuf,
    Json,
}

/// What is written, and under which names.
struct Form {
    /// What all names begin with.
    prefix: String,
    /// The name of the program in the messages.
    scope: &'static str,
    encoding: Encoding,
    /// The attributes of the resource.
    resource: Vec<(String, String)>,
    /// True if values are differences from message to message.
    is_delta: bool,
    /// True if histograms have fixed bounds.
    has_fixed_bounds: bool,
    names: Names,
}

/// The layout of one run.
struct Otlp {
    form: Form,
    /// What was measured since the begin of the run; of differences, since the last message.
    total: Measured,
    /// The instant since which values count, in nanoseconds since 1970.
    since_ns: u64,
    has_overflowed: bool,
}

impl Layout for Otlp {
    fn write(&mut self, batches: &[Arc<Batch>]) -> Vec<Message> {
        let mut at_ns = self.since_ns + 1;
        for batch in batches {
            self.total.merge(&batch.measured);
            at_ns = at_ns.max(batch.at_ns);
        }
        self.has_overflowed |= self.total.has_overflowed();
        let body = self.form.encoding.encode(&self.request(at_ns));
        self.total.forget_exemplars();
        if self.form.is_delta {
            self.total = Measured::default();
            self.since_ns = at_ns;
        }
        vec![Message::of(body)]
    }

    fn has_overflowed(&self) -> bool {
        self.has_overflowed
    }
}

impl Encoding {
    fn encode(self, request: &ExportRequest) -> Vec<u8> {
        match self {
            Encoding::Protobuf => request.encode_to_vec(),
            Encoding::Json => serde_json::to_vec(request).expect("all keys are texts"),
        }
    }
}

impl Form {
    fn has_two_counters(&self) -> bool {
        let two = Names::K6 {
            has_two_counters: true,
        };
        self.names == two
    }
}

impl Otlp {
    fn new(form: Form, since_ns: u64) -> Otlp {
        Otlp {
            form,
            total: Measured::default(),
            since_ns,
            has_overflowed: false,
        }
    }

    fn request(&self, at_ns: u64) -> ExportRequest {
        let mut metrics: BTreeMap<(String, Unit), Metric> = BTreeMap::new();
        let mut write = |name: String, key: &SeriesKey, value: &Value| {
            let metric = metrics.entry((name.clone(), key.unit));
            let metric = metric.or_insert_with(|| Metric {
                name,
                unit: self.unit(key, value).to_owned(),
                data: None,
            });
            add(&mut metric.data, self.data(key, value, at_ns));
        };
        for (key, value) in self.total.iter() {
            match value {
                Value::Rate(nonzero, all) if self.form.has_two_counters() => {
                    for (end, count) in [("occurred", nonzero), ("total", all)] {
                        let name = format!("{}{}.{end}", self.form.prefix, key.metric);
                        write(name, key, &Value::Counter(*count as f64));
                    }
                }
                Value::Counter(_) | Value::Gauge(..) | Value::Rate(..) | Value::Histogram(_) => {
                    write(self.name(key, value), key, value);
                }
            }
        }
        let attributes = self.form.resource.iter();
        let attributes = attributes.map(|(name, value)| text(name, value)).collect();
        ExportRequest {
            resource_metrics: vec![ResourceMetrics {
                resource: Some(Resource { attributes }),
                scope_metrics: vec![ScopeMetrics {
                    scope: Some(Scope {
                        name: self.form.scope.to_owned(),
                        version: env!("CARGO_PKG_VERSION").to_owned(),
                    }),
                    metrics: metrics.into_values().collect(),
                }],
            }],
        }
    }

    fn name(&self, key: &SeriesKey, value: &Value) -> String {
        let prefix = &self.form.prefix;
        let is_native = self.form.names == Names::Native;
        match (&*key.metric, value) {
            ("response", Value::Histogram(_)) if is_native => {
                format!("{prefix}response.duration")
            }
            ("service", Value::Histogram(_)) if is_native => {
                // The name of the semantic conventions, which measure from the send.
                "http.client.request.duration".to_owned()
            }
            ("lateness", Value::Histogram(_)) if is_native => {
                format!("{prefix}lateness.duration")
            }
            (metric, Value::Rate(..)) => format!("{prefix}{metric}.total"),
            (metric, _) => format!("{prefix}{metric}"),
        }
    }

    /// Returns the points of one series.
    fn data(&self, key: &SeriesKey, value: &Value, at_ns: u64) -> Data {
        let labels = key.labels.iter().filter(|(_, value)| !value.is_empty());
        let attributes = labels.map(|(name, value)| text(name, value)).collect();
        let aggregation_temporality = if self.form.is_delta { 1 } else { 2 };
        match value {
            Value::Gauge(last, _) => Data::Gauge(Gauge {
                data_points: vec![self.number(*last, attributes, at_ns)],
            }),
            Value::Counter(sum) => Data::Sum(Sum {
                data_points: vec![self.number(*sum, attributes, at_ns)],
                aggregation_temporality,
                is_monotonic: true,
            }),
            Value::Rate(nonzero, all) => Data::Sum(Sum {
                data_points: self.conditions(*nonzero, *all, &attributes, at_ns),
                aggregation_temporality,
                is_monotonic: true,
            }),
            Value::Histogram(histogram) if self.form.has_fixed_bounds => Data::Fixed(Fixed {
                data_points: vec![self.fixed(histogram, attributes, at_ns)],
                aggregation_temporality,
            }),
            Value::Histogram(histogram) => Data::Exponential(Exponential {
                data_points: vec![self.exponential(histogram, attributes, at_ns)],
                aggregation_temporality,
            }),
        }
    }

    fn unit(&self, key: &SeriesKey, value: &Value) -> &'static str {
        match (key.unit, value) {
            (_, Value::Gauge(..)) if self.form.names == Names::Locust => "{user}",
            (_, Value::Rate(..)) | (Unit::None, _) => "",
            (Unit::Seconds, _) => "s",
            (Unit::Milliseconds, _) => "ms",
            (Unit::Bytes, _) => "By",
        }
    }

    fn number(&self, value: f64, attributes: Vec<Attribute>, at_ns: u64) -> NumberPoint {
        NumberPoint {
            start_time_unix_nano: self.since_ns,
            time_unix_nano: at_ns,
            value: Some(Number::Double(value)),
            attributes,
        }
    }

    /// Returns a rate as k6 does: how many values were zero, and how many were not.
    fn conditions(
        &self,
        nonzero: u64,
        all: u64,
        attributes: &[Attribute],
        at_ns: u64,
    ) -> Vec<NumberPoint> {
        let counts = [("nonzero", nonzero), ("zero", all.saturating_sub(nonzero))];
        let point = |(condition, count)| {
            let attributes = [attributes, &[text("condition", condition)]].concat();
            self.number(count as f64, attributes, at_ns)
        };
        counts.map(point).to_vec()
    }

    fn exponential(
        &self,
        histogram: &Histogram,
        attributes: Vec<Attribute>,
        at_ns: u64,
    ) -> ExponentialPoint {
        let written = histogram.to_schema(SCALE, MOST_BUCKETS);
        ExponentialPoint {
            attributes,
            start_time_unix_nano: self.since_ns,
            time_unix_nano: at_ns,
            count: histogram.count(),
            sum: Some(histogram.sum()),
            scale: written.schema,
            zero_count: written.zero,
            positive: Some(dense(&written.positive)),
            negative: Some(dense(&written.negative)),
            exemplars: exemplars(histogram),
            min: histogram.min(),
            max: histogram.max(),
            zero_threshold: ZERO_THRESHOLD,
        }
    }

    /// Of a bucket that lies across a bound the values count as above it: an error of at most
    /// 0.28 % of the bound.
    fn fixed(&self, histogram: &Histogram, attributes: Vec<Attribute>, at_ns: u64) -> FixedPoint {
        const ROUNDING: f64 = 1.0 + 1e-12;
        let mut bucket_counts = vec![0; BOUNDS.len() + 1];
        for (value, count) in histogram.ascending() {
            let index = BOUNDS.iter().position(|bound| value <= bound * ROUNDING);
            bucket_counts[index.unwrap_or(BOUNDS.len())] += count;
        }
        FixedPoint {
            start_time_unix_nano: self.since_ns,
            time_unix_nano: at_ns,
            count: histogram.count(),
            sum: Some(histogram.sum()),
            bucket_counts,
            explicit_bounds: BOUNDS.to_vec(),
            exemplars: exemplars(histogram),
            attributes,
            min: histogram.min(),
            max: histogram.max(),
        }
    }
}

/// Adds the points of one more series to those of a metric. Series of another kind are left out: a
/// metric has one.
fn add(data: &mut Option<Data>, more: Data) {
    match (data, more) {
        (empty @ None, more) => *empty = Some(more),
        (Some(Data::Gauge(own)), Data::Gauge(more)) => own.data_points.extend(more.data_points),
        (Some(Data::Sum(own)), Data::Sum(more)) => own.data_points.extend(more.data_points),
        (Some(Data::Fixed(own)), Data::Fixed(more)) => own.data_points.extend(more.data_points),
        (Some(Data::Exponential(own)), Data::Exponential(more)) => {
            own.data_points.extend(more.data_points);
        }
        _ => {}
    }
}

fn exemplars(histogram: &Histogram) -> Vec<Exemplar> {
    let exemplar = |one: crate::Exemplar| Exemplar {
        time_unix_nano: one.at_ns,
        as_double: Some(one.value),
        span_id: one.span_id.to_be_bytes().to_vec(),
        trace_id: one.trace_id.to_be_bytes().to_vec(),
    };
    histogram.exemplars().into_iter().map(exemplar).collect()
}

/// Returns buckets from the first with a value to the last. Here the index of a bucket is that of
/// its lower bound, one less than in Prometheus.
fn dense(counts: &crate::Buckets) -> Buckets {
    let Some(first) = counts.first() else {
        return Buckets::default();
    };
    let mut bucket_counts = Vec::new();
    for (bucket, count) in counts.iter() {
        bucket_counts.resize((bucket - first) as usize, 0);
        bucket_counts.push(count);
    }
    Buckets {
        offset: first - 1,
        bucket_counts,
    }
}

/// Reads the response to a message that was accepted, which may refuse some of its values. Such a
/// message is not sent again: the others would count twice.
fn judge(response: &[u8]) -> Result<(), Refusal> {
    let response = ExportResponse::decode(response).unwrap_or_default();
    let partial = response.partial_success.unwrap_or_default();
    accepted_but(partial.rejected_points, &partial.message)
}

/// Reads such a response in JSON, where a number of 64 bits is a text.
fn judge_json(response: &[u8]) -> Result<(), Refusal> {
    let response: serde_json::Value = serde_json::from_slice(response).unwrap_or_default();
    let partial = &response["partialSuccess"];
    let count = &partial["rejectedDataPoints"];
    let rejected = count.as_i64().or_else(|| count.as_str()?.parse().ok());
    let message = partial["errorMessage"].as_str();
    accepted_but(rejected.unwrap_or(0), message.unwrap_or_default())
}

fn accepted_but(rejected: i64, message: &str) -> Result<(), Refusal> {
    if rejected <= 0 {
        return Ok(());
    }
    let reason = first_line(message);
    Err(Refusal {
        reason: format!("it rejected {rejected} of the values ({reason})"),
        may_retry: false,
        after: None,
    })
}

#[cfg(test)]
mod tests;
