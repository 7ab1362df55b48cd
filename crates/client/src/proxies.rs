//! The proxies of the environment: `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`, by the rules of Go's
//! `golang.org/x/net/http/httpproxy`, which curl and Python share except for loopback addresses:
//! these never use a proxy here.

use std::net::IpAddr;
use url::{Host, Url};

/// The proxies of the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvironmentProxies {
    http: Option<Url>,
    https: Option<Url>,
    exempt: Vec<Exempt>,
}

/// A rule for hosts without a proxy.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// A variable of the environment that is not the URL of a proxy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} is no URL of a proxy: `{value}`")]
pub struct NoProxyUrl {
    /// The variable's name.
    pub name: &'static str,
    /// The variable's value.
    pub value: String,
}

impl EnvironmentProxies {
    /// Reads the variables. Names in lower case take precedence over those in upper case;
    /// `HTTP_PROXY` in upper case is ignored in a CGI script (`REQUEST_METHOD`), whose caller could
    /// set it.
    ///
    /// # Errors
    /// If a value is not a URL.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self, NoProxyUrl> {
        let given = |name: &str| variable(name).filter(|value| !value.is_empty());
        let is_cgi = given("REQUEST_METHOD").is_some();
        let http = given("http_proxy").or_else(|| given("HTTP_PROXY").filter(|_| !is_cgi));
        let https = given("https_proxy").or_else(|| given("HTTPS_PROXY"));
        let exempt = given("no_proxy").or_else(|| given("NO_PROXY"));
        let exempt = exempt.unwrap_or_default();
        Ok(EnvironmentProxies {
            http: http.map(|value| proxy("http_proxy", value)).transpose()?,
            https: https.map(|value| proxy("https_proxy", value)).transpose()?,
            exempt: exempt.split(',').filter_map(Exempt::read).collect(),
        })
    }

    /// Returns the proxy for a request to this URL, if there is one.
    pub fn proxy_for(&self, url: &Url) -> Option<&Url> {
        let proxy = match url.scheme() {
            "http" => self.http.as_ref(),
            "https" => self.https.as_ref(),
            _ => None,
        };
        proxy.filter(|_| !self.is_exempt(url))
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

fn proxy(name: &'static str, value: String) -> Result<Url, NoProxyUrl> {
    let parsed = match value.contains("://") {
        true => Url::parse(&value),
        false => Url::parse(&format!("http://{value}")),
    };
    match parsed {
        Ok(url) if url.has_host() => Ok(url),
        _ => Err(NoProxyUrl { name, value }),
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

    fn is_name(&self, wanted: &str, wanted_port: Option<u16>) -> bool {
        match self {
            Exempt::All => true,
            Exempt::Net(..) => false,
            Exempt::Name { name, itself, port } => {
                let before = wanted.strip_suffix(name.as_str());
                let fits = match before {
                    Some("") => *itself,
                    Some(before) => before.ends_with('.'),
                    None => false,
                };
                fits && port.is_none_or(|port| Some(port) == wanted_port)
            }
        }
    }

    fn has_address(&self, wanted: IpAddr, wanted_port: Option<u16>) -> bool {
        match self {
            Exempt::All => true,
            Exempt::Name { .. } => false,
            Exempt::Net(address, bits, port) => {
                shares(*address, wanted, *bits) && port.is_none_or(|port| Some(port) == wanted_port)
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

    fn read(variables: &[(&str, &str)]) -> Result<EnvironmentProxies, NoProxyUrl> {
        EnvironmentProxies::read(|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    /// True if a request to this URL uses a proxy with this `NO_PROXY`.
    fn is_proxied(exempt: &str, url: &str) -> bool {
        let proxies = read(&[
            ("HTTP_PROXY", "proxy:3128"),
            ("HTTPS_PROXY", "https://proxy"),
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
        assert_eq!(proxy("http://a/").map(Url::as_str), Some("http://two:2/"));
        let three = proxy("https://a/").map(Url::as_str);
        assert_eq!(three, Some("http://me:secret@three:3/"));
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
    fn what_is_no_url_is_said() {
        let said = read(&[("https_proxy", "http://")]).expect_err("a problem");
        assert_eq!(
            said.to_string(),
            "https_proxy is no URL of a proxy: `http://`"
        );
    }
}
