//! The settings of StatsD and DogStatsD.

use super::texts::Texts;
use super::{Datagram, Names};
use crate::channel::Datagrams;
use crate::exporter::{BatchContent, Exporter, TIMEOUT};
use crate::requested::{Dialect, OpenError, Requested};
use crate::settings::Settings;
use std::time::Duration;

/// Makes the exporter ready for a run.
///
/// # Errors
/// If a setting can't be used.
pub(crate) fn open(
    requested: &Requested,
    dialect: Dialect,
    settings: &Settings,
    has_tags: bool,
) -> Result<Exporter, OpenError> {
    let own = settings.nested("STATSD_");
    let interval = own.duration("PUSH_INTERVAL")?;
    let (prefix, names) = match dialect {
        Dialect::Native => (settings.text("METRIC_PREFIX"), Names::Native),
        Dialect::K6 => {
            let usual = || ["vu", "iter", "url"].map(str::to_owned).to_vec();
            let blocked = own.list("TAG_BLOCKLIST").unwrap_or_else(usual);
            (own.text("NAMESPACE"), Names::K6 { blocked })
        }
    };
    let usual = match dialect {
        Dialect::Native => "loadline.",
        Dialect::K6 => "k6.",
    };
    Ok(Exporter {
        receiver: requested.described(),
        interval: interval.unwrap_or(Duration::from_secs(1)),
        timeout: TIMEOUT,
        content: BatchContent::Series,
        layout: Box::new(Datagram {
            prefix: prefix.unwrap_or(usual).to_owned(),
            has_tags,
            names,
            texts: Texts::default(),
            has_overflowed: false,
        }),
        channel: Box::new(Datagrams::to(requested.authority(8_125))),
    })
}
