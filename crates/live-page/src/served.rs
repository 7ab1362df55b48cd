//! A live page, from before the run until after it.

use crate::address::{ListenAddress, ListenError};
use crate::baseline::Baseline;
use crate::files;
use crate::log::PageLog;
use crate::results::Results;
use crate::routes::Routes;
use crate::searching::Searching;
use crate::state::Model;
use crate::watch::Watched;
use loadline_runner::{Feed, QUEUE, Steer, feed};
use loadline_web::{Access, Broadcast, Certificate, Hosts, Rules, Server};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{io, iter};

/// The most bytes of a request's body.
const MOST_BODY_BYTES: usize = 1 << 20;
/// The time that viewers have for the last event when the process ends.
const LAST_EVENT_TIMEOUT: Duration = Duration::from_secs(1);

/// The users who may open the page.
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

/// What protects a page beyond the rules that hold for all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Protection {
    /// The users who may open it.
    pub credentials: Credentials,
    /// The certificate with which it is served by TLS; without one it is served in the clear.
    pub certificate: Option<Certificate>,
}

/// The reason why the page can't be served.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Its address can't be listened at.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// The system gives no thread, no descriptor or no random bytes.
    #[error("the page can't be served: {0}.")]
    System(#[from] io::Error),
}

/// The page of the runs of a command, which is served until it is dropped.
pub struct LivePage {
    url: String,
    feed: Option<Feed>,
    results: Option<Results>,
    watched: Watched,
    following: Option<JoinHandle<()>>,
    /// The events of the tool whose run is shown.
    of_tool: Arc<OnceLock<Broadcast>>,
    _server: Server,
}

impl LivePage {
    /// Serves the page of the runs that are steered so. `saved` is the file that the run is saved
    /// into, which the page offers; runs are compared with the baseline, if there is one.
    ///
    /// # Errors
    /// If it can't be served.
    pub fn open(
        place: &ListenAddress,
        protection: &Protection,
        steer: Arc<dyn Steer>,
        saved: Option<PathBuf>,
        baseline: Option<Arc<Baseline>>,
    ) -> Result<LivePage, OpenError> {
        let listener = place.listen()?;
        let (feed, inbox) = feed(QUEUE);
        let model = Model::new(steer, &files::paths(saved.is_some()));
        let watched = Watched::new(model, saved);
        if baseline.is_some() {
            watched.compare_with(baseline);
        }
        let of_tool = Arc::default();
        let routes = Routes {
            watched: watched.clone(),
            starting: None,
            of_tool: Arc::clone(&of_tool),
        };
        let (url, server) = serve(place, listener, protection, routes)?;
        let (results, ended) = Results::of(&watched);
        Ok(LivePage {
            url,
            feed: Some(feed.with_evidence().with_agents()),
            results: Some(results),
            following: Some(watched.follow(inbox, ended, true, None)?),
            watched,
            of_tool,
            _server: server,
        })
    }

    /// Serves the events of the tool whose run is shown at `/events`, besides the page's own; only
    /// the first ones are served.
    pub fn serve_events(&self, events: Broadcast) {
        let _ = self.of_tool.set(events);
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

    /// True if a browser, or a program, has followed the runs.
    pub fn was_viewed(&self) -> bool {
        self.broadcasts().any(Broadcast::was_viewed)
    }

    fn broadcasts(&self) -> impl Iterator<Item = &Broadcast> {
        iter::once(&self.watched.events).chain(self.of_tool.get())
    }

    /// Returns the address to open in a browser, with the token if there is one.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Returns the observer of the runs. The page is over when it is dropped; so it is taken once.
    pub fn feed(&mut self) -> Option<Feed> {
        self.feed.take()
    }

    /// Returns what shows the results of the tool whose run it is. The page is over when it is
    /// dropped, too; so it is taken once.
    pub fn results(&mut self) -> Option<Results> {
        self.results.take()
    }

    /// Waits until the page shows the end of all runs, whose observers and results were dropped
    /// before.
    pub fn finish(&mut self) {
        drop((self.feed.take(), self.results.take()));
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
        let until = Instant::now() + LAST_EVENT_TIMEOUT;
        let has_viewers = || self.broadcasts().any(|events| events.viewers() > 0);
        while has_viewers() && Instant::now() < until {
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Serves at this listener; returns the address to open in a browser.
pub(crate) fn serve(
    place: &ListenAddress,
    listener: TcpListener,
    protection: &Protection,
    routes: Routes,
) -> Result<(String, Server), OpenError> {
    let bound = listener.local_addr()?;
    let access = match &protection.credentials {
        Credentials::Usual if bound.ip().is_loopback() => Access::Open,
        Credentials::Usual => Access::token()?,
        Credentials::Password { user, password } => Access::Password {
            user: user.clone(),
            password: password.clone(),
        },
    };
    let certificate = protection.certificate.clone();
    let scheme = if certificate.is_some() {
        "https"
    } else {
        "http"
    };
    let url = place.url(scheme, bound) + &access.query();
    let rules = Rules {
        hosts: Hosts::of(&place.to_string()),
        same_origin: true,
        access,
        most_body_bytes: MOST_BODY_BYTES,
        title_case: false,
        certificate,
    };
    let server = Server::start("web", listener, rules, Arc::new(routes))?;
    Ok((url, server))
}

impl std::fmt::Debug for LivePage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LivePage").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
