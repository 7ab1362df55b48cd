//! Settings of connections: how they are opened and used.

mod connect_to;
mod environment_proxies;
mod naming;
mod proxy;

pub use self::environment_proxies::{EnvironmentProxies, UnusableProxy};
pub use self::naming::{AddressPolicy, HostRule, IpRange, Naming, Selection};

use crate::{Content, Error, Header};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;
use url::Url;

/// Settings of connections: how they are opened and used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Connection {
    /// True if a connection serves more than one request.
    pub keepalive: bool,
    /// The version of HTTP for the plan's requests.
    #[serde(default, skip_serializing_if = "HttpVersion::is_default")]
    pub http: HttpVersion,
    /// True if composed requests over TLS use HTTP/2 where the server selects it by ALPN, with
    /// separate connections for each user, and HTTP/1.1 elsewhere. Does not affect the plan's own
    /// requests.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub negotiates_http: bool,
    /// The number of users that share a connection of HTTP/2, each with a stream of its own; at
    /// least 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub streams: u32,
    /// Flow-control windows of HTTP/2.
    #[serde(default, skip_serializing_if = "Windows::is_default")]
    pub windows: Windows,
    /// The number of connections that all users share, if there are fewer than users; each user has
    /// its own if `None`. A request that finds no connection free waits for one and is *blocked*
    /// meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<NonZeroU32>,
    /// The number of requests sent together on a connection before their responses are awaited, at
    /// least 1.
    pub pipeline: u32,
    /// The longest time of an exchange, from its send to its last byte.
    pub timeout: Duration,
    /// The time for which unfinished requests are awaited after the run's duration; nothing new
    /// begins during that time.
    #[serde(default, skip_serializing_if = "Duration::is_zero")]
    pub drain: Duration,
    /// True if the drain ends as soon as all unfinished requests are older than the drain is long:
    /// after that no check can change.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub drains_to_age: bool,
    /// True if a response that exceeds the timeout is still awaited: it is then counted as late,
    /// and does not fail.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub awaits_late: bool,
    /// True if only whole batches are reported, so that the responses of a batch may be received
    /// together: each of them then ends with the last one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gathers_batches: bool,
    /// The longest time for dialling (connect and TLS).
    pub connect_timeout: Duration,
    /// Certificates and trust.
    pub tls: Tls,
    /// The Unix socket to which every connection goes instead of the URL's host.
    pub unix_socket: Option<PathBuf>,
    /// The proxy for all requests: it forwards plain ones, and opens a tunnel for TLS.
    #[serde(default)]
    pub proxy: Option<Proxy>,
    /// The proxies of the environment, for requests that these rules name; `None` if they don't
    /// matter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment_proxies: Option<Box<EnvironmentProxies>>,
    /// Rules that connect to other hosts and ports than the URL's.
    pub connect_to: Vec<ConnectTo>,
    /// Rules for host names in addition to the resolver; no rules if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub naming: Option<Box<Naming>>,
    /// The IP versions whose addresses are used.
    pub ip_version: IpVersion,
    /// The local addresses to bind, in turn; the kernel chooses if empty.
    pub local_addresses: Vec<IpAddr>,
    /// The clock whose timestamp ends an exchange.
    pub clock: Clock,
    /// The sampling of exchanges by kernel timestamps: of each worker, one exchange in this many is
    /// split by the kernel's clock on both ends; no exchanges if `None`.
    #[serde(default)]
    pub kernel_timestamps: Option<NonZeroU32>,
    /// True if connections are opened, and addresses tried, before the load begins. If false, each
    /// connection is dialled within the first exchange that needs it, and an unreachable target is
    /// a failure of that exchange.
    #[serde(default = "yes")]
    pub ahead: bool,
    /// The size of the socket's send and receive buffers, in bytes; the kernel's default if `None`.
    #[serde(default)]
    pub socket_buffer: Option<u32>,
}

impl Connection {
    /// Returns the proxy for requests to this URL, if there is one.
    pub fn proxy_for(&self, url: &Url) -> Option<&Proxy> {
        let of_environment = || self.environment_proxies.as_ref()?.proxy_for(url);
        self.proxy.as_ref().or_else(of_environment)
    }

    /// Returns all proxies that requests may use.
    pub(crate) fn proxies(&self) -> impl Iterator<Item = &Proxy> {
        let of_environment = self.environment_proxies.iter();
        let of_environment = of_environment.flat_map(|proxies| proxies.each());
        self.proxy.iter().chain(of_environment)
    }

    /// Returns all proxies that requests may use, to be changed.
    pub(crate) fn proxies_mut(&mut self) -> impl Iterator<Item = &mut Proxy> {
        let of_environment = self.environment_proxies.iter_mut();
        let of_environment = of_environment.flat_map(|proxies| proxies.each_mut());
        self.proxy.iter_mut().chain(of_environment)
    }
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

/// The version of HTTP of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HttpVersion {
    /// HTTP/1.1.
    #[default]
    V1_1,
    /// HTTP/2: negotiated by ALPN over TLS, with prior knowledge in clear text (RFC 9113, section
    /// 3).
    V2,
    /// HTTP/2 if all servers select it by ALPN, else HTTP/1.1.
    Auto,
}

impl HttpVersion {
    fn is_default(&self) -> bool {
        *self == HttpVersion::V1_1
    }
}

/// Flow-control windows: the bytes of response bodies that a server may send before it has to wait
/// for the client (RFC 9113, section 5.2). By default both are so large that no server waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Windows {
    /// The window of one stream, in bytes; at most 2^31 − 1.
    pub stream: Option<u32>,
    /// The window of one connection, in bytes; at most 2^31 − 1.
    pub connection: Option<u32>,
}

