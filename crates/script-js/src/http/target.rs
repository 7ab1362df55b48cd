//! Where requests go: URLs that are read once, and the series that count them.

use super::expectation::Expectation;
use super::jar::Jar;
use loadline_metrics::SeriesId;
use std::cell::{Cell, RefCell};
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
    /// As it is shown: credentials masked.
    pub(crate) shown: String,
    /// The user and the password in it.
    pub(crate) credentials: Option<(String, String)>,
    /// The series that counts it, and of which stage.
    pub(crate) series: Cell<Option<(usize, SeriesId)>>,
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
    /// The target of this URL.
    ///
    /// # Errors
    /// If it is no URL that can be asked, in k6's words.
    pub(crate) fn of(&self, text: &str) -> Result<Rc<Target>, String> {
        if let Some(known) = self.0.borrow().get(text) {
            return Ok(Rc::clone(known));
        }
        let target = Rc::new(Target::read(text)?);
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
    fn read(text: &str) -> Result<Target, String> {
        let mut url =
            Url::parse(text).map_err(|error| format!("invalid URL: parse \"{text}\": {error}"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("unsupported protocol scheme \"{}\"", url.scheme()));
        }
        let credentials = (!url.username().is_empty() || url.password().is_some()).then(|| {
            let decoded = |text: &str| {
                let bytes = percent_encoding::percent_decode_str(text);
                bytes.decode_utf8_lossy().into_owned()
            };
            (
                decoded(url.username()),
                decoded(url.password().unwrap_or_default()),
            )
        });
        // These can't fail of a URL with a host.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        let shown = match &credentials {
            None => text.to_owned(),
            Some(_) => url.as_str().replacen("://", "://****:****@", 1),
        };
        Ok(Target {
            url,
            shown,
            credentials,
            series: Cell::default(),
        })
    }

    /// The target of a redirect.
    pub(crate) fn of(url: Url) -> Target {
        Target {
            shown: url.to_string(),
            url,
            credentials: None,
            series: Cell::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_without_end_are_forgotten() {
        let targets = Targets::default();
        for number in 0..100_000 {
            let target = targets.of(&format!("http://host/{number}")).unwrap();
            assert_eq!(target.url.path(), format!("/{number}"));
            assert!(targets.0.borrow().len() <= MOST_TARGETS);
        }
        let known = targets.of("http://host/99999").unwrap();
        assert!(Rc::ptr_eq(
            &known,
            &targets.of("http://host/99999").unwrap()
        ));
    }
}
