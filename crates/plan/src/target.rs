//! URLs and credentials as typed: `127.0.0.1:8080/path`, `https://me:secret@example.com/`.

use crate::{Error, Header, MASKED, Rate, parse_duration};
use base64::prelude::{BASE64_STANDARD, Engine};
use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::fmt;
use std::net::Ipv4Addr;
use std::str::FromStr;
use url::{Host, Url};

/// A reason why a URL is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetProblem {
    /// A URL without a host.
    #[error("it has no host. Write one such as http://127.0.0.1:8080/.")]
    Host,
    /// A host with characters that no host name has.
    #[error("`{0}` is no host; one has letters, digits, `-`, `_` and dots.")]
    Letters(String),
    /// A number alone, which other programs read as an address.
    #[error("it looks like a number, which {0}.")]
    Number(NumberHint),
    /// A base URL with a query.
    #[error("a base has no query; leave out what follows the question mark.")]
    Query,
    /// Port 0, which no server listens on.
    #[error("nothing listens on port 0.")]
    Port,
    /// An IPv4 address with fewer than four numbers.
    #[error("`{0}` would stand for {1}; write all four numbers of an address.")]
    ShortAddress(String, Ipv4Addr),
    /// An unsupported scheme.
    #[error("`{0}` is not supported; write http:// or https://.")]
    Scheme(String),
    /// A text that breaks the syntax of URLs.
    #[error("{0}.")]
    Syntax(url::ParseError),
    /// A single word, which is unlikely to be a host.
    #[error("it is a single word. A host of that name is written http://{0}/.")]
    Word(String),
    /// An IPv6 address that names a network interface.
    #[error(
        "an IPv6 zone in a URL is not supported. Write any name as the host and say where it is: \
         http://name/ with --connect-to '::[{0}]:'."
    )]
    Zone(String),
}

/// A word that looks like a number; its text suggests the flag that was probably meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberHint(String);

impl fmt::Display for NumberHint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = &self.0;
        let is_duration = text.parse::<Rate>().is_err() && parse_duration(text).is_ok();
        let flag = match is_duration {
            true => "--duration (-d)",
            false => "--rate (-r)",
        };
        write!(f, "belongs after a flag such as {flag}")?;
        match text.parse::<u16>() {
            Ok(port) if port > 0 => write!(f, "; a port is written http://127.0.0.1:{port}/"),
            _ => Ok(()),
        }
    }
}

/// A URL to load, and its credentials, if it has any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The absolute `http` or `https` URL, without user, password and fragment.
    pub url: Url,
    /// The user and password of the URL.
    pub credentials: Option<Credentials>,
}

impl FromStr for Target {
    type Err = Error;

    /// Reads an `http` or `https` URL; the default scheme is `http`.
    fn from_str(text: &str) -> Result<Self, Error> {
        parse(text.trim()).map_err(|problem| Error::Target {
            text: text.to_owned(),
            problem,
        })
    }
}

impl Target {
    /// Reads a URL among other words, or on a line of a list, where a text may be something else. A
    /// single word or a number without a scheme is refused here: it would be looked up as a host
    /// name, and was meant for something else.
    ///
    /// # Errors
    /// As for parsing a URL, and for such words.
    pub fn among_words(text: &str) -> Result<Target, Error> {
        let target: Target = text.parse()?;
        match of_bare_word(text.trim()) {
            Some(problem) => Err(Error::Target {
                text: text.to_owned(),
                problem,
            }),
            None => Ok(target),
        }
    }
}

/// Returns the reason why a text without a scheme is hardly a host, if there is one.
fn of_bare_word(text: &str) -> Option<TargetProblem> {
    if has_scheme(text) || text.contains(['/', ':', '?', '#', '@', '[']) {
        return None;
    }
    let is_word = !text.contains('.') && !text.eq_ignore_ascii_case("localhost");
    // No top-level domain begins with a digit (RFC 3696, section 2), and an address has four parts.
    let ends_in_number = text
        .rsplit('.')
        .next()
        .is_some_and(|last| last.starts_with(|first: char| first.is_ascii_digit()));
    if ends_in_number && text.parse::<Ipv4Addr>().is_err() {
        return Some(TargetProblem::Number(NumberHint(text.to_owned())));
    }
    is_word.then(|| TargetProblem::Word(text.to_owned()))
}

