//! Access: everybody who reaches a loopback address, and else whoever has a secret.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hyper::HeaderMap;
use hyper::header::{AUTHORIZATION, COOKIE};
use hyper::http::Uri;
use sha2::{Digest, Sha256};
use std::fmt;
use std::io;

/// The bytes of a token: 128 bits.
const TOKEN_BYTES: usize = 16;
/// The parameter of an address that has the token.
const PARAMETER: &str = "token";

/// Who may send requests.
#[derive(Clone)]
pub enum Access {
    /// Everybody who reaches the server: on loopback, the users of this machine.
    Open,
    /// Whoever has the token: in the address (`?token=…`, which becomes a cookie at once, so that
    /// it stays in no history of the page), or as `Authorization: Bearer …`.
    Token(String),
    /// Whoever knows the name and the password (HTTP's basic authentication).
    Password {
        /// The name of the user.
        user: String,
        /// The password.
        password: String,
    },
}

/// What becomes of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ruling {
    /// It is answered.
    Granted,
    /// It has the token in its address: the browser gets a cookie and comes again without it.
    Welcomed {
        /// The address without the token.
        location: String,
        /// The cookie, as a `Set-Cookie` field.
        cookie: String,
    },
    /// It has no secret, or a wrong one.
    Denied,
}

impl Access {
    /// Makes a token of 128 random bits.
    ///
    /// # Errors
    /// If the operating system has no random bytes.
    pub fn token() -> io::Result<Access> {
        let mut bytes = [0; TOKEN_BYTES];
        getrandom::fill(&mut bytes).map_err(|_| io::Error::other("no random bytes"))?;
        let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
        Ok(Access::Token(digits.collect()))
    }

    /// Returns what follows the address of the first page: the token, if there is one.
    pub fn query(&self) -> String {
        match self {
            Access::Token(token) => format!("?{PARAMETER}={token}"),
            Access::Open | Access::Password { .. } => String::new(),
        }
    }

    /// True if a browser may ask its user for a name and a password.
    pub(crate) fn offers_password(&self) -> bool {
        matches!(self, Access::Password { .. })
    }

    /// Rules on a request to the server on this port: browsers share cookies between the ports of a
    /// host, so each server's cookie has a name of its own.
    pub(crate) fn rule(&self, uri: &Uri, fields: &HeaderMap, port: u16) -> Ruling {
        let granted = match self {
            Access::Open => true,
            Access::Password { user, password } => {
                basic(fields).is_some_and(|given| is_same(&given, &format!("{user}:{password}")))
            }
            Access::Token(token) => {
                if let Some(welcome) = welcome(uri, token, port) {
                    return welcome;
                }
                let name = cookie_name(port);
                let cookies = cookies(fields, &name);
                let mut given = cookies.chain(bearer(fields));
                given.any(|given| is_same(given, token))
            }
        };
        if granted {
            Ruling::Granted
        } else {
            Ruling::Denied
        }
    }
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Access::Open => "Open",
            Access::Token(_) => "Token",
            Access::Password { .. } => "Password",
        })
    }
}

fn cookie_name(port: u16) -> String {
    format!("loadline-{port}")
}

/// What becomes of a request with the token in its address; `None` if it has none or another one.
fn welcome(uri: &Uri, token: &str, port: u16) -> Option<Ruling> {
    let parameters = || uri.query().unwrap_or_default().split('&');
    let is_token = |parameter: &&str| {
        let value = parameter.strip_prefix(PARAMETER);
        value.is_some_and(|value| value.starts_with('='))
    };
    let given = parameters().find(is_token)?;
    if !is_same(&given[PARAMETER.len() + 1..], token) {
        return None;
    }
    let rest: Vec<&str> = parameters().filter(|one| !is_token(one)).collect();
    let query = if rest.is_empty() { "" } else { "?" };
    // A path that begins with two slashes would name another host.
    let path = uri.path().trim_start_matches('/');
    Some(Ruling::Welcomed {
        location: format!("/{path}{query}{}", rest.join("&")),
        cookie: format!(
            "{}={token}; Path=/; HttpOnly; SameSite=Strict",
            cookie_name(port)
        ),
    })
}

fn cookies<'a>(fields: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = &'a str> {
    let fields = fields.get_all(COOKIE).into_iter();
    let pairs = fields
        .filter_map(|field| field.to_str().ok())
        .flat_map(|field| field.split(';'));
    pairs.filter_map(move |pair| {
        let (found, value) = pair.trim().split_once('=')?;
        (found == name).then_some(value)
    })
}

fn bearer(fields: &HeaderMap) -> Option<&str> {
    credentials(fields, "Bearer")
}

