//! The outputs that send k6's metrics to other programs while a test lasts.
//!
//! Samples are added up to series by metric and tags, on the thread that conducts the test, before
//! they are handed to the exporters. Each exporter has a thread of its own.

use crate::console::Console;
use crate::{FAILED, Refused};
use loadline_exporters::{
    Batch, BatchContent, Dialect, FinalReport, Format, Histogram, Labels, Measured, Point,
    PrintLine, Requested, RunningExporters, SeriesKey, Unit, Value, now_ns,
};
use loadline_k6_metrics::{
    Contains, Metric, MetricType, Portion, RecorderSetup, Sample, SampleTags,
};
use loadline_script_js::Level;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A requested output, before the test.
pub(crate) struct Export {
    requested: Requested,
    /// What the test's header calls it.
    pub(crate) described: String,
}

impl Export {
    /// Creates the output with this name and argument of `--out`; `None` if it is no exporter.
    ///
    /// # Errors
    /// If it can't be used as requested.
    pub(crate) fn of(
        name: &str,
        argument: &str,
        environment: &BTreeMap<String, String>,
    ) -> Option<Result<Export, Refused>> {
        match name {
            "experimental-prometheus-rw" | "prometheus-rw" => {
                Some(remote_write(argument, environment))
            }
            "influxdb" => Some(influxdb(argument, environment)),
            "opentelemetry" | "experimental-opentelemetry" => Some(otlp(environment)),
            "statsd" => Some(statsd(argument, environment)),
            _ => None,
        }
    }
}

/// The receivers of k6's outputs where nothing else is said.
const PROMETHEUS: &str = "http://localhost:9090/api/v1/write";
const INFLUXDB: &str = "http://localhost:8086";

/// The most points that are sent of one portion, which is about a second; of more a share is sent.
const MOST_POINTS: usize = 10_000;

fn remote_write(argument: &str, environment: &BTreeMap<String, String>) -> Result<Export, Refused> {
    if let Some(name) = environment
        .keys()
        .find(|name| name.starts_with("K6_PROMETHEUS_RW_SIGV4_"))
    {
        let text = format!(
            "Loadline does not sign requests for AWS: unset {name}, or send to a receiver that \
             takes a user or a token"
        );
        return Err(Refused::new(FAILED, text));
    }
    let variable = environment.get("K6_PROMETHEUS_RW_SERVER_URL");
    let url = match argument {
        "" => variable.map_or(PROMETHEUS, String::as_str),
        argument => argument,
    };
    let requested = new(Format::PrometheusRw, url)?;
    Ok(Export {
        described: format!("Prometheus remote write ({})", requested.shown()),
        requested,
    })
}

/// As in k6, an argument without a host is a database.
fn influxdb(argument: &str, environment: &BTreeMap<String, String>) -> Result<Export, Refused> {
    let variable = environment.get("K6_INFLUXDB_ADDR");
    let usual = variable.map_or(INFLUXDB, String::as_str);
    let url = match argument {
        "" => format!("{}/", usual.trim_end_matches('/')),
        url if url.contains("://") => url.to_owned(),
        database => format!("{}/{database}", usual.trim_end_matches('/')),
    };
    let requested = new(Format::Influxdb, &url)?;
    Ok(Export {
        described: format!("InfluxDBv1 ({})", requested.shown()),
        requested,
    })
}

