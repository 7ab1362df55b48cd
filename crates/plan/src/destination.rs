//! The destinations of a plan's connections, as far as they are known without resolving names.

use crate::Plan;
use std::collections::BTreeSet;
use std::net::IpAddr;
use url::Host;

impl Plan {
    /// True if all connections stay on this machine: they go to a Unix socket, to `localhost`, or
    /// to addresses that `is_local` accepts. Any other name counts as another machine.
    pub fn stays_on_host(&self, is_local: impl Fn(IpAddr) -> bool) -> bool {
        if self.connection.unix_socket.is_some() {
            return true;
        }
        if let Some(proxy) = &self.connection.proxy {
            return proxy
                .url
                .host()
                .is_some_and(|host| is_here(&host, &is_local));
        }
        let mut urls = self.requests.iter().map(|request| &request.url);
        urls.all(|url| {
            let redirected = self.redirected(url.host_str(), url.port_or_known_default());
            match redirected {
                Some(host) => is_here(&Host::parse(host).unwrap_or(named(host)), &is_local),
                None => url.host().is_some_and(|host| is_here(&host, &is_local)),
            }
        })
    }

    /// Returns the TCP ports that connections may go to: those of URLs, of the proxy and of rules.
    pub fn ports(&self) -> BTreeSet<u16> {
        let connection = &self.connection;
        let proxy = connection.proxy.iter();
        let proxies = proxy.filter_map(|proxy| proxy.url.port_or_known_default());
        let redirected = connection.connect_to.iter().filter_map(|rule| rule.to_port);
        let urls = self.requests.iter();
        urls.filter_map(|request| request.url.port_or_known_default())
            .chain(proxies)
            .chain(redirected)
            .collect()
    }

    /// Returns the host that replaces this host and port for connections, if a rule sets one.
    fn redirected(&self, host: Option<&str>, port: Option<u16>) -> Option<&str> {
        let host = host.unwrap_or_default().trim_matches(['[', ']']);
        let matching = self.connection.connect_to.iter().find(|rule| {
            let same_host = rule.host.is_empty() || rule.host == host;
            same_host && rule.port.is_none_or(|rules| Some(rules) == port)
        });
        matching
            .map(|rule| rule.to_host.as_str())
            .filter(|to_host| !to_host.is_empty())
    }
}

/// Converts the host of a rule, in which an IPv6 address has no brackets, to a host of a URL.
fn named(host: &str) -> Host {
    match host.parse() {
        Ok(address) => Host::Ipv6(address),
        Err(_) => Host::Domain(host.to_owned()),
    }
}

fn is_here<S: AsRef<str>>(host: &Host<S>, is_local: &impl Fn(IpAddr) -> bool) -> bool {
    match host {
        Host::Ipv4(address) => is_local(IpAddr::V4(*address)),
        Host::Ipv6(address) => is_local(IpAddr::V6(*address)),
        // RFC 6761, section 6.3: these names are always those of the loopback.
        Host::Domain(name) => {
            let name = name.as_ref().trim_end_matches('.');
            name == "localhost" || name.ends_with(".localhost")
        }
    }
}