/// Returns the host as written in the text of a URL, without user, port and path. IPv6 addresses
/// are not handled.
fn written_host(text: &str) -> &str {
    let behind = match has_scheme(text) {
        true => text.split_once("//").map_or(text, |(_, rest)| rest),
        false => text,
    };
    let authority = behind.split(['/', '?', '#', '\\']).next().unwrap_or(behind);
    let host = authority.rsplit('@').next().unwrap_or(authority);
    host.split(':').next().unwrap_or(host)
}

/// Refuses a host that stands for another one than it appears to, or that can't exist.
fn refuse_odd_host(text: &str, url: &Url) -> Result<(), TargetProblem> {
    match url.host() {
        Some(Host::Ipv4(address)) => {
            let written = written_host(text);
            match written.trim_end_matches('.') == address.to_string() {
                true => Ok(()),
                false => Err(TargetProblem::ShortAddress(written.to_owned(), address)),
            }
        }
        Some(Host::Domain(name)) => {
            let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
            match name.chars().all(allowed) {
                true => Ok(()),
                false => Err(TargetProblem::Letters(name.to_owned())),
            }
        }
        _ => Ok(()),
    }
}

/// True if a text is one number.
fn is_number(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit()) && text.parse::<f64>().is_ok()
}

/// Returns the problem of a URL with a zone in its IPv6 address; `None` for any other text.
fn zone(text: &str) -> Option<TargetProblem> {
    let (address, _) = text.split_once('[')?.1.split_once(']')?;
    let (address, zone) = address.split_once('%')?;
    address.parse::<std::net::Ipv6Addr>().ok()?;
    let zone = zone.strip_prefix("25").unwrap_or(zone);
    Some(TargetProblem::Zone(format!("{address}%{zone}")))
}

fn parse(text: &str) -> Result<Target, TargetProblem> {
    if text.is_empty() || text.starts_with('/') {
        return Err(TargetProblem::Host);
    }
    if is_number(text) {
        return Err(TargetProblem::Number(NumberHint(text.to_owned())));
    }
    let parsed = match has_scheme(text) {
        true => Url::parse(text),
        false => Url::parse(&format!("http://{text}")),
    };
    let mut url = parsed.map_err(|error| {
        if error == url::ParseError::EmptyHost {
            return TargetProblem::Host;
        }
        zone(text).unwrap_or(TargetProblem::Syntax(error))
    })?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(TargetProblem::Scheme(url.scheme().to_owned()));
    }
    if url.port() == Some(0) {
        return Err(TargetProblem::Port);
    }
    refuse_odd_host(text, &url)?;
    let credentials = take_credentials(&mut url);
    url.set_fragment(None);
    Ok(Target { url, credentials })
}

/// The beginning of a list's relative URLs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl(Target);

impl BaseUrl {
    /// Returns the target of a relative URL: the base followed by this text.
    ///
    /// # Errors
    /// If the result is not a URL.
    pub fn join(&self, relative: &str) -> Result<Target, Error> {
        let base = self.0.url.as_str();
        let base = match relative.starts_with('/') {
            true => base.strip_suffix('/').unwrap_or(base),
            false => base,
        };
        let target: Target = format!("{base}{relative}").parse()?;
        Ok(Target {
            credentials: self.0.credentials.clone(),
            ..target
        })
    }
}

impl FromStr for BaseUrl {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let target = Target::among_words(text)?;
        match target.url.query() {
            None => Ok(BaseUrl(target)),
            Some(_) => Err(Error::Target {
                text: text.to_owned(),
                problem: TargetProblem::Query,
            }),
        }
    }
}

/// True if the text is a URL without scheme and host: a path, or a query.
pub(crate) fn is_relative(text: &str) -> bool {
    text.starts_with(['/', '?'])
}

/// True if the text begins like `http://`; `localhost:80/?next=http://a/` does not.
fn has_scheme(text: &str) -> bool {
    let (head, rest) = text.split_at(text.find(['/', '?', '#']).unwrap_or(text.len()));
    head.ends_with(':') && rest.starts_with("//")
}

fn take_credentials(url: &mut Url) -> Option<Credentials> {
    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    let decoded = |text| percent_decode_str(text).collect::<Vec<u8>>();
    let mut pair = decoded(url.username());
    pair.push(b':');
    pair.extend(decoded(url.password().unwrap_or_default()));
    let has_host = "an http or https URL has a host, so it may lose its user";
    url.set_username("").expect(has_host);
    url.set_password(None).expect(has_host);
    Some(Credentials { pair })
}