/// As in k6, messages travel by gRPC and with TLS where nothing else is said.
fn otlp(environment: &BTreeMap<String, String>) -> Result<Export, Refused> {
    let of = |name: &str| {
        let value = environment.get(&format!("K6_OTEL_{name}"));
        value.map(String::as_str).filter(|text| !text.is_empty())
    };
    let is_on = |name: &str| matches!(of(name), Some("true" | "1"));
    let protocol = of("EXPORTER_PROTOCOL").or(of("EXPORTER_TYPE"));
    match protocol.unwrap_or("grpc") {
        "grpc" => {
            let host = of("GRPC_EXPORTER_ENDPOINT").unwrap_or("localhost:4317");
            let (scheme, shown) = match is_on("GRPC_EXPORTER_INSECURE") {
                true => ("http", "grpc (insecure)"),
                false => ("https", "grpc"),
            };
            refuse_scheme("gRPC", host)?;
            Ok(Export {
                requested: new(Format::OtlpGrpc, &format!("{scheme}://{host}"))?,
                described: format!("opentelemetry ({shown}, {host})"),
            })
        }
        "http/protobuf" | "http" => {
            let host = of("HTTP_EXPORTER_ENDPOINT").unwrap_or("localhost:4318");
            let path = of("HTTP_EXPORTER_URL_PATH").unwrap_or("/v1/metrics");
            let scheme = match is_on("HTTP_EXPORTER_INSECURE") {
                true => "http",
                false => "https",
            };
            refuse_scheme("HTTP", host)?;
            let requested = new(Format::Otlp, &format!("{scheme}://{host}{path}"))?;
            Ok(Export {
                described: format!("opentelemetry (http/protobuf, {})", requested.shown()),
                requested,
            })
        }
        other => {
            let text = format!(
                "unsupported exporter protocol \"{other}\", only \"grpc\" and \"http/protobuf\" \
                 are supported"
            );
            Err(Refused::new(FAILED, text))
        }
    }
}

fn refuse_scheme(protocol: &str, host: &str) -> Result<(), Refused> {
    if !host.contains("://") {
        return Ok(());
    }
    let text = format!("{protocol} exporter endpoint must only be host and port, no scheme");
    Err(Refused::new(FAILED, text))
}

fn statsd(argument: &str, environment: &BTreeMap<String, String>) -> Result<Export, Refused> {
    let variable = environment.get("K6_STATSD_ADDR");
    let address = match argument {
        "" => variable.map_or("localhost:8125", String::as_str),
        argument => argument,
    };
    let has_tags = environment.get("K6_STATSD_ENABLE_TAGS");
    let format = match has_tags.is_some_and(|text| matches!(text.as_str(), "true" | "1")) {
        true => Format::DogStatsd,
        false => Format::Statsd,
    };
    Ok(Export {
        requested: new(format, address)?,
        described: format!("statsd ({address})"),
    })
}

fn new(format: Format, address: &str) -> Result<Requested, Refused> {
    Requested::new(format, address).map_err(|error| Refused::new(FAILED, error))
}

/// The exporters of a test that lasts.
pub(crate) struct Exports {
    running: RunningExporters,
    recording: Arc<RecorderSetup>,
    /// The metrics by index, as far as they were looked up.
    metrics: Vec<Known>,
    print: PrintLine,
}

/// A metric as exporters have it.
struct Known {
    name: Arc<str>,
    kind: MetricType,
    unit: Unit,
}

impl Exports {
    /// Starts the exporters.
    ///
    /// # Errors
    /// If a setting can't be used.
    pub(crate) fn start(
        exports: &[Export],
        environment: &BTreeMap<String, String>,
        recording: &Arc<RecorderSetup>,
        console: &Arc<Console>,
    ) -> Result<Exports, Refused> {
        let no_report = FinalReport::default();
        let open = |export: &Export| export.requested.open(Dialect::K6, environment, &no_report);
        let opened: Result<Vec<_>, _> = exports.iter().map(open).collect();
        let opened = opened.map_err(|error| Refused::new(FAILED, error))?;
        let console = Arc::clone(console);
        let print: PrintLine = Arc::new(move |text| console.log_plain(Level::Warning, text));
        let running = RunningExporters::start(opened, &print);
        Ok(Exports {
            running: running.map_err(|error| Refused::new(FAILED, error))?,
            recording: Arc::clone(recording),
            metrics: Vec::new(),
            print,
        })
    }

    /// Hands the samples of users on. Never waits.
    pub(crate) fn take(&mut self, portion: &Portion) {
        if portion.samples.is_empty() {
            return;
        }
        let running = std::mem::take(&mut self.running);
        running.put(|content| Arc::new(self.batch(&portion.samples, content)));
        self.running = running;
    }

