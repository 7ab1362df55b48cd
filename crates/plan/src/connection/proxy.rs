//! A proxy as typed: `http://[user:password@]host:port`.

use super::Proxy;
use crate::{Error, Target};
use std::str::FromStr;

impl FromStr for Proxy {
    type Err = Error;

    /// Reads a proxy's URL; the default scheme is `http`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let refused = |problem| Error::Proxy {
            text: text.to_owned(),
            problem,
        };
        let as_proxy_error = |error: Error| {
            let Error::Target { problem, .. } = error else {
                return error;
            };
            refused(problem.to_string())
        };
        let Target { url, credentials } = text.parse().map_err(as_proxy_error)?;
        if url.scheme() != "http" {
            let scheme = url.scheme();
            return Err(refused(format!(
                "only http is supported for proxies, not {scheme}."
            )));
        }
        if url.path() != "/" || url.query().is_some() {
            return Err(refused("nothing may follow its port.".to_owned()));
        }
        Ok(Self {
            url,
            authorization: credentials.map(|who| who.to_header().value),
            tunnel_headers: Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_a_url_and_maybe_who_asks() {
        for (text, url, authorization) in [
            (
                "http://proxy.example:3128",
                "http://proxy.example:3128/",
                None,
            ),
            ("127.0.0.1:8080", "http://127.0.0.1:8080/", None),
            (
                "http://me:secret@[::1]:1/",
                "http://[::1]:1/",
                Some("Basic bWU6c2VjcmV0"),
            ),
        ] {
            let proxy: Proxy = text.parse().expect("a proxy");
            assert_eq!(proxy.url.as_str(), url);
            assert_eq!(proxy.authorization.as_deref(), authorization, "{text}");
        }
    }

    #[test]
    fn what_is_no_proxy_is_refused_with_a_reason() {
        for (text, reason) in [
            ("", "it has no host"),
            (
                "https://a:1",
                "only http is supported for proxies, not https.",
            ),
            ("socks5://a:1", "`socks5` is not supported"),
            ("http://a:1/path", "nothing may follow its port."),
            ("http://a:x", "invalid port number"),
        ] {
            let error = text.parse::<Proxy>().expect_err("no proxy").to_string();
            let start = format!("`{text}` is not a proxy: {reason}");
            assert!(error.starts_with(&start), "{error}");
        }
    }

    #[test]
    fn the_secret_is_not_shown() {
        let proxy: Proxy = "http://me:secret@a".parse().expect("a proxy");
        assert!(!format!("{proxy:?}").contains("bWU6c2VjcmV0"));
    }
}
