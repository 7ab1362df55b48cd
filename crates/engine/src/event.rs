//! What a run tells while it lasts.

use crate::control::Change;
use crate::tally::AnyTally;
use loadline_record::{Exchange, Snapshot, Unfinished};
use serde::{Deserialize, Serialize};

/// Which events a run tells beside its intervals and its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Detail {
    /// Whether it tells [`Event::Log`].
    pub exchanges: bool,
}

/// What a run tells while it lasts.
#[derive(Debug)]
pub enum Event {
    /// What all workers recorded in one interval, in order.
    Interval(Box<Snapshot>),
    /// What the scenarios counted since the last one, where they count. That of an interval comes
    /// right before the interval, the last one before the last interval.
    Tally(AnyTally),
    /// Exchanges that ended, where a log was asked for.
    Log {
        /// Whose they are: the worker, from 0.
        worker: usize,
        /// In the order in which they ended.
        exchanges: Vec<Exchange>,
    },
    /// The load is to change.
    Changed(Change),
    /// The run has ended; nothing follows.
    Ended {
        /// Why it ended.
        reason: EndReason,
        /// What was left without a response.
        unfinished: Box<Unfinished>,
    },
}

/// A short while of one worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tick {
    /// How long it was, in nanoseconds.
    pub length_ns: u64,
    /// Exchanges that were answered in it.
    pub answered: u64,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// Its time was over (or its stages were).
    Duration,
    /// All exchanges that were asked for had ended.
    Requests,
    /// It was stopped from outside.
    Stopped,
    /// A worker was lost, as [`Run::failures`](crate::Run::failures) tells.
    Failed,
}
