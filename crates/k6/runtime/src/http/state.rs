//! The state that the requests of a user share.

use loadline_client::CookieJar;
use std::cell::RefCell;
use std::rc::Rc;

/// The cookies of a user, or of a script's own jar.
pub(crate) type Jar = RefCell<CookieJar>;

/// State that the requests of a user share.
#[derive(Debug)]
pub(crate) struct HttpState {
    /// The user's cookies.
    pub(crate) jar: Rc<Jar>,
    /// The expected statuses; `None` if responses are not judged.
    pub(crate) expectation: RefCell<Option<Rc<Expectation>>>,
}

impl Default for HttpState {
    fn default() -> Self {
        HttpState {
            jar: Rc::default(),
            expectation: RefCell::new(Some(Rc::default())),
        }
    }
}

impl HttpState {
    /// Drops the state that belongs to an iteration.
    pub(crate) fn begin_iteration(&self) {
        self.jar.take();
    }
}

/// The expected statuses, as ranges from the first to the last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Expectation(pub(super) Vec<(u16, u16)>);

impl Default for Expectation {
    /// Expects every status from 200 to 399.
    fn default() -> Self {
        Expectation(vec![(200, 399)])
    }
}

impl Expectation {
    /// True if a status is expected.
    pub(crate) fn is_met(&self, status: u16) -> bool {
        self.0
            .iter()
            .any(|(from, to)| (*from..=*to).contains(&status))
    }
}
