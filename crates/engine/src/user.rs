//! One virtual user: its connections, the starts it has taken, and when it is free.

use crate::activity::Activity;
use crate::backoff::Backoff;
use crate::exchange::{Http2Connection, Negotiation};
use crate::pool::Pool;
use crate::shared_pool::Place;
use crate::worker::Worker;
use loadline_reactor::Host;
use loadline_transport::Traffic;
use std::cell::{Cell, OnceCell, RefCell};
use std::net::IpAddr;
use std::rc::Rc;

/// One virtual user: a behaviour with its own connections.
pub(crate) struct User<H: Host> {
    pub(crate) worker: Rc<Worker<H>>,
    /// Which user of the scenario it is, over all workers.
    pub(crate) number: u32,
    /// The idle connections of its own.
    pub(crate) own: Pool<H>,
    /// The local address of its new connections, where it has one of its own.
    pub(crate) local: Cell<Option<IpAddr>>,
    /// Whether its new connections take any certificate.
    pub(crate) trusts_anyone: Cell<bool>,
    /// Where its bytes of TLS are counted, if somebody asks.
    pub(crate) encrypted: OnceCell<Rc<Traffic>>,
    /// The connection of HTTP/2 that carried its last request.
    http2: RefCell<Option<Rc<Http2Connection>>>,
    /// Its own connections of HTTP/2, where servers choose the version.
    negotiation: OnceCell<Box<Negotiation>>,
    /// Starts of the iteration that no exchange has taken yet, the earliest last.
    pub(crate) starts: RefCell<Vec<Start>>,
    /// Whether its behaviour sends what it is to send first without work of its own.
    pub(crate) is_prompt: Cell<bool>,
    /// Since when it has been free for the next start: since its last response came, by the clock
    /// that ends exchanges, so that a worker which reads that late is not taken for a target.
    pub(crate) free_ns: Cell<u64>,
    /// Its last pause: when it ended, and since when it had been free before.
    last_pause: Cell<(u64, u64)>,
    pub(crate) activity: Activity,
    pub(crate) backoff: Backoff,
    /// How often the load had been changed when the starts were taken.
    pub(crate) changes: Cell<usize>,
}

/// A start that the schedule has given. Nanoseconds on the host's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Start {
    /// When it was to be.
    pub(crate) intended_ns: u64,
    /// When it was due and this user was free to take it.
    pub(crate) ready_ns: u64,
}

impl Start {
    /// The start of an exchange that the schedule knows nothing of: it is not delayed.
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

    /// The idle connections that it may use.
    #[inline]
    pub(crate) fn pool(&self) -> &Pool<H> {
        match &self.worker.shared {
            None => &self.own,
            Some(shared) => &shared.idle,
        }
    }

    /// A connection of HTTP/2 to an endpoint that has room for a stream: that of its last request,
    /// if it can.
    pub(crate) fn http2_connection(&self, endpoint: usize) -> Option<Rc<Http2Connection>> {
        if let Some(last) = self.http2.take()
            && last.takes(endpoint)
        {
            return Some(last);
        }
        self.worker.http2.as_ref()?.with_room(endpoint)
    }

    /// Its next request goes over this connection, if it can.
    pub(crate) fn keep_http2_connection(&self, connection: Rc<Http2Connection>) {
        self.http2.replace(Some(connection));
    }

    /// Its own connections of HTTP/2, where servers choose the version.
    pub(crate) fn negotiation(&self) -> &Negotiation {
        self.negotiation.get_or_init(|| {
            let settings = self.worker.dialler.settings();
            Box::new(Negotiation::new(settings))
        })
    }

    /// A connection of its own to an endpoint was dialled; says whether it takes the place of a
    /// lost one.
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

    /// Closes an idle connection where one more than it may keep would be open.
    pub(crate) fn make_room(&self) {
        match &self.worker.shared {
            None => self.own.make_room(self.worker.most_kept),
            Some(shared) => shared.make_room(),
        }
    }

    /// A place among the connections that users share, for which it waits until one is free; `None`
    /// where each user has its own.
    pub(crate) async fn place(&self) -> Option<Place<'_, H>> {
        let shared = self.worker.shared.as_ref()?;
        if let Some(place) = shared.try_place() {
            return Some(place);
        }
        let _waits = Counted::in_number(&self.activity.waiting);
        let place = shared.place().await;
        self.set_free_since(self.worker.host.now_ns());
        Some(place)
    }

    /// Whether the window is over and nothing more is begun. Behind it only starts that the
    /// schedule has given already are.
    pub(crate) fn is_drained(&self) -> bool {
        self.worker.draining.get() && !self.has_due_start()
    }

    /// Whether the schedule has given it a start that no exchange has taken yet.
    fn has_due_start(&self) -> bool {
        self.worker.pacer.is_open() && !self.starts.borrow().is_empty()
    }

    /// A request of its was refused because the window is over: it has ended, as soon as what it
    /// has in flight has.
    pub(crate) fn refuse(&self) {
        self.activity.is_refused.set(true);
        self.end_if_refused();
    }

    /// Has its worker not wait for it any more, if it was refused a request and has none in flight.
    pub(crate) fn end_if_refused(&self) {
        if self.activity.is_refused.get() && !self.activity.has_flights() {
            self.end();
        }
    }

    /// Has its worker not wait for it any more.
    pub(crate) fn end(&self) {
        if !self.activity.has_ended.replace(true) {
            self.worker.user_ended();
        }
    }

    /// It has been free since then for what the iteration has not sent yet.
    pub(crate) fn set_free_since(&self, at_ns: u64) {
        self.free_ns.set(at_ns);
        self.put_off_starts();
    }

    /// What the iteration has not sent yet had to wait for what was done before: in a closed load
    /// it starts now, in an open one it could not before the user was free.
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

    /// Waits. In a closed load what the iteration has not sent yet starts after that.
    pub(crate) async fn pause(&self, duration_ns: u64) {
        if !self.worker.pacer.is_open() {
            // Nothing was asked of the target yet that could be waited for.
            self.activity.since_ns.set(None);
        }
        let until_ns = self.worker.host.now_ns().saturating_add(duration_ns);
        self.worker.host.timer().until(until_ns).await;
        self.last_pause.set((until_ns, self.answered_ns()));
        self.set_free_since(until_ns);
    }

    /// When its last response came, whatever pauses there were behind it.
    pub(crate) fn answered_ns(&self) -> u64 {
        match (self.free_ns.get(), self.last_pause.get()) {
            (free_ns, (ended_ns, before_ns)) if free_ns == ended_ns => before_ns,
            (free_ns, _) => free_ns,
        }
    }
}

/// One of those that a number counts, until it is dropped.
pub(crate) struct Counted<'a>(&'a Cell<u32>);

impl<'a> Counted<'a> {
    pub(crate) fn in_number(number: &'a Cell<u32>) -> Self {
        number.set(number.get() + 1);
        Counted(number)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}
