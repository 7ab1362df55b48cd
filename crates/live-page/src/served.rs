//! A live page, from before the run until after it.

use crate::address::{Place, PlaceError};
use crate::routes::{REPORT, REPORT_JSON, Routes, SAVED_RUN};
use crate::state::Model;
use crate::watch::Watched;
use loadline_runner::{Commands, Feed, QUEUE, feed};
use loadline_web::{Access, Hosts, Rules, Server};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The most bytes of a request's body.
const MOST_BODY_BYTES: usize = 1 << 20;
/// How long viewers may take for the last event when the process ends.
const FAREWELL: Duration = Duration::from_secs(1);

/// Who may open the page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Credentials {
    /// On loopback everybody; else whoever has the token of the address that is printed.
    #[default]
    Usual,
    /// Whoever knows this name and its password, on loopback as well.
    Password {
        /// The name.
        user: String,
        /// The password.
        password: String,
    },
}

/// Why the page can't be served.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Its address can't be listened at.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// The system gives no thread, no descriptor or no random bytes.
    #[error("the page can't be served: {0}.")]
    System(#[from] io::Error),
}

/// The files of a run that has ended.
#[derive(Debug)]
pub struct Finished {
    /// The HTML report, if this program can write one.
    pub html: Option<String>,
    /// The JSON report.
    pub json: String,
}

/// The page of the runs of a command, which is served until it is dropped.
pub struct LivePage {
    url: String,
    feed: Option<Feed>,
    watched: Watched,
    following: Option<JoinHandle<()>>,
    _server: Server,
}

impl LivePage {
    /// Serves the page of the runs that these commands reach. `saved` is the file that the run is
    /// saved into, which the page offers.
    ///
    /// # Errors
    /// If it can't be served.
    pub fn open(
        place: &Place,
        credentials: &Credentials,
        commands: &Commands,
        saved: Option<PathBuf>,
    ) -> Result<LivePage, OpenError> {
        let listener = place.listen()?;
        let bound = listener.local_addr()?;
        let access = match credentials {
            Credentials::Usual if bound.ip().is_loopback() => Access::Open,
            Credentials::Usual => Access::token()?,
            Credentials::Password { user, password } => Access::Password {
                user: user.clone(),
                password: password.clone(),
            },
        };
        let url = place.url(bound) + &access.query();
        let (feed, inbox) = feed(QUEUE);
        let report = loadline_page::ready().is_ok().then_some(REPORT);
        let run = saved.is_some().then_some(SAVED_RUN);
        let files: Vec<&str> = [report, Some(REPORT_JSON), run]
            .into_iter()
            .flatten()
            .collect();
        let watched = Watched::new(Model::new(commands.clone(), &files));
        let routes = Routes {
            commands: commands.clone(),
            watched: watched.clone(),
            saved,
        };
        let rules = Rules {
            hosts: Hosts::of(&place.to_string()),
            same_origin: true,
            access,
            most_body_bytes: MOST_BODY_BYTES,
            title_case: false,
        };
        let server = Server::start("web", listener, rules, Arc::new(routes))?;
        Ok(LivePage {
            url,
            feed: Some(feed),
            following: Some(watched.follow(inbox)?),
            watched,
            _server: server,
        })
    }

    /// Returns the address to open in a browser, with the token if there is one.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the observer of the runs. The page is over when it is dropped; so it is taken once.
    pub fn feed(&mut self) -> Option<Feed> {
        self.feed.take()
    }

    /// Waits until the page shows the end of all runs, whose observers were dropped before.
    pub fn finish(&mut self) {
        drop(self.feed.take());
        if let Some(following) = self.following.take() {
            // If it panicked, that was told.
            let _ = following.join();
        }
    }
}

impl Drop for LivePage {
    /// Viewers get the last event before the server ends, if they take it.
    fn drop(&mut self) {
        self.finish();
        let until = Instant::now() + FAREWELL;
        while self.watched.events.viewers() > 0 && Instant::now() < until {
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl std::fmt::Debug for LivePage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LivePage").finish_non_exhaustive()
    }
}
