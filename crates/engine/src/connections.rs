//! The connections of one user: those that are idle, how it opens new ones, and its wait after a
//! dial that failed.

use crate::backoff::Backoff;
use crate::http2::{Http2Connection, Negotiation};
use crate::network::Network;
use crate::pool::Pool;
use loadline_reactor::Host;
use loadline_transport::Traffic;
use std::cell::{Cell, OnceCell, RefCell};
use std::net::IpAddr;
use std::rc::Rc;

/// The connections of one user.
pub(crate) struct Connections<H: Host> {
    /// The network side of its worker.
    pub(crate) network: Rc<Network<H>>,
    /// The idle connections of this user alone.
    pub(crate) own: Pool<H>,
    /// The local address of its new connections, if it has set one.
    pub(crate) local: Cell<Option<IpAddr>>,
    /// True if its new connections skip certificate verification.
    pub(crate) trusts_anyone: Cell<bool>,
    /// The byte counts of its TLS connections, if requested.
    pub(crate) encrypted: OnceCell<Rc<Traffic>>,
    /// The connection of HTTP/2 that carried its last request.
    http2: RefCell<Option<Rc<Http2Connection>>>,
    /// Its own connections of HTTP/2, if servers choose the version.
    negotiation: OnceCell<Box<Negotiation>>,
    pub(crate) backoff: Backoff,
}

impl<H: Host> Connections<H> {
    /// Creates the connections of a user who has none yet.
    pub(crate) fn new(network: Rc<Network<H>>) -> Self {
        Connections {
            network,
            own: Pool::new(),
            local: Cell::new(None),
            trusts_anyone: Cell::new(false),
            encrypted: OnceCell::new(),
            http2: RefCell::new(None),
            negotiation: OnceCell::new(),
            backoff: Backoff::default(),
        }
    }

    /// Returns the idle connections that the user may use.
    #[inline]
    pub(crate) fn pool(&self) -> &Pool<H> {
        match &self.network.shared {
            None => &self.own,
            Some(shared) => &shared.idle,
        }
    }

    /// Returns a connection of HTTP/2 to an endpoint that has room for a stream: that of the last
    /// request, if possible.
    pub(crate) fn http2_connection(&self, endpoint: usize) -> Option<Rc<Http2Connection>> {
        if let Some(last) = self.http2.take()
            && last.takes(endpoint)
        {
            return Some(last);
        }
        self.network.http2.as_ref()?.with_room(endpoint)
    }

    /// Keeps a connection for the next request.
    pub(crate) fn keep_http2_connection(&self, connection: Rc<Http2Connection>) {
        self.http2.replace(Some(connection));
    }

    /// Returns the user's own connections of HTTP/2, if servers choose the version.
    pub(crate) fn negotiation(&self) -> &Negotiation {
        self.negotiation.get_or_init(|| {
            let settings = self.network.dialler.settings();
            Box::new(Negotiation::new(settings))
        })
    }

    /// Counts a connection of the user's own to an endpoint that was dialled. Returns true if it
    /// replaces a lost one.
    pub(crate) fn replaces(&self, endpoint: usize) -> bool {
        let negotiation = self.negotiation.get();
        self.pool().replaces(endpoint) || negotiation.is_some_and(|own| own.pool.replaces(endpoint))
    }

    /// Closes the idle connections of this user alone.
    pub(crate) fn close_idle(&self) {
        self.own.close_now();
        if let Some(own) = self.negotiation.get() {
            own.pool.close_idle();
        }
    }

    /// Closes an idle connection if one more would exceed the limit.
    pub(crate) fn make_room(&self) {
        match &self.network.shared {
            None => self.own.make_room(self.network.most_kept),
            Some(shared) => shared.make_room(),
        }
    }
}
