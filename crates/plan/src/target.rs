//! URLs as typed, and who asks: `127.0.0.1:8080/path`, `https://me:secret@example.com/`.

use crate::{Error, Header, MASKED};
use base64::prelude::{BASE64_STANDARD, Engine};
use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::str::FromStr;
use url::Url;

/// What is wrong with a URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetProblem {
    /// There is no host in it.
    #[error("it has no host. Write one such as http://127.0.0.1:8080/.")]
    Host,
    /// A base with a query.
    #[error("a base has no query; leave out what stands behind the question mark.")]
    Query,
    /// Port 0, which no server listens on.
    #[error("nothing listens on port 0.")]
    Port,
    /// A protocol that is not supported.
    #[error("`{0}` is not supported; write http:// or https://.")]
    Scheme(String),
    /// The text breaks the rules of URLs.
    #[error("{0}.")]
    Syntax(url::ParseError),
}

/// A URL to load, and who asks if the URL says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The absolute `http` or `https` URL, without user, password and fragment.
    pub url: Url,
    /// The user and password that stood in the URL.
    pub credentials: Option<Credentials>,
}

impl FromStr for Target {
    type Err = Error;

    /// Reads an `http` or `https` URL; one without a scheme is `http`.
    fn from_str(text: &str) -> Result<Self, Error> {
        parse(text.trim()).map_err(|problem| Error::Target {
            text: text.to_owned(),
            problem,
        })
    }
}

fn parse(text: &str) -> Result<Target, TargetProblem> {
    if text.is_empty() || text.starts_with('/') {
        return Err(TargetProblem::Host);
    }
    let parsed = match has_scheme(text) {
        true => Url::parse(text),
        false => Url::parse(&format!("http://{text}")),
    };
    let mut url = parsed.map_err(|error| match error {
        url::ParseError::EmptyHost => TargetProblem::Host,
        other => TargetProblem::Syntax(other),
    })?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(TargetProblem::Scheme(url.scheme().to_owned()));
    }
    if url.port() == Some(0) {
        return Err(TargetProblem::Port);
    }
    let credentials = take_credentials(&mut url);
    url.set_fragment(None);
    Ok(Target { url, credentials })
}

/// What the relative URLs of a list begin with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl(Target);

impl BaseUrl {
    /// The target of a relative URL: the base, and behind its path this text.
    ///
    /// # Errors
    /// If both together are no URL.
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
        let target: Target = text.parse()?;
        match target.url.query() {
            None => Ok(BaseUrl(target)),
            Some(_) => Err(Error::Target {
                text: text.to_owned(),
                problem: TargetProblem::Query,
            }),
        }
    }
}

/// Whether the text is a URL without scheme and host: a path, or a query.
pub(crate) fn is_relative(text: &str) -> bool {
    text.starts_with(['/', '?'])
}

/// Whether the text begins like `http://`; one such as `localhost:80/?next=http://a/` does not.
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

/// A user and a password, for basic authentication (RFC 7617) or the answer to a digest challenge.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct Credentials {
    /// `user:password`.
    pair: Vec<u8>,
}

impl Credentials {
    /// The user, and the password.
    pub fn user_and_password(&self) -> (String, String) {
        let text = String::from_utf8_lossy(&self.pair);
        let (user, password) = text.split_once(':').unwrap_or((&text, ""));
        (user.to_owned(), password.to_owned())
    }

    /// The user, with a password that says nothing.
    pub(crate) fn masked(&self) -> Credentials {
        let (user, _) = self.user_and_password();
        format!("{user}:{MASKED}").into()
    }

    /// The field that carries them.
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
    /// Keeps the secret.
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
