//! A search for the load line on the page: its trials so far, above the trial under way.

use crate::watch::Watched;
use loadline_page::SearchPage;
use std::fmt;

/// Shows a search whose trials are the runs of the page. Clones show the same one.
#[derive(Clone)]
pub struct Searching {
    pub(crate) watched: Watched,
}

impl Searching {
    /// Shows the search so far. Called between two trials: it takes some milliseconds.
    pub fn show(&self, page: &SearchPage) {
        self.watched.show_search(page);
    }

    /// Shows the result of the search, and offers its report as a page and as JSON.
    pub fn end(&self, page: SearchPage, json: String) {
        self.watched.show_search(&page);
        self.watched.finish_search(page, json);
    }
}

impl fmt::Debug for Searching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Searching").finish_non_exhaustive()
    }
}
