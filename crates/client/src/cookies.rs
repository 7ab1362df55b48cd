//! The cookies of a user: RFC 6265, with the rules of its successor on prefixes and on domains that
//! are public suffixes.
//!
//! A load tester sets the same cookie and sends the same header a million times. Both are
//! recognised by their bytes, as long as no cookie in the jar can expire.

mod outside;
mod shelf;

pub use outside::ShownCookie;

use cookie_store::RawCookie;
use public_suffix::DEFAULT_PROVIDER;
use shelf::Shelf;
use url::Url;

/// The length of the longest accepted cookie, name and value, as in browsers.
const LONGEST_COOKIE: usize = 4_096;
/// The most cookies of a jar, so that a server that invents names can't fill the memory.
const MOST_COOKIES: usize = 300;

/// The cookies of one user.
#[derive(Debug, Default)]
pub struct CookieJar {
    shelf: Shelf,
    /// Cookies for every host, which only a script sets.
    everywhere: Vec<ShownCookie>,
    /// True if a cookie may expire, so that the remembered results may become invalid.
    expires: bool,
    /// The last `Set-Cookie` that was stored, and its URL.
    last_stored: Option<(Url, Vec<u8>)>,
    /// The last header that was requested, and its URL.
    last_lookup: Option<(Url, Option<String>)>,
}

impl CookieJar {
    /// Stores the cookie that a response from this URL sets by the value of one Set-Cookie. A
    /// cookie that is not allowed there, or can't be parsed, is ignored, as in a browser.
    pub fn store(&mut self, from: &Url, set_cookie: &[u8]) {
        let is_last =
            |(url, stored): &(Url, Vec<u8>)| stored.as_slice() == set_cookie && url == from;
        if !self.expires && self.last_stored.as_ref().is_some_and(is_last) {
            return;
        }
        let Some(cookie) = read(set_cookie).and_then(|cookie| allowed(cookie, from)) else {
            return;
        };
        if !self.shelf.put(&cookie, from) {
            return;
        }
        self.expires |= cookie.max_age().is_some() || cookie.expires().is_some();
        self.last_lookup = None;
        self.last_stored = Some((from.clone(), set_cookie.to_vec()));
    }

    /// Returns the value of the `Cookie` header of a request to this URL; `None` if there is no
    /// cookie for it.
    pub fn header(&mut self, to: &Url) -> Option<&str> {
        let is_known = |(url, _): &(Url, _)| url == to;
        if self.expires || !self.last_lookup.as_ref().is_some_and(is_known) {
            let header = self.written(to);
            self.last_lookup = Some((to.clone(), header));
        }
        let (_, header) = self.last_lookup.as_ref()?;
        header.as_deref()
    }

    /// Computes the header (section 5.4): longer paths precede shorter ones, then cookies are
    /// ordered by name, because their creation time is not stored.
    fn written(&self, to: &Url) -> Option<String> {
        let mut cookies = self.shelf.store().matches(to);
        cookies.sort_by(|a, b| {
            let longer = b.path.as_ref().len().cmp(&a.path.as_ref().len());
            longer.then_with(|| a.name().cmp(b.name()))
        });
        let written = |cookie: &&cookie_store::Cookie<'static>| {
            let (name, value) = cookie.name_value();
            format!("{name}={value}")
        };
        let everywhere = self.everywhere.iter();
        let everywhere = everywhere.map(|cookie| format!("{}={}", cookie.name, cookie.value));
        let each: Vec<String> = cookies.iter().map(written).chain(everywhere).collect();
        (!each.is_empty()).then(|| each.join("; "))
    }
}

/// Parses a cookie; `None` if it can't be parsed and sent back, or is too long.
fn read(set_cookie: &[u8]) -> Option<RawCookie<'_>> {
    let is_control = |byte: &u8| byte.is_ascii_control() && *byte != b'\t';
    if set_cookie.iter().any(is_control) {
        return None;
    }
    let cookie = RawCookie::parse(std::str::from_utf8(set_cookie).ok()?).ok()?;
    let length = cookie.name().len() + cookie.value().len();
    (length <= LONGEST_COOKIE).then_some(cookie)
}

