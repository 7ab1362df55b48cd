//! The recorder of one worker: receives exchanges, and returns a snapshot per interval.
//!
//! The calls are made for every request, so they only add to numbers: statuses are found in a short
//! list (a run has a handful), failures in a table by kind, and the times of most exchanges in
//! arrays of buckets.

mod bucket_counts;

use self::bucket_counts::BucketCounts;
use crate::error_response::ErrorRecorder;
use crate::traced::TraceRecorder;
use crate::{
    Arrivals, Counts, ErrorKind, ErrorResponse, Exceptions, Exchange, Failures, Outcome, Snapshot,
    Split, Times, Trace, TracedRequest, Workers,
};
use loadline_metrics::{
    CustomRecorder, Key, RequestOutcome, SeriesId, SeriesRecorder, SeriesTable,
};
use loadline_plan::Shape;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The rule that decides when an exchange starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Model {
    /// A user sends after its previous request has ended.
    Closed,
    /// The schedule decides.
    Open,
}

impl Model {
    /// Returns the model of a load with this shape.
    pub fn of(shape: &Shape) -> Model {
        if shape.is_open() {
            Model::Open
        } else {
            Model::Closed
        }
    }

    /// Returns the response time of an exchange in nanoseconds: in a closed load it starts with
    /// the send.
    #[inline]
    fn response_ns(self, exchange: &Exchange) -> u64 {
        match self {
            Model::Closed => exchange.service_ns(),
            Model::Open => exchange.response_ns(),
        }
    }
}

/// The custom metrics of a worker: its script adds to them and the recorder takes them. Both are on
/// one thread, so neither waits for the lock; a script's state may be moved between threads.
pub type SharedMetrics = Arc<Mutex<CustomRecorder>>;

fn lock(metrics: &SharedMetrics) -> MutexGuard<'_, CustomRecorder> {
    metrics.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The time to open a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dial {
    /// The time until the transport's connection was open, in nanoseconds.
    pub connect_ns: u64,
    /// The duration of the TLS handshake in nanoseconds, if there was one.
    pub tls_ns: Option<u64>,
}

/// Records the exchanges of one worker and returns them as a [`Snapshot`] per interval.
#[derive(Debug)]
pub struct Recorder {
    model: Model,
    /// True if the window is over.
    draining: bool,
    /// The begin of the current interval, in nanoseconds from the run's start.
    start_ns: u64,
    /// The counts of the current interval, except those that `take` fills in; `in_flight` continues
    /// over intervals.
    counts: Counts,
    /// The sum of the ends of exchanges that ended in the current interval, minus the sum of the
    /// begins of those that began in it, each in nanoseconds from the interval's begin.
    ends_less_begins_ns: i64,
    /// The times of the current interval, except those that `take` fills in.
    times: Times,
    /// The times that are equal for most exchanges, collected until `take` fills them in.
    usual: Usual,
    /// The responses by status, in the order of their first occurrence. Entries stay, with a count
    /// of 0, when a snapshot is taken, so that the list need not be built again.
    statuses: Vec<(u16, u64)>,
    /// The responses that scripts rejected, by status.
    rejected: BTreeMap<u16, u64>,
    /// The failures by kind, in the order of [`ErrorKind::ALL`].
    failures: [u64; ErrorKind::ALL.len()],
    /// The text of the first failure of each kind.
    examples: [Option<String>; ErrorKind::ALL.len()],
    /// The requests of the current interval by the time at which they were due and sent.
    arrivals: Arrivals,
    /// The requests of the current interval by name, if there are several names.
    series: Option<Box<SeriesRecorder>>,
    /// The custom metrics of a script.
    metrics: Option<SharedMetrics>,
    /// The slowest requests of the current interval that carried a sampled trace.
    traced: TraceRecorder,
    /// The responses that report errors, if these are kept.
    error_responses: ErrorRecorder,
}

impl Recorder {
    /// Creates a recorder whose first interval begins at the run's start.
    pub fn new(model: Model) -> Recorder {
        Recorder {
            model,
            draining: false,
            start_ns: 0,
            counts: Counts::default(),
            ends_less_begins_ns: 0,
            times: Times::default(),
            usual: Usual::default(),
            statuses: Vec::with_capacity(16),
            rejected: BTreeMap::new(),
            failures: [0; ErrorKind::ALL.len()],
            examples: Default::default(),
            arrivals: Arrivals::default(),
            series: None,
            metrics: None,
            traced: TraceRecorder::default(),
            error_responses: ErrorRecorder::default(),
        }
    }

