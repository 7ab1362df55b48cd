//! The settings of OpenTelemetry's protocol: the variables of OpenTelemetry itself, and k6's own in
//! k6's runs.

use super::{Form, Otlp};
use crate::Measured;
use crate::exporter::{Exporter, Wants};
use crate::observer::now_ns;
use crate::requested::{Dialect, OpenError, Requested};
use crate::settings::{Settings, SettingsError, basic};
use percent_encoding::percent_decode_str;
use std::time::Duration;

/// The path of metrics, where the address has none.
const PATH: &str = "/v1/metrics";

/// Makes the exporter ready for a run.
///
/// # Errors
/// If a setting can't be used.
pub(crate) fn open(
    requested: &Requested,
    dialect: Dialect,
    settings: &Settings,
) -> Result<Exporter, OpenError> {
    let (k6, otel) = (settings.nested("OTEL_"), settings.rooted("OTEL_"));
    let is_k6 = dialect == Dialect::K6;
    let tls = match is_k6 {
        true => k6.tls(
            "TLS_INSECURE_SKIP_VERIFY",
            [
                "TLS_CERTIFICATE",
                "TLS_CLIENT_CERTIFICATE",
                "TLS_CLIENT_KEY",
            ],
        )?,
        false => otel.tls(
            "EXPORTER_OTLP_INSECURE_SKIP_VERIFY",
            [
                "EXPORTER_OTLP_CERTIFICATE",
                "EXPORTER_OTLP_CLIENT_CERTIFICATE",
                "EXPORTER_OTLP_CLIENT_KEY",
            ],
        )?,
    };
    let mut url = requested.address().clone();
    if url.path() == "/" {
        url.set_path(PATH);
    }
    let interval = match is_k6 {
        true => k6.duration("EXPORT_INTERVAL")?,
        false => otel.duration("METRIC_EXPORT_INTERVAL")?,
    };
    let fields = fields(requested, is_k6, &k6, &otel)?;
    Ok(Exporter {
        receiver: requested.described(),
        interval: interval.unwrap_or(Duration::from_secs(if is_k6 { 10 } else { 5 })),
        wants: if is_k6 {
            Wants::SeriesInMs
        } else {
            Wants::Series
        },
        layout: Box::new(Otlp {
            form: form(is_k6, &k6, &otel)?,
            total: Measured::default(),
            since_ns: now_ns(),
            has_overflowed: false,
        }),
        channel: Box::new(requested.http(&url, &fields, &tls)?),
    })
}

/// Returns the header fields of all messages.
fn fields(
    requested: &Requested,
    is_k6: bool,
    k6: &Settings,
    otel: &Settings,
) -> Result<Vec<(String, String)>, OpenError> {
    let mut fields = vec![(
        "Content-Type".to_owned(),
        "application/x-protobuf".to_owned(),
    )];
    let (settings, name) = match is_k6 {
        true => (k6, "HEADERS"),
        false => (otel, "EXPORTER_OTLP_HEADERS"),
    };
    fields.extend(pairs(settings, name)?);
    if is_k6 && let Some(user) = k6.text("HTTP_EXPORTER_USERNAME") {
        let password = k6.secret("HTTP_EXPORTER_PASSWORD")?;
        fields.push(basic(user, &password.unwrap_or_default()));
    }
    fields.extend(requested.credentials(&otel.nested("EXPORTER_OTLP_"))?);
    Ok(fields)
}

/// Returns the pairs of a list such as `a=1,b=2`, whose values may be percent-encoded.
fn pairs(settings: &Settings, name: &str) -> Result<Vec<(String, String)>, SettingsError> {
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

fn form(is_k6: bool, k6: &Settings, otel: &Settings) -> Result<Form, OpenError> {
    let temporality = otel.text("EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE");
    let is_delta = match temporality.map(str::to_ascii_lowercase).as_deref() {
        None | Some("cumulative") => false,
        Some("delta" | "lowmemory") => true,
        Some(_) => {
            let name = "EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE";
            return Err(otel.refused(name, "cumulative or delta").into());
        }
    };
    let aggregation = otel.text("EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION");
    let has_fixed_bounds = match aggregation {
        None => is_k6,
        Some("explicit_bucket_histogram") => true,
        Some("base2_exponential_bucket_histogram") => false,
        Some(_) => {
            let name = "EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION";
            let expected = "explicit_bucket_histogram or base2_exponential_bucket_histogram";
            return Err(otel.refused(name, expected).into());
        }
    };
    Ok(Form {
        prefix: match is_k6 {
            true => k6.text("METRIC_PREFIX").unwrap_or_default().to_owned(),
            false => "loadline.".to_owned(),
        },
        scope: if is_k6 { "k6" } else { "loadline" },
        resource: resource(is_k6, k6, otel)?,
        is_delta,
        has_fixed_bounds,
        is_k6,
    })
}

/// Returns the attributes of the resource: those of the variables, and the service's name.
fn resource(
    is_k6: bool,
    k6: &Settings,
    otel: &Settings,
) -> Result<Vec<(String, String)>, SettingsError> {
    let mut attributes = pairs(otel, "RESOURCE_ATTRIBUTES")?;
    let own = k6.text("SERVICE_NAME").filter(|_| is_k6);
    let given = own.or_else(|| otel.text("SERVICE_NAME"));
    let has_name = attributes.iter().any(|(name, _)| name == "service.name");
    let usual = if is_k6 { "k6" } else { "loadline" };
    if given.is_some() || !has_name {
        attributes.retain(|(name, _)| name != "service.name");
        let name = given.unwrap_or(usual).to_owned();
        attributes.push(("service.name".to_owned(), name));
    }
    if let Some(version) = k6.text("SERVICE_VERSION").filter(|_| is_k6) {
        attributes.push(("service.version".to_owned(), version.to_owned()));
    }
    Ok(attributes)
}
