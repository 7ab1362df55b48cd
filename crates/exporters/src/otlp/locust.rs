//! What Locust's `--otel` sends: where OpenTelemetry's variables say, in Locust's own layout.
//!
//! | metric | kind | attributes |
//! |---|---|---|
//! | `locust.client.duration` | histogram, seconds | `name`, of a failure `error.type` |
//! | `locust.users.count` | gauge | `user_class` |

use super::setup::{self, Protocol, Way};
use super::{Encoding, Form, Names, Otlp};
use crate::exporter::{BatchContent, Exporter, TIMEOUT};
use crate::requested::OpenError;
use crate::running::now_ns;
use crate::settings::{Settings, SettingsError};
use std::collections::BTreeMap;
use std::time::Duration;

/// The time between two messages, as in OpenTelemetry's library for Python.
const INTERVAL: Duration = Duration::from_secs(60);

/// Makes the exporter of a run of Locust ready; `variables` are those of the environment, and
/// `about` are attributes of the run.
///
/// # Errors
/// If a setting can't be used.
pub fn locust(
    variables: &BTreeMap<String, String>,
    about: &[(String, String)],
) -> Result<Exporter, OpenError> {
    let settings = Settings::new(variables.clone(), "OTEL_");
    let otlp = setup::of_metrics(&settings);
    let protocol = protocol(&otlp)?;
    let requested = setup::receiver(&otlp, protocol)?;
    let mut resource = setup::resource(settings.text("SERVICE_NAME"), "locust", &settings)?;
    resource.retain(|(name, _)| about.iter().all(|(own, _)| own != name));
    resource.extend_from_slice(about);
    let form = Form {
        prefix: "locust.".to_owned(),
        scope: "locust",
        encoding: Encoding::Protobuf,
        resource,
        is_delta: setup::is_delta(&otlp)?,
        has_fixed_bounds: setup::has_fixed_bounds(&otlp)?.unwrap_or(true),
        names: Names::Locust,
    };
    let interval = settings.duration("METRIC_EXPORT_INTERVAL")?;
    let way = Way {
        protocol,
        fields: setup::pairs(&otlp, "HEADERS")?,
        tls: setup::tls(&otlp)?,
        compresses: setup::compresses(&otlp)?,
    };
    Ok(Exporter {
        receiver: requested.described(),
        interval: interval.unwrap_or(INTERVAL),
        timeout: timeout(&otlp)?,
        content: BatchContent::Series,
        layout: Box::new(Otlp::new(form, now_ns())),
        channel: setup::channel(&requested, way)?,
    })
}

/// Returns the protocol. Locust sends no JSON.
fn protocol(otlp: &Settings) -> Result<Protocol, SettingsError> {
    match setup::protocol(otlp, Protocol::Grpc) {
        Ok(protocol @ (Protocol::Grpc | Protocol::Http)) => Ok(protocol),
        Ok(Protocol::Json) | Err(_) => Err(otlp.refused("PROTOCOL", "grpc or http/protobuf")),
    }
}

/// Returns the longest time for one message, in seconds as in OpenTelemetry's library for Python.
fn timeout(otlp: &Settings) -> Result<Duration, SettingsError> {
    let Some(text) = otlp.text("TIMEOUT") else {
        return Ok(TIMEOUT);
    };
    let seconds = text.parse::<f64>().ok().filter(|seconds| *seconds > 0.0);
    let timeout = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    timeout.ok_or_else(|| otlp.refused("TIMEOUT", "a number of seconds"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(variables: &[(&str, &str)]) -> String {
        let owned = variables.iter();
        let owned = owned.map(|(name, value)| (format!("OTEL_{name}"), (*value).to_owned()));
        match locust(&owned.collect(), &[]) {
            Ok(exporter) => exporter.receiver,
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn the_receiver_is_where_the_variables_say() {
        let http = ("EXPORTER_OTLP_PROTOCOL", "http/protobuf");
        let all = ("EXPORTER_OTLP_ENDPOINT", "http://a:1/base/");
        let own = ("EXPORTER_OTLP_METRICS_ENDPOINT", "http://b:2/m");
        let bare = ("EXPORTER_OTLP_ENDPOINT", "c:3");
        let open = ("EXPORTER_OTLP_INSECURE", "true");
        for (variables, expected) in [
            (&[][..], "otlp-grpc (http://localhost:4317/)"),
            (&[http], "otlp (http://localhost:4318/v1/metrics)"),
            (&[http, all], "otlp (http://a:1/base/v1/metrics)"),
            (&[http, all, own], "otlp (http://b:2/m)"),
            (&[bare, open], "otlp-grpc (http://c:3/)"),
        ] {
            assert_eq!(found(variables), expected);
        }
        let unknown = found(&[("EXPORTER_OTLP_PROTOCOL", "http/json")]);
        let reason = "the variable OTEL_EXPORTER_OTLP_PROTOCOL is `http/json`: write grpc or \
                    http/protobuf";
        assert_eq!(unknown, reason);
    }

    #[test]
    fn a_timeout_is_in_seconds() {
        let of = |text: &str| {
            let variables = [("EXPORTER_OTLP_TIMEOUT".to_owned(), text.to_owned())];
            timeout(&Settings::new(variables.into(), "EXPORTER_OTLP_"))
        };
        assert_eq!(of("2.5"), Ok(Duration::from_millis(2_500)));
        assert_eq!(of(""), Ok(TIMEOUT));
        for text in ["0", "soon", "-1", "NaN"] {
            assert!(of(text).is_err(), "{text}");
        }
    }
}
