//! The events of a run.

use crate::control::Change;
use crate::tally::AnyTally;
use loadline_record::{Exchange, SlowRequest, Snapshot, Unfinished};
use serde::{Deserialize, Serialize};

/// The events that a run reports in addition to its intervals and its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Detail {
    /// True if it reports [`Event::Log`].
    pub exchanges: bool,
    /// True if it reports [`Event::Slow`].
    pub slow: bool,
    /// True if the intervals have the bodies of error responses.
    pub error_bodies: bool,
}

/// An event of a run.
#[derive(Debug)]
pub enum Event {
    /// The merged record of all workers for one interval, in order.
    Interval(Box<Snapshot>),
    /// The counts of the scenarios since the last tally, if they count. The tally of an interval
    /// comes immediately before the interval, the last one before the last interval.
    Tally(AnyTally),
    /// Exchanges that ended, if a log was requested.
    Log {
        /// The worker that made the exchanges, from 0.
        worker: usize,
        /// The exchanges, in the order in which they ended.
        exchanges: Vec<Exchange>,
    },
    /// The slowest requests of one worker in an interval, before the interval itself, if they were
    /// requested.
    Slow(Vec<SlowRequest>),
    /// The load is going to change.
    Changed(Change),
    /// The run has ended; nothing follows.
    Ended {
        /// The reason of the end.
        reason: EndReason,
        /// The requests and arrivals without a response.
        unfinished: Box<Unfinished>,
    },
}

/// A short period of one worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tick {
    /// The length of the period, in nanoseconds.
    pub length_ns: u64,
    /// The number of exchanges answered in the period.
    pub answered: u64,
}

/// The reason why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// Its duration, or its last stage, was over.
    Duration,
    /// All requested exchanges had ended.
    Requests,
    /// It was stopped from outside.
    Stopped,
    /// A worker was lost; [`Run::failures`](crate::Run::failures) contains the reason.
    Failed,
}
