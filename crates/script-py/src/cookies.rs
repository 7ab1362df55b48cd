//! A cookie as Python's side reads it.

use loadline_client::ShownCookie;

/// Name, value, domain, path, whether it goes over TLS only, when it runs out, whether scripts of
/// pages may not see it, and whether it goes to that host only.
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

/// The row of a cookie.
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
