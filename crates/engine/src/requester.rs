//! The requester, which sends the requests of a user.

use crate::batch::Batch;
use crate::error_bodies::{Body, is_error};
use crate::exchange::{self, Opening, Protocol};
use crate::observer::Observer;
use crate::own_starts::{MissedStart, Wait};
use crate::user::User;
use loadline_metrics::{InvalidName, Key, SeriesId};
use loadline_plan::Connection;
use loadline_reactor::Host;
use loadline_record::{Exchange, Outcome, Trace};
use loadline_transport::Traffic;
use std::fmt;
use std::future::Future;
use std::net::IpAddr;
use std::rc::Rc;
use url::Url;

/// Sends the requests of one user, several at a time if its behaviour does so. Clones belong to the
/// same user, and share its connections.
///
/// A request is cancelled by dropping its future: the exchange is recorded as failed
/// ([`Aborted`](loadline_record::ErrorKind::Aborted)), and its connection is closed.
pub struct Requester<H: Host>(pub(crate) Rc<User<H>>);

impl<H: Host> Requester<H> {
    /// Sends a batch of requests on one connection and waits for all its responses; returns the
    /// outcome of the last exchange. Dials if no connection is idle, and records every exchange. In
    /// a closed load it returns later after a dial that failed: 1 ms after the first one, up to 100
    /// ms after many.
    ///
    /// The first batch of an iteration takes the schedule's start, with its delay. Later and
    /// concurrent batches start when they are sent.
    // Not a separate future around that of the exchange: nearly all requests pass through here.
    pub fn send<O: Observer>(
        &self,
        batch: Batch<'_>,
        observer: &mut O,
    ) -> impl Future<Output = Outcome> {
        exchange::send(&*self.0, batch, self.0.worker.network.timeout_ns, observer)
    }

    /// Runs an exchange of a protocol that is no request with one response, on an idle connection
    /// of the user to the endpoint or a new one; returns its outcome. It is one exchange in every
    /// count, and takes a start as a batch does.
    pub fn converse<P: Protocol<H>, O: Observer>(
        &self,
        opening: Opening,
        protocol: &mut P,
        observer: &mut O,
    ) -> impl Future<Output = Outcome> {
        exchange::converse(&*self.0, opening, protocol, observer)
    }

    /// Returns the series of the user's requests of this name, with the tags of its scenario; the
    /// overflow series if there is no room. Hashes: call it once per name. Only for a scenario that
    /// [names requests](crate::Scenario::names_requests).
    ///
    /// # Errors
    /// If the text can't be a name.
    pub fn series(&self, name: &str) -> Result<SeriesId, InvalidName> {
        let worker = &self.0.worker;
        let key = Key::tagged(name, worker.series_tags.clone().unwrap_or_default())?;
        Ok(worker.recorder().borrow_mut().series_of(&key))
    }

    /// Counts a response of this series that the user rejects: its request has failed although it
    /// was answered, with this status and this decoded body (empty if it is not known). To be
    /// called once, after the response was received.
    pub fn reject(&self, series: SeriesId, status: u16, body: &[u8]) {
        let worker = &self.0.worker;
        let mut recorder = worker.recorder().borrow_mut();
        recorder.reject(series, status);
        // The bodies of other statuses are kept when their responses end.
        if let Some(bodies) = &worker.network.error_bodies
            && !is_error(status)
            && let Some(at_ns) = worker.host().now_ns().checked_sub(worker.zero_ns())
        {
            let response = (series, status, at_ns);
            bodies.keep(&mut recorder, response, body.len() as u64, || {
                Body::plain(body)
            });
        }
    }

    /// Records that an exchange of this series, which has ended, carried a trace.
    pub(crate) fn traced(&self, series: SeriesId, exchange: &Exchange, trace: Trace) {
        let worker = &self.0.worker;
        // An exchange of the warm-up has no time before the measured part.
        let is_counted = exchange.intended_ns > 0 || worker.pacer.warmup_ns == 0;
        if is_counted {
            let mut recorder = worker.recorder().borrow_mut();
            recorder.traced(series, exchange, trace);
        }
    }

    /// Pauses. In a closed load the unsent requests of the iteration start after that; in an open
    /// one they are meant to start so much later.
    pub async fn pause(&self, duration_ns: u64) {
        self.0.pause(duration_ns).await;
    }

    /// Waits until this instant, while the iteration may send something; if nothing is in flight,
    /// that is a pause. Nanoseconds on the host's clock.
    pub async fn wait_until(&self, until_ns: u64) {
        match self.0.activity.has_flights() {
            true => self.host().timer().until(until_ns).await,
            false => self.0.pause_until(until_ns).await,
        }
    }

