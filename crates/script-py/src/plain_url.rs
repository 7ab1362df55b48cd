//! URLs that are sent as they are written.
//!
//! Locust's clients rewrite unusual parts of a URL before they send it. Usual URLs need no
//! rewriting, and are nearly all; the others are left to Python.

use url::Url;

/// Returns the URL of a request, if it is sent as it is written: `base` followed by `path`, or
/// `path` alone if that is a whole URL.
pub(crate) fn plain_url(base: &str, path: &str) -> Option<Url> {
    if !is_plain(path) {
        return None;
    }
    let url = match is_absolute(path) {
        true => Url::parse(path).ok()?,
        false => Url::parse(&[base, path].concat()).ok()?,
    };
    // Browsers would find a host after any number of slashes.
    let has_host = |text: &str| !text.contains(":///");
    if !has_host(path) || !has_host(base) {
        return None;
    }
    let is_http = matches!(url.scheme(), "http" | "https");
    let has_user = !url.username().is_empty() || url.password().is_some();
    (is_http && !has_user && url.host_str().is_some()).then_some(url)
}

/// True if a path is a whole URL, by Locust's rule.
pub(crate) fn is_absolute(path: &str) -> bool {
    ["http://", "https://"].iter().any(|scheme| {
        let start = path.get(..scheme.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    })
}

fn is_plain(path: &str) -> bool {
    let bytes = path.as_bytes();
    let are_plain = bytes.iter().enumerate().all(|(index, byte)| match byte {
        b'%' => is_escape(&bytes[index + 1..]),
        byte => is_usual(*byte),
    });
    // Segments of dots are resolved by some clients only.
    are_plain && !path.contains("/.")
}

fn is_usual(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~:/?@!$&'()*+,;=".contains(&byte)
}

/// True if this follows the percent sign of an escape in its canonical form: of a character that
/// needs escaping, in capital letters.
fn is_escape(rest: &[u8]) -> bool {
    let [high, low, ..] = rest else {
        return false;
    };
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    };
    let (Some(high), Some(low)) = (digit(*high), digit(*low)) else {
        return false;
    };
    let byte = high * 16 + low;
    !(byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
}
