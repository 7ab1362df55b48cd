//! The target of a redirect: any response with a Location is one, as in oha.

use super::urls;
use url::Url;

/// The error for more redirects than the limit.
pub(super) const LIMIT_REACHED: &str = "Redirection limit has reached";

/// Resolves a Location against the URL of its request (RFC 9110, section 10.2.2); `None` if the
/// result is not an HTTP URL with a host.
pub(super) fn target(from: &Url, location: &[u8]) -> Option<Url> {
    let text = std::str::from_utf8(location).ok()?;
    let url = urls::without_user(from.join(text.trim()).ok()?);
    (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_is_seen_from_the_url_that_was_asked_for() {
        let from = Url::parse("http://a/b/c?d").expect("a URL");
        for (location, url) in [
            ("/x", Some("http://a/x")),
            ("x?y", Some("http://a/b/x?y")),
            ("https://e/", Some("https://e/")),
            ("http://u:p@e/", Some("http://e/")),
            ("//e:1/f", Some("http://e:1/f")),
            ("mailto:x", None),
            ("http://", None),
        ] {
            let target = target(&from, location.as_bytes());
            assert_eq!(target.as_ref().map(Url::as_str), url, "{location}");
        }
        assert_eq!(target(&from, b"\xff"), None);
    }
}