    fn batch(&mut self, samples: &[Sample], content: BatchContent) -> Batch {
        let mut batch = Batch {
            at_ns: now_ns(),
            ..Batch::default()
        };
        match content {
            BatchContent::Series => batch.measured = self.measured(samples, true),
            BatchContent::SeriesInMs => batch.measured = self.measured(samples, false),
            BatchContent::Points => batch.points = self.points(samples, MOST_POINTS),
        }
        batch
    }

    /// Returns samples as points; of more than `most`, every n-th of each metric.
    fn points(&mut self, samples: &[Sample], most: usize) -> Vec<Point> {
        let every = samples.len().div_ceil(most).max(1);
        let mut seen: HashMap<usize, usize> = HashMap::new();
        let mut sets = TagSets::default();
        let mut points = Vec::new();
        let mut of_set = Vec::new();
        for sample in samples {
            let metric = sample.metric.index();
            let count = seen.entry(metric).or_default();
            *count += 1;
            let Some(known) = self.known(metric) else {
                continue;
            };
            if !(*count - 1).is_multiple_of(every) {
                continue;
            }
            of_set.push(sets.index(&sample.tags));
            points.push(Point {
                metric: Arc::clone(&known.name),
                at_ns: sample.at_ns,
                value: sample.value,
                labels: Labels::default(),
                weight: every as f64,
            });
        }
        let labels = sets.labels();
        for (point, set) in points.iter_mut().zip(of_set) {
            point.labels = Labels::clone(&labels[set]);
        }
        points
    }

    /// Waits until all is delivered, for at most some seconds.
    pub(crate) fn end(self) {
        self.running.end(&self.print);
    }

    /// Adds samples up; times become seconds or stay milliseconds.
    fn measured(&mut self, samples: &[Sample], in_seconds: bool) -> Measured {
        let mut sets = TagSets::default();
        let mut values: HashMap<(usize, usize), Value> = HashMap::new();
        for sample in samples {
            let metric = sample.metric.index();
            let Some(known) = self.known(metric) else {
                continue;
            };
            let cell = values.entry((metric, sets.index(&sample.tags)));
            let is_changed = in_seconds && known.unit == Unit::Milliseconds;
            let value = sample.value * if is_changed { 1e-3 } else { 1.0 };
            add(
                cell.or_insert_with(|| empty(known.kind)),
                value,
                sample.at_ns,
            );
        }
        let labels = sets.labels();
        let mut measured = Measured::default();
        for ((metric, set), value) in values {
            let known = &self.metrics[metric];
            let key = SeriesKey {
                metric: Arc::clone(&known.name),
                unit: match known.unit {
                    Unit::Milliseconds if in_seconds => Unit::Seconds,
                    unit @ (Unit::None | Unit::Seconds | Unit::Milliseconds | Unit::Bytes) => unit,
                },
                labels: Labels::clone(&labels[set]),
            };
            measured.add(key, value);
        }
        measured
    }

    fn known(&mut self, index: usize) -> Option<&Known> {
        if index >= self.metrics.len() {
            let all = self.recording.registry.all();
            self.metrics = all.iter().map(Known::of).collect();
        }
        self.metrics.get(index)
    }
}

impl Known {
    fn of(metric: &Metric) -> Known {
        Known {
            name: metric.name.as_str().into(),
            kind: metric.kind,
            unit: match metric.contains {
                Contains::Default => Unit::None,
                Contains::Time => Unit::Milliseconds,
                Contains::Data => Unit::Bytes,
            },
        }
    }
}

fn empty(kind: MetricType) -> Value {
    match kind {
        MetricType::Counter => Value::Counter(0.0),
        MetricType::Gauge => Value::Gauge(0.0, 0),
        MetricType::Rate => Value::Rate(0, 0),
        MetricType::Trend => Value::Histogram(Box::default()),
    }
}