    /// Returns the recorder with series, in which it counts its exchanges too.
    pub fn with_series(mut self, table: SeriesTable) -> Recorder {
        self.series = Some(Box::new(SeriesRecorder::new(table)));
        self
    }

    /// Returns the recorder with the custom metrics of a script, which it adds to its snapshots.
    pub fn with_metrics(mut self, metrics: SharedMetrics) -> Recorder {
        lock(&metrics).begin();
        self.metrics = Some(metrics);
        self
    }

    /// Returns the series of this key, which is added if there is room. It hashes the key: call it
    /// once for each name. Without series all keys have the same series.
    pub fn series_of(&mut self, key: &Key) -> SeriesId {
        let series = self.series.as_mut();
        series.map_or(SeriesId::default(), |series| series.intern(key))
    }

    /// Returns the key of a series; `None` without series, and if there was no room for it.
    pub fn key_of(&self, id: SeriesId) -> Option<&Key> {
        self.series.as_ref()?.key_of(id)
    }

    /// Counts an exchange that was begun at this instant, in nanoseconds from the run's start.
    #[inline]
    pub fn begin(&mut self, begun_ns: u64) {
        self.counts.sent += 1;
        self.counts.in_flight += 1;
        self.counts.in_flight_max = self.counts.in_flight_max.max(self.counts.in_flight);
        self.ends_less_begins_ns -= self.since_start(begun_ns);
    }

    /// Returns the time from the begin of the current interval to this instant.
    #[inline]
    fn since_start(&self, at_ns: u64) -> i64 {
        at_ns as i64 - self.start_ns as i64
    }

    /// Counts exchanges of an open load that were begun together: the instant at which they were
    /// due with a free connection, and the instant at which they were begun, in nanoseconds from
    /// the run's start.
    #[inline]
    pub fn arrived(&mut self, ready_ns: u64, start_ns: u64, count: u64) {
        if self.draining {
            return;
        }
        let since = |at_ns: u64| at_ns.saturating_sub(self.start_ns);
        self.arrivals.count(since(ready_ns), since(start_ns), count);
    }

    /// Records the end of an exchange.
    #[inline]
    pub fn end(&mut self, exchange: &Exchange) {
        debug_assert!(self.counts.in_flight > 0, "an exchange ended unbegun");
        self.counts.in_flight = self.counts.in_flight.saturating_sub(1);
        let read_ns = exchange.end_ns.max(exchange.start_ns) + exchange.wakeup_ns;
        self.ends_less_begins_ns += self.since_start(read_ns);
        if !self.draining {
            self.counts.flight_ns += exchange.service_ns() + exchange.wakeup_ns;
        }
        match exchange.outcome {
            Outcome::Answered { status } => self.answered(status, exchange),
            Outcome::Failed(kind) => self.failed(kind, exchange),
        }
    }

    /// Counts an exchange that has ended in its series, if there are series.
    #[inline]
    pub fn count_in_series(&mut self, id: SeriesId, exchange: &Exchange) {
        let Some(series) = &mut self.series else {
            return;
        };
        let ending = match exchange.outcome {
            Outcome::Answered { status } => RequestOutcome::Answered { status },
            Outcome::Failed(ErrorKind::Timeout) => RequestOutcome::TimedOut,
            Outcome::Failed(_) => RequestOutcome::Failed,
        };
        let response_ns = self.model.response_ns(exchange);
        series.record(id, ending, response_ns, !self.draining);
    }

    /// Keeps the trace of an exchange of this series that has ended, if it is sampled and the
    /// exchange is one of the slowest. One without a time is left out.
    pub fn traced(&mut self, id: SeriesId, exchange: &Exchange, trace: Trace) {
        let status = match exchange.outcome {
            Outcome::Answered { status } => Some(status),
            Outcome::Failed(ErrorKind::Timeout) => None,
            Outcome::Failed(_) => return,
        };
        if trace.is_sampled {
            let request = TracedRequest {
                trace,
                response_ns: self.model.response_ns(exchange),
                end_ns: exchange.end_ns,
                status,
            };
            self.traced.add(id, request);
        }
    }

