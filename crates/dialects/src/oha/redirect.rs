//! Where a redirect leads: any response that has a Location is one, as in oha.

use super::urls;
use url::Url;

/// What is said where there are more redirects than are followed.
pub(super) const LIMIT_REACHED: &str = "Redirection limit has reached";

/// The URL that a Location names, as seen from the URL that was asked for (RFC 9110, section
/// 10.2.2); `None` if it is none that can be asked for.
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
