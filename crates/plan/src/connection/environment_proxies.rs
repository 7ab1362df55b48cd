//! The proxies of the environment: `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`, by the rules of Go's
//! `golang.org/x/net/http/httpproxy`, which curl and Python share except for loopback addresses:
//! these never use a proxy here.

use super::Proxy;
use crate::Error;
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use url::{Host, Url};

/// The proxies of the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnvironmentProxies {
    http: Option<Proxy>,
    https: Option<Proxy>,
    exempt: Vec<Exempt>,
}

/// A rule for hosts without a proxy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Exempt {
    /// All hosts.
    All,
    /// Addresses that share this many first bits with this one, and a port if there is one.
    Net(IpAddr, u8, Option<u16>),
    /// A name and the names that end with it; only the latter if it began with a dot.
    Name {
        name: String,
        itself: bool,
        port: Option<u16>,
    },
}

/// A variable of the environment that does not name a usable proxy. Its value, which may have a
/// secret, is not shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} names no usable proxy: {problem} Write one such as http://127.0.0.1:3128.")]
pub struct UnusableProxy {
    /// The variable's name.
    pub name: &'static str,
    /// The defect, as a sentence.
    pub problem: String,
}

impl EnvironmentProxies {
    /// Reads the variables. Names in lower case take precedence over those in upper case;
    /// `HTTP_PROXY` in upper case is ignored in a CGI script (`REQUEST_METHOD`), whose caller could
    /// set it.
    ///
    /// # Errors
    /// If a value is not the URL of a proxy that is reached over plain HTTP.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, UnusableProxy> {
        let given = |name: &str| variable(name).filter(|value| !value.is_empty());
        let is_cgi = given("REQUEST_METHOD").is_some();
        let named = |name: &'static str| given(name).map(|value| proxy(name, &value)).transpose();
        let http = match named("http_proxy")? {
            None if !is_cgi => named("HTTP_PROXY")?,
            known => known,
        };
        let https = match named("https_proxy")? {
            None => named("HTTPS_PROXY")?,
            known => known,
        };
        let exempt = given("no_proxy").or_else(|| given("NO_PROXY"));
        let exempt = exempt.unwrap_or_default();
        Ok(EnvironmentProxies {
            http,
            https,
            exempt: exempt.split(',').filter_map(Exempt::read).collect(),
        })
    }

    /// Returns the proxy for a request to this URL, if there is one.
    pub fn proxy_for(&self, url: &Url) -> Option<&Proxy> {
        let proxy = match url.scheme() {
            "http" => self.http.as_ref(),
            "https" => self.https.as_ref(),
            _ => None,
        };
        proxy.filter(|_| !self.is_exempt(url))
    }

    /// True if there is no proxy.
    pub fn is_empty(&self) -> bool {
        self.http.is_none() && self.https.is_none()
    }

    /// Returns the proxies.
    pub(crate) fn each(&self) -> impl Iterator<Item = &Proxy> {
        self.http.iter().chain(&self.https)
    }

    /// Returns the proxies, to be changed.
    pub(crate) fn each_mut(&mut self) -> impl Iterator<Item = &mut Proxy> {
        self.http.iter_mut().chain(&mut self.https)
    }

    fn is_exempt(&self, url: &Url) -> bool {
        let port = url.port_or_known_default();
        match url.host() {
            None => true,
            Some(Host::Domain(name)) => {
                let name = name.trim_end_matches('.');
                name == "localhost" || self.exempt.iter().any(|one| one.is_name(name, port))
            }
            Some(Host::Ipv4(address)) => self.is_exempt_address(address.into(), port),
            Some(Host::Ipv6(address)) => self.is_exempt_address(address.into(), port),
        }
    }

    fn is_exempt_address(&self, address: IpAddr, port: Option<u16>) -> bool {
        let mut exempt = self.exempt.iter();
        address.is_loopback() || exempt.any(|one| one.has_address(address, port))
    }
}

fn proxy(name: &'static str, value: &str) -> Result<Proxy, UnusableProxy> {
    let read: Result<Proxy, Error> = value.parse();
    read.map_err(|error| UnusableProxy {
        name,
        problem: reason(error),
    })
}