    /// True if a response of this series that ends at this instant, in nanoseconds from the run's
    /// start, is one of those whose bodies are kept as examples of their status.
    pub fn takes_error_response(&self, id: SeriesId, status: u16, end_ns: u64) -> bool {
        self.error_responses.takes(id, status, end_ns)
    }

    /// Keeps a response of this series as an example of its status, if it is to be kept.
    pub fn error_response(&mut self, id: SeriesId, response: ErrorResponse) {
        self.error_responses.add(id, response);
    }

    /// Records the time from the intended start of an iteration of several requests to its last
    /// response.
    pub fn iteration_ended(&mut self, iteration_ns: u64) {
        self.times.iteration.record_ns(iteration_ns);
    }

    /// Counts an exchange of the warm-up that ended in the window, with its time in flight in the
    /// window.
    pub fn warm_up_ended(&mut self, outcome: Outcome, flight_ns: u64) {
        if !self.draining {
            self.counts.completed += u64::from(matches!(outcome, Outcome::Answered { .. }));
            self.counts.flight_ns += flight_ns;
        }
    }

    /// Adds the time in flight of the exchanges that are still in flight at the end of the window,
    /// summed up. Call it once.
    pub fn still_in_flight(&mut self, flight_ns: u64) {
        self.counts.flight_ns += flight_ns;
    }

    /// Ends the window: later records belong to the drain.
    pub fn drain(&mut self) {
        self.draining = true;
        if let Some(metrics) = &self.metrics {
            lock(metrics).drain();
        }
    }

    /// Records an exchange that a closed loop would not have sent: see [`Times::closed_loop`].
    pub fn omitted(&mut self, exchange: &Exchange) {
        let timeout = Outcome::Failed(ErrorKind::Timeout);
        if exchange.outcome == timeout || matches!(exchange.outcome, Outcome::Answered { .. }) {
            self.times.omitted.record_ns(exchange.service_ns());
        }
    }

    /// Stores the text of a failure of this kind, if it is the first one in the interval; only then
    /// `text` is called. Call it before or after [`end`](Recorder::end).
    #[inline]
    pub fn failure_example(&mut self, kind: ErrorKind, text: impl FnOnce() -> String) {
        self.examples[kind as usize].get_or_insert_with(text);
    }

    /// Counts a keep-alive connection that the server had closed and that was replaced silently.
    #[inline]
    pub fn reconnected(&mut self) {
        self.counts.reconnects += 1;
    }

    /// Counts requests of the measured part that were sent again.
    #[inline]
    pub fn resent(&mut self, requests: u64) {
        self.counts.resent += requests;
    }

    /// Counts a connection that is closed because of bytes beyond the lengths of its responses.
    #[inline]
    pub fn extra_bytes(&mut self) {
        self.counts.closed_for_extra_bytes += 1;
    }

    /// Counts an exchange that has exceeded the timeout and continues.
    #[inline]
    pub fn late(&mut self) {
        self.counts.late += 1;
    }

    /// Counts a response that a script rejects, which was counted as answered when it was received.
    pub fn reject(&mut self, id: SeriesId, status: u16) {
        self.counts.rejected += 1;
        *self.rejected.entry(status).or_default() += 1;
        if let Some(series) = &mut self.series {
            series.reject(id);
        }
    }

    /// Counts arrivals that were due and were not started, because no user was free.
    pub fn dropped(&mut self, count: u64) {
        self.counts.dropped += count;
    }

    /// Counts a start that a self-paced user missed because it still waited for a response.
    /// `exchange` is the one that it would have made, if that had taken no time once the user could
    /// continue.
    pub fn missed(&mut self, id: SeriesId, exchange: &Exchange) {
        self.counts.planned += 1;
        self.counts.missed += 1;
        self.schedule(exchange);
        if let Some(series) = &mut self.series {
            series.record_missed(id, exchange.response_ns());
        }
    }

    /// Counts interrupted iterations.
    pub fn interrupted(&mut self, count: u64) {
        self.counts.interrupted += count;
    }

    /// Counts received bytes.
    #[inline]
    pub fn received(&mut self, bytes: u64) {
        self.counts.bytes_in += bytes;
    }

    /// Counts sent bytes.
    #[inline]
    pub fn transmitted(&mut self, bytes: u64) {
        self.counts.bytes_out += bytes;
    }

