//! The settings of OpenTelemetry's protocol: the variables of OpenTelemetry itself, and k6's own in
//! k6's runs.

use super::{Encoding, Form, Names, Otlp, judge, judge_json};
use crate::channel::{Channel, Judge};
use crate::exporter::{BatchContent, Exporter, TIMEOUT};
use crate::grpc::Grpc;
use crate::requested::{Dialect, Format, OpenError, Requested};
use crate::running::now_ns;
use crate::settings::{Settings, SettingsError, basic};
use loadline_plan::Tls;
use percent_encoding::percent_decode_str;
use std::collections::BTreeMap;
use std::time::Duration;
use url::Url;

/// The path of metrics over HTTP, where the address has none.
const PATH: &str = "/v1/metrics";
/// The method that takes metrics over gRPC.
const METHOD: &str = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";

/// How messages travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    Grpc,
    Http,
    /// Over HTTP, in JSON.
    Json,
}

impl Protocol {
    fn encoding(self) -> Encoding {
        match self {
            Protocol::Grpc | Protocol::Http => Encoding::Protobuf,
            Protocol::Json => Encoding::Json,
        }
    }
}

/// How messages travel, with what goes with each of them.
pub(super) struct Way {
    pub(super) protocol: Protocol,
    /// Header fields.
    pub(super) fields: Vec<(String, String)>,
    pub(super) tls: Tls,
    /// True if messages are compressed.
    pub(super) compresses: bool,
}

/// Makes the exporter ready for a run.
///
/// # Errors
/// If a setting can't be used.
pub(crate) fn open(
    requested: &Requested,
    dialect: Dialect,
    settings: &Settings,
) -> Result<Exporter, OpenError> {
    match dialect {
        Dialect::Native => open_native(requested, settings),
        Dialect::K6 => open_k6(requested, settings),
    }
}

fn open_native(requested: &Requested, settings: &Settings) -> Result<Exporter, OpenError> {
    let otel = settings.rooted("OTEL_");
    let otlp = of_metrics(settings);
    let protocol = match requested.format() == Format::OtlpGrpc {
        true => Protocol::Grpc,
        false => protocol(&otlp, Protocol::Http)?,
    };
    let mut fields = pairs(&otlp, "HEADERS")?;
    fields.extend(requested.credentials(&otlp)?);
    let way = Way {
        protocol,
        fields,
        tls: tls(&otlp)?,
        compresses: compresses(&otlp)?,
    };
    let interval = otel.duration("METRIC_EXPORT_INTERVAL")?;
    let form = Form {
        prefix: settings
            .text("METRIC_PREFIX")
            .unwrap_or("loadline.")
            .to_owned(),
        scope: "loadline",
        encoding: protocol.encoding(),
        resource: resource(otel.text("SERVICE_NAME"), "loadline", &otel)?,
        is_delta: is_delta(&otlp)?,
        has_fixed_bounds: has_fixed_bounds(&otlp)?.unwrap_or(false),
        names: Names::Native,
    };
    Ok(Exporter {
        receiver: requested.described(),
        interval: interval.unwrap_or(Duration::from_secs(5)),
        timeout: otlp.duration("TIMEOUT")?.unwrap_or(TIMEOUT),
        content: BatchContent::Series,
        layout: Box::new(Otlp::new(form, now_ns())),
        channel: channel(requested, way)?,
    })
}

fn open_k6(requested: &Requested, settings: &Settings) -> Result<Exporter, OpenError> {
    let (k6, otel) = (settings.nested("OTEL_"), settings.rooted("OTEL_"));
    let otlp = of_metrics(settings);
    let protocol = match requested.format() == Format::OtlpGrpc {
        true => Protocol::Grpc,
        false => Protocol::Http,
    };
    let service = k6
        .text("SERVICE_NAME")
        .or_else(|| otel.text("SERVICE_NAME"));
    let mut resource = resource(service, "k6", &otel)?;
    let version = k6.text("SERVICE_VERSION");
    resource.extend(version.map(|one| ("service.version".to_owned(), one.to_owned())));
    let interval = k6.duration("EXPORT_INTERVAL")?;
    let form = Form {
        prefix: k6.text("METRIC_PREFIX").unwrap_or_default().to_owned(),
        scope: "k6",
        encoding: protocol.encoding(),
        resource,
        is_delta: is_delta(&otlp)?,
        has_fixed_bounds: has_fixed_bounds(&otlp)?.unwrap_or(true),
        names: Names::K6 {
            has_two_counters: !k6.switch("SINGLE_COUNTER_FOR_RATE")?.unwrap_or(true),
        },
    };
    Ok(Exporter {
        receiver: requested.described(),
        interval: interval.unwrap_or(Duration::from_secs(10)),
        timeout: otlp.duration("TIMEOUT")?.unwrap_or(TIMEOUT),
        content: BatchContent::SeriesInMs,
        layout: Box::new(Otlp::new(form, now_ns())),
        channel: channel(requested, way_of_k6(protocol, &k6, &otlp)?)?,
    })
}