/// Returns the reason why a text is not a proxy, without the text.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "reading a proxy has one error"
)]
fn reason(error: Error) -> String {
    match error {
        Error::Proxy { problem, .. } => problem,
        other => other.to_string(),
    }
}

impl Exempt {
    fn read(text: &str) -> Option<Exempt> {
        let text = text.trim().to_ascii_lowercase();
        if text.is_empty() {
            return None;
        }
        if text == "*" {
            return Some(Exempt::All);
        }
        if let Some((address, bits)) = text.split_once('/') {
            let address: IpAddr = address.parse().ok()?;
            let bits: u8 = bits.parse().ok()?;
            return (bits <= width(address)).then_some(Exempt::Net(address, bits, None));
        }
        let (host, port) = host_and_port(&text);
        if let Ok(address) = host.trim_matches(['[', ']']).parse::<IpAddr>() {
            return Some(Exempt::Net(address, width(address), port));
        }
        let name = host.trim_start_matches('*').trim_start_matches('.');
        Some(Exempt::Name {
            name: name.to_owned(),
            itself: !host.starts_with(['.', '*']),
            port,
        })
    }

    fn is_name(&self, requested: &str, requested_port: Option<u16>) -> bool {
        match self {
            Exempt::All => true,
            Exempt::Net(..) => false,
            Exempt::Name { name, itself, port } => {
                let before = requested.strip_suffix(name.as_str());
                let fits = match before {
                    Some("") => *itself,
                    Some(before) => before.ends_with('.'),
                    None => false,
                };
                fits && port.is_none_or(|port| Some(port) == requested_port)
            }
        }
    }

    fn has_address(&self, requested: IpAddr, requested_port: Option<u16>) -> bool {
        match self {
            Exempt::All => true,
            Exempt::Name { .. } => false,
            Exempt::Net(address, bits, port) => {
                shares(*address, requested, *bits)
                    && port.is_none_or(|port| Some(port) == requested_port)
            }
        }
    }
}

/// Splits off the port after the colon; an IPv6 address without brackets has several colons, and no
/// port.
fn host_and_port(text: &str) -> (&str, Option<u16>) {
    let is_bare_v6 = !text.starts_with('[') && text.matches(':').count() > 1;
    match text.rsplit_once(':') {
        Some((host, port)) if !is_bare_v6 => match port.parse() {
            Ok(port) => (host, Some(port)),
            Err(_) => (text, None),
        },
        _ => (text, None),
    }
}

fn width(address: IpAddr) -> u8 {
    match address {
        IpAddr::V4(_) => 32,
        IpAddr::V6(_) => 128,
    }
}

