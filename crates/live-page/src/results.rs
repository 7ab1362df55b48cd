//! What a tool finds of its test by itself, such as its thresholds: shown with the run as it
//! stands, and with the last word of the tool, which may come after the end of the load.

use crate::watch::Watched;
use loadline_page::AddedTables;
use std::fmt;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

/// The results that no event has shown yet. The lock is held for moments only: the tool gives its
/// results on a thread of the run, which waits for no page. Clones are the same ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found(Arc<Mutex<Option<AddedTables>>>);

impl Found {
    /// Takes them; `None` if there are none since the last time.
    pub(crate) fn take(&self) -> Option<AddedTables> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn set(&self, tables: AddedTables) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(tables);
    }
}

/// Shows what a tool finds of its test. The page of the test is not over before this is dropped.
pub struct Results {
    found: Found,
    /// Tells by its end that nothing follows.
    _open: Sender<()>,
}

impl Results {
    /// Creates the results of the runs that are watched so; the second ends with them.
    pub(crate) fn of(watched: &Watched) -> (Results, Receiver<()>) {
        let (open, ended) = channel();
        let results = Results {
            found: watched.found(),
            _open: open,
        };
        (results, ended)
    }

    /// Shows results from the next event on, instead of those before.
    pub fn show(&self, tables: AddedTables) {
        self.found.set(tables);
    }
}

impl fmt::Debug for Results {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Results").finish_non_exhaustive()
    }
}