fn add(sum: &mut Value, value: f64, at_ns: u64) {
    match sum {
        Value::Counter(sum) => *sum += value,
        Value::Gauge(last, last_ns) if at_ns >= *last_ns => (*last, *last_ns) = (value, at_ns),
        Value::Gauge(..) => {}
        Value::Rate(nonzero, all) => {
            *nonzero += u64::from(value != 0.0);
            *all += 1;
        }
        Value::Histogram(histogram) => Histogram::add(histogram, value, 1),
    }
}

/// The distinct sets of tags of some samples.
#[derive(Default)]
struct TagSets<'a> {
    sets: Vec<&'a SampleTags>,
    indices: HashMap<&'a SampleTags, usize>,
    /// The set of the last sample: the samples of a request share it.
    last: Option<(&'a Arc<SampleTags>, usize)>,
}

impl<'a> TagSets<'a> {
    fn index(&mut self, tags: &'a Arc<SampleTags>) -> usize {
        if let Some((last, index)) = self.last
            && Arc::ptr_eq(last, tags)
        {
            return index;
        }
        let next = self.sets.len();
        let index = *self.indices.entry(tags).or_insert(next);
        if index == next {
            self.sets.push(tags);
        }
        self.last = Some((tags, index));
        index
    }

    fn labels(&self) -> Vec<Labels> {
        let labels = |set: &&SampleTags| Labels::from(set.tags.as_slice());
        self.sets.iter().map(labels).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loadline_k6_metrics::builtin;

    fn sample(metric: loadline_k6_metrics::MetricId, value: f64, status: &str) -> Sample {
        let tags = SampleTags {
            tags: vec![("status".to_owned(), status.to_owned())],
            metadata: vec![("vu".to_owned(), "1".to_owned())],
        };
        Sample {
            metric,
            at_ns: 7,
            value,
            tags: Arc::new(tags),
        }
    }

    fn exports() -> Exports {
        Exports {
            running: RunningExporters::default(),
            recording: Arc::default(),
            metrics: Vec::new(),
            print: Arc::new(|_| {}),
        }
    }

    fn added(samples: &[Sample]) -> Vec<(String, Unit, String, Value)> {
        let measured = exports().measured(samples, true);
        let series = measured.iter().map(|(key, value)| {
            let labels = key.labels.iter();
            let labels: Vec<_> = labels
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            (
                key.metric.to_string(),
                key.unit,
                labels.join(","),
                value.clone(),
            )
        });
        series.collect()
    }

    #[test]
    fn samples_are_added_up_by_metric_and_tags() {
        let series = added(&[
            sample(builtin::HTTP_REQS, 1.0, "200"),
            sample(builtin::HTTP_REQS, 1.0, "404"),
            sample(builtin::HTTP_REQS, 1.0, "200"),
            sample(builtin::HTTP_REQ_FAILED, 1.0, "404"),
            sample(builtin::VUS, 5.0, ""),
        ]);
        let of = |metric: &str, labels: &str, value| {
            (metric.to_owned(), Unit::None, labels.to_owned(), value)
        };
        assert_eq!(
            series,
            [
                of("http_req_failed", "status=404", Value::Rate(1, 1)),
                of("http_reqs", "status=200", Value::Counter(2.0)),
                of("http_reqs", "status=404", Value::Counter(1.0)),
                of("vus", "status=", Value::Gauge(5.0, 7)),
            ]
        );
    }

    #[test]
    fn of_many_samples_a_share_of_each_metric_is_sent_with_its_weight() {
        let mut samples = Vec::new();
        for _ in 0..30 {
            samples.push(sample(builtin::HTTP_REQS, 1.0, "200"));
            samples.push(sample(builtin::HTTP_REQ_DURATION, 250.0, "200"));
        }
        let all = exports().points(&samples, 60);
        assert_eq!(all.len(), 60);
        assert!(all.iter().all(|point| point.weight == 1.0));
        let share = exports().points(&samples, 20);
        assert_eq!(share.len(), 20);
        for metric in ["http_reqs", "http_req_duration"] {
            let points = share.iter().filter(|point| &*point.metric == metric);
            assert_eq!(points.map(|point| point.weight).sum::<f64>(), 30.0);
        }
        assert_eq!(share[1].value, 250.0);
        assert_eq!(share[1].labels[0].1, "200");
    }

    #[test]
    fn an_output_is_sent_where_its_argument_or_variables_say() {
        let variables = BTreeMap::from([
            ("K6_INFLUXDB_ADDR".to_owned(), "http://a:1".to_owned()),
            (
                "K6_PROMETHEUS_RW_SERVER_URL".to_owned(),
                "http://b/write".to_owned(),
            ),
        ]);
        let none = BTreeMap::new();
        for (name, argument, environment, expected) in [
            ("influxdb", "", &none, "InfluxDBv1 (http://localhost:8086/)"),
            (
                "influxdb",
                "mine",
                &variables,
                "InfluxDBv1 (http://a:1/mine)",
            ),
            (
                "influxdb",
                "http://u:p@c/d?insecure=true",
                &none,
                "InfluxDBv1 (http://c/d)",
            ),
            (
                "experimental-prometheus-rw",
                "",
                &variables,
                "Prometheus remote write (http://b/write)",
            ),
        ] {
            let export = Export::of(name, argument, environment).unwrap().unwrap();
            assert_eq!(export.described, expected);
        }
        assert!(Export::of("json", "", &none).is_none());
        let signed = BTreeMap::from([("K6_PROMETHEUS_RW_SIGV4_REGION".to_owned(), "x".to_owned())]);
        let refused = Export::of("experimental-prometheus-rw", "", &signed).unwrap();
        assert!(
            refused
                .err()
                .unwrap()
                .text
                .contains("unset K6_PROMETHEUS_RW_SIGV4_REGION")
        );
    }

    #[test]
    fn opentelemetry_has_the_protocols_of_k6() {
        let given = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            let owned =
                |(name, value): &(&str, &str)| (format!("K6_OTEL_{name}"), (*value).to_owned());
            pairs.iter().map(owned).collect()
        };
        let said = |pairs: &[(&str, &str)]| match Export::of("opentelemetry", "", &given(pairs))
            .unwrap()
        {
            Ok(export) => export.described,
            Err(refused) => refused.text,
        };
        let http = ("EXPORTER_PROTOCOL", "http/protobuf");
        for (pairs, expected) in [
            (&[][..], "opentelemetry (grpc, localhost:4317)"),
            (
                &[
                    ("GRPC_EXPORTER_ENDPOINT", "a:1"),
                    ("GRPC_EXPORTER_INSECURE", "true"),
                ],
                "opentelemetry (grpc (insecure), a:1)",
            ),
            (
                &[http, ("HTTP_EXPORTER_INSECURE", "true")],
                "opentelemetry (http/protobuf, http://localhost:4318/v1/metrics)",
            ),
            (
                &[http],
                "opentelemetry (http/protobuf, https://localhost:4318/v1/metrics)",
            ),
        ] {
            assert_eq!(said(pairs), expected);
        }
        let unknown = said(&[("EXPORTER_PROTOCOL", "json")]);
        assert!(
            unknown.starts_with("unsupported exporter protocol \"json\""),
            "{unknown}"
        );
        let scheme = said(&[("GRPC_EXPORTER_ENDPOINT", "http://a:1")]);
        assert!(scheme.contains("host and port, no scheme"), "{scheme}");
    }

    #[test]
    fn times_are_seconds() {
        let series = added(&[
            sample(builtin::HTTP_REQ_DURATION, 250.0, "200"),
            sample(builtin::HTTP_REQ_DURATION, 750.0, "200"),
        ]);
        let [(metric, Unit::Seconds, _, Value::Histogram(times))] = series.as_slice() else {
            panic!("one distribution: {series:?}");
        };
        assert_eq!(metric, "http_req_duration");
        assert_eq!((times.count(), times.sum()), (2, 1.0));
        assert_eq!((times.min(), times.max()), (Some(0.25), Some(0.75)));
    }
}
