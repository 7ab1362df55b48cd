//! One virtual user: its connections, the starts it has taken, and the time since which it is free.

use crate::activity::{Active, Activity};
use crate::backoff::Backoff;
use crate::counted::Counted;
use crate::http2::{Http2Connection, Negotiation};
use crate::pool::Pool;
use crate::shared_pool::Permit;
use crate::worker::Worker;
use loadline_reactor::Host;
use loadline_transport::Traffic;
use std::cell::{Cell, OnceCell, RefCell};
use std::net::IpAddr;
use std::rc::Rc;

/// One virtual user: a behaviour with its own connections.
pub(crate) struct User<H: Host> {
    pub(crate) worker: Rc<Worker<H>>,
    /// The number of the user within the scenario, over all workers.
    pub(crate) number: u32,
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
    /// The starts of the iteration that no exchange has taken yet, the earliest last.
    pub(crate) starts: RefCell<Vec<Start>>,
    /// True if its behaviour sends its first request without work of its own.
    pub(crate) is_prompt: Cell<bool>,
    /// The instant since which the user is free for the next start: the arrival of its last
    /// response, on the clock that ends exchanges, so that a worker which reads it late is not
    /// mistaken for a slow target.
    pub(crate) free_ns: Cell<u64>,
    /// Its last pause: the end of the pause, and the instant since which the user was free before.
    last_pause: Cell<(u64, u64)>,
    pub(crate) activity: Activity,
    pub(crate) backoff: Backoff,
    /// The number of changes of the load when the starts were taken.
    pub(crate) changes: Cell<usize>,
}

/// A start from the schedule. Nanoseconds on the host's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    /// The intended instant.
    pub(crate) intended_ns: u64,
    /// The instant at which it was due and this user was free to take it.
    pub(crate) ready_ns: u64,
}

impl Start {
    /// Creates the start of an exchange that is not in the schedule: it is not delayed.
    pub(crate) fn undelayed(at_ns: u64) -> Self {
        Start {
            intended_ns: at_ns,
            ready_ns: at_ns,
        }
    }
}

impl<H: Host> User<H> {
    pub(crate) fn new(worker: Rc<Worker<H>>, number: u32) -> Self {
        User {
            worker,
            number,
            own: Pool::new(),
            local: Cell::new(None),
            trusts_anyone: Cell::new(false),
            encrypted: OnceCell::new(),
            http2: RefCell::new(None),
            negotiation: OnceCell::new(),
            starts: RefCell::default(),
            is_prompt: Cell::new(false),
            free_ns: Cell::new(0),
            last_pause: Cell::default(),
            activity: Activity::default(),
            backoff: Backoff::default(),
            changes: Cell::new(0),
        }
    }

    /// Returns the idle connections that it may use.
    #[inline]
    pub(crate) fn pool(&self) -> &Pool<H> {
        match &self.worker.shared {
            None => &self.own,
            Some(shared) => &shared.idle,
        }
    }

    /// Returns a connection of HTTP/2 to an endpoint that has room for a stream: that of its last
    /// request, if possible.
    pub(crate) fn http2_connection(&self, endpoint: usize) -> Option<Rc<Http2Connection>> {
        if let Some(last) = self.http2.take()
            && last.takes(endpoint)
        {
            return Some(last);
        }
        self.worker.http2.as_ref()?.with_room(endpoint)
    }

    /// Keeps a connection for its next request.
    pub(crate) fn keep_http2_connection(&self, connection: Rc<Http2Connection>) {
        self.http2.replace(Some(connection));
    }

    /// Returns its own connections of HTTP/2, if servers choose the version.
    pub(crate) fn negotiation(&self) -> &Negotiation {
        self.negotiation.get_or_init(|| {
            let settings = self.worker.dialler.settings();
            Box::new(Negotiation::new(settings))
        })
    }

