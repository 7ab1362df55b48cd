//! The settings of the endpoint: its address.

use super::Exposition;
use super::server::Endpoint;
use crate::Measured;
use crate::exporter::{Exporter, Wants};
use crate::requested::{OpenError, Requested};
use std::io;
use std::net::ToSocketAddrs;
use std::time::Duration;

/// Listens, and makes the exporter ready for a run.
///
/// # Errors
/// If the address can't be listened on.
pub(crate) fn open(requested: &Requested) -> Result<Exporter, OpenError> {
    let address = requested.authority(9_464);
    let listen = || {
        let found = address.to_socket_addrs()?.next();
        Endpoint::listen(found.ok_or_else(|| io::Error::other("it is no address"))?)
    };
    let endpoint = listen().map_err(|error| OpenError::Listen(address.clone(), error))?;
    Ok(Exporter {
        receiver: requested.described(),
        interval: Duration::from_secs(1),
        wants: Wants::Series,
        layout: Box::new(Exposition {
            total: Measured::default(),
        }),
        channel: Box::new(endpoint),
    })
}