/// Returns the cookie with the attributes that this URL may set; `None` if it may not set the
/// cookie.
fn allowed<'a>(mut cookie: RawCookie<'a>, from: &Url) -> Option<RawCookie<'a>> {
    if !keeps_promise_of_prefix(&cookie, from) {
        return None;
    }
    let domain = cookie.domain().map(|domain| {
        let domain = domain.strip_prefix('.').unwrap_or(domain);
        domain.to_ascii_lowercase()
    });
    if let Some(domain) = domain
        && is_public_suffix(&domain)
    {
        // Section 5.3, step 5: a host that is a public suffix itself may set cookies of its own.
        if from.host_str() != Some(&domain) {
            return None;
        }
        cookie.unset_domain();
    }
    Some(cookie)
}

/// True if the cookie was set as the prefix of its name requires (RFC 6265bis, section 4.1.3).
fn keeps_promise_of_prefix(cookie: &RawCookie<'_>, from: &Url) -> bool {
    let has_prefix = |prefix: &str| {
        let start = cookie.name().get(..prefix.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    };
    let is_secure = cookie.secure() == Some(true) && from.scheme() == "https";
    if has_prefix("__Host-") {
        return is_secure && cookie.domain().is_none() && cookie.path() == Some("/");
    }
    !has_prefix("__Secure-") || is_secure
}

/// True if names of different owners end with this domain, such as `co.uk`.
fn is_public_suffix(domain: &str) -> bool {
    DEFAULT_PROVIDER.public_suffix(domain) == domain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).expect("a URL")
    }

    /// Returns the header that is sent to one URL after another one has set cookies.
    fn sent(from: &str, cookies: &[&str], to: &str) -> Option<String> {
        let mut jar = CookieJar::default();
        for cookie in cookies {
            jar.store(&url(from), cookie.as_bytes());
        }
        jar.header(&url(to)).map(str::to_owned)
    }

    #[test]
    fn the_examples_of_the_standard_are_sent_as_it_says() {
        // RFC 6265, section 3.1.
        let from = "http://www.example.com/";
        let sid = "SID=31d4d96e407aad42";
        assert_eq!(sent(from, &[sid], from).as_deref(), Some(sid));
        let everywhere = format!("{sid}; Path=/; Domain=example.com");
        let other = "http://site.example.com/deep/path";
        assert_eq!(sent(from, &[&everywhere], other).as_deref(), Some(sid));
        assert_eq!(sent(from, &[sid], other), None);
        let secure = format!("{sid}; Path=/; Secure; HttpOnly");
        let (https, lang) = ("https://www.example.com/", "lang=en-US; Path=/");
        let both = Some("SID=31d4d96e407aad42; lang=en-US".to_owned());
        assert_eq!(sent(https, &[&secure, lang], https), both);
        assert_eq!(sent(https, &[&secure], from), None);
        let gone = "lang=; Expires=Sun, 06 Nov 1994 08:49:37 GMT; Path=/";
        assert_eq!(sent(https, &[lang, gone], https), None);
    }

    #[test]
    fn a_cookie_goes_where_its_domain_matches() {
        // RFC 6265, section 5.1.3.
        let from = "http://a.example.com/";
        for (domain, to, is_sent) in [
            ("example.com", "http://example.com/", true),
            (".example.com", "http://b.example.com/", true),
            ("EXAMPLE.com", "http://b.example.com/", true),
            ("example.com", "http://badexample.com/", false),
            ("a.example.com", "http://example.com/", false),
            ("b.example.com", "http://b.example.com/", false),
            ("other.com", "http://other.com/", false),
            ("com", "http://example.com/", false),
        ] {
            let cookie = format!("k=v; Domain={domain}");
            assert_eq!(sent(from, &[&cookie], to).is_some(), is_sent, "{domain}");
        }
        let address = "http://127.0.0.1:8080/";
        assert!(sent(address, &["k=v; Domain=127.0.0.1"], address).is_some());
        assert!(sent(address, &["k=v"], "http://127.0.0.1:9090/").is_some());
        assert!(sent(address, &["k=v; Domain=0.0.1"], address).is_none());
    }

    #[test]
    fn public_suffixes_have_no_cookies_but_their_own() {
        let from = "http://shop.example.co.uk/";
        for (domain, to, is_sent) in [
            ("co.uk", "http://other.co.uk/", false),
            ("uk", "http://other.uk/", false),
            ("example.co.uk", "http://example.co.uk/", true),
        ] {
            let cookie = format!("k=v; Domain={domain}");
            assert_eq!(sent(from, &[&cookie], to).is_some(), is_sent, "{domain}");
        }
        let pages = "http://github.io/";
        assert!(sent(pages, &["k=v; Domain=github.io"], pages).is_some());
        assert!(sent(pages, &["k=v; Domain=github.io"], "http://me.github.io/").is_none());
        let local = "http://localhost/";
        assert!(sent(local, &["k=v; Domain=localhost"], local).is_some());
    }

    #[test]
    fn a_cookie_goes_where_its_path_matches() {
        // RFC 6265, section 5.1.4.
        let from = "http://a/docs/web/page";
        for (path, to, is_sent) in [
            ("; Path=/docs", "http://a/docs", true),
            ("; Path=/docs", "http://a/docs/x", true),
            ("; Path=/docs", "http://a/docsets", false),
            ("; Path=/docs", "http://a/", false),
            ("", "http://a/docs/web/other", true),
            ("", "http://a/docs/webs", false),
        ] {
            let cookie = format!("k=v{path}");
            assert_eq!(sent(from, &[&cookie], to).is_some(), is_sent, "{path} {to}");
        }
        let both = ["short=1; Path=/", "long=2; Path=/docs"];
        let found = sent(from, &both, "http://a/docs/");
        assert_eq!(found.as_deref(), Some("long=2; short=1"));
    }

    #[test]
    fn names_that_promise_keep_it() {
        let (http, https) = ("http://a.example.com/", "https://a.example.com/");
        assert!(sent(https, &["__Host-k=v; Secure; Path=/"], https).is_some());
        assert!(sent(https, &["__Host-k=v; Secure"], https).is_none());
        let with_domain = "__Host-k=v; Secure; Path=/; Domain=a.example.com";
        assert!(sent(https, &[with_domain], https).is_none());
        assert!(sent(https, &["__Secure-k=v; Secure"], https).is_some());
        assert!(sent(http, &["__secure-k=v; Secure"], https).is_none());
        assert!(sent(https, &["__Secure-k=v"], https).is_none());
    }

    #[test]
    fn what_can_not_be_a_cookie_is_left_out() {
        let from = "http://a/";
        for bad in ["", "=v", "k", "k=a\rb", "k=a\0"] {
            assert_eq!(sent(from, &[bad], from), None, "{bad:?}");
        }
        let long = format!("k={}", "x".repeat(LONGEST_COOKIE));
        assert_eq!(sent(from, &[&long], from), None);
    }

    #[test]
    fn a_server_that_invents_names_fills_no_memory() {
        let (mut jar, from) = (CookieJar::default(), url("http://a/"));
        for index in 0..1_000 {
            jar.store(&from, format!("k{index}=v").as_bytes());
        }
        assert_eq!(jar.shelf.store().iter_any().count(), MOST_COOKIES);
        jar.store(&from, b"k7=new");
        let header = jar.header(&from).expect("cookies");
        assert!(header.contains("k7=new"), "{header}");
        jar.store(&from, b"k7=; Max-Age=0");
        jar.store(&from, b"new=1");
        let header = jar.header(&from).expect("cookies");
        assert!(
            header.contains("new=1") && !header.contains("k7="),
            "{header}"
        );
    }

    #[test]
    fn what_is_remembered_is_what_would_be_found() {
        let (mut jar, a) = (CookieJar::default(), url("http://a/"));
        assert_eq!(jar.header(&a), None);
        jar.store(&a, b"k=1");
        assert_eq!(jar.header(&a), Some("k=1"));
        jar.store(&a, b"k=1");
        jar.store(&url("http://b/"), b"k=1");
        assert_eq!(jar.header(&a), Some("k=1"));
        assert_eq!(jar.header(&url("http://b/")), Some("k=1"));
        jar.store(&a, b"k=2");
        assert_eq!(jar.header(&a), Some("k=2"));
        jar.store(&a, b"k=2; Max-Age=0");
        assert_eq!(jar.header(&a), None);
        jar.store(&a, b"k=3");
        assert_eq!(jar.header(&a), Some("k=3"));
    }
}