    /// Returns the host of its worker: its clock and timers.
    pub fn host(&self) -> &H {
        self.0.worker.host()
    }

    /// Returns the byte counts on the sockets of the TLS connections that the user dials from the
    /// first call on.
    pub fn encrypted_traffic(&self) -> &Traffic {
        self.0.connections.encrypted.get_or_init(Rc::default)
    }

    /// Closes the idle connections of this user alone: its next requests dial. They do not count as
    /// reconnects.
    pub fn close_idle(&self) {
        self.0.connections.close_idle();
    }

    /// Sets the local address of this user's new connections, instead of the plan's
    /// ([`Connection::local_addresses`]); `None` restores the plan's. Not for connections that
    /// users share over HTTP/2.
    pub fn leave_from(&self, local: Option<IpAddr>) {
        self.0.connections.local.set(local);
    }

    /// Turns certificate verification off (`true`) or back to the plan's setting (`false`) for this
    /// user's new connections. Connections without verification do not negotiate HTTP/2;
    /// connections that users share over HTTP/2 are not affected.
    pub fn trust_anyone(&self, trusts: bool) {
        self.0.connections.trusts_anyone.set(trusts);
    }

    /// Creates a requester for another user of the same worker, who has connections of its own and
    /// no starts: its requests start when they are sent. The user exists as long as the returned
    /// value; the load neither counts it nor waits for it, but reports its requests in flight at
    /// the end.
    #[must_use]
    pub fn another_user(&self) -> Self {
        let user = &self.0;
        let extra = Rc::new(User::new(Rc::clone(&user.worker), user.number));
        // The worker counts down users that end; this one was never counted.
        extra.activity.has_ended.set(true);
        user.worker
            .extra_users
            .add(Rc::<User<H>>::downgrade(&extra));
        Requester(extra)
    }

    /// Begins to pace the user: an iteration begins at `from_ns`, and the next ones `every_ns`
    /// apart. Only for a load whose users pace themselves
    /// ([`Shape::Paced`](loadline_plan::Shape::Paced)). Nanoseconds on the host's clock.
    pub fn pace(&self, from_ns: u64, every_ns: u64) {
        let starts = self.0.activity.new_own_starts();
        starts.begin(from_ns, every_ns);
    }

    /// Ends the pacing of the user.
    pub fn end_pace(&self) {
        if let Some(starts) = self.0.activity.own_starts() {
            starts.end(|missed| self.record_missed(missed));
        }
    }

    /// Handles a wait for a response of a user, who may pace itself.
    pub fn waited(&self, wait: Wait) {
        if let Some(starts) = self.0.activity.own_starts() {
            starts.waited(wait, |missed| self.record_missed(missed));
        }
    }

    /// Handles the end of an iteration of a user, who may pace itself.
    pub fn iteration_ended(&self, now_ns: u64) {
        if let Some(starts) = self.0.activity.own_starts() {
            starts.iteration_ended(now_ns, |missed| self.record_missed(missed));
        }
    }

    /// Begins the next iteration of a user, who may pace itself. Its first request has the delay of
    /// the iteration.
    pub fn iteration_begins(&self, now_ns: u64) {
        if let Some(starts) = self.0.activity.own_starts() {
            starts.iteration_begins(now_ns);
        }
    }

    fn record_missed(&self, missed: MissedStart) {
        let worker = &self.0.worker;
        let exchange = missed.exchange(worker.zero_ns());
        let series = missed.wait.series;
        worker.recorder().borrow_mut().missed(series, &exchange);
    }

    /// Returns the settings of the user's connections.
    pub(crate) fn settings(&self) -> &Connection {
        self.0.worker.network.dialler.settings()
    }

    /// Returns the number of the endpoint of a URL, which may be a new one: see
    /// [`Batch::endpoint`].
    pub fn endpoint_of(&self, url: &Url) -> usize {
        self.0.worker.network.dialler.endpoint_of(url)
    }

    /// Sends a batch like [`send`](Self::send), with another timeout than the plan's.
    pub fn send_within<O: Observer>(
        &self,
        timeout_ns: u64,
        batch: Batch<'_>,
        observer: &mut O,
    ) -> impl Future<Output = Outcome> {
        exchange::send(&*self.0, batch, timeout_ns, observer)
    }
}

impl<H: Host> Clone for Requester<H> {
    fn clone(&self) -> Self {
        Requester(Rc::clone(&self.0))
    }
}

impl<H: Host> fmt::Debug for Requester<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Requester")
            .field("activity", &self.0.activity)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
