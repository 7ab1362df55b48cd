//! The settings of StatsD and DogStatsD.

use super::Datagram;
use crate::channel::Datagrams;
use crate::exporter::{Exporter, Wants};
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
    let settings = settings.nested("STATSD_");
    let interval = settings.duration("PUSH_INTERVAL")?;
    Ok(Exporter {
        receiver: requested.described(),
        interval: interval.unwrap_or(Duration::from_secs(1)),
        wants: Wants::Series,
        layout: Box::new(Datagram {
            prefix: match dialect {
                Dialect::Native => "loadline.",
                Dialect::K6 => "k6.",
            },
            has_tags,
            has_overflowed: false,
        }),
        channel: Box::new(Datagrams::to(requested.authority(8_125))),
    })
}