    /// Counts a connection of its own to an endpoint that was dialled. Returns true if it replaces
    /// a lost one.
    pub(crate) fn replaces(&self, endpoint: usize) -> bool {
        let negotiation = self.negotiation.get();
        self.pool().replaces(endpoint) || negotiation.is_some_and(|own| own.pool.replaces(endpoint))
    }

    /// Closes its idle connections.
    pub(crate) fn close_idle(&self) {
        self.own.close_now();
        if let Some(own) = self.negotiation.get() {
            own.pool.close_idle();
        }
    }

    /// Closes an idle connection if one more would exceed its limit.
    pub(crate) fn make_room(&self) {
        match &self.worker.shared {
            None => self.own.make_room(self.worker.most_kept),
            Some(shared) => shared.make_room(),
        }
    }

    /// Waits for a place among the connections that users share; returns `None` if each user has
    /// its own.
    pub(crate) async fn place(&self) -> Option<Permit<'_, H>> {
        let shared = self.worker.shared.as_ref()?;
        if let Some(place) = shared.try_place() {
            return Some(place);
        }
        let _waits = Counted::in_number(&self.activity.waiting);
        let place = shared.place().await;
        self.set_free_since(self.worker.host.now_ns());
        Some(place)
    }

    /// True if the window is over and nothing more is begun. After the window only starts that the
    /// schedule has already given are begun.
    pub(crate) fn is_drained(&self) -> bool {
        self.worker.draining.get() && !self.has_due_start()
    }

    /// True if it has a start from the schedule that no exchange has taken yet.
    fn has_due_start(&self) -> bool {
        self.worker.pacer.is_open() && !self.starts.borrow().is_empty()
    }

    /// Marks that a request was refused because the window is over: the user ends as soon as its
    /// exchanges in flight have ended.
    pub(crate) fn refuse(&self) {
        self.activity.is_refused.set(true);
        self.end_if_refused();
    }

    /// Ends the user for its worker, if a request was refused and none is in flight.
    pub(crate) fn end_if_refused(&self) {
        if self.activity.is_refused.get() && !self.activity.has_flights() {
            self.end();
        }
    }

    /// Ends the user for its worker, which no longer waits for it.
    pub(crate) fn end(&self) {
        if !self.activity.has_ended.replace(true) {
            self.worker.user_ended();
        }
    }

    /// Sets the instant since which it is free for the unsent requests of the iteration.
    pub(crate) fn set_free_since(&self, at_ns: u64) {
        self.free_ns.set(at_ns);
        self.put_off_starts();
    }

    /// Postpones the unsent starts of the iteration after earlier work: in a closed load they start
    /// now, in an open load they were not ready before the user was free.
    fn put_off_starts(&self) {
        let mut starts = self.starts.borrow_mut();
        if starts.is_empty() {
            return;
        }
        let now_ns = self.worker.host.now_ns();
        for start in &mut *starts {
            if !self.worker.pacer.is_open() {
                start.intended_ns = now_ns;
            }
            start.ready_ns = start.intended_ns.max(self.free_ns.get());
        }
    }

    /// Waits. In a closed load the unsent requests of the iteration start after that.
    pub(crate) async fn pause(&self, duration_ns: u64) {
        if !self.worker.pacer.is_open() {
            // No request was sent to the target yet for which the user could wait.
            self.activity.since_ns.set(None);
        }
        let until_ns = self.worker.host.now_ns().saturating_add(duration_ns);
        self.worker.host.timer().until(until_ns).await;
        self.last_pause.set((until_ns, self.answered_ns()));
        self.set_free_since(until_ns);
    }

    /// Returns the arrival of its last response, regardless of later pauses.
    pub(crate) fn answered_ns(&self) -> u64 {
        match (self.free_ns.get(), self.last_pause.get()) {
            (free_ns, (ended_ns, before_ns)) if free_ns == ended_ns => before_ns,
            (free_ns, _) => free_ns,
        }
    }
}

impl<H: Host> Active for User<H> {
    fn activity(&self) -> &Activity {
        &self.activity
    }
}
