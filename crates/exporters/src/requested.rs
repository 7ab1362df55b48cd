//! The exporters that a user requests, in words:
//! `prometheus-rw=http://127.0.0.1:9090/api/v1/write`.

use crate::exporter::Exporter;
use crate::http::Http;
use crate::settings::{Settings, SettingsError, basic};
use crate::{FinalReport, influxdb, otlp, prometheus, scrape, statsd, webhook};
use loadline_plan::Tls;
use loadline_transport::TlsSetupError;
use percent_encoding::percent_decode_str;
use std::collections::BTreeMap;
use std::{fmt, io};
use url::Url;

/// The formats that exporters write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Prometheus remote write.
    PrometheusRw,
    /// InfluxDB's line protocol.
    Influxdb,
    /// StatsD.
    Statsd,
    /// StatsD with the tags and distributions of Datadog.
    DogStatsd,
    /// OpenTelemetry's protocol over HTTP, or as its variables say.
    Otlp,
    /// OpenTelemetry's protocol over gRPC.
    OtlpGrpc,
    /// An endpoint that Prometheus scrapes.
    Scrape,
    /// The report of the run, posted when it has ended.
    Webhook,
}

impl Format {
    /// True if each series of it has labels, or their values in its name.
    pub fn has_labels(self) -> bool {
        self != Format::Webhook
    }

    /// All formats.
    pub const ALL: [Format; 8] = [
        Format::PrometheusRw,
        Format::Influxdb,
        Format::Statsd,
        Format::DogStatsd,
        Format::Otlp,
        Format::OtlpGrpc,
        Format::Scrape,
        Format::Webhook,
    ];

    /// Returns the name that users write.
    pub fn name(self) -> &'static str {
        match self {
            Format::PrometheusRw => "prometheus-rw",
            Format::Influxdb => "influxdb",
            Format::Statsd => "statsd",
            Format::DogStatsd => "dogstatsd",
            Format::Otlp => "otlp",
            Format::OtlpGrpc => "otlp-grpc",
            Format::Scrape => "scrape",
            Format::Webhook => "webhook",
        }
    }

    /// Returns an example of its address.
    fn example(self) -> &'static str {
        match self {
            Format::PrometheusRw => "http://127.0.0.1:9090/api/v1/write",
            Format::Influxdb => "http://127.0.0.1:8086/DATABASE",
            Format::Statsd | Format::DogStatsd => "127.0.0.1:8125",
            Format::Otlp => "http://127.0.0.1:4318",
            Format::OtlpGrpc => "http://127.0.0.1:4317",
            Format::Scrape => "127.0.0.1:9464",
            Format::Webhook => "https://HOST/PATH",
        }
    }

    /// True if its messages may go to such an address.
    fn takes(self, address: &Url) -> bool {
        let is_known = match self {
            Format::Influxdb => matches!(address.scheme(), "http" | "https" | "udp"),
            Format::PrometheusRw
            | Format::Statsd
            | Format::DogStatsd
            | Format::Otlp
            | Format::OtlpGrpc
            | Format::Scrape
            | Format::Webhook => match self.bare_scheme() {
                Some(scheme) => address.scheme() == scheme,
                None => matches!(address.scheme(), "http" | "https"),
            },
        };
        is_known && address.has_host()
    }

    /// Returns the only scheme of an address that is written as `HOST:PORT`.
    fn bare_scheme(self) -> Option<&'static str> {
        match self {
            Format::Statsd | Format::DogStatsd => Some("udp"),
            Format::Scrape => Some("http"),
            Format::PrometheusRw
            | Format::Influxdb
            | Format::Otlp
            | Format::OtlpGrpc
            | Format::Webhook => None,
        }
    }

    /// Returns the format with this name.
    pub fn named(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }
}

/// Whose names and defaults hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Loadline's.
    Native,
    /// k6's.
    K6,
}

/// An exporter that was requested.
#[derive(Clone, PartialEq, Eq)]
pub struct Requested {
    format: Format,
    address: Url,
}

/// Words that request no exporter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoExporter {
    /// An address that is missing or none.
    #[error("`{format}` needs the address of its receiver: write {format}={example}")]
    Address {
        /// The format.
        format: &'static str,
        /// An address.
        example: &'static str,
    },
    /// A variable that can't be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
}

/// Why an exporter can't begin.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A variable that can't be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// TLS settings that can't be used.
    #[error("{0} can't be reached: {1}")]
    Tls(String, TlsSetupError),
    /// An address that can't be listened on.
    #[error("scrape={0} can't be listened on ({1}): give another port")]
    Listen(String, io::Error),
    /// A part of the address's query that is not known or not valid.
    #[error("{0}: `{1}` in its address is not known; write {2}")]
    Query(String, String, &'static str),
    /// A statistic that is not known.
    #[error(
        "`{0}` is not a statistic of k6: write avg, min, med, max, count, sum, or a percentile \
         such as p(99)"
    )]
    Stat(String),
}