/// True if two addresses share their first bits.
fn shares(one: IpAddr, other: IpAddr, bits: u8) -> bool {
    let differ = match (one, other) {
        (IpAddr::V4(one), IpAddr::V4(other)) => u128::from(one.to_bits() ^ other.to_bits()) << 96,
        (IpAddr::V6(one), IpAddr::V6(other)) => one.to_bits() ^ other.to_bits(),
        _ => return false,
    };
    differ.leading_zeros() >= u32::from(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<EnvironmentProxies, UnusableProxy> {
        EnvironmentProxies::read(|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    /// True if a request to this URL uses a proxy with this `NO_PROXY`.
    fn is_proxied(exempt: &str, url: &str) -> bool {
        let proxies = read(&[
            ("HTTP_PROXY", "proxy:3128"),
            ("HTTPS_PROXY", "http://proxy"),
            ("NO_PROXY", exempt),
        ]);
        let url = Url::parse(url).expect("a URL");
        proxies.expect("proxies").proxy_for(&url).is_some()
    }

    #[test]
    fn each_scheme_has_its_proxy_and_small_letters_stand_above_capitals() {
        let proxies = read(&[
            ("HTTP_PROXY", "one:1"),
            ("http_proxy", "two:2"),
            ("https_proxy", "http://me:secret@three:3"),
        ]);
        let proxies = proxies.expect("proxies");
        let proxy = |url: &str| proxies.proxy_for(&Url::parse(url).expect("a URL"));
        let two = proxy("http://a/").expect("a proxy");
        assert_eq!(
            (two.url.as_str(), &two.authorization),
            ("http://two:2/", &None)
        );
        let three = proxy("https://a/").expect("a proxy");
        assert_eq!(three.url.as_str(), "http://three:3/");
        assert_eq!(three.authorization.as_deref(), Some("Basic bWU6c2VjcmV0"));
        assert_eq!(proxy("ftp://a/"), None);
        let none = read(&[("HTTP_PROXY", "")]).expect("none");
        assert_eq!(none, EnvironmentProxies::default());
        let cgi = read(&[("HTTP_PROXY", "one:1"), ("REQUEST_METHOD", "GET")]);
        assert_eq!(cgi, Ok(EnvironmentProxies::default()));
    }

    #[test]
    fn names_are_exempt_with_what_ends_with_them() {
        for (exempt, url, proxied) in [
            ("", "http://example.com/", true),
            ("*", "http://example.com/", false),
            ("example.com", "http://example.com/", false),
            ("example.com", "https://EXAMPLE.com./", false),
            ("example.com", "http://a.example.com/", false),
            ("example.com", "http://badexample.com/", true),
            (".example.com", "http://example.com/", true),
            (".example.com", "http://a.example.com/", false),
            ("*.example.com", "http://a.example.com/", false),
            ("example.com:8080", "http://example.com/", true),
            ("example.com:8080", "http://example.com:8080/", false),
            ("a, example.com ,b", "http://example.com/", false),
        ] {
            assert_eq!(is_proxied(exempt, url), proxied, "{exempt}: {url}");
        }
    }

    #[test]
    fn addresses_are_exempt_by_themselves_or_by_their_net() {
        for (exempt, url, proxied) in [
            ("", "http://127.0.0.1:8080/", false),
            ("", "http://localhost/", false),
            ("", "http://[::1]/", false),
            ("", "http://10.1.2.3/", true),
            ("10.1.2.3", "http://10.1.2.3/", false),
            ("10.1.2.3:80", "http://10.1.2.3:81/", true),
            ("10.0.0.0/8", "http://10.1.2.3/", false),
            ("10.0.0.0/8", "http://11.1.2.3/", true),
            ("0.0.0.0/0", "http://11.1.2.3/", false),
            ("fd00::/8", "http://[fd12::1]/", false),
            ("fd00::/8", "http://[fe12::1]/", true),
            ("fd12::1", "http://[fd12::1]/", false),
            ("[fd12::1]:80", "http://[fd12::1]/", false),
            ("10.0.0.0/99", "http://10.1.2.3/", true),
        ] {
            assert_eq!(is_proxied(exempt, url), proxied, "{exempt}: {url}");
        }
    }

    #[test]
    fn what_is_no_usable_proxy_is_said_without_its_secret() {
        for (value, reason) in [
            ("http://me:secret@a:x", "invalid port number"),
            ("https://me:secret@a:1", "only http is supported"),
            ("socks5://me:secret@a:1", "`socks5` is not supported"),
        ] {
            let said = read(&[("HTTPS_PROXY", value)]).expect_err("a problem");
            let said = said.to_string();
            assert!(
                said.starts_with("HTTPS_PROXY names no usable proxy: "),
                "{said}"
            );
            assert!(said.contains(reason) && !said.contains("secret"), "{said}");
        }
        let unused = read(&[("https_proxy", "a:1"), ("HTTPS_PROXY", "https://a")]);
        assert!(unused.is_ok(), "what is not read is not judged");
    }

    #[test]
    fn a_plan_carries_them_to_other_processes() {
        let proxies = read(&[
            ("HTTP_PROXY", "me:secret@one:1"),
            ("NO_PROXY", "a,10.0.0.0/8,.b:1"),
        ]);
        let proxies = proxies.expect("proxies");
        let text = serde_json::to_string(&proxies).expect("JSON");
        assert_eq!(
            serde_json::from_str::<EnvironmentProxies>(&text).ok(),
            Some(proxies)
        );
    }
}
