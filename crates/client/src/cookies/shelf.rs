//! A bounded store of cookies.
//!
//! A server may set a new cookie with each response, so the cost of a cookie must not grow with
//! their number. Therefore cookies are counted as they are added and removed, and expired ones are
//! searched only when there is no room and at least one of them is due.

use super::MOST_COOKIES;
use cookie_store::{Cookie, CookieExpiration, CookieStore, RawCookie, StoreAction};
use std::convert::Infallible;
use std::time::{SystemTime, UNIX_EPOCH};
use url::Url;

/// A store with room for [`MOST_COOKIES`].
#[derive(Debug, Default)]
pub(super) struct Shelf {
    store: CookieStore,
    /// The number of cookies, including expired ones.
    count: usize,
    /// The second since 1970 before which no cookie expires; `None` if no cookie expires.
    next_end_s: Option<i64>,
    /// The number of searches for expired cookies.
    #[cfg(test)]
    purges: usize,
}

impl Shelf {
    /// Returns the cookies.
    pub(super) fn store(&self) -> &CookieStore {
        &self.store
    }

    /// Puts a cookie in, in place of the one of its name, domain and path. Returns true if there
    /// was room for it and this URL may set it. A cookie that is already expired removes the
    /// existing one.
    pub(super) fn put(&mut self, raw: &RawCookie<'_>, from: &Url) -> bool {
        let Ok(cookie) = Cookie::try_from_raw_cookie(raw, from) else {
            return false;
        };
        let cookie = cookie.into_owned();
        let (domain, path) = (String::from(&cookie.domain), cookie.path.to_string());
        let name = cookie.name().to_owned();
        let is_known = self.store.contains_any(&domain, &path, &name);
        if !is_known && !self.has_room() {
            return false;
        }
        let end_s = end_s(&cookie);
        match self.store.insert(cookie, from) {
            Ok(StoreAction::ExpiredExisting) => {
                self.remove(&domain, &path, &name);
                true
            }
            Ok(_) => {
                self.count += usize::from(!is_known);
                self.next_end_s = earlier(self.next_end_s, end_s);
                true
            }
            Err(_) => false,
        }
    }

    /// Removes a cookie.
    pub(super) fn remove(&mut self, domain: &str, path: &str, name: &str) {
        let removed = self.store.remove(domain, path, name);
        self.count -= usize::from(removed.is_some());
    }

    /// True if there is room for one more, after expired cookies are removed.
    fn has_room(&mut self) -> bool {
        let is_due = self.next_end_s.is_some_and(|end_s| end_s <= now_s());
        if self.count >= MOST_COOKIES && is_due {
            self.purge();
        }
        self.count < MOST_COOKIES
    }

    fn purge(&mut self) {
        let lasting: Vec<_> = self.store.iter_unexpired().cloned().collect();
        self.count = lasting.len();
        self.next_end_s = lasting.iter().filter_map(end_s).min();
        let lasting = lasting.into_iter().map(Ok);
        let Ok(store) = CookieStore::from_cookies::<_, Infallible>(lasting, false);
        self.store = store;
        #[cfg(test)]
        {
            self.purges += 1;
        }
    }
}

fn earlier(one: Option<i64>, other: Option<i64>) -> Option<i64> {
    one.into_iter().chain(other).min()
}

/// Returns the time at which a cookie expires, in seconds since 1970.
fn end_s(cookie: &Cookie<'_>) -> Option<i64> {
    match &cookie.expires {
        CookieExpiration::AtUtc(at) => Some(at.unix_timestamp()),
        CookieExpiration::SessionEnd => None,
    }
}

/// Returns the current time, in seconds since 1970.
pub(super) fn now_s() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(shelf: &mut Shelf, cookie: &str) -> bool {
        let from = Url::parse("http://a/").expect("a URL");
        let raw = RawCookie::parse(cookie).expect("a cookie");
        shelf.put(&raw, &from)
    }

    #[test]
    fn a_cookie_beyond_the_limit_is_refused_without_looking_at_the_others() {
        let mut shelf = Shelf::default();
        let kept = (0..3_000).filter(|index| put(&mut shelf, &format!("k{index}=v")));
        assert_eq!(kept.count(), MOST_COOKIES);
        let lasting = (0..3_000).filter(|at| put(&mut shelf, &format!("m{at}=v; Max-Age=3600")));
        assert_eq!(lasting.count(), 0);
        assert_eq!((shelf.count, shelf.purges), (MOST_COOKIES, 0));
        assert_eq!(shelf.store.iter_any().count(), MOST_COOKIES);
    }

    #[test]
    fn cookies_that_last_for_a_while_are_not_looked_through_before_one_is_due() {
        let mut shelf = Shelf::default();
        let set = |at| format!("k{at}=v; Max-Age=3600");
        let kept = (0..3_000).filter(|at| put(&mut shelf, &set(*at))).count();
        assert_eq!((kept, shelf.purges), (MOST_COOKIES, 0));
        // Make all cookies due.
        shelf.next_end_s = Some(0);
        assert!(
            !put(&mut shelf, "new=v"),
            "none has run out by its own word"
        );
        assert!(!put(&mut shelf, "new=v"));
        assert_eq!(shelf.purges, 1);
    }

    #[test]
    fn what_is_taken_away_makes_room() {
        let mut shelf = Shelf::default();
        for at in 0..MOST_COOKIES {
            assert!(put(&mut shelf, &format!("k{at}=v")));
        }
        for at in 0..1_000 {
            assert!(!put(&mut shelf, "more=v"));
            assert!(put(&mut shelf, &format!("k{at}=; Max-Age=0")));
            assert!(put(&mut shelf, &format!("k{}=v", at + MOST_COOKIES)));
        }
        assert_eq!((shelf.count, shelf.purges), (MOST_COOKIES, 0));
        assert_eq!(shelf.store.iter_any().count(), MOST_COOKIES);
    }

    #[test]
    fn a_name_of_another_path_is_another_cookie() {
        let mut shelf = Shelf::default();
        let kept = (0..3_000).filter(|at| put(&mut shelf, &format!("k=v; Path=/{at}")));
        assert_eq!(kept.count(), MOST_COOKIES);
        assert!(put(&mut shelf, "k=w; Path=/7"));
        assert_eq!(shelf.count, MOST_COOKIES);
    }
}
