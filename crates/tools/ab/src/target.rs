//! The URL as ab parses it: `[http[s]://]host[:port]/path`; the path is sent as typed.

/// The destination of requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// True if TLS is used.
    pub(super) tls: bool,
    /// The host, without brackets.
    pub(super) host: String,
    /// The port.
    pub(super) port: u16,
    /// The path from the first slash on, including query and fragment.
    pub(super) path: String,
}

impl Target {
    /// Parses a URL; `None` for one that ab calls invalid.
    pub(super) fn parse(text: &str) -> Option<Self> {
        // To ab, a scheme with no text after it is a host.
        let behind = |scheme| text.strip_prefix(scheme).filter(|rest| !rest.is_empty());
        let (tls, rest) = match (behind("http://"), behind("https://")) {
            (Some(rest), _) => (false, rest),
            (_, Some(rest)) => (true, rest),
            _ => (false, text),
        };
        let (authority, _) = rest.split_once('/')?;
        let (host, port) = split_port(authority)?;
        let usual = if tls { 443 } else { 80 };
        Some(Target {
            tls,
            host: host.to_owned(),
            port: port.unwrap_or(usual),
            path: rest[authority.len()..].to_owned(),
        })
    }

    /// Returns the host as written in URLs.
    pub(super) fn bracketed(&self) -> String {
        if self.host.contains(':') && !self.host.ends_with(':') {
            return format!("[{}]", self.host);
        }
        self.host.clone()
    }

    /// Returns `host[:port]`; the port only if it is not the scheme's default.
    pub(super) fn authority(&self) -> String {
        match (self.tls, self.port) {
            (true, 443) | (false, 80) => self.bracketed(),
            (_, port) => format!("{}:{port}", self.bracketed()),
        }
    }

    /// Returns the whole URL, as requests to a proxy contain it.
    pub(super) fn absolute(&self) -> String {
        let scheme = if self.tls { "https" } else { "http" };
        format!("{scheme}://{}{}", self.authority(), self.path)
    }
}

/// Splits host and port. A text of digits only is a port without a host, which is invalid.
fn split_port(authority: &str) -> Option<(&str, Option<u16>)> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if authority.is_empty() || is_number(authority) {
        return None;
    }
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if is_number(port) => {
            (host, Some(port.parse().ok().filter(|&port| port > 0)?))
        }
        _ => (authority, None),
    };
    let host = host
        .strip_prefix('[')
        .map_or(Some(host), |inner| inner.strip_suffix(']'))?;
    (!host.is_empty()).then_some((host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_host_port_and_path() {
        for (text, tls, host, port, path) in [
            ("http://a/", false, "a", 80, "/"),
            ("a:81/b?c=d#e", false, "a", 81, "/b?c=d#e"),
            ("https://a/x y", true, "a", 443, "/x y"),
            ("https://[::1]:8443//", true, "::1", 8443, "//"),
            ("ftp://a/", false, "ftp:", 80, "//a/"),
            ("http://", false, "http:", 80, "//"),
        ] {
            let target = Target::parse(text).expect("a target");
            assert_eq!(
                (target.tls, &*target.host, target.port, &*target.path),
                (tls, host, port, path),
                "{text}"
            );
        }
    }

    #[test]
    fn a_url_without_a_slash_or_a_usable_port_is_none() {
        for text in [
            "http://a",
            "a:80",
            "http://:80/",
            "http:///",
            "a:0/",
            "a:99999/",
            "80/",
            "[::1/",
        ] {
            assert_eq!(Target::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_usual_port_is_left_out() {
        let authority = |text| Target::parse(text).expect("a target").authority();
        assert_eq!(authority("http://a:80/"), "a");
        assert_eq!(authority("https://a:443/"), "a");
        assert_eq!(authority("https://[::1]:80/"), "[::1]:80");
    }
}
