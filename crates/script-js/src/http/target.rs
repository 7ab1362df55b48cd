//! Where requests go: URLs that are read once, and the series that count them.

use super::expectation::Expectation;
use super::jar::Jar;
use loadline_engine::WrittenComposed;
use loadline_k6_modules::Secrets;
use loadline_metrics::SeriesId;
use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use url::Url;

/// How many URLs are known at a time.
const MOST_TARGETS: usize = 1_000;

/// A URL that requests go to.
#[derive(Debug)]
pub(crate) struct Target {
    /// The URL, without credentials.
    pub(crate) url: Url,
    /// The URL as the response has it: with them.
    pub(crate) whole: String,
    /// As it is shown: credentials and secrets masked.
    pub(crate) shown: String,
    /// The user and the password in it.
    pub(crate) credentials: Option<(String, String)>,
    /// What is known of it in the stage that asked last.
    known: RefCell<(usize, Rc<Known>)>,
}

/// What is known of a URL in one stage.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// The series that counts it where its requests have no names of their own.
    pub(crate) series: OnceCell<SeriesId>,
    /// A request with nothing of the script's own in the bytes that go out.
    pub(crate) written: OnceCell<Rc<WrittenComposed>>,
}

/// Why nothing can be asked of a URL, in k6's words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InvalidTarget {
    /// It is no text.
    #[error("invalid URL: '#{0}'")]
    NoText(String),
    /// It can't be read.
    #[error("invalid URL: parse \"{0}\": {1}")]
    Unreadable(String, url::ParseError),
    /// It has no host.
    #[error("http: no Host in request URL")]
    NoHost,
    /// It has another scheme, or none.
    #[error("unsupported protocol scheme \"{0}\"")]
    Scheme(String),
}

impl InvalidTarget {
    fn of(text: &str, problem: url::ParseError) -> Self {
        match problem {
            url::ParseError::RelativeUrlWithoutBase => InvalidTarget::Scheme(String::new()),
            url::ParseError::EmptyHost => InvalidTarget::NoHost,
            other => InvalidTarget::Unreadable(text.to_owned(), other),
        }
    }

    /// k6's number.
    pub(crate) fn code(&self) -> u16 {
        match self {
            InvalidTarget::NoText(_) | InvalidTarget::Unreadable(..) => 1020,
            InvalidTarget::NoHost | InvalidTarget::Scheme(_) => 1000,
        }
    }
}

/// What the requests of a user share.
#[derive(Debug)]
pub(crate) struct HttpState {
    /// Its cookies.
    pub(crate) jar: Rc<Jar>,
    /// Which statuses it expects; none if nothing is.
    pub(crate) expectation: RefCell<Option<Rc<Expectation>>>,
}

/// The URLs that the users of a worker have asked for last.
#[derive(Debug, Default)]
pub(crate) struct Targets(RefCell<HashMap<String, Rc<Target>>>);

impl Default for HttpState {
    fn default() -> Self {
        HttpState {
            jar: Rc::default(),
            expectation: RefCell::new(Some(Rc::default())),
        }
    }
}

impl Targets {
    /// The target of this URL, in which these secrets are not shown.
    ///
    /// # Errors
    /// If it is no URL that can be asked, in k6's words.
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

impl HttpState {
    /// Throws away what belongs to an iteration.
    pub(crate) fn begin_iteration(&self) {
        self.jar.take();
    }
}

impl Target {
    fn read(text: &str) -> Result<Target, InvalidTarget> {
        let url = Url::parse(text).map_err(|problem| InvalidTarget::of(text, problem))?;
        // The parser takes more slashes for two.
        let behind = text.split_once("://").map_or("", |(_, behind)| behind);
        if behind.starts_with(['/', '\\']) {
            return Err(InvalidTarget::NoHost);
        }
        if !matches!(url.scheme(), "http" | "https") {
            return Err(InvalidTarget::Scheme(url.scheme().to_owned()));
        }
        let mut target = Target::of(url);
        if target.credentials.is_none() {
            text.clone_into(&mut target.shown);
        }
        Ok(target)
    }

    /// The target of a URL of HTTP.
    pub(crate) fn of(mut url: Url) -> Target {
        let credentials = credentials(&url);
        let whole = url.to_string();
        // These can't fail of a URL with a host.
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
            known: RefCell::default(),
        }
    }

    /// The same, with these secrets not shown.
    pub(crate) fn hiding(self, secrets: &dyn Secrets) -> Target {
        match secrets.redacted(&self.shown) {
            Some(shown) => Target { shown, ..self },
            None => self,
        }
    }

    /// The same without its credentials.
    pub(crate) fn anonymous(&self) -> Target {
        Target::of(self.url.clone())
    }

    /// The target of a URL that a relative one led to from this: it has the same credentials.
    pub(crate) fn beside(&self, mut url: Url) -> Target {
        if let Some((user, password)) = &self.credentials {
            let _ = url.set_username(user);
            let _ = url.set_password(Some(password));
        }
        Target::of(url)
    }

    /// What is known of it in this stage.
    pub(crate) fn known(&self, stage: usize) -> Rc<Known> {
        let mut known = self.known.borrow_mut();
        if known.0 != stage {
            *known = (stage, Rc::default());
        }
        Rc::clone(&known.1)
    }
}

/// The user and the password in a URL.
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
    use crate::api::offline::NoSecrets;

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

    #[test]
    fn a_url_needs_a_host() {
        for text in ["http:///nohost", "http://", "https:////a"] {
            assert_eq!(
                Target::read(text).unwrap_err(),
                InvalidTarget::NoHost,
                "{text}"
            );
        }
        assert!(Target::read("http://host//a").is_ok());
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
