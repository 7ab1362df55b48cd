//! The account of a user's requests: what a protocol reports of the requests that it sends.
//!
//! A protocol knows neither user nor worker. It has the [`Connections`] of a user, and reports to
//! the user's account: that a batch begins, which gives its start in the schedule; that an exchange
//! has ended; that a batch is over. The account counts, and decides when the next batch may begin.

use crate::connections::Connections;
use crate::shared_pool::Permit;
use loadline_metrics::SeriesId;
use loadline_reactor::Host;
use loadline_record::Exchange;
use std::future::Future;

/// The account of the requests of one user.
pub(crate) trait Account {
    /// The host of the user's worker.
    type Host: Host;

    /// Returns the connections of the user.
    fn connections(&self) -> &Connections<Self::Host>;

    /// Waits for a place among the connections that users share; returns `None` if each user has
    /// its own.
    fn place(&self) -> impl Future<Output = Option<Permit<'_, Self::Host>>>;

    /// True if the window is over and no batch may begin any more.
    fn is_drained(&self) -> bool;

    /// Reports that a batch was not begun because the window is over.
    fn refuse(&self);

    /// Begins a batch of this many requests, and counts them as sent.
    fn begin(&self, count: usize) -> BatchBegin;

    /// Records an exchange of the measured part that has ended. `served_before` is what its
    /// connection had served, if that is known.
    fn record(&self, exchange: &Exchange, series: SeriesId, served_before: Option<u64>);

    /// Counts one exchange of a batch in flight as over; `left` are those that follow it. Returns
    /// the start of the next one, if it has one of its own.
    fn go_on(&self, batch: &BatchBegin, left: usize) -> Option<Start>;

    /// Reports that a batch is over. Its last exchange ended at this instant, from which on the
    /// user is free. Nanoseconds on the host's clock.
    fn batch_ended(&self, at_ns: u64);

    /// True if the run is over, so that exchanges in flight remain in flight.
    fn is_cut_off(&self) -> bool;

    /// Waits before a target that failed is dialled again. In a closed load the unsent requests of
    /// the iteration start after that.
    fn wait(&self, duration_ns: u64) -> impl Future<Output = ()>;
}

/// The socket of a connection of this account's user.
pub(crate) type SocketOf<A> = <<A as Account>::Host as Host>::Socket;

/// The begin of a batch. Nanoseconds on the host's clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BatchBegin {
    pub(crate) at_ns: u64,
    /// The start of its first request.
    pub(crate) start: Start,
    /// The time by which stalls of the loop put it off, as far as it waited at all.
    pub(crate) put_off_ns: u64,
    /// True if another batch of the user is in flight, which uses the iteration's starts.
    pub(crate) is_concurrent: bool,
    /// The index of its first request that belongs to the measured part of the run.
    pub(crate) first_counted: usize,
}

impl BatchBegin {
    /// Returns the instant at which a request of this start was ready, not after the begin; without
    /// the stalls of the loop that put it off.
    pub(crate) fn ready_ns(&self, start: Start) -> u64 {
        let ready_ns = start.ready_ns.saturating_sub(self.put_off_ns);
        ready_ns.clamp(start.intended_ns, self.at_ns)
    }

    /// Returns the time for which its user was free for it.
    pub(crate) fn free_ns(&self) -> u64 {
        let Start {
            intended_ns,
            ready_ns,
        } = self.start;
        self.at_ns - ready_ns.clamp(intended_ns, self.at_ns)
    }
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
