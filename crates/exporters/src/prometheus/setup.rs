//! The settings of Prometheus remote write: k6's variables and defaults, and Loadline's own.

use super::{Form, RemoteWrite, Stat};
use crate::exporter::{BatchContent, Exporter, TIMEOUT};
use crate::requested::{Dialect, OpenError, Requested};
use crate::settings::{Settings, SettingsError};
use std::time::Duration;

/// Makes the exporter ready for a run.
///
/// # Errors
/// If a setting can't be used.
pub(crate) fn open(
    requested: &Requested,
    dialect: Dialect,
    settings: &Settings,
) -> Result<Exporter, OpenError> {
    let prefix = match dialect {
        Dialect::Native => settings.text("METRIC_PREFIX").unwrap_or("loadline_"),
        Dialect::K6 => "k6_",
    };
    let settings = settings.nested("PROMETHEUS_RW_");
    let tls = settings.tls(
        "INSECURE_SKIP_TLS_VERIFY",
        [
            "CA_CERTIFICATE",
            "CLIENT_CERTIFICATE",
            "CLIENT_CERTIFICATE_KEY",
        ],
    )?;
    let interval = settings.duration("PUSH_INTERVAL")?;
    let fields = fields(requested, &settings)?;
    Ok(Exporter {
        receiver: requested.described(),
        interval: interval.unwrap_or(Duration::from_secs(5)),
        timeout: TIMEOUT,
        content: BatchContent::Series,
        layout: Box::new(RemoteWrite::new(form(dialect, prefix, &settings)?)),
        channel: Box::new(requested.http(requested.address(), &fields, &tls)?),
    })
}

/// Returns the header fields of all messages.
fn fields(requested: &Requested, settings: &Settings) -> Result<Vec<(String, String)>, OpenError> {
    let of_format = [
        ("Content-Encoding", "snappy"),
        ("Content-Type", "application/x-protobuf"),
        ("X-Prometheus-Remote-Write-Version", "0.1.0"),
    ];
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    let mut fields: Vec<_> = of_format.into_iter().map(owned).collect();
    fields.extend(match settings.secret("BEARER_TOKEN")? {
        Some(token) => Some(("Authorization".to_owned(), format!("Bearer {token}"))),
        None => requested.credentials(settings)?,
    });
    fields.extend(header_fields(settings)?);
    Ok(fields)
}

/// Returns what a run's metrics are under the names of this dialect.
fn form(dialect: Dialect, prefix: &str, settings: &Settings) -> Result<Form, OpenError> {
    let stats: &[&str] = match dialect {
        Dialect::Native => &["p(50)", "p(95)", "p(99)", "avg", "min", "max"],
        Dialect::K6 => &["p(99)"],
    };
    let given = settings.list("TREND_STATS");
    let stats = given.unwrap_or_else(|| stats.iter().map(|name| (*name).to_owned()).collect());
    let stat = |name: String| Stat::parse(&name).ok_or(OpenError::Stat(name));
    // With the variable only one form is sent, as in k6; without it both.
    let as_histograms = settings.switch("TREND_AS_NATIVE_HISTOGRAM")?;
    Ok(Form {
        prefix: prefix.to_owned(),
        stats: match as_histograms {
            Some(true) => Vec::new(),
            _ => stats.into_iter().map(stat).collect::<Result<_, _>>()?,
        },
        histograms: as_histograms.unwrap_or(true),
        schema: match dialect {
            Dialect::Native => 5,
            Dialect::K6 => 3,
        },
        marks_stale: settings
            .switch("STALE_MARKERS")?
            .unwrap_or(dialect == Dialect::Native),
    })
}

/// Returns the header fields that variables add.
fn header_fields(settings: &Settings) -> Result<Vec<(String, String)>, SettingsError> {
    let mut fields = settings.beginning("HEADERS_");
    for field in settings.list("HTTP_HEADERS").unwrap_or_default() {
        let (name, value) = field.split_once(':').ok_or_else(|| {
            settings.refused("HTTP_HEADERS", "header fields such as X-Scope-OrgID:1")
        })?;
        fields.push((name.trim().to_owned(), value.trim().to_owned()));
    }
    let is_line = |text: &String| text.chars().all(|letter| !letter.is_control());
    let are_lines = |(name, value): &(String, String)| is_line(name) && is_line(value);
    match fields.iter().all(are_lines) {
        true => Ok(fields),
        false => Err(settings.refused("HTTP_HEADERS", "header fields without control characters")),
    }
}
