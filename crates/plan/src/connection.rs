//! How connections are made and used.

mod connect_to;
mod naming;
mod proxy;

pub use self::naming::{AddressPolicy, HostRule, IpRange, Naming, Selection};

use crate::{Error, Header};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;
use url::Url;

/// How connections are made and used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Connection {
    /// Whether a connection serves more than one request.
    pub keepalive: bool,
    /// The version of HTTP that requests are sent in.
    #[serde(default, skip_serializing_if = "HttpVersion::is_default")]
    pub http: HttpVersion,
    /// Whether composed requests over TLS go out over HTTP/2 where their server chooses that by
    /// ALPN, each user with connections of its own; elsewhere over HTTP/1.1. Says nothing of the
    /// plan's own requests.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub negotiates_http: bool,
    /// Requests of several users that share a connection of HTTP/2 at the same time, at least 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub streams: u32,
    /// Flow-control windows of HTTP/2.
    #[serde(default, skip_serializing_if = "Windows::is_default")]
    pub windows: Windows,
    /// How many connections all users share, where there are fewer than users; each user has its
    /// own if `None`. A request waits for one, and is blocked meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<NonZeroU32>,
    /// Requests sent together on a connection before their responses are awaited, at least 1.
    pub pipeline: u32,
    /// The most an exchange may take, from its send to its last byte.
    pub timeout: Duration,
    /// How long what is unfinished is waited for after a run's time is over; nothing new is begun
    /// meanwhile.
    #[serde(default, skip_serializing_if = "Duration::is_zero")]
    pub drain: Duration,
    /// Whether the drain ends as soon as everything unfinished is older than the drain is long: no
    /// check can change by it then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub drains_to_age: bool,
    /// Whether a response that takes longer is waited for all the same: it is counted as late then,
    /// and does not fail.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub awaits_late: bool,
    /// Whether only a whole batch is a figure, so that its responses may be received together: each
    /// of them then ends when the last one came.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gathers_batches: bool,
    /// The most that dialling (connect and TLS) may take.
    pub connect_timeout: Duration,
    /// Certificates and trust.
    pub tls: Tls,
    /// Every connection goes to this Unix socket instead of the URL's host.
    pub unix_socket: Option<PathBuf>,
    /// All requests go through this proxy: plain ones are asked of it, TLS goes through a tunnel
    /// that it opens.
    #[serde(default)]
    pub proxy: Option<Proxy>,
    /// Other places to connect to than the URL says.
    pub connect_to: Vec<ConnectTo>,
    /// What else than the resolver says becomes of names; nothing if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub naming: Option<Box<Naming>>,
    /// Which addresses of a name are used.
    pub ip_version: IpVersion,
    /// Local addresses to bind, taken in turn; empty leaves the choice to the kernel.
    pub local_addresses: Vec<IpAddr>,
    /// Whose clock ends an exchange.
    pub clock: Clock,
    /// One in this many exchanges of a worker is split by the kernel's clock on both ends; none if
    /// `None`.
    #[serde(default)]
    pub kernel_timestamps: Option<NonZeroU32>,
    /// Whether connections are made, and addresses tried, before the load begins. If not, each is
    /// dialled within the first exchange that needs it, and a target that is not there is one of
    /// that exchange's failures.
    #[serde(default = "yes")]
    pub ahead: bool,
    /// The size of the socket's buffers for sending and receiving, in bytes; the kernel's choice
    /// if `None`.
    #[serde(default)]
    pub socket_buffer: Option<u32>,
}

fn yes() -> bool {
    true
}

fn one() -> u32 {
    1
}

fn is_one(number: &u32) -> bool {
    *number == 1
}

/// The version of HTTP that requests are sent in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HttpVersion {
    /// HTTP/1.1.
    #[default]
    V1_1,
    /// HTTP/2: agreed on by ALPN over TLS, with prior knowledge in clear text (RFC 9113, section
    /// 3).
    V2,
    /// HTTP/2 where all servers agree on it by ALPN, else HTTP/1.1.
    Auto,
}

impl HttpVersion {
    fn is_default(&self) -> bool {
        *self == HttpVersion::V1_1
    }
}

/// How many bytes of response bodies a server may send before it has to wait for us (RFC 9113,
/// section 5.2). Both are so large by default that no server waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Windows {
    /// On one stream; at most 2^31 − 1.
    pub stream: Option<u32>,
    /// On one connection; at most 2^31 − 1.
    pub connection: Option<u32>,
}

impl Windows {
    fn is_default(&self) -> bool {
        *self == Windows::default()
    }
}

impl Connection {
    /// How many connections so many users have, each of them with its own or on a stream.
    pub fn of_users(&self, users: u32) -> u32 {
        users.div_ceil(self.streams.max(1))
    }
}

impl Default for Connection {
    /// Keep-alive, one request at a time, 30 s for an exchange and 10 s for dialling.
    fn default() -> Self {
        Self {
            keepalive: true,
            http: HttpVersion::default(),
            negotiates_http: false,
            streams: 1,
            windows: Windows::default(),
            shared: None,
            pipeline: 1,
            timeout: Duration::from_secs(30),
            drain: Duration::ZERO,
            drains_to_age: false,
            awaits_late: false,
            gathers_batches: false,
            connect_timeout: Duration::from_secs(10),
            tls: Tls::default(),
            unix_socket: None,
            proxy: None,
            connect_to: Vec::new(),
            naming: None,
            ip_version: IpVersion::default(),
            local_addresses: Vec::new(),
            clock: Clock::default(),
            kernel_timestamps: None,
            ahead: true,
            socket_buffer: None,
        }
    }
}

