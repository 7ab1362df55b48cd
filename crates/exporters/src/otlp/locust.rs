//! What Locust's `--otel` sends: where OpenTelemetry's variables say, in Locust's own layout.
//!
//! | metric | kind | attributes |
//! |---|---|---|
//! | `locust.client.duration` | histogram, seconds | `name`, of a failure `error.type` |
//! | `locust.users.count` | gauge | `user_class` |

use super::setup::{self, Protocol};
use super::{Form, Names, Otlp};
use crate::exporter::{Exporter, Wants};
use crate::requested::OpenError;
use crate::running::now_ns;
use crate::settings::Settings;
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
    let protocol = setup::protocol(&otlp, Protocol::Grpc)?;
    let requested = setup::receiver(&otlp, protocol)?;
    let mut resource = setup::resource(settings.text("SERVICE_NAME"), "locust", &settings)?;
    resource.retain(|(name, _)| about.iter().all(|(own, _)| own != name));
    resource.extend_from_slice(about);
    let form = Form {
        prefix: "locust.".to_owned(),
        scope: "locust",
        resource,
        is_delta: setup::is_delta(&otlp)?,
        has_fixed_bounds: setup::has_fixed_bounds(&otlp)?.unwrap_or(true),
        names: Names::Locust,
    };
    let interval = settings.duration("METRIC_EXPORT_INTERVAL")?;
    let fields = setup::pairs(&otlp, "HEADERS")?;
    let tls = setup::tls(&otlp)?;
    Ok(Exporter {
        receiver: requested.described(),
        interval: interval.unwrap_or(INTERVAL),
        wants: Wants::Series,
        layout: Box::new(Otlp::new(form, now_ns())),
        channel: setup::channel(&requested, protocol, fields, &tls)?,
    })
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
        let said = "the variable OTEL_EXPORTER_OTLP_PROTOCOL is `http/json`: write grpc or \
                    http/protobuf";
        assert_eq!(unknown, said);
    }
}