    /// Counts an opened connection, and records its times.
    pub fn dialled(&mut self, dial: &Dial) {
        self.counts.connections += 1;
        self.times.connect.record_ns(dial.connect_ns);
        if let Some(tls_ns) = dial.tls_ns {
            self.times.tls.record_ns(tls_ns);
        }
    }

    /// Records an exchange that was split by the kernel's clock.
    pub fn split(&mut self, split: &Split) {
        let times = &mut self.times;
        times.split_wait.record_ns(split.wait_ns);
        times.split_send.record_ns(split.send_ns);
        times.split_wire.record_ns(split.wire_ns);
        times.split_wakeup.record_ns(split.wakeup_ns);
        times.split_parse.record_ns(split.parse_ns);
        times.split_user.record_ns(split.user_ns());
    }

    /// Records the duration of a name resolution.
    pub fn resolved(&mut self, resolve_ns: u64) {
        self.times.resolve.record_ns(resolve_ns);
    }

    /// Counts arrivals that fell due. The engine counts the arrivals of an open load from the whole
    /// schedule when it merges the workers' snapshots, and calls this for further requests of
    /// iterations. In a closed load it has no effect, as every exchange that begins counts as
    /// planned.
    #[inline]
    pub fn planned(&mut self, n: u64) {
        self.counts.planned += n;
    }

    /// Returns the number of exchanges begun and not yet ended.
    #[inline]
    pub fn in_flight(&self) -> u64 {
        self.counts.in_flight
    }

    /// Returns the number of responses in the current interval.
    #[inline]
    pub fn answered_so_far(&self) -> u64 {
        self.counts.answered
    }

    /// Returns the records since the last call (or the run's start); the next interval begins at
    /// `until_ns`, in nanoseconds from the run's start, with the same exchanges in flight.
    pub fn take(&mut self, until_ns: u64) -> Snapshot {
        self.counts.in_flight_ns = self.in_flight_ns(until_ns);
        let mut snapshot = Snapshot {
            start_ns: self.start_ns,
            end_ns: until_ns,
            drain: self.draining,
            counts: self.counts,
            times: mem::take(&mut self.times),
            statuses: self.take_statuses(),
            rejected: mem::take(&mut self.rejected),
            errors: self.take_errors(),
            workers: Workers::new(),
            arrivals: mem::take(&mut self.arrivals),
            series: self
                .series
                .as_mut()
                .map(|series| series.take())
                .unwrap_or_default(),
            metrics: self
                .metrics
                .as_ref()
                .map(|metrics| lock(metrics).take())
                .unwrap_or_default(),
            traced: self.traced.take(|id| Some(self.series.as_ref()?.key(id))),
            error_responses: (self.error_responses).take(|id| Some(self.series.as_ref()?.key(id))),
            // Scripts count them in their tallies.
            exceptions: Exceptions::default(),
        };
        self.usual.fill_in(&mut snapshot.times);
        if self.model == Model::Closed {
            snapshot.counts.planned = snapshot.counts.sent;
            fill_in_closed(&mut snapshot.times);
        }
        self.start_ns = until_ns;
        self.ends_less_begins_ns = 0;
        self.counts = Counts {
            in_flight: self.counts.in_flight,
            in_flight_max: self.counts.in_flight,
            ..Counts::default()
        };
        snapshot
    }

    /// Returns the sum of the times that exchanges were in flight in the interval that ends here:
    /// each from its begin, or that of the interval, to its end, or that of the interval.
    fn in_flight_ns(&self, until_ns: u64) -> u64 {
        let left = i128::from(self.counts.in_flight);
        let open_ns = left * i128::from(self.since_start(until_ns));
        let sum_ns = open_ns + i128::from(self.ends_less_begins_ns);
        u64::try_from(sum_ns.max(0)).unwrap_or(u64::MAX)
    }

    #[inline]
    fn answered(&mut self, status: u16, exchange: &Exchange) {
        self.counts.answered += 1;
        self.counts.completed += u64::from(!self.draining);
        self.count_status(status);
        if exchange.rest_ns() == 0 && exchange.dial_ns == 0 {
            self.usual.in_one_piece.record_ns(exchange.service_ns());
        } else {
            self.times.service.record_ns(exchange.service_ns());
            self.times.first_byte.record_ns(exchange.wait_ns());
            self.times.rest.record_ns(exchange.rest_ns());
        }
        self.schedule(exchange);
        if exchange.wakeup_ns > 0 {
            self.usual.wakeup.record_ns(exchange.wakeup_ns);
        }
    }

