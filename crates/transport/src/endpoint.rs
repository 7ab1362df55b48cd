//! The destination of the requests of one URL origin.

use crate::blocked::Blocked;
use crate::tunnel::Tunnel;
use loadline_plan::{AddressPolicy, ConnectTo, Connection, IpVersion, Naming};
use loadline_reactor::{Address, Host as Reactor, is_localhost, look_up};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::{Duration, Instant};
use url::{Host, Url};

/// The destination of the requests of one URL origin (scheme, host and port).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// True if TLS is used.
    pub tls: bool,
    /// The URL's host, without brackets: the name that the certificate must have.
    pub host: String,
    /// The URL's port, or its scheme's.
    pub port: u16,
    /// The addresses to connect to, in turn; never empty.
    pub addresses: Vec<Address>,
    /// The time to resolve the name; `None` if there was no name to resolve.
    pub resolve_time: Option<Duration>,
    /// The tunnel to open through a proxy at these addresses before TLS begins; `None` without one.
    pub tunnel: Option<Tunnel>,
}

/// A name without a usable address.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// The resolver found no address.
    #[error(
        "no address is known for the host `{host}` ({reason}): correct the name or the resolver's \
         configuration"
    )]
    Unknown {
        /// The name.
        host: String,
        /// The resolver's message.
        reason: String,
    },
    /// The name has addresses, but none of the requested version.
    #[error(
        "the host `{host}` has no {version} address: leave the IP version open or use another host"
    )]
    NoneOfVersion {
        /// The name.
        host: String,
        /// `IPv4` or `IPv6`.
        version: &'static str,
    },
    /// The plan blocks the host.
    #[error(transparent)]
    Blocked(#[from] Blocked),
}

impl Endpoint {
    /// True if a URL belongs to this endpoint.
    pub fn serves(&self, url: &Url) -> bool {
        let port = url.port_or_known_default();
        self.tls == is_tls(url) && Some(self.port) == port && self.host == host_of(url)
    }

    /// Resolves a URL's host. Blocks on the system's resolver.
    ///
    /// # Errors
    /// If no address of the requested IP version is known for it, or the plan blocks it.
    pub fn resolve(url: &Url, connection: &Connection) -> Result<Endpoint, ResolveError> {
        let start = Instant::now();
        Endpoint::named(url, connection)?.with_addresses(connection, start, look_up)
    }

    /// Resolves a URL's host like [`resolve`](Self::resolve), with the host's resolver, without
    /// blocking the loop.
    pub(crate) async fn resolve_on<H: Reactor>(
        host: &H,
        url: &Url,
        connection: &Connection,
    ) -> Result<Endpoint, ResolveError> {
        let start = Instant::now();
        let named = Endpoint::named(url, connection)?;
        let found = match &named.to {
            Some((name, port)) => host.look_up(name, *port).await,
            None => Ok(Vec::new()),
        };
        named.with_addresses(connection, start, |_, _| found)
    }

    /// Returns the endpoint of a URL without its addresses, and the name to resolve.
    fn named(url: &Url, connection: &Connection) -> Result<Named, ResolveError> {
        let (host, port) = (host_of(url), port_of(url));
        let mut endpoint = Endpoint {
            tls: is_tls(url),
            host: host.clone(),
            port,
            addresses: Vec::new(),
            resolve_time: None,
            tunnel: None,
        };
        if let Some(path) = &connection.unix_socket {
            endpoint.addresses.push(Address::Unix(path.clone()));
            return Ok(Named { endpoint, to: None });
        }
        let to = match connection.proxy_for(url) {
            Some(proxy) => (host_of(&proxy.url), port_of(&proxy.url)),
            None => redirect(&host, port, &connection.connect_to),
        };
        let to = match &connection.naming {
            Some(naming) => renamed(naming, to)?,
            None => to,
        };
        endpoint.tunnel = tunnel(url, connection);
        Ok(Named {
            endpoint,
            to: Some(to),
        })
    }
}

/// An endpoint whose name has not been resolved.
struct Named {
    endpoint: Endpoint,
    /// The host and port to resolve; `None` if there is no name to resolve.
    to: Option<(String, u16)>,
}

impl Named {
    fn with_addresses(
        self,
        connection: &Connection,
        start: Instant,
        look_up: impl FnOnce(&str, u16) -> io::Result<Vec<SocketAddr>>,
    ) -> Result<Endpoint, ResolveError> {
        let mut endpoint = self.endpoint;
        let Some((host, port)) = self.to else {
            return Ok(endpoint);
        };
        let found = look_up(&host, port);
        let found = match &connection.naming {
            Some(naming) => found.map(|all| allowed(all, naming.policy)),
            None => found,
        };
        let found = found.map(|found| with_loopback(&host, port, found, connection.ip_version));
        endpoint.addresses = usable(&host, found, connection.ip_version)?;
        if host.parse::<IpAddr>().is_err() {
            endpoint.resolve_time = Some(start.elapsed());
        }
        Ok(endpoint)
    }
}

