//! Options of connections that contradict each other.

use super::Rule;
use crate::contradiction::{LONGEST_SOCKET_PATH, MOST_PIPELINED};
use crate::{Clock, Connection, Contradiction, IpVersion};
use std::net::IpAddr;

impl Connection {
    pub(super) fn rules(&self) -> [Rule; 12] {
        let has_socket = self.unix_socket.is_some();
        let socket = self.unix_socket.as_deref();
        let socket_bytes = socket.map_or(0, |path| path.as_os_str().len());
        let (elsewhere, from_here) = (
            !self.connect_to.is_empty(),
            !self.local_addresses.is_empty(),
        );
        [
            (self.pipeline == 0, Contradiction::NoPipeline),
            (
                self.pipeline > MOST_PIPELINED,
                Contradiction::PipelineTooDeep(self.pipeline),
            ),
            (
                self.pipeline > 1 && !self.keepalive,
                Contradiction::PipelineWithoutKeepalive,
            ),
            (self.timeout.is_zero(), Contradiction::NoTime("timeout")),
            (
                self.connect_timeout.is_zero(),
                Contradiction::NoTime("connect-timeout"),
            ),
            (
                self.tls.key.is_some() && self.tls.cert.is_none(),
                Contradiction::KeyWithoutCert,
            ),
            (
                socket_bytes > LONGEST_SOCKET_PATH,
                Contradiction::UnixSocketTooLong(socket_bytes),
            ),
            (
                has_socket && elsewhere,
                Contradiction::UnixSocketAnd("connect-to"),
            ),
            (
                has_socket && from_here,
                Contradiction::UnixSocketAnd("local-address"),
            ),
            (
                self.proxy.is_some() && has_socket,
                Contradiction::ProxyAnd("unix-socket"),
            ),
            (
                self.proxy.is_some() && elsewhere,
                Contradiction::ProxyAnd("connect-to"),
            ),
            (
                self.kernel_timestamps.is_some() && self.clock == Clock::User,
                Contradiction::KernelTimestampsAndUserClock,
            ),
        ]
    }

    /// Refuses local addresses of an IP version that is ruled out.
    pub(super) fn validate_local_addresses(&self) -> Result<(), Contradiction> {
        let (version, fits): (_, fn(&IpAddr) -> bool) = match self.ip_version {
            IpVersion::Any => return Ok(()),
            IpVersion::V4 => ("ipv4", IpAddr::is_ipv4),
            IpVersion::V6 => ("ipv6", IpAddr::is_ipv6),
        };
        match self.local_addresses.iter().find(|address| !fits(address)) {
            Some(&address) => Err(Contradiction::LocalAddressOfOtherVersion { version, address }),
            None => Ok(()),
        }
    }
}
