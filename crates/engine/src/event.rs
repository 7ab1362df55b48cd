//! What a run tells while it lasts.

use crate::control::Change;
use loadline_record::{Exchange, Snapshot, Unfinished};
use serde::{Deserialize, Serialize};

/// Which events a run tells beside its intervals and its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Detail {
    /// Whether it tells [`Event::Log`].
    pub exchanges: bool,
    /// Whether it tells [`Event::Ticks`].
    pub ticks: bool,
}

/// What a run tells while it lasts.
#[derive(Debug)]
pub enum Event {
    /// What all workers recorded in one interval, in order.
    Interval(Box<Snapshot>),
    /// What one worker got tick by tick in an interval, where that was asked for; comes before the
    /// interval itself.
    Ticks {
        /// The worker, from 0.
        worker: usize,
        /// In order. Ticks are about 100 ms long, at most about twice that, and never overlap.
        ticks: Vec<Tick>,
    },
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
