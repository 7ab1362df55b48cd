//! Targets of requests: URLs that are parsed once, and the series that count their requests.

use super::go_url::{self, GoUrl, Unreadable, quoted};
use foldhash::fast::RandomState;
use loadline_engine::WrittenComposed;
use loadline_k6_modules::Secrets;
use loadline_metrics::SeriesId;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::LazyLock;
use url::Url;

/// The maximum number of targets that are kept at a time.
const MOST_TARGETS: usize = 1_000;

/// A URL that requests go to.
#[derive(Debug)]
pub(crate) struct Target {
    /// The URL, without credentials.
    pub(crate) url: Url,
    /// The URL with credentials, as the response has it.
    pub(crate) whole: String,
    /// The URL for display, with credentials and secrets masked.
    pub(crate) shown: String,
    /// The user and the password in the URL.
    pub(crate) credentials: Option<(String, String)>,
    /// The reason why no request can be sent, if there is one; then `url` is a placeholder.
    pub(crate) unsendable: Option<Unsendable>,
    /// The stage that used the target last, and the data known of the target in it.
    known: RefCell<(usize, Rc<Known>)>,
}

/// Data known of a target in one stage.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// The series that counts its requests if they have no names of their own.
    pub(crate) series: OnceCell<SeriesId>,
    /// An encoded request without fields of the script's own.
    pub(crate) written: OnceCell<Rc<WrittenComposed>>,
}

/// The reason why a URL is invalid, with k6's message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InvalidTarget {
    /// The value is not a text.
    #[error("invalid URL: '#{0}'")]
    NoText(String),
    /// The text can't be parsed.
    #[error("invalid URL: parse {}: {}", quoted(.0), .1)]
    Unreadable(String, Unreadable),
}

/// The reason why a request fails before anything is sent, with k6's message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unsendable {
    /// The URL has no host.
    #[error("http: no Host in request URL")]
    NoHost,
    /// The URL has an unsupported scheme, or none.
    #[error("unsupported protocol scheme {}", quoted(.0))]
    Scheme(String),
    /// The host is not a valid name.
    #[error("lookup {0}: no such host")]
    Name(String),
}

impl Unsendable {
    fn of(url: GoUrl<'_>) -> Option<Self> {
        let scheme = url.scheme.to_ascii_lowercase();
        match (scheme.as_str(), url.host) {
            ("http" | "https", "") => Some(Unsendable::NoHost),
            ("http" | "https", _) => None,
            _ => Some(Unsendable::Scheme(scheme)),
        }
    }
}

/// The placeholder for a URL to which nothing can be sent.
static NOWHERE: LazyLock<Url> =
    LazyLock::new(|| Url::parse("http://nowhere.invalid/").expect("this is a URL"));

/// The targets that the users of a worker requested last.
#[derive(Debug, Default)]
pub(crate) struct Targets(RefCell<HashMap<String, Rc<Target>, RandomState>>);

impl Targets {
    /// Returns the target of this URL, with these secrets masked for display.
    ///
    /// # Errors
    /// If the URL is invalid, with k6's message.
    pub(crate) fn of(
        &self,
        text: &str,
        secrets: &dyn Secrets,
    ) -> Result<Rc<Target>, InvalidTarget> {
        if let Some(known) = self.0.borrow().get(text) {
            return Ok(Rc::clone(known));
        }
        let target = Rc::new(Target::read(text)?.hiding(secrets));
        let mut targets = self.0.borrow_mut();
        if targets.len() >= MOST_TARGETS {
            targets.clear();
        }
        targets.insert(text.to_owned(), Rc::clone(&target));
        Ok(target)
    }
}

impl Target {
    fn read(text: &str) -> Result<Target, InvalidTarget> {
        let unreadable = |problem| InvalidTarget::Unreadable(text.to_owned(), problem);
        let known = GoUrl::read(text).map_err(unreadable)?;
        if let Some(problem) = Unsendable::of(known) {
            return Ok(Target::unsendable(text, problem));
        }
        let name = known
            .host
            .rsplit_once(':')
            .map_or(known.host, |(name, _)| name);
        let url = match Url::parse(text) {
            Ok(url) => url,
            Err(url::ParseError::InvalidIpv6Address) => {
                let address = name.trim_matches(['[', ']']).to_owned();
                return Err(unreadable(Unreadable::Address(address)));
            }
            Err(_) => return Ok(Target::unsendable(text, Unsendable::Name(name.to_owned()))),
        };
        let mut target = Target::of(url);
        if target.credentials.is_none() {
            text.clone_into(&mut target.shown);
        }
        Ok(target)
    }

    /// Creates a target to which nothing can be sent.
    fn unsendable(text: &str, problem: Unsendable) -> Target {
        Target {
            whole: text.to_owned(),
            shown: go_url::written(text),
            unsendable: Some(problem),
            ..Target::of(NOWHERE.clone())
        }
    }

