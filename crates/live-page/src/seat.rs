//! The place of the run that a page shows, where runs are started from the page: by a [`Starter`],
//! one at a time.

use crate::api::{Composed, EarlierRun, NewRun, Offer};
use crate::baseline::Baseline;
use crate::files;
use crate::log::PageLog;
use crate::results::Results;
use crate::searching::Searching;
use crate::watch::{Begun, Watched};
use loadline_page::Page;
use loadline_runner::{Feed, QUEUE, Steer, feed};
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// Starts the runs of a page, and finds the saved runs of its folder. An error is a sentence for
/// the user of the page. Called from several threads.
pub trait Starter: Send + Sync + 'static {
    /// Returns what can be started.
    fn offer(&self) -> Offer;

    /// Returns the command line of a run.
    ///
    /// # Errors
    /// If it is none that can be run, in the words of the command line.
    fn compose(&self, new: &NewRun) -> Result<Composed, String>;

    /// Starts a run, and returns while it is prepared. Whatever becomes of it, the seat is
    /// [left](Seat::leave) at its end.
    ///
    /// # Errors
    /// If it can't be started: the seat is left by the caller then.
    fn start(&self, new: &NewRun, seat: &Seat) -> Result<(), String>;

    /// Returns the saved runs of the folder, the latest first.
    fn earlier(&self) -> Vec<EarlierRun>;

    /// Returns the report of a saved run.
    ///
    /// # Errors
    /// If there is none, or it can't be read.
    fn report(&self, name: &str) -> Result<Page, String>;

    /// Returns a saved run as a baseline.
    ///
    /// # Errors
    /// If there is none, or it can't be read.
    fn baseline(&self, name: &str) -> Result<Baseline, String>;

    /// Compares two saved runs; returns the report as text.
    ///
    /// # Errors
    /// If one can't be read, or they can't be compared.
    fn compare(&self, base: &str, with: &str) -> Result<String, String>;
}

/// The means of the routes of such a page.
pub(crate) struct Starting {
    pub(crate) starter: Arc<dyn Starter>,
    pub(crate) seat: Seat,
}

/// The place of the only run that the page shows. Clones are the same place.
#[derive(Clone)]
pub struct Seat {
    watched: Watched,
    following: Arc<Mutex<Option<JoinHandle<()>>>>,
    results: Arc<Mutex<Option<Results>>>,
    begun: Arc<Mutex<Option<Begun>>>,
}

impl Seat {
    pub(crate) fn new(watched: Watched) -> Seat {
        Seat {
            watched,
            following: Arc::default(),
            results: Arc::default(),
            begun: Arc::default(),
        }
    }

    /// Calls this when the load of the run that is taken next begins; never, if it can't be made.
    pub fn when_begun(&self, begun: impl FnOnce() + Send + 'static) {
        *locked(&self.begun) = Some(Box::new(begun));
    }

    /// Shows a run that is about to be made, is steered so and saved into this file. Returns its
    /// observer.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn take(&self, steer: Arc<dyn Steer>, saved: Option<PathBuf>) -> io::Result<Feed> {
        let (feed, inbox) = feed(QUEUE);
        let paths = files::paths(saved.is_some()).into_iter().map(str::to_owned);
        self.watched.expect(steer, paths.collect(), saved);
        let (results, ended) = Results::of(&self.watched);
        let begun = locked(&self.begun).take();
        let following = self.watched.follow(inbox, ended, false, begun)?;
        *locked(&self.following) = Some(following);
        *locked(&self.results) = Some(results);
        Ok(feed.with_evidence().with_agents())
    }

    /// Returns what shows the results of the tool whose run was taken; once for each run. It is
    /// dropped before the page is left.
    pub fn results(&self) -> Option<Results> {
        locked(&self.results).take()
    }

    /// Returns what writes into the log of the run.
    pub fn log(&self) -> PageLog {
        self.watched.log()
    }

    /// Returns what shows the search whose trials are the runs.
    pub fn searching(&self) -> Searching {
        Searching {
            watched: self.watched.clone(),
        }
    }

    /// Offers the page for the next run, once all of this one is shown. Its observer was dropped
    /// before. `problem` is the reason why it could not be made, if it could not.
    pub fn leave(&self, problem: Option<String>) {
        drop((self.results(), locked(&self.begun).take()));
        let following = locked(&self.following).take();
        if let Some(following) = following {
            // If it panicked, that was told.
            let _ = following.join();
        }
        self.watched.release(problem);
    }
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seat").finish_non_exhaustive()
    }
}
