//! URLs as wrk accepts them: complete, with a scheme and a host.

use url::Url;

/// The destination of a command's load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// The URL for connections: `http` or `https`, without user and fragment.
    pub(super) url: Url,
    /// The path and query as typed, at least `/`.
    pub(super) path: String,
    /// The host and port as typed.
    pub(super) authority: String,
    /// The host as typed, without brackets.
    pub(super) host: String,
    /// The port as typed, otherwise the scheme as typed, as the name of a service.
    pub(super) service: String,
    /// True if that is a port, or a service whose port is known here.
    pub(super) known: bool,
}

/// Parses a URL; `None` for one that wrk calls invalid.
///
/// Any scheme is accepted, as in wrk: those that begin with `https` mean TLS, all others plain
/// HTTP.
pub(super) fn parse(text: &str) -> Option<Target> {
    let (scheme, rest) = text.split_once("://")?;
    let is_word = !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphabetic());
    if !is_word || text.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return None;
    }
    let lower = scheme.to_ascii_lowercase();
    let spoken = if lower.starts_with("https") {
        "https"
    } else {
        "http"
    };
    let (host, port) = host_and_port(rest)?;
    let mut url = Url::parse(&format!("{spoken}://{rest}")).ok()?;
    url.set_username("").ok()?;
    url.set_password(None).ok()?;
    url.set_fragment(None);
    Some(Target {
        url,
        path: path_and_query(rest),
        authority: authority(rest).to_owned(),
        host: host.to_owned(),
        service: port.unwrap_or(scheme).to_owned(),
        known: port.is_some() || lower == spoken,
    })
}

/// Returns the position where the path begins, or the query or fragment if there is no path.
fn path_begin(rest: &str) -> usize {
    rest.find(['/', '?', '#']).unwrap_or(rest.len())
}

/// Returns host and port, without a user.
fn authority(rest: &str) -> &str {
    let authority = &rest[..path_begin(rest)];
    authority
        .rsplit_once('@')
        .map_or(authority, |(_, place)| place)
}

/// Returns path and query, without the fragment; a query alone gets the path `/`.
fn path_and_query(rest: &str) -> String {
    let typed = &rest[path_begin(rest)..];
    let typed = typed.split('#').next().unwrap_or_default();
    let slash = if typed.starts_with('/') { "" } else { "/" };
    format!("{slash}{typed}")
}

/// Returns the host, which must not be empty, and the port if there is one.
fn host_and_port(rest: &str) -> Option<(&str, Option<&str>)> {
    let place = authority(rest);
    let (host, port) = match place.strip_prefix('[') {
        Some(bracketed) => {
            let (host, behind) = bracketed.split_once(']')?;
            (host, behind.strip_prefix(':'))
        }
        None => match place.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (place, None),
        },
    };
    let usable = !host.is_empty() && port.is_none_or(|port| !port.is_empty());
    usable.then_some((host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (String, String, String, bool) {
        let Target {
            url,
            host,
            service,
            known,
            ..
        } = parse(text).expect(text);
        (url.into(), host, service, known)
    }

    #[test]
    fn a_url_has_a_scheme_and_a_host() {
        for (text, url, host, service) in [
            ("http://h", "http://h/", "h", "http"),
            ("https://h/a?b=c", "https://h/a?b=c", "h", "https"),
            (
                "http://127.0.0.1:8080/",
                "http://127.0.0.1:8080/",
                "127.0.0.1",
                "8080",
            ),
            ("http://[::1]:80/", "http://[::1]/", "::1", "80"),
            ("http://me:secret@h:81/#part", "http://h:81/", "h", "81"),
            ("http://h?x=1", "http://h/?x=1", "h", "http"),
            ("ftp://h:8080/", "http://h:8080/", "h", "8080"),
            ("HTTPS://h/", "https://h/", "h", "HTTPS"),
        ] {
            let expected = (url.to_owned(), host.to_owned(), service.to_owned(), true);
            assert_eq!(read(text), expected, "{text}");
        }
    }

    #[test]
    fn the_port_of_another_scheme_is_not_known() {
        assert!(!read("foo://h/").3);
    }

    #[test]
    fn what_wrk_calls_invalid_is_invalid() {
        for text in [
            "",
            "localhost",
            "localhost:8080/",
            "/path",
            "http://",
            "http:///a",
            "://h/",
            "http://h:/",
            "http://h:x/",
            "http://h:70000/",
            "http://h/a b",
            "http://h/\n",
            "http://[::1/",
            "h2c+x://h/",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