    /// Creates the target of a URL of HTTP or HTTPS.
    pub(crate) fn of(mut url: Url) -> Target {
        let credentials = credentials(&url);
        let whole = url.to_string();
        // These calls can't fail for a URL with a host.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        let shown = match &credentials {
            None => whole.clone(),
            Some(_) => url.as_str().replacen("://", "://****:****@", 1),
        };
        Target {
            url,
            whole,
            shown,
            credentials,
            unsendable: None,
            known: RefCell::default(),
        }
    }

    /// Returns the target with these secrets masked for display.
    pub(crate) fn hiding(self, secrets: &dyn Secrets) -> Target {
        match secrets.redacted(&self.shown) {
            Some(shown) => Target { shown, ..self },
            None => self,
        }
    }

    /// Returns the target without its credentials.
    pub(crate) fn anonymous(&self) -> Target {
        Target::of(self.url.clone())
    }

    /// Returns the target of a URL to which a relative redirect from this one leads: it has the
    /// same credentials.
    pub(crate) fn beside(&self, mut url: Url) -> Target {
        if let Some((user, password)) = &self.credentials {
            let _ = url.set_username(user);
            let _ = url.set_password(Some(password));
        }
        Target::of(url)
    }

    /// Returns the data known of the target in this stage.
    pub(crate) fn known(&self, stage: usize) -> Rc<Known> {
        let mut known = self.known.borrow_mut();
        if known.0 != stage {
            *known = (stage, Rc::default());
        }
        Rc::clone(&known.1)
    }
}

/// Returns the user and the password in a URL.
fn credentials(url: &Url) -> Option<(String, String)> {
    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    let decoded = |text: &str| {
        let bytes = percent_encoding::percent_decode_str(text);
        bytes.decode_utf8_lossy().into_owned()
    };
    let password = url.password().unwrap_or_default();
    Some((decoded(url.username()), decoded(password)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loading::NoSecrets;

    #[test]
    fn urls_without_end_are_forgotten() {
        let targets = Targets::default();
        for number in 0..100_000 {
            let target = targets
                .of(&format!("http://host/{number}"), &NoSecrets)
                .unwrap();
            assert_eq!(target.url.path(), format!("/{number}"));
            assert!(targets.0.borrow().len() <= MOST_TARGETS);
        }
        let known = targets.of("http://host/99999", &NoSecrets).unwrap();
        assert!(Rc::ptr_eq(
            &known,
            &targets.of("http://host/99999", &NoSecrets).unwrap()
        ));
    }

    // The messages of k6 1.8.1.
    #[test]
    fn requests_to_what_go_reads_and_nobody_can_ask_fail() {
        for (text, words) in [
            ("http:///nohost", "http: no Host in request URL"),
            ("http://", "http: no Host in request URL"),
            ("https:////a", "http: no Host in request URL"),
            ("http:x", "http: no Host in request URL"),
            ("http://u@/x", "http: no Host in request URL"),
            ("/x", "unsupported protocol scheme \"\""),
            ("FTP://x/", "unsupported protocol scheme \"ftp\""),
            ("http://a<b/", "lookup a<b: no such host"),
            ("http://1.2.3.400:80/", "lookup 1.2.3.400: no such host"),
            ("http://:80/", "lookup : no such host"),
        ] {
            let target = Target::read(text).unwrap();
            assert_eq!(
                (&*target.whole, target.shown),
                (text, go_url::written(text))
            );
            assert_eq!(target.unsendable.unwrap().to_string(), words, "{text}");
        }
        assert_eq!(Target::read("http://host//a").unwrap().unsendable, None);
        let refused = Target::read("http://a\"b\n/").unwrap_err().to_string();
        let words = "invalid URL: parse \"http://a\\\"b\\n/\": \
                     net/url: invalid control character in URL";
        assert_eq!(refused, words);
    }

    #[test]
    fn a_relative_redirect_keeps_the_credentials_and_an_absolute_one_has_its_own() {
        let target = Target::read("http://u:p%40@host/a").unwrap();
        let next = target.beside(Url::parse("http://host/b").unwrap());
        assert_eq!(next.credentials, Some(("u".to_owned(), "p@".to_owned())));
        assert_eq!(next.whole, "http://u:p%40@host/b");
        assert_eq!(next.shown, "http://****:****@host/b");
        assert_eq!(next.url.as_str(), "http://host/b");
        let other = Target::of(Url::parse("http://x:y@host/b").unwrap());
        assert_eq!(other.credentials, Some(("x".to_owned(), "y".to_owned())));
        assert_eq!(Target::of(next.url).credentials, None);
    }
}