/// A user and a password, for basic authentication (RFC 7617) or digest challenges.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Credentials {
    /// `user:password`.
    pair: Vec<u8>,
}

impl Credentials {
    /// Returns the user and the password.
    pub fn user_and_password(&self) -> (String, String) {
        let text = String::from_utf8_lossy(&self.pair);
        let (user, password) = text.split_once(':').unwrap_or((&text, ""));
        (user.to_owned(), password.to_owned())
    }

    /// Returns the same user with a masked password.
    pub(crate) fn masked(&self) -> Credentials {
        let (user, _) = self.user_and_password();
        format!("{user}:{MASKED}").into()
    }

    /// Returns the header field `Authorization` of basic authentication.
    pub fn to_header(&self) -> Header {
        let value = format!("Basic {}", BASE64_STANDARD.encode(&self.pair));
        Header {
            name: "Authorization".to_owned(),
            value,
        }
    }
}

impl FromStr for Credentials {
    type Err = Infallible;

    /// Reads `user:password`, or `user` with an empty password.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        let colon = if text.contains(':') { "" } else { ":" };
        Ok(Self {
            pair: format!("{text}{colon}").into_bytes(),
        })
    }
}

impl From<String> for Credentials {
    fn from(pair: String) -> Self {
        Credentials {
            pair: pair.into_bytes(),
        }
    }
}

impl From<Credentials> for String {
    fn from(credentials: Credentials) -> Self {
        String::from_utf8_lossy(&credentials.pair).into_owned()
    }
}