/// Returns the way of messages in k6's runs. k6's own variables hold before those of the library
/// that it sends with.
fn way_of_k6(protocol: Protocol, k6: &Settings, otlp: &Settings) -> Result<Way, SettingsError> {
    let mut fields = match k6.text("HEADERS").or(k6.text("HEADERS_FILE")) {
        Some(_) => pairs(k6, "HEADERS")?,
        None => pairs(otlp, "HEADERS")?,
    };
    if let Some(user) = k6.text("HTTP_EXPORTER_USERNAME") {
        let password = k6.secret("HTTP_EXPORTER_PASSWORD")?;
        fields.push(basic(user, &password.unwrap_or_default()));
    }
    Ok(Way {
        protocol,
        fields,
        tls: tls_of_k6(k6, otlp)?,
        compresses: compresses(otlp)?,
    })
}

/// Returns the variables of exporters, where those of metrics hold before those of all signals.
pub(super) fn of_metrics(settings: &Settings) -> Settings {
    settings
        .rooted("OTEL_EXPORTER_OTLP_")
        .preferring("METRICS_")
}

/// Returns the TLS settings of OpenTelemetry's variables.
pub(super) fn tls(otlp: &Settings) -> Result<Tls, SettingsError> {
    otlp.tls(
        "INSECURE_SKIP_VERIFY",
        ["CERTIFICATE", "CLIENT_CERTIFICATE", "CLIENT_KEY"],
    )
}

/// Returns the TLS settings of k6's variables if one of them is set, else of OpenTelemetry's.
fn tls_of_k6(k6: &Settings, otlp: &Settings) -> Result<Tls, SettingsError> {
    let insecure = "TLS_INSECURE_SKIP_VERIFY";
    let files = [
        "TLS_CERTIFICATE",
        "TLS_CLIENT_CERTIFICATE",
        "TLS_CLIENT_KEY",
    ];
    let is_own = |name: &&str| k6.text(name).is_some();
    match files.iter().chain([&insecure]).any(is_own) {
        true => k6.tls(insecure, files),
        false => tls(otlp),
    }
}

/// True if OpenTelemetry's variables say that messages are compressed.
pub(super) fn compresses(otlp: &Settings) -> Result<bool, SettingsError> {
    match otlp.text("COMPRESSION") {
        None | Some("none") => Ok(false),
        Some("gzip") => Ok(true),
        Some(_) => Err(otlp.refused("COMPRESSION", "gzip or none")),
    }
}

/// Returns the protocol that OpenTelemetry's variables say, or the usual one.
pub(super) fn protocol(otlp: &Settings, usual: Protocol) -> Result<Protocol, SettingsError> {
    match otlp.text("PROTOCOL") {
        None => Ok(usual),
        Some("grpc") => Ok(Protocol::Grpc),
        Some("http/protobuf" | "http") => Ok(Protocol::Http),
        Some("http/json") => Ok(Protocol::Json),
        Some(_) => Err(otlp.refused("PROTOCOL", "grpc, http/protobuf or http/json")),
    }
}

/// Returns the receiver of the variables, or the usual one. The endpoint of all signals has no path
/// of its own, that of metrics is complete.
pub(super) fn receiver(otlp: &Settings, protocol: Protocol) -> Result<Requested, SettingsError> {
    let (format, usual) = match protocol {
        Protocol::Grpc => (Format::OtlpGrpc, "http://localhost:4317"),
        Protocol::Http | Protocol::Json => (Format::Otlp, "http://localhost:4318"),
    };
    let whole = otlp.text("METRICS_ENDPOINT");
    let given = whole.or(otlp.text("ENDPOINT")).unwrap_or(usual);
    // Without a scheme it is host and port, with TLS unless a variable says that there is none.
    let text = match (given.contains("://"), otlp.switch("INSECURE")?) {
        (true, _) => given.to_owned(),
        (false, Some(true)) => format!("http://{given}"),
        (false, _) => format!("https://{given}"),
    };
    let refused = || otlp.refused("ENDPOINT", "an address such as http://localhost:4318");
    let mut url: Url = text.parse().map_err(|_| refused())?;
    if protocol != Protocol::Grpc && whole.is_none() {
        let path = format!("{}{PATH}", url.path().trim_end_matches('/'));
        url.set_path(&path);
    }
    Requested::new(format, url.as_str()).map_err(|_| refused())
}