    /// Records a failure. Its time is recorded only for a timeout: the response would have taken
    /// longer than that.
    fn failed(&mut self, kind: ErrorKind, exchange: &Exchange) {
        self.counts.failed += 1;
        self.failures[kind as usize] += 1;
        if kind == ErrorKind::Timeout {
            self.times.service.record_ns(exchange.service_ns());
            self.schedule(exchange);
        }
    }

    /// Records the times that depend on the intended start.
    #[inline]
    fn schedule(&mut self, exchange: &Exchange) {
        if self.model == Model::Closed {
            return;
        }
        let (response_ns, lateness_ns) = (exchange.response_ns(), exchange.lateness_ns());
        if lateness_ns <= (response_ns / FINEST).max(NEGLIGIBLE_NS) {
            self.usual.on_time.record_ns(response_ns);
        } else {
            self.times.response.record_ns(response_ns);
            self.times.undelayed.record_ns(response_ns - lateness_ns);
        }
        self.usual.lateness.record_ns(lateness_ns);
        match exchange.blocked_ns() {
            0 => self.usual.not_blocked += 1,
            blocked_ns => self.times.blocked.record_ns(blocked_ns),
        }
    }

    #[inline]
    fn count_status(&mut self, status: u16) {
        match self.statuses.iter_mut().find(|entry| entry.0 == status) {
            Some(entry) => entry.1 += 1,
            None => self.statuses.push((status, 1)),
        }
    }

    fn take_statuses(&mut self) -> BTreeMap<u16, u64> {
        self.statuses
            .iter_mut()
            .filter(|(_, count)| *count > 0)
            .map(|(status, count)| (*status, mem::take(count)))
            .collect()
    }

    /// Returns the failures by kind. An example whose failure has not ended yet stays for the next
    /// interval.
    fn take_errors(&mut self) -> BTreeMap<ErrorKind, Failures> {
        let mut errors = BTreeMap::new();
        for kind in ErrorKind::ALL {
            let count = mem::take(&mut self.failures[kind as usize]);
            if count > 0 {
                let example = self.examples[kind as usize].take().unwrap_or_default();
                errors.insert(kind, Failures { count, example });
            }
        }
        errors
    }
}

/// The usual times of exchanges, some of which stand for several distributions.
#[derive(Debug, Default)]
struct Usual {
    /// Service times of responses that came in one piece over an open connection: the time to the
    /// first byte is the same, and the rest is 0.
    in_one_piece: BucketCounts,
    /// Response times of an open load to which Loadline added no delay, so that `undelayed` is the
    /// same.
    on_time: BucketCounts,
    /// The lateness of an open load's requests.
    lateness: BucketCounts,
    /// The wake-up delays of responses.
    wakeup: BucketCounts,
    /// The number of exchanges of an open load that did not wait for a connection.
    not_blocked: u64,
}

/// The divisor of the response time below which lateness does not change its three digits.
const FINEST: u64 = 1_000;
/// The lateness below which no figure in a report changes, in nanoseconds.
const NEGLIGIBLE_NS: u64 = 1_000;

impl Usual {
    fn fill_in(&mut self, times: &mut Times) {
        let elsewhere = times.service.len();
        self.in_one_piece
            .move_into(&mut [&mut times.service, &mut times.first_byte]);
        let in_one_piece = times.service.len() - elsewhere;
        if in_one_piece > 0 {
            times.rest.record_many_ns(0, in_one_piece);
        }
        self.on_time
            .move_into(&mut [&mut times.response, &mut times.undelayed]);
        self.lateness.move_into(&mut [&mut times.lateness]);
        self.wakeup.move_into(&mut [&mut times.wakeup]);
        if self.not_blocked > 0 {
            times
                .blocked
                .record_many_ns(0, mem::take(&mut self.not_blocked));
        }
    }
}

/// Fills in the times of a closed load, where an exchange is intended when it starts: response is
/// service, delay is zero.
fn fill_in_closed(times: &mut Times) {
    times.response.merge(&times.service);
    let ended = times.service.len();
    if ended > 0 {
        times.blocked.record_many_ns(0, ended);
        times.lateness.record_many_ns(0, ended);
    }
}

#[cfg(test)]
mod tests;