/// The name and the password of a request, with a colon between them.
fn basic(fields: &HeaderMap) -> Option<String> {
    let encoded = credentials(fields, "Basic")?;
    String::from_utf8(BASE64_STANDARD.decode(encoded).ok()?).ok()
}

fn credentials<'a>(fields: &'a HeaderMap, scheme: &str) -> Option<&'a str> {
    let field = fields.get(AUTHORIZATION)?.to_str().ok()?;
    let (given, rest) = field.split_once(' ')?;
    given.eq_ignore_ascii_case(scheme).then(|| rest.trim())
}

/// True if two secrets are equal. The time that it takes depends on neither: their hashes have one
/// length, and all of their bytes are compared.
fn is_same(given: &str, secret: &str) -> bool {
    let (given, secret) = (Sha256::digest(given), Sha256::digest(secret));
    let different = given
        .iter()
        .zip(&secret)
        .fold(0, |sum, (a, b)| sum | (a ^ b));
    std::hint::black_box(different) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper::header::{HeaderName, HeaderValue};

    const PORT: u16 = 5_623;

    fn rule(access: &Access, target: &str, fields: &[(HeaderName, &str)]) -> Ruling {
        let mut map = HeaderMap::new();
        for (name, value) in fields {
            map.append(name, HeaderValue::from_str(value).unwrap());
        }
        access.rule(&target.parse().unwrap(), &map, PORT)
    }

    #[test]
    fn a_token_is_new_each_time_and_has_128_bits() {
        let tokens: Vec<String> = (0..2).map(|_| Access::token().unwrap().query()).collect();
        assert_ne!(tokens[0], tokens[1]);
        let digits = tokens[0].strip_prefix("?token=").unwrap();
        assert_eq!(digits.len(), 32);
        assert!(digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    }

    #[test]
    fn the_token_of_an_address_becomes_a_cookie() {
        let access = Access::Token("0a1b".to_owned());
        let Ruling::Welcomed { location, cookie } = rule(&access, "/x?a=1&token=0a1b", &[]) else {
            panic!("not welcomed");
        };
        assert_eq!(location, "/x?a=1");
        let cookie = cookie.split(';').next().unwrap();
        assert_eq!(rule(&access, "/x", &[(COOKIE, cookie)]), Ruling::Granted);
        let among = format!("b=2; {cookie}; c=3");
        assert_eq!(rule(&access, "/x", &[(COOKIE, &among)]), Ruling::Granted);
        let bearer = [(AUTHORIZATION, "bearer 0a1b")];
        assert_eq!(rule(&access, "/x", &bearer), Ruling::Granted);
    }

    #[test]
    fn a_path_can_not_lead_a_browser_to_another_host() {
        let access = Access::Token("0a1b".to_owned());
        let Ruling::Welcomed { location, .. } = rule(&access, "//evil.example?token=0a1b", &[])
        else {
            panic!("not welcomed");
        };
        assert_eq!(location, "/evil.example");
    }

    #[test]
    fn wrong_missing_and_foreign_secrets_are_denied() {
        let access = Access::Token("0a1b".to_owned());
        for (target, fields) in [
            ("/", vec![]),
            ("/?token=", vec![]),
            ("/?token=0a1", vec![]),
            ("/?tokens=0a1b", vec![]),
            ("/", vec![(COOKIE, "loadline-5624=0a1b")]),
            ("/", vec![(COOKIE, "loadline-5623=0a1c")]),
            ("/", vec![(AUTHORIZATION, "Basic 0a1b")]),
            ("/", vec![(AUTHORIZATION, "Bearer")]),
        ] {
            assert_eq!(rule(&access, target, &fields), Ruling::Denied, "{target}");
        }
    }

    #[test]
    fn a_name_and_its_password_are_asked_for() {
        let access = Access::Password {
            user: "anna".to_owned(),
            password: "s:1".to_owned(),
        };
        let basic = |text: &str| format!("Basic {}", BASE64_STANDARD.encode(text));
        let ruling = |text: &str| rule(&access, "/", &[(AUTHORIZATION, &basic(text))]);
        assert_eq!(ruling("anna:s:1"), Ruling::Granted);
        for wrong in ["anna:s:2", "bert:s:1", "anna", ":", ""] {
            assert_eq!(ruling(wrong), Ruling::Denied, "{wrong}");
        }
        let broken = [(AUTHORIZATION, "Basic ???")];
        assert_eq!(rule(&access, "/", &broken), Ruling::Denied);
        assert!(access.offers_password() && access.query().is_empty());
        assert!(!format!("{access:?}").contains("s:1"));
    }
}