impl Requested {
    /// Creates the exporter that these words request.
    ///
    /// # Errors
    /// If the address is none.
    pub fn new(format: Format, address: &str) -> Result<Requested, NoExporter> {
        let no_address = NoExporter::Address {
            format: format.name(),
            example: format.example(),
        };
        let url = match format.bare_scheme() {
            Some(scheme) if !address.contains("://") => format!("{scheme}://{address}").parse(),
            _ => address.parse(),
        };
        let url: Url = url.map_err(|_| no_address.clone())?;
        match format.takes(&url) {
            true => Ok(Requested {
                format,
                address: url,
            }),
            false => Err(no_address),
        }
    }

    /// Creates the exporter that a format without an address requests: the receiver is where the
    /// variables of OpenTelemetry say, of those of the environment.
    ///
    /// # Errors
    /// If the format has no such variables, or they say nothing that can be used.
    pub fn of_variables(
        format: Format,
        variables: &BTreeMap<String, String>,
    ) -> Result<Requested, NoExporter> {
        let receiver = match matches!(format, Format::Otlp | Format::OtlpGrpc) {
            true => otlp::receiver_of(format, variables)?,
            false => None,
        };
        receiver.ok_or(NoExporter::Address {
            format: format.name(),
            example: format.example(),
        })
    }

    /// Returns the request in words without secrets.
    pub fn described(&self) -> String {
        format!("{} ({})", self.format.name(), self.shown())
    }

    /// Returns the address without a user, a password and a query.
    pub fn shown(&self) -> String {
        let mut address = self.address.clone();
        // An address with a host takes both.
        let _ = address.set_username("");
        let _ = address.set_password(None);
        address.set_query(None);
        address.into()
    }

    /// Makes the exporter ready for a run; `variables` are those of the environment, and `report`
    /// is filled when the run has ended.
    ///
    /// # Errors
    /// If a setting can't be used.
    pub fn open(
        &self,
        dialect: Dialect,
        variables: &BTreeMap<String, String>,
        report: &FinalReport,
    ) -> Result<Exporter, OpenError> {
        let prefix = match dialect {
            Dialect::Native => "LOADLINE_",
            Dialect::K6 => "K6_",
        };
        let settings = Settings::new(variables.clone(), prefix);
        match self.format {
            Format::PrometheusRw => prometheus::open(self, dialect, &settings),
            Format::Influxdb => influxdb::open(self, dialect, &settings),
            Format::Statsd => statsd::open(self, dialect, &settings, false),
            Format::DogStatsd => statsd::open(self, dialect, &settings, true),
            Format::Otlp | Format::OtlpGrpc => otlp::open(self, dialect, &settings),
            Format::Scrape => scrape::open(self, &settings),
            Format::Webhook => webhook::open(self, &settings, report),
        }
    }

    /// Returns the format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns the address, which may contain secrets.
    pub(crate) fn address(&self) -> &Url {
        &self.address
    }

    /// Returns host and port of the address.
    pub(crate) fn authority(&self, usual_port: u16) -> String {
        let host = self.address.host_str().unwrap_or_default();
        format!("{host}:{}", self.address.port().unwrap_or(usual_port))
    }

    /// Returns the header field that says who sends: a token, or a user with a password, from the
    /// variables or the address.
    pub(crate) fn credentials(
        &self,
        settings: &Settings,
    ) -> Result<Option<(String, String)>, SettingsError> {
        let password = settings.secret("PASSWORD")?;
        if let Some(user) = settings.text("USERNAME") {
            return Ok(Some(basic(user, &password.unwrap_or_default())));
        }
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let user = decoded(self.address.username());
        let password = self.address.password().map(decoded);
        let is_given = !user.is_empty() || password.is_some();
        Ok(is_given.then(|| basic(&user, &password.unwrap_or_default())))
    }

    /// Returns a channel to this URL.
    pub(crate) fn http(
        &self,
        url: &Url,
        fields: &[(String, String)],
        tls: &Tls,
    ) -> Result<Http, OpenError> {
        Http::to(url, fields, tls).map_err(|error| OpenError::Tls(self.described(), error))
    }
}

/// Prints no secret.
impl fmt::Debug for Requested {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.described())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_of_opentelemetry_may_be_in_its_variables() {
        let of = |format, pairs: &[(&str, &str)]| {
            let owned = pairs.iter();
            let owned = owned
                .map(|(name, value)| (format!("OTEL_EXPORTER_OTLP_{name}"), (*value).to_owned()));
            let requested = Requested::of_variables(format, &owned.collect());
            requested.map_or_else(|error| error.to_string(), |found| found.described())
        };
        let endpoint = ("ENDPOINT", "http://a:1");
        assert_eq!(
            of(Format::Otlp, &[endpoint]),
            "otlp (http://a:1/v1/metrics)"
        );
        assert_eq!(of(Format::OtlpGrpc, &[endpoint]), "otlp-grpc (http://a:1/)");
        let grpc = [endpoint, ("PROTOCOL", "grpc")];
        assert_eq!(of(Format::Otlp, &grpc), "otlp-grpc (http://a:1/)");
        assert!(of(Format::Otlp, &[]).contains("needs the address"));
        assert!(of(Format::Webhook, &[endpoint]).contains("needs the address"));
        let wrong = of(Format::Otlp, &[("ENDPOINT", "http://")]);
        assert!(
            wrong.contains("OTEL_EXPORTER_OTLP_ENDPOINT is `http://`"),
            "{wrong}"
        );
    }
}