/// Returns the addresses of a name, to which it adds a loopback address of the requested version
/// for `localhost` if the system's list of hosts lacks one (RFC 6761, section 6.3).
fn with_loopback(
    host: &str,
    port: u16,
    mut found: Vec<SocketAddr>,
    version: IpVersion,
) -> Vec<SocketAddr> {
    let loopback = match version {
        IpVersion::Any => return found,
        IpVersion::V4 => IpAddr::from(Ipv4Addr::LOCALHOST),
        IpVersion::V6 => IpAddr::from(Ipv6Addr::LOCALHOST),
    };
    let is_same_version = |address: &SocketAddr| address.is_ipv6() == loopback.is_ipv6();
    if is_localhost(host) && !found.iter().any(is_same_version) {
        found.push(SocketAddr::new(loopback, port));
    }
    found
}

/// Returns the tunnel for a URL, which only TLS uses: plain requests are sent to the proxy itself.
fn tunnel(url: &Url, connection: &Connection) -> Option<Tunnel> {
    let proxy = connection.proxy_for(url).filter(|_| is_tls(url))?;
    Some(Tunnel::to(url, port_of(url), proxy))
}

fn port_of(url: &Url) -> u16 {
    url.port_or_known_default().unwrap_or(80)
}

fn is_tls(url: &Url) -> bool {
    url.scheme() == "https"
}

fn host_of(url: &Url) -> String {
    match url.host() {
        Some(Host::Ipv6(address)) => address.to_string(),
        Some(host) => host.to_string(),
        None => String::new(),
    }
}

/// Returns the host and port to connect to instead of `host:port`: the first rule that matches
/// decides.
fn redirect(host: &str, port: u16, rules: &[ConnectTo]) -> (String, u16) {
    let matches = |rule: &&ConnectTo| {
        (rule.host.is_empty() || rule.host.eq_ignore_ascii_case(host))
            && rule.port.is_none_or(|own| own == port)
    };
    let Some(rule) = rules.iter().find(matches) else {
        return (host.to_owned(), port);
    };
    let to_host = if rule.to_host.is_empty() {
        host
    } else {
        &rule.to_host
    };
    (to_host.to_owned(), rule.to_port.unwrap_or(port))
}

/// Applies the plan's naming: returns the host and port to connect to, unless the host is blocked.
fn renamed(naming: &Naming, (host, port): (String, u16)) -> Result<(String, u16), ResolveError> {
    Blocked::check_host(naming, &host)?;
    Ok(match naming.rule(&host, port) {
        Some(rule) => (rule.to.to_string(), rule.to_port.unwrap_or(port)),
        None => (host, port),
    })
}

/// Returns the addresses that a policy allows.
fn allowed(all: Vec<SocketAddr>, policy: AddressPolicy) -> Vec<SocketAddr> {
    let of = |is_v4: bool| {
        let all = all.iter().copied();
        all.filter(|address| address.is_ipv4() == is_v4)
            .collect::<Vec<_>>()
    };
    let preferred = |is_v4: bool| {
        let some = of(is_v4);
        if some.is_empty() { of(!is_v4) } else { some }
    };
    match policy {
        AddressPolicy::Any => all,
        AddressPolicy::PreferV4 => preferred(true),
        AddressPolicy::PreferV6 => preferred(false),
        AddressPolicy::OnlyV4 => of(true),
        AddressPolicy::OnlyV6 => of(false),
    }
}

/// Returns the addresses of a name that are used.
fn usable(
    host: &str,
    found: io::Result<Vec<SocketAddr>>,
    version: IpVersion,
) -> Result<Vec<Address>, ResolveError> {
    let unknown = |reason: String| ResolveError::Unknown {
        host: host.to_owned(),
        reason,
    };
    let all = found.map_err(|error| unknown(error.to_string()))?;
    if all.is_empty() {
        return Err(unknown("the name has no address".to_owned()));
    }
    let addresses = of_version(all, version);
    if addresses.is_empty() {
        let version = if version == IpVersion::V4 {
            "IPv4"
        } else {
            "IPv6"
        };
        return Err(ResolveError::NoneOfVersion {
            host: host.to_owned(),
            version,
        });
    }
    Ok(addresses)
}

/// Returns the addresses of the version, each once, in the resolver's order.
fn of_version(all: Vec<SocketAddr>, version: IpVersion) -> Vec<Address> {
    let mut addresses = Vec::new();
    for address in all {
        let entry = Address::Ip(address);
        if is_of(address, version) && !addresses.contains(&entry) {
            addresses.push(entry);
        }
    }
    addresses
}

fn is_of(address: SocketAddr, version: IpVersion) -> bool {
    match version {
        IpVersion::Any => true,
        IpVersion::V4 => address.is_ipv4(),
        IpVersion::V6 => address.is_ipv6(),
    }
}

#[cfg(test)]
mod tests;