impl Windows {
    fn is_default(&self) -> bool {
        *self == Windows::default()
    }
}

impl Connection {
    /// Returns the number of connections for this many users, each with a connection or a stream of
    /// its own.
    pub fn of_users(&self, users: u32) -> u32 {
        users.div_ceil(self.streams.max(1))
    }

    /// Ends exchanges when they are read, as on a kernel that timestamps nothing that arrives.
    /// Returns true if the kernel was to timestamp them.
    pub fn do_without_stamps(&mut self) -> bool {
        let is_stamped = self.clock == Clock::Kernel && self.unix_socket.is_none();
        if is_stamped {
            self.clock = Clock::User;
            self.kernel_timestamps = None;
        }
        is_stamped
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
            environment_proxies: None,
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
    /// True if any certificate is accepted.
    pub insecure: bool,
    /// A file of trusted authorities (PEM), instead of the system's.
    pub cacert: Option<PathBuf>,
    /// The client's certificate chain (PEM).
    pub cert: Option<PathBuf>,
    /// The client's private key (PEM); `None` with a `cert` means that file holds the key too.
    pub key: Option<PathBuf>,
    /// The contents of files among those above, where they lie on another machine.
    #[serde(skip)]
    pub files: Vec<FileContents>,
    /// Further certificates of the client, as texts: a server that requests one receives the first
    /// that it accepts. They are in no saved run; other processes of a run receive them apart from
    /// the plan.
    #[serde(skip)]
    pub identities: Vec<Identity>,
    /// The server name that the client sends in TLS.
    #[serde(default)]
    pub server_name: ServerName,
    /// The versions that the client offers; all if empty.
    #[serde(default)]
    pub versions: Vec<TlsVersion>,
    /// The cipher suites that the client offers, by the names of the TLS registry
    /// (`TLS_AES_128_GCM_SHA256`); all if empty. Unsupported suites are left out.
    #[serde(default)]
    pub suites: Vec<String>,
    /// True if every connection makes a full handshake, instead of resuming an earlier session.
    #[serde(default)]
    pub never_resume: bool,
}

impl Tls {
    /// Returns the files that it names.
    pub fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        let files = [&self.cacert, &self.cert, &self.key];
        files.into_iter().flatten()
    }

    /// Returns the contents of a file that lies on another machine; `None` of one that lies here.
    pub fn contents_of(&self, path: &Path) -> Option<&Content> {
        let mut files = self.files.iter();
        let file = files.find(|file| file.path == path);
        file.map(|file| &file.contents)
    }
}

/// A file that may lie on another machine, and its contents.
#[derive(Clone, PartialEq, Eq)]
pub struct FileContents {
    /// Its path there.
    pub path: PathBuf,
    /// What it has.
    pub contents: Content,
}

impl fmt::Debug for FileContents {
    /// Prints the path only: the contents may be a private key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        f.debug_struct("FileContents")
            .field("path", path)
            .finish_non_exhaustive()
    }
}

/// A certificate of the client and its key.
#[derive(Clone, PartialEq, Eq)]
pub struct Identity {
    /// The certificate chain (PEM).
    pub certificate: String,
    /// The private key (PEM, not encrypted).
    pub key: String,
}

impl fmt::Debug for Identity {
    /// Prints the type's name only: the fields are secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").finish_non_exhaustive()
    }
}

/// The server name that the client sends in TLS (RFC 6066, section 3).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerName {
    /// The URL's host.
    #[default]
    Host,
    /// This name, whatever the URL's host.
    Other(String),
    /// No server name.
    Untold,
}

/// A supported version of TLS.
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
    /// The value of `Proxy-Authorization`, if the proxy requires one.
    pub authorization: Option<String>,
    /// Further header fields of the requests that ask the proxy for tunnels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tunnel_headers: Vec<Header>,
}

impl fmt::Debug for Proxy {
    /// Prints the URL only: the credentials are secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy")
            .field("url", &self.url.as_str())
            .finish_non_exhaustive()
    }
}

/// A rule that sends connections for `host:port` to `to_host:to_port`. An empty host or a port of
/// `None` matches any, or keeps the original one, as in curl's option of the same name. IPv6
/// addresses are stored without brackets.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConnectTo {
    /// The URL's host, or empty for any.
    pub host: String,
    /// The URL's port, or `None` for any.
    pub port: Option<u16>,
    /// The new host, or empty for the same host.
    pub to_host: String,
    /// The new port, or `None` for the same port.
    pub to_port: Option<u16>,
}

/// The IP versions whose addresses are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IpVersion {
    /// All addresses of the name.
    #[default]
    Any,
    /// IPv4 only.
    V4,
    /// IPv6 only.
    V6,
}

/// The clock whose timestamp ends an exchange.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// The kernel's clock: the receive timestamp of the last packet.
    #[default]
    Kernel,
    /// Loadline's clock: the time when the worker had read the last byte.
    User,
}

/// Reads the sampled part of the exchanges: `1/100` is every hundredth.
///
/// # Errors
/// [`Error::Part`] for anything but `1/` and a whole number above zero.
pub fn parse_part(text: &str) -> Result<NonZeroU32, Error> {
    let of = text.strip_prefix("1/").and_then(|of| of.parse().ok());
    of.ok_or_else(|| Error::Part(text.to_owned()))
}

/// Reads an IPv4 or IPv6 address.
///
/// # Errors
/// [`Error::IpAddress`] for anything else, including host names.
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
