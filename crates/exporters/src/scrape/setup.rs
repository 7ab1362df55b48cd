//! The settings of the endpoint: its address.

use super::Shared;
use super::server::Endpoint;
use crate::channel::first_address;
use crate::exporter::{BatchContent, Exporter, TIMEOUT};
use crate::requested::{OpenError, Requested};
use crate::settings::Settings;
use std::time::Duration;

/// Listens, and makes the exporter ready for a run.
///
/// # Errors
/// If the address can't be listened on.
pub(crate) fn open(requested: &Requested, settings: &Settings) -> Result<Exporter, OpenError> {
    let prefix = settings.text("METRIC_PREFIX").unwrap_or("loadline_");
    let address = requested.authority(9_464);
    let shared = Shared::new(prefix);
    let listen = || Endpoint::listen(first_address(&address)?, shared.clone());
    let endpoint = listen().map_err(|error| OpenError::Listen(address.clone(), error))?;
    Ok(Exporter {
        receiver: requested.described(),
        interval: Duration::from_secs(1),
        timeout: TIMEOUT,
        content: BatchContent::Series,
        layout: Box::new(shared),
        channel: Box::new(endpoint),
    })
}
