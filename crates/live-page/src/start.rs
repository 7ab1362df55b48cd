//! A page from which runs are started, one at a time.

use crate::address::ListenAddress;
use crate::routes::Routes;
use crate::seat::{Seat, Starter, Starting};
use crate::served::{OpenError, Protection, serve};
use crate::state::Model;
use crate::watch::Watched;
use loadline_runner::Steer;
use loadline_web::Server;
use std::fmt;
use std::sync::Arc;

/// A page from which runs are started, served until it is dropped.
pub struct StartPage {
    url: String,
    watched: Watched,
    _server: Server,
}

impl StartPage {
    /// Serves the page.
    ///
    /// # Errors
    /// If it can't be served.
    pub fn open(
        place: &ListenAddress,
        protection: &Protection,
        starter: Arc<dyn Starter>,
    ) -> Result<StartPage, OpenError> {
        let listener = place.listen()?;
        let watched = Watched::new(Model::idle(), None);
        let routes = Routes {
            watched: watched.clone(),
            starting: Some(Starting {
                starter,
                seat: Seat::new(watched.clone()),
            }),
            of_tool: Arc::default(),
        };
        let (url, server) = serve(place, listener, protection, routes)?;
        Ok(StartPage {
            url,
            watched,
            _server: server,
        })
    }

    /// Returns the address to open in a browser, with the token if there is one.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// True if no run is under way.
    pub fn is_idle(&self) -> bool {
        self.watched.is_idle()
    }

    /// Returns what steers the current run.
    pub fn steer(&self) -> Arc<dyn Steer> {
        self.watched.steer()
    }
}

impl fmt::Debug for StartPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StartPage").finish_non_exhaustive()
    }
}
