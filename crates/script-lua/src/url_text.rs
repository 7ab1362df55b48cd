//! The parts of a URL for a script: texts, split as wrk splits them.
//!
//! The parts are not decoded, completed or normalised: the port is the typed one, the path includes
//! the query. The fragment is left out, because it is not part of the request (RFC 9110, section
//! 7.1).

/// The parts of a URL as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UrlText {
    pub(crate) scheme: String,
    /// The host, without the brackets of an IPv6 address.
    pub(crate) host: String,
    /// The port as typed.
    pub(crate) port: Option<String>,
    /// Path and query; at least `/`.
    pub(crate) path: String,
}

impl UrlText {
    /// Splits a URL; `None` if it has no scheme or no host.
    pub(crate) fn parse(url: &str) -> Option<UrlText> {
        let (scheme, rest) = url.split_once("://")?;
        let rest = rest.split('#').next()?;
        let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let place = authority
            .rsplit_once('@')
            .map_or(authority, |(_, place)| place);
        let (host, port) = host_and_port(place)?;
        if scheme.is_empty() || host.is_empty() {
            return None;
        }
        let slash = if path.starts_with('/') { "" } else { "/" };
        Some(UrlText {
            scheme: scheme.to_owned(),
            host: host.to_owned(),
            port: port.filter(|port| !port.is_empty()).map(str::to_owned),
            path: format!("{slash}{path}"),
        })
    }

    /// Returns the service for the lookup of the port: the port itself, or the scheme.
    pub(crate) fn service(&self) -> &str {
        self.port.as_deref().unwrap_or(&self.scheme)
    }
}

fn host_and_port(place: &str) -> Option<(&str, Option<&str>)> {
    if let Some(rest) = place.strip_prefix('[') {
        let (host, rest) = rest.split_once(']')?;
        return Some((host, rest.strip_prefix(':')));
    }
    Some(match place.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (place, None),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(url: &str) -> Option<(String, String, Option<String>, String)> {
        let url = UrlText::parse(url)?;
        Some((url.scheme, url.host, url.port, url.path))
    }

    #[test]
    fn a_url_is_cut_and_nothing_else() {
        for (url, scheme, host, port, path) in [
            ("http://a", "http", "a", None, "/"),
            ("http://a:80/", "http", "a", Some("80"), "/"),
            ("https://a:http/x?y#z", "https", "a", Some("http"), "/x?y"),
            ("http://me:secret@a:1/", "http", "a", Some("1"), "/"),
            ("http://[::1]:8080/x", "http", "::1", Some("8080"), "/x"),
            ("http://[::1]", "http", "::1", None, "/"),
            ("http://a?x=1", "http", "a", None, "/?x=1"),
            ("ftp://a:/", "ftp", "a", None, "/"),
        ] {
            let port = port.map(str::to_owned);
            let expected = (scheme.to_owned(), host.to_owned(), port, path.to_owned());
            assert_eq!(parts(url), Some(expected), "{url}");
        }
    }

    #[test]
    fn a_url_needs_a_scheme_and_a_host() {
        for url in [
            "",
            "a",
            "a:80",
            "http:/a",
            "://a",
            "http://",
            "http://:80/",
            "http://[::1/",
        ] {
            assert_eq!(parts(url), None, "{url}");
        }
    }

    #[test]
    fn the_service_is_the_port_or_the_scheme() {
        let service = |url| UrlText::parse(url).unwrap().service().to_owned();
        assert_eq!(service("https://a/"), "https");
        assert_eq!(service("https://a:81/"), "81");
    }
}
