//! Blocked hosts and addresses, to which no requests are sent.

use loadline_plan::{IpRange, Naming};
use std::io;
use std::net::IpAddr;

/// A blocked host or address, and the rule that blocks it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Blocked {
    /// A host.
    #[error("the host `{host}` is blocked by the pattern `{pattern}`")]
    Host {
        /// The host.
        host: String,
        /// The pattern that the host matches.
        pattern: String,
    },
    /// An address.
    #[error("the address {address} is in the blocked range {range}")]
    Address {
        /// The address.
        address: IpAddr,
        /// The range that contains the address.
        range: IpRange,
    },
}

impl Blocked {
    /// Fails if a host is blocked.
    pub(crate) fn check_host(naming: &Naming, host: &str) -> Result<(), Blocked> {
        match naming.blocks_host(host) {
            None => Ok(()),
            Some(pattern) => Err(Blocked::Host {
                host: host.to_owned(),
                pattern: pattern.to_owned(),
            }),
        }
    }

    /// Fails if an address is blocked.
    pub(crate) fn check_address(naming: &Naming, address: IpAddr) -> Result<(), Blocked> {
        match naming.blocks_address(address) {
            None => Ok(()),
            Some(range) => Err(Blocked::Address { address, range }),
        }
    }

    /// Returns the blocked host or address, if an operation failed because of it.
    pub fn of(error: &io::Error) -> Option<&Blocked> {
        error.get_ref()?.downcast_ref()
    }
}
