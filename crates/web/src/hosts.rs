//! The names of a server, by which requests may address it.

use hyper::HeaderMap;
use hyper::header::{HOST, ORIGIN};
use hyper::http::Uri;
use hyper::http::uri::Authority;
use std::net::IpAddr;

/// The names that requests may have in their `Host` field.
///
/// A page in a browser can send requests to this machine under a host name of its own, which it
/// resolves to this machine (DNS rebinding). So only names are accepted that no other host can
/// have. An address can't be rebound: beyond loopback each address is a name of this server.
#[derive(Clone, Debug, Default)]
pub struct Hosts {
    /// Names of this server beside addresses and `localhost`, in lower case.
    own: Vec<String>,
    /// True if requests that did not come over loopback may have any name.
    trusts_networks: bool,
}

impl Hosts {
    /// Creates the names of a server at this address, such as `localhost:6565` or `[::1]:80`, and
    /// of this machine.
    pub fn of(address: &str) -> Self {
        let machine = std::fs::read_to_string("/proc/sys/kernel/hostname");
        let given = host_of(address).to_ascii_lowercase();
        let machine = machine.unwrap_or_default().trim().to_ascii_lowercase();
        let own = [given, machine].into_iter();
        Hosts {
            own: own.filter(|name| !name.is_empty()).collect(),
            trusts_networks: false,
        }
    }

    /// Accepts each name in requests that did not come over loopback: whoever serves to a network
    /// without credentials has accepted requests from others.
    #[must_use]
    pub fn trusting_networks(mut self) -> Self {
        self.trusts_networks = true;
        self
    }

    /// True if a request names this server. Without a name (HTTP/1.0) it can't come from a page.
    pub(crate) fn are_named(&self, uri: &Uri, fields: &HeaderMap, is_loopback: bool) -> bool {
        if !is_loopback && self.trusts_networks {
            return true;
        }
        named(uri, fields).is_none_or(|name| self.has(name, is_loopback))
    }

    fn has(&self, named: &str, is_loopback: bool) -> bool {
        let host = host_of(named).to_ascii_lowercase();
        match host.parse::<IpAddr>() {
            Ok(ip) => ip.is_loopback() || !is_loopback || self.own.contains(&host),
            Err(_) => host == "localhost" || self.own.contains(&host),
        }
    }
}

/// True if no other origin sent the request: a browser names the origin of each page that changes
/// something, or that asks another server.
pub(crate) fn is_same_origin(uri: &Uri, fields: &HeaderMap) -> bool {
    let mut origins = fields.get_all(ORIGIN).iter();
    let Some(origin) = origins.next() else {
        return true;
    };
    let origin = origin.to_str().unwrap_or_default();
    let authority = origin
        .strip_prefix("http://")
        .or_else(|| origin.strip_prefix("https://"));
    let own = named(uri, fields);
    let is_own = |authority: &str| own.is_some_and(|own| own.eq_ignore_ascii_case(authority));
    origins.next().is_none() && authority.is_some_and(is_own)
}

/// The host that a request names, with its port; one that is no text is a name of nobody.
pub(crate) fn named<'a>(uri: &'a Uri, fields: &'a HeaderMap) -> Option<&'a str> {
    let field = fields.get(HOST);
    let field = field.map(|field| field.to_str().unwrap_or_default());
    uri.authority().map(Authority::as_str).or(field)
}

/// The host of an authority, without its port and without brackets.
fn host_of(authority: &str) -> &str {
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    };
    host.trim_start_matches('[').trim_end_matches(']')
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    fn fields(host: &str, origin: Option<&str>) -> HeaderMap {
        let mut fields = HeaderMap::new();
        fields.insert(HOST, HeaderValue::from_str(host).unwrap());
        if let Some(origin) = origin {
            fields.insert(ORIGIN, HeaderValue::from_str(origin).unwrap());
        }
        fields
    }

    fn are_named(hosts: &Hosts, host: &str, is_loopback: bool) -> bool {
        hosts.are_named(&Uri::from_static("/"), &fields(host, None), is_loopback)
    }

    #[test]
    fn over_loopback_only_names_of_this_machine_are_accepted() {
        let hosts = Hosts::of("bench.example:5623");
        for host in [
            "localhost",
            "LocalHost:5623",
            "127.0.0.1:1",
            "127.9.9.9",
            "[::1]:5623",
            "bench.example",
            "Bench.Example:80",
        ] {
            assert!(are_named(&hosts, host, true), "{host}");
        }
        for host in [
            "evil.example",
            "192.0.2.1",
            "localhost.evil.example",
            "",
            "::",
        ] {
            assert!(!are_named(&hosts, host, true), "{host}");
        }
    }

    #[test]
    fn beyond_loopback_each_address_is_a_name_and_no_foreign_name_is() {
        let hosts = Hosts::of("0.0.0.0:5623");
        assert!(are_named(&hosts, "192.0.2.1:5623", false));
        assert!(are_named(&hosts, "[2001:db8::1]", false));
        assert!(!are_named(&hosts, "evil.example", false));
        let trusting = hosts.trusting_networks();
        assert!(are_named(&trusting, "evil.example", false));
        assert!(!are_named(&trusting, "evil.example", true));
    }

    #[test]
    fn the_name_of_an_absolute_target_counts_more_than_the_field() {
        let hosts = Hosts::of("127.0.0.1:5623");
        let target = Uri::from_static("http://evil.example/");
        assert!(!hosts.are_named(&target, &fields("localhost", None), true));
        assert!(hosts.are_named(&Uri::from_static("/"), &HeaderMap::new(), true));
    }

    #[test]
    fn a_page_of_another_origin_is_refused() {
        let root = Uri::from_static("/");
        let is_same = |origin| is_same_origin(&root, &fields("localhost:5623", origin));
        assert!(is_same(None) && is_same(Some("http://LOCALHOST:5623")));
        for origin in [
            "http://localhost:5624",
            "http://localhost",
            "http://evil.example",
            "http://localhost:5623.evil.example",
            "null",
            "",
        ] {
            assert!(!is_same(Some(origin)), "{origin}");
        }
        let mut twice = fields("localhost", Some("http://localhost"));
        twice.append(ORIGIN, HeaderValue::from_static("http://evil.example"));
        assert!(!is_same_origin(&root, &twice));
    }
}
