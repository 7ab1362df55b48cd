//! The live page of a tool's run: requested by Loadline's own words in front of those of the tool,
//! or by the tool's.

use loadline_runner::{Observer, Steer};
use loadline_web::Broadcast;
use std::fmt;
use std::sync::Arc;

/// Opens the live page of a run that is about to begin; returns `None` if there is to be none. An
/// error is the sentence for a page that can't be served.
pub type LivePages = Box<dyn Fn(PageRequest) -> Result<Option<ShownPage>, String>>;

/// A run for a live page.
pub struct PageRequest {
    /// Changes the run.
    pub steer: Arc<dyn Steer>,
    /// The page that the tool's own words request, if they do.
    pub own: Option<OwnPage>,
    /// The tool's own events, for programs that follow them on the page's server.
    pub events: Option<Broadcast>,
}

/// A page that a tool's own words request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnPage {
    /// Its host and port.
    pub place: String,
    /// True if a browser is to open it.
    pub opens_browser: bool,
}

/// A page that is served.
pub struct ShownPage {
    /// Its address.
    pub url: String,
    /// The observer that shows a run on it. The page is over when it is dropped.
    pub observer: Box<dyn Observer>,
    /// What shows the tool's own results. The page is not over before it is dropped.
    pub results: ShowResults,
}

/// Shows what a tool finds of its test by itself, as JSON in the form of `loadline report
/// --tables`. It is called on threads of the run, and waits for nothing.
pub type ShowResults = Arc<dyn Fn(&str) + Send + Sync>;

impl fmt::Debug for ShownPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShownPage").finish_non_exhaustive()
    }
}