/// Returns the receiver that the variables say; `None` if they say none.
///
/// # Errors
/// If a variable can't be used.
pub(crate) fn receiver_of(
    format: Format,
    variables: &BTreeMap<String, String>,
) -> Result<Option<Requested>, SettingsError> {
    let otlp = of_metrics(&Settings::new(variables.clone(), ""));
    if otlp.text("ENDPOINT").is_none() {
        return Ok(None);
    }
    let protocol = match format == Format::OtlpGrpc {
        true => Protocol::Grpc,
        false => protocol(&otlp, Protocol::Http)?,
    };
    receiver(&otlp, protocol).map(Some)
}

/// Returns the channel to a receiver; over HTTP an address without a path gets that of metrics.
pub(super) fn channel(requested: &Requested, way: Way) -> Result<Box<dyn Channel>, OpenError> {
    let mut url = requested.address().clone();
    let mut fields = way.fields;
    let (kind, judge_of_http): (_, Judge) = match way.protocol {
        Protocol::Grpc => {
            let grpc = Grpc::to(&url, METHOD, &fields, &way.tls, judge);
            let grpc = grpc.map_err(|error| OpenError::Tls(requested.described(), error))?;
            return Ok(match way.compresses {
                true => Box::new(grpc.compressed()),
                false => Box::new(grpc),
            });
        }
        Protocol::Http => ("application/x-protobuf", judge),
        Protocol::Json => ("application/json", judge_json),
    };
    if url.path() == "/" {
        url.set_path(PATH);
    }
    fields.insert(0, ("Content-Type".to_owned(), kind.to_owned()));
    let http = requested.http(&url, &fields, &way.tls)?;
    let http = http.judged_by(judge_of_http);
    Ok(match way.compresses {
        true => Box::new(http.compressed()),
        false => Box::new(http),
    })
}

/// Returns the pairs of a list such as `a=1,b=2`, whose values may be percent-encoded.
pub(super) fn pairs(
    settings: &Settings,
    name: &str,
) -> Result<Vec<(String, String)>, SettingsError> {
    let Some(list) = settings.secret(name)? else {
        return Ok(Vec::new());
    };
    let items = list
        .split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty());
    let pair = |item: &str| {
        let (name, value) = item.split_once('=')?;
        let value = percent_decode_str(value.trim()).decode_utf8_lossy();
        let is_line = !value.chars().any(char::is_control) && !name.is_empty();
        is_line.then(|| (name.trim().to_owned(), value.into_owned()))
    };
    let pairs: Option<Vec<_>> = items.map(pair).collect();
    pairs.ok_or_else(|| settings.refused(name, "pairs such as name=value,other=value"))
}

/// True if values are differences from message to message.
pub(super) fn is_delta(otlp: &Settings) -> Result<bool, SettingsError> {
    let name = "METRICS_TEMPORALITY_PREFERENCE";
    let given = otlp.text(name).map(str::to_ascii_lowercase);
    match given.as_deref() {
        None | Some("cumulative") => Ok(false),
        Some("delta" | "lowmemory") => Ok(true),
        Some(_) => Err(otlp.refused(name, "cumulative or delta")),
    }
}

/// True if histograms have fixed bounds; `None` if that is not said.
pub(super) fn has_fixed_bounds(otlp: &Settings) -> Result<Option<bool>, SettingsError> {
    let name = "METRICS_DEFAULT_HISTOGRAM_AGGREGATION";
    match otlp.text(name) {
        None => Ok(None),
        Some("explicit_bucket_histogram") => Ok(Some(true)),
        Some("base2_exponential_bucket_histogram") => Ok(Some(false)),
        Some(_) => {
            let expected = "explicit_bucket_histogram or base2_exponential_bucket_histogram";
            Err(otlp.refused(name, expected))
        }
    }
}

/// Returns the attributes of the resource: those of the variables, and the service's name.
pub(super) fn resource(
    given: Option<&str>,
    usual: &str,
    otel: &Settings,
) -> Result<Vec<(String, String)>, SettingsError> {
    let mut attributes = pairs(otel, "RESOURCE_ATTRIBUTES")?;
    let has_name = attributes.iter().any(|(name, _)| name == "service.name");
    if given.is_some() || !has_name {
        attributes.retain(|(name, _)| name != "service.name");
        let name = given.unwrap_or(usual).to_owned();
        attributes.push(("service.name".to_owned(), name));
    }
    Ok(attributes)
}
