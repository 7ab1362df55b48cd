//! The target of a redirect, and the parts of the request that are sent there.
//!
//! The rules are those of browsers (Fetch, "HTTP-redirect fetch"): a POST that is answered with 301
//! or 302, and any request that is answered with 303, is followed by a GET without a body; 307 and
//! 308 repeat the request. Credentials do not leave their origin.

use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
use url::{ParseError, Url};

/// The request that follows a redirect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextRequest {
    /// The target.
    pub url: Url,
    /// True if the request has the same method and body, as opposed to a GET without a body.
    pub repeats: bool,
    /// True if the request goes to the same origin as the one before it, so that header fields with
    /// credentials are sent too.
    pub keeps_credentials: bool,
}

/// A reason why a redirect can't be followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RedirectProblem {
    /// A target that is not reached by HTTP.
    #[error("the redirect leads to `{0}:`, which is neither http nor https")]
    Scheme(String),
    /// A Location that is not a URL.
    #[error("the Location of the redirect is no URL: {0}")]
    NoUrl(ParseError),
    /// Two Locations that differ.
    #[error("the redirect has several Locations")]
    SeveralUrls,
    /// Too many redirects in a row; this many are allowed.
    #[error("more than {0} redirects in a row")]
    TooMany(u32),
}

/// True if a response of this status is a redirect when it has a Location.
pub fn is_redirect(status: u16) -> bool {
    matches!(status, 301 | 302 | 303 | 307 | 308)
}

/// Returns the request that follows a redirect of this status, the response to a request of
/// `method` to `from`. `location` is the value of its Location: a URL, which may be relative.
///
/// # Errors
/// If the Location is not a URL of HTTP.
pub fn follow(
    status: u16,
    method: &str,
    from: &Url,
    location: &[u8],
) -> Result<NextRequest, RedirectProblem> {
    let mut url = from.join(&text(location)).map_err(RedirectProblem::NoUrl)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(RedirectProblem::Scheme(url.scheme().to_owned()));
    }
    url.set_fragment(None);
    let becomes_get = match status {
        301 | 302 => method == "POST",
        303 => !matches!(method, "GET" | "HEAD"),
        _ => false,
    };
    Ok(NextRequest {
        repeats: !becomes_get,
        keeps_credentials: keeps_credentials(from, &url),
        url,
    })
}

/// True if the credentials of a request to one URL may be sent to another one: if both have the
/// same origin (scheme, host and port).
pub fn keeps_credentials(from: &Url, to: &Url) -> bool {
    from.scheme() == to.scheme()
        && from.host_str() == to.host_str()
        && from.port_or_known_default() == to.port_or_known_default()
}

/// Converts a Location to text: bytes that are not UTF-8 are percent-encoded.
fn text(location: &[u8]) -> String {
    match std::str::from_utf8(location) {
        Ok(text) => text.to_owned(),
        Err(_) => {
            let written = |byte: &u8| match byte.is_ascii() {
                true => char::from(*byte).to_string(),
                false => percent_encode(&[*byte], NON_ALPHANUMERIC).to_string(),
            };
            location.iter().map(written).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(status: u16, method: &str, from: &str, location: &str) -> NextRequest {
        let from = Url::parse(from).expect("a URL");
        follow(status, method, &from, location.as_bytes()).expect("a redirect")
    }

    #[test]
    fn methods_and_bodies_follow_the_browsers_rules() {
        let repeats = |status, method| next(status, method, "http://a/x", "/y").repeats;
        for (status, repeated) in [
            (301, ["GET", "HEAD", "PUT", "DELETE"]),
            (302, ["GET", "HEAD", "PUT", "DELETE"]),
            (307, ["GET", "POST", "PUT", "DELETE"]),
            (308, ["GET", "POST", "PUT", "DELETE"]),
        ] {
            for method in repeated {
                assert!(repeats(status, method), "{status} {method}");
            }
        }
        for (status, method) in [
            (301, "POST"),
            (302, "POST"),
            (303, "POST"),
            (303, "PUT"),
            (303, "DELETE"),
        ] {
            assert!(!repeats(status, method), "{status} {method}");
        }
        assert!(repeats(303, "GET") && repeats(303, "HEAD"));
    }

    #[test]
    fn a_location_is_read_from_where_the_request_went() {
        for (location, url) in [
            ("/b", "http://a:8080/b"),
            ("b", "http://a:8080/x/b"),
            ("?q=1", "http://a:8080/x/y?q=1"),
            ("", "http://a:8080/x/y"),
            ("//c/d#part", "http://c/d"),
            ("https://c", "https://c/"),
            ("/ü?ä", "http://a:8080/%C3%BC?%C3%A4"),
        ] {
            let found = next(302, "GET", "http://a:8080/x/y", location).url;
            assert_eq!(found.as_str(), url, "{location}");
        }
    }

    #[test]
    fn a_location_in_another_encoding_is_sent_back_as_it_came() {
        let from = Url::parse("http://a/").expect("a URL");
        let found = follow(302, "GET", &from, b"/caf\xe9").expect("a redirect");
        assert_eq!(found.url.as_str(), "http://a/caf%E9");
    }

    #[test]
    fn credentials_stay_with_their_origin() {
        let keeps = |location| next(307, "POST", "http://a/", location).keeps_credentials;
        assert!(keeps("/b") && keeps("http://a:80/") && keeps("http://A/"));
        assert!(!keeps("https://a/") && !keeps("http://a:81/") && !keeps("http://b.a/"));
    }

    #[test]
    fn what_leads_nowhere_is_said() {
        let from = Url::parse("http://a/").expect("a URL");
        let said = |location: &[u8]| {
            let problem = follow(302, "GET", &from, location).expect_err("a problem");
            problem.to_string()
        };
        assert!(said(b"ftp://a/").starts_with("the redirect leads to `ftp:`"));
        assert!(said(b"mailto:me").starts_with("the redirect leads to `mailto:`"));
        assert!(said(b"http://").ends_with("is no URL: empty host"));
        assert!(said(b"http://a:99999/").contains("invalid port"));
    }
}
