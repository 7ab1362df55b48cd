//! The settings of InfluxDB: k6's variables and defaults, and Loadline's own.
//!
//! The address says which version: `http://host/DATABASE` is 1, `http://host/?org=…&bucket=…` is 2,
//! and `udp://host:port` takes datagrams of version 1.

use super::channel::Database;
use super::{Field, FieldKind, Instants, Lines, MOST_BYTES};
use crate::channel::{Channel, Datagrams};
use crate::exporter::{BatchContent, Exporter, TIMEOUT};
use crate::requested::{Dialect, OpenError, Requested};
use crate::settings::Settings;
use std::collections::BTreeMap;
use std::time::Duration;
use url::Url;

/// The bytes of a datagram, as in InfluxDB's own client.
const DATAGRAM_BYTES: usize = 512;

/// What the query of an address may have.
const QUERY: &str = "org, bucket, precision, retention, consistency, insecure, pushInterval, \
    payload_size, tagsAsFields or concurrentWrites";

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
        Dialect::K6 => "",
    };
    let settings = settings
        .nested("INFLUXDB_")
        .overridden(query(requested)?.into_iter());
    let precision = settings.text("PRECISION").unwrap_or("ns");
    let precision_ns = precision_ns(precision)
        .ok_or_else(|| settings.refused("PRECISION", "ns, u, ms, s, m or h"))?;
    let is_udp = requested.address().scheme() == "udp";
    let payload = settings.count("PAYLOAD_SIZE")?;
    let channel: Box<dyn Channel> = match is_udp {
        true => Box::new(Datagrams::to(requested.authority(8_089))),
        false => Box::new(database(requested, dialect, &settings, precision)?),
    };
    let interval = settings.duration("PUSH_INTERVAL")?;
    Ok(Exporter {
        receiver: requested.described(),
        interval: interval.unwrap_or(Duration::from_secs(1)),
        timeout: TIMEOUT,
        content: match dialect {
            Dialect::Native => BatchContent::Series,
            Dialect::K6 => BatchContent::Points,
        },
        layout: Box::new(Lines {
            fields: fields(&settings)?,
            precision_ns: if is_udp { 1 } else { precision_ns },
            prefix: prefix.to_owned(),
            most_bytes: match is_udp {
                true => payload.unwrap_or(DATAGRAM_BYTES),
                false => MOST_BYTES,
            },
            instants: Instants::default(),
            has_overflowed: false,
        }),
        channel,
    })
}

/// Returns the settings in the query of the address, by the names of their variables.
fn query(requested: &Requested) -> Result<BTreeMap<&'static str, String>, OpenError> {
    let mut given = BTreeMap::new();
    for (name, value) in requested.address().query_pairs() {
        let variable = match &*name {
            "org" => "ORGANIZATION",
            "bucket" => "BUCKET",
            "precision" => "PRECISION",
            "retention" => "RETENTION",
            "consistency" => "CONSISTENCY",
            "insecure" => "INSECURE",
            "pushInterval" => "PUSH_INTERVAL",
            "payload_size" => "PAYLOAD_SIZE",
            "tagsAsFields" => "TAGS_AS_FIELDS",
            // One message is under way at a time.
            "concurrentWrites" => continue,
            _ => {
                let name = name.into_owned();
                return Err(OpenError::Query(requested.described(), name, QUERY));
            }
        };
        given.insert(variable, value.into_owned());
    }
    Ok(given)
}

/// Returns the nanoseconds of a unit of time.
fn precision_ns(name: &str) -> Option<u64> {
    Some(match name {
        "n" | "ns" => 1,
        "u" | "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        _ => return None,
    })
}

/// Returns the tags that are fields, each maybe with its type: `vu:int`.
fn fields(settings: &Settings) -> Result<Vec<Field>, OpenError> {
    let usual = || ["vu", "iter", "url"].map(str::to_owned).to_vec();
    let given = settings.list("TAGS_AS_FIELDS").unwrap_or_else(usual);
    let field = |text: String| {
        let (tag, kind) = text.split_once(':').unwrap_or((&text, "string"));
        let kind = match kind {
            "string" => FieldKind::Text,
            "int" => FieldKind::Integer,
            "float" => FieldKind::Float,
            "bool" => FieldKind::Truth,
            _ => return None,
        };
        Some(Field {
            tag: tag.to_owned(),
            kind,
        })
    };
    let fields: Option<Vec<Field>> = given.into_iter().map(field).collect();
    let expected = "tags, each maybe with :string, :int, :float or :bool";
    Ok(fields.ok_or_else(|| settings.refused("TAGS_AS_FIELDS", expected))?)
}

/// Returns the channel to a database of version 1, or to a bucket of version 2.
fn database(
    requested: &Requested,
    dialect: Dialect,
    settings: &Settings,
    precision: &str,
) -> Result<Database, OpenError> {
    let tls = settings.tls(
        "INSECURE",
        ["CA_CERTIFICATE", "CLIENT_CERTIFICATE", "CLIENT_KEY"],
    )?;
    let credentials = match settings.secret("TOKEN")? {
        Some(token) => Some(("Authorization".to_owned(), format!("Token {token}"))),
        None => requested.credentials(settings)?,
    };
    let mut fields = vec![(
        "Content-Type".to_owned(),
        "text/plain; charset=utf-8".to_owned(),
    )];
    fields.extend(credentials.clone());
    let (prefix, last) = split_path(requested.address().path());
    if let Some(bucket) = settings.text("BUCKET") {
        let organization = settings.text("ORGANIZATION").unwrap_or_default();
        let path = requested.address().path().trim_end_matches('/');
        let precision = if precision == "n" { "ns" } else { precision };
        let pairs = [
            ("org", organization),
            ("bucket", bucket),
            ("precision", precision),
        ];
        let url = with(requested.address(), &format!("{path}/api/v2/write"), &pairs);
        return Ok(Database {
            creation: None,
            lines: requested.http(&url, &fields, &tls)?,
        });
    }
    let usual = match dialect {
        Dialect::Native => "loadline",
        Dialect::K6 => "k6",
    };
    let name = match last.is_empty() {
        true => settings.text("DB").unwrap_or(usual),
        false => last,
    };
    let precision = if precision == "ns" { "n" } else { precision };
    let mut pairs = vec![("db", name), ("precision", precision)];
    pairs.extend(settings.text("RETENTION").map(|policy| ("rp", policy)));
    pairs.extend(
        settings
            .text("CONSISTENCY")
            .map(|level| ("consistency", level)),
    );
    let url = with(requested.address(), &format!("{prefix}/write"), &pairs);
    let create = format!("CREATE DATABASE \"{}\"", name.replace('"', "\\\""));
    let creation = with(
        requested.address(),
        &format!("{prefix}/query"),
        &[("q", &create)],
    );
    let credentials: Vec<_> = credentials.into_iter().collect();
    Ok(Database {
        creation: Some(requested.http(&creation, &credentials, &tls)?),
        lines: requested.http(&url, &fields, &tls)?,
    })
}

/// Splits a path into what comes before the database, and the database, which may be missing.
fn split_path(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

fn with(address: &Url, path: &str, pairs: &[(&str, &str)]) -> Url {
    let mut url = address.clone();
    url.set_path(path);
    url.query_pairs_mut().clear().extend_pairs(pairs);
    url
}
