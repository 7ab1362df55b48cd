//! The cookies of a jar in the form that a script reads and sets, without a response and therefore
//! without the rules for responses.

use super::shelf::now_s;
use super::{CookieJar, MOST_COOKIES};
use cookie_store::{Cookie, CookieDomain, CookieExpiration, RawCookie};
use url::Url;

/// A cookie of a jar.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownCookie {
    /// The cookie's name.
    pub name: String,
    /// The cookie's value.
    pub value: String,
    /// The host that receives it; every host if empty.
    pub domain: String,
    /// The path that receives it, including all paths below.
    pub path: String,
    /// True if it is sent over TLS only.
    pub secure: bool,
    /// True if scripts of a page may not read it.
    pub http_only: bool,
    /// The time at which it expires, in seconds since 1970; at the end of the user if `None`.
    pub expires_s: Option<i64>,
    /// True if it is sent to that host only, as opposed to the hosts below it as well.
    pub host_only: bool,
}

impl CookieJar {
    /// Returns all cookies that have not expired.
    pub fn cookies(&self) -> Vec<ShownCookie> {
        let stored = self.shelf.store().iter_unexpired().map(shown);
        stored.chain(self.everywhere.iter().cloned()).collect()
    }

    /// Puts a cookie into the jar, in place of the one of its name, domain and path. Returns true
    /// if the jar accepted it.
    pub fn put(&mut self, cookie: &ShownCookie) -> bool {
        self.forget_answers();
        self.expires |= cookie.expires_s.is_some();
        if !cookie.domain.is_empty() {
            return self.put_for_host(cookie);
        }
        self.everywhere.retain(|known| known.name != cookie.name);
        let has_room = self.everywhere.len() < MOST_COOKIES;
        if has_room {
            self.everywhere.push(cookie.clone());
        }
        has_room
    }

    fn put_for_host(&mut self, cookie: &ShownCookie) -> bool {
        let Ok(from) = Url::parse(&format!("https://{}/", cookie.domain)) else {
            return false;
        };
        let text = written(cookie);
        let Ok(raw) = RawCookie::parse(text.as_str()) else {
            return false;
        };
        self.shelf.put(&raw, &from)
    }

    /// Removes the cookies for which the function returns true.
    pub fn remove(&mut self, is_removed: impl Fn(&ShownCookie) -> bool) {
        self.forget_answers();
        let all = self.shelf.store().iter_any().map(shown);
        let all: Vec<ShownCookie> = all.collect();
        for cookie in all.iter().filter(|cookie| is_removed(cookie)) {
            self.shelf
                .remove(&cookie.domain, &cookie.path, &cookie.name);
        }
        self.everywhere.retain(|cookie| !is_removed(cookie));
    }

    /// Clears the remembered results, which may no longer be valid.
    fn forget_answers(&mut self) {
        self.last_stored = None;
        self.last_lookup = None;
    }
}

/// Formats a cookie as in a response's `Set-Cookie`.
fn written(cookie: &ShownCookie) -> String {
    let mut text = format!("{}={}; Path={}", cookie.name, cookie.value, cookie.path);
    if !cookie.host_only {
        text += &format!("; Domain={}", cookie.domain);
    }
    if let Some(expires_s) = cookie.expires_s {
        text += &format!("; Max-Age={}", (expires_s - now_s()).max(0));
    }
    text += if cookie.secure { "; Secure" } else { "" };
    text += if cookie.http_only { "; HttpOnly" } else { "" };
    text
}

fn shown(cookie: &Cookie<'static>) -> ShownCookie {
    let (domain, host_only) = match &cookie.domain {
        CookieDomain::HostOnly(domain) => (domain.clone(), true),
        CookieDomain::Suffix(domain) => (domain.clone(), false),
        CookieDomain::NotPresent | CookieDomain::Empty => (String::new(), true),
    };
    ShownCookie {
        name: cookie.name().to_owned(),
        value: cookie.value().to_owned(),
        domain,
        path: cookie.path.as_ref().to_owned(),
        secure: cookie.secure().unwrap_or(false),
        http_only: cookie.http_only().unwrap_or(false),
        expires_s: match &cookie.expires {
            CookieExpiration::AtUtc(at) => Some(at.unix_timestamp()),
            CookieExpiration::SessionEnd => None,
        },
        host_only,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cookie(name: &str, domain: &str) -> ShownCookie {
        ShownCookie {
            name: name.to_owned(),
            value: "v".to_owned(),
            domain: domain.to_owned(),
            path: "/".to_owned(),
            ..ShownCookie::default()
        }
    }

    fn sent(jar: &mut CookieJar, to: &str) -> Option<String> {
        let to = Url::parse(to).expect("a URL");
        jar.header(&to).map(str::to_owned)
    }

    #[test]
    fn a_cookie_that_is_put_goes_where_it_says() {
        let mut jar = CookieJar::default();
        assert!(jar.put(&cookie("below", "a.test")));
        let alone = ShownCookie {
            host_only: true,
            ..cookie("alone", "a.test")
        };
        assert!(jar.put(&alone));
        assert!(jar.put(&cookie("all", "")));
        let header = sent(&mut jar, "http://a.test/x");
        assert_eq!(header.as_deref(), Some("alone=v; below=v; all=v"));
        let header = sent(&mut jar, "http://b.a.test/");
        assert_eq!(header.as_deref(), Some("below=v; all=v"));
        let header = sent(&mut jar, "http://other.test/");
        assert_eq!(header.as_deref(), Some("all=v"));
    }

    #[test]
    fn what_is_shown_can_be_put_again() {
        let mut jar = CookieJar::default();
        let from = Url::parse("https://a.test/").expect("a URL");
        jar.store(&from, b"k=v; Path=/p; Secure; HttpOnly; Max-Age=3600");
        let shown = jar.cookies();
        assert_eq!(shown.len(), 1);
        assert!(shown[0].secure && shown[0].http_only && shown[0].host_only);
        let left_s = shown[0].expires_s.expect("an end") - now_s();
        assert!((3_590..=3_600).contains(&left_s), "{left_s}");
        let mut other = CookieJar::default();
        assert!(other.put(&shown[0]));
        let again = &other.cookies()[0];
        assert_eq!((&again.name, &again.path), (&shown[0].name, &shown[0].path));
    }

    #[test]
    fn cookies_are_taken_out_and_put_in_place_of_others() {
        let mut jar = CookieJar::default();
        for name in ["a", "b"] {
            jar.put(&cookie(name, "x.test"));
            jar.put(&cookie(name, ""));
        }
        let changed = ShownCookie {
            value: "w".to_owned(),
            ..cookie("a", "")
        };
        jar.put(&changed);
        jar.remove(|cookie| cookie.name == "b");
        let header = sent(&mut jar, "http://x.test/");
        assert_eq!(header.as_deref(), Some("a=v; a=w"));
    }
}
