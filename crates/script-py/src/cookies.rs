//! Cookies in the form for Python.

use loadline_client::ShownCookie;

/// Name, value, domain, path, true if TLS is required, expiry in seconds since 1970, true if hidden
/// from scripts of pages, and true if sent to that host only.
pub(crate) type CookieRow = (
    String,
    String,
    String,
    String,
    bool,
    Option<i64>,
    bool,
    bool,
);

/// Returns the row of a cookie.
pub(crate) fn row(cookie: ShownCookie) -> CookieRow {
    (
        cookie.name,
        cookie.value,
        cookie.domain,
        cookie.path,
        cookie.secure,
        cookie.expires_s,
        cookie.http_only,
        cookie.host_only,
    )
}