impl std::fmt::Debug for Credentials {
    /// Hides the secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Credentials(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_relative_url_stands_behind_the_path_of_its_base() {
        for (base, relative, expected) in [
            ("a:1", "/x?y", "http://a:1/x?y"),
            ("http://a/api/", "/x", "http://a/api/x"),
            ("http://a/api", "/", "http://a/api/"),
            ("https://a/api", "?x=1", "https://a/api?x=1"),
        ] {
            let base: BaseUrl = base.parse().expect("a base");
            let target = base.join(relative).expect("a URL");
            assert_eq!(target.url.as_str(), expected);
        }
        let base: BaseUrl = "http://me:secret@a/".parse().expect("a base");
        let target = base.join("/x").expect("a URL");
        assert!(target.credentials.is_some() && target.url.username().is_empty());
        let said = "a/?x".parse::<BaseUrl>().expect_err("a query").to_string();
        assert!(said.contains("a base has no query"), "{said}");
    }

    #[test]
    fn urls_are_read_with_or_without_a_scheme() {
        for (text, url) in [
            ("http://127.0.0.1:8080/", "http://127.0.0.1:8080/"),
            ("127.0.0.1:8080", "http://127.0.0.1:8080/"),
            ("localhost:8080/a?b=c", "http://localhost:8080/a?b=c"),
            ("example.com", "http://example.com/"),
            ("HTTPS://Example.COM:443/A", "https://example.com/A"),
            ("[::1]:80/x", "http://[::1]/x"),
            (" http://a/ ", "http://a/"),
            ("a/?next=http://b/", "http://a/?next=http://b/"),
            ("http://a/b#c", "http://a/b"),
            ("a/b#http://c", "http://a/b"),
            ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ] {
            match text.parse::<Target>() {
                Ok(target) => assert_eq!(target.url.as_str(), url, "{text}"),
                Err(error) => panic!("{error}"),
            }
        }
    }

    #[test]
    fn broken_urls_say_what_is_wrong() {
        use url::ParseError::{InvalidIpv6Address, InvalidPort};
        for (text, expected) in [
            ("", TargetProblem::Host),
            ("/path", TargetProblem::Host),
            ("http://", TargetProblem::Host),
            (":8080", TargetProblem::Host),
            ("ftp://a/", TargetProblem::Scheme("ftp".into())),
            ("ws://a/", TargetProblem::Scheme("ws".into())),
            ("http://a:0/", TargetProblem::Port),
            ("http://a:port/", TargetProblem::Syntax(InvalidPort)),
            ("a:99999", TargetProblem::Syntax(InvalidPort)),
            ("http://[::1/", TargetProblem::Syntax(InvalidIpv6Address)),
        ] {
            match text.parse::<Target>() {
                Err(Error::Target { problem, .. }) => assert_eq!(problem, expected, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn numbers_are_no_addresses() {
        let said = |text: &str| match text.parse::<Target>() {
            Err(error) => error.to_string(),
            Ok(target) => panic!("{text} is {}", target.url),
        };
        for text in ["5000", "10", "0", "1.5", "99999999999"] {
            let said = said(text);
            let start = format!("`{text}` is not a URL to load: it looks like a number");
            assert!(said.starts_with(&start), "{said}");
        }
        assert!(said("5000").contains("a port is written http://127.0.0.1:5000/."));
        for (text, host, address) in [
            ("0x7f.1", "0x7f.1", "127.0.0.1"),
            ("127.1:80", "127.1", "127.0.0.1"),
            ("http://100/", "100", "0.0.0.100"),
            ("http://me:1@0300.0250.1/x", "0300.0250.1", "192.168.0.1"),
            ("http://010.0.0.1/", "010.0.0.1", "8.0.0.1"),
        ] {
            let said = said(text);
            let part = format!("`{host}` would stand for {address}; write all four numbers");
            assert!(said.contains(&part), "{said}");
        }
        for text in [
            "127.0.0.1",
            "http://127.0.0.1./",
            "me@10.0.0.1:80",
            "1.2.3.4.example",
        ] {
            assert!(text.parse::<Target>().is_ok(), "{text}");
        }
    }

    #[test]
    fn words_that_were_meant_for_something_else_are_no_hosts() {
        for (text, problem) in [
            (
                "shop",
                "it is a single word. A host of that name is written http://shop/.",
            ),
            (
                "10s",
                "it looks like a number, which belongs after a flag such as --duration (-d).",
            ),
            (
                "2.5k",
                "it looks like a number, which belongs after a flag such as --rate (-r).",
            ),
            ("user,password", "`user,password` is no host"),
            ("a=b.c", "`a=b.c` is no host"),
        ] {
            let said = Target::among_words(text).expect_err(text).to_string();
            assert!(said.contains(problem), "{said}");
        }
        for text in [
            "http://shop/",
            "shop:80",
            "shop/",
            "localhost",
            "LOCALHOST",
            "shop.example",
            "127.0.0.1",
            "[::1]",
            "me@shop",
            "xn--bcher-kva.example",
            "my_host.lan",
        ] {
            assert!(Target::among_words(text).is_ok(), "{text}");
        }
        assert!("user".parse::<BaseUrl>().is_err());
    }

    #[test]
    fn a_zone_is_told_from_a_broken_address() {
        for text in ["http://[fe80::1%25eth0]/", "[fe80::1%eth0]:80"] {
            let said = text.parse::<Target>().expect_err(text).to_string();
            assert!(said.contains("--connect-to '::[fe80::1%eth0]:'"), "{said}");
        }
    }

    #[test]
    fn user_and_password_leave_the_url() {
        for (text, value) in [
            ("http://me:secret@a/", "Basic bWU6c2VjcmV0"),
            ("http://me:s%40cret@a/", "Basic bWU6c0BjcmV0"),
            ("me@a", "Basic bWU6"),
            ("http://:secret@a/", "Basic OnNlY3JldA=="),
        ] {
            let target: Target = text.parse().expect("a URL");
            assert_eq!(target.url.as_str(), "http://a/");
            assert_eq!(
                target
                    .credentials
                    .map(|who| who.to_header().value)
                    .as_deref(),
                Some(value)
            );
        }
    }

    #[test]
    fn credentials_are_basic_authentication() {
        let header = |text: &str| {
            text.parse::<Credentials>()
                .expect("a user")
                .to_header()
                .to_string()
        };
        // The example of RFC 7617, section 2.
        assert_eq!(
            header("Aladdin:open sesame"),
            "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
        );
        assert_eq!(header("me"), header("me:"));
        assert_eq!(
            format!("{:?}", "me:secret".parse::<Credentials>()),
            "Ok(Credentials(…))"
        );
    }

    proptest! {
        #[test]
        fn whatever_is_read_can_be_loaded(text in "\\PC*") {
            if let Ok(target) = text.parse::<Target>() {
                prop_assert!(target.url.has_host());
                prop_assert!(target.url.fragment().is_none() && target.url.username().is_empty());
            }
        }
    }
}