/// Certificates and trust.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tls {
    /// Take any certificate.
    pub insecure: bool,
    /// Trust these authorities (PEM) instead of the system's.
    pub cacert: Option<PathBuf>,
    /// The client's certificate chain (PEM).
    pub cert: Option<PathBuf>,
    /// The client's private key (PEM); `None` with a `cert` means that file holds the key too.
    pub key: Option<PathBuf>,
    /// Further certificates of the client, as texts: a server that asks for one is shown the first
    /// that it can take. They stay in memory: neither files nor other processes get them.
    #[serde(skip)]
    pub identities: Vec<Identity>,
    /// The server name that is sent in TLS.
    #[serde(default)]
    pub server_name: ServerName,
    /// The versions that are offered; all if empty.
    #[serde(default)]
    pub versions: Vec<TlsVersion>,
    /// The cipher suites that are offered, by the names of the registry of TLS
    /// (`TLS_AES_128_GCM_SHA256`); all if empty. Those that are not supported are left out.
    #[serde(default)]
    pub suites: Vec<String>,
    /// Make a whole handshake for every connection, instead of resuming earlier sessions.
    #[serde(default)]
    pub never_resume: bool,
}

/// A certificate of the client and its key.
#[derive(Clone, PartialEq, Eq)]
pub struct Identity {
    /// The certificate's chain (PEM).
    pub certificate: String,
    /// The private key (PEM, not encrypted).
    pub key: String,
}

impl fmt::Debug for Identity {
    /// Keeps the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").finish_non_exhaustive()
    }
}

/// The server name that is sent in TLS (RFC 6066, section 3).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerName {
    /// The URL's host.
    #[default]
    Host,
    /// This one, whatever the URL's host.
    Other(String),
    /// None.
    Untold,
}

/// A version of TLS that is supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TlsVersion {
    /// TLS 1.2.
    V1_2,
    /// TLS 1.3.
    V1_3,
}

/// A proxy that is reached over plain HTTP.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proxy {
    /// `http://host:port/`.
    pub url: Url,
    /// The value of `Proxy-Authorization`, if it wants to know who asks.
    pub authorization: Option<String>,
    /// Further fields of the requests that ask it for tunnels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tunnel_headers: Vec<Header>,
}

impl fmt::Debug for Proxy {
    /// Keeps the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy")
            .field("url", &self.url.as_str())
            .finish_non_exhaustive()
    }
}

/// Connections meant for `host:port` go to `to_host:to_port`. An empty host or a port of `None`
/// matches (or keeps) any, as in curl's option of the same name. IPv6 addresses stand here without
/// their brackets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectTo {
    /// The URL's host, or empty for any.
    pub host: String,
    /// The URL's port, or `None` for any.
    pub port: Option<u16>,
    /// Where to go, or empty for the same host.
    pub to_host: String,
    /// Where to go, or `None` for the same port.
    pub to_port: Option<u16>,
}

/// Which addresses of a name are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IpVersion {
    /// All that the name has.
    #[default]
    Any,
    /// IPv4 only.
    V4,
    /// IPv6 only.
    V6,
}

/// Whose clock ends an exchange.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// The kernel's: the receive timestamp of the last packet.
    #[default]
    Kernel,
    /// Ours: the time when the worker had read the last byte.
    User,
}

/// Reads which part of the exchanges is sampled: `1/100` is every hundredth.
///
/// # Errors
/// [`Error::Part`] for anything but a one, a stroke and a whole number above zero.
pub fn parse_part(text: &str) -> Result<NonZeroU32, Error> {
    let of = text.strip_prefix("1/").and_then(|of| of.parse().ok());
    of.ok_or_else(|| Error::Part(text.to_owned()))
}

/// Reads an IPv4 or IPv6 address.
///
/// # Errors
/// [`Error::IpAddress`] for anything else, names among them.
pub fn parse_ip_address(text: &str) -> Result<IpAddr, Error> {
    text.parse().map_err(|_| Error::IpAddress(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_one_of_so_many() {
        assert_eq!(parse_part("1/100").map(NonZeroU32::get), Ok(100));
        assert_eq!(parse_part("1/1").map(NonZeroU32::get), Ok(1));
        for text in ["", "1/0", "2/100", "0.01", "1/", "1/-4", "1%"] {
            assert_eq!(
                parse_part(text),
                Err(Error::Part(text.to_owned())),
                "{text}"
            );
        }
    }

    #[test]
    fn addresses_are_not_names() {
        assert_eq!(
            parse_ip_address("192.0.2.1"),
            Ok(IpAddr::from([192, 0, 2, 1]))
        );
        assert!(parse_ip_address("2001:db8::1").is_ok_and(|address| address.is_ipv6()));
        for text in ["", "localhost", "[::1]", "192.0.2.1:80", "192.0.2"] {
            assert_eq!(
                parse_ip_address(text),
                Err(Error::IpAddress(text.to_owned())),
                "{text}"
            );
        }
    }
}
