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
            let port = url.port_or_known_default();
            if let Some(host) = self.redirected(url.host_str(), port) {
                return is_here(&Host::parse(host).unwrap_or(named(host)), &is_local);
            }
            if let Some(address) = self.fixed_address(url.host_str(), port) {
                return is_local(address);
            }
            url.host().is_some_and(|host| is_here(&host, &is_local))
        })
    }

    /// Returns the address that the rules for names set for this host and port, if there is one.
    fn fixed_address(&self, host: Option<&str>, port: Option<u16>) -> Option<IpAddr> {
        let naming = self.connection.naming.as_deref()?;
        naming.rule(host?, port?).map(|rule| rule.to)
    }

    /// Returns the TCP ports that connections may go to: those of URLs, of the proxy and of rules.
    pub fn ports(&self) -> BTreeSet<u16> {
        let connection = &self.connection;
        let proxies = connection.proxies();
        let proxies = proxies.filter_map(|proxy| proxy.url.port_or_known_default());
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
            let same_host = rule.host.is_empty() || rule.host.eq_ignore_ascii_case(host);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ConnectTo, HostRule, ListedRequest, Naming, RequestDefaults};

    fn plan_for(url: &str) -> Plan {
        let listed = ListedRequest::new(url.parse().expect("a URL"));
        Plan {
            requests: vec![RequestDefaults::default().complete(listed)],
            ..Plan::default()
        }
    }

    fn stays(plan: &Plan) -> bool {
        plan.stays_on_host(|address| address.is_loopback())
    }

    #[test]
    fn a_name_is_elsewhere_but_for_localhost() {
        for (url, expected) in [
            ("http://localhost:1/", true),
            ("http://a.localhost./", true),
            ("http://127.0.0.2/", true),
            ("http://[::1]/", true),
            ("http://10.0.0.1/", false),
            ("http://shop.test/", false),
        ] {
            assert_eq!(stays(&plan_for(url)), expected, "{url}");
        }
    }

    #[test]
    fn a_rule_for_connections_fits_names_in_any_case() {
        let mut plan = plan_for("http://shop.test/");
        let rule = |host: &str, to_host: &str| ConnectTo {
            host: host.to_owned(),
            port: None,
            to_host: to_host.to_owned(),
            to_port: None,
        };
        plan.connection.connect_to = vec![rule("other.test", "::1")];
        assert!(!stays(&plan));
        plan.connection.connect_to = vec![rule("SHOP.test", "::1")];
        assert!(stays(&plan));
    }

    #[test]
    fn a_rule_for_names_sets_the_address() {
        let mut plan = plan_for("http://shop.test/");
        let naming = |to: [u8; 4]| Naming {
            hosts: vec![HostRule {
                pattern: "*.test".to_owned(),
                port: Some(80),
                to: to.into(),
                to_port: None,
            }],
            ..Naming::default()
        };
        plan.connection.naming = Some(Box::new(naming([127, 0, 0, 1])));
        assert!(stays(&plan));
        plan.connection.naming = Some(Box::new(naming([10, 0, 0, 1])));
        assert!(!stays(&plan));
    }
}
