//! What a run tells while it lasts.

use loadline_record::{Exchange, Snapshot};

/// What a run tells while it lasts.
#[derive(Debug)]
pub enum Event {
    /// What all workers recorded in one interval, in order.
    Interval(Box<Snapshot>),
    /// Exchanges that ended, in the order of one worker, where a log was asked for.
    Log(Vec<Exchange>),
    /// The run has ended; nothing follows.
    Ended {
        /// Why it ended.
        reason: EndReason,
        /// What was left without an answer.
        unfinished: Unfinished,
    },
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
}

/// What was left without an answer when a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unfinished {
    /// Exchanges begun and not ended.
    pub in_flight: u64,
    /// Arrivals of an open load that fell due and were not begun.
    pub unsent: u64,
    /// How long the oldest of both had waited since its intended start, in nanoseconds.
    pub oldest_ns: u64,
}
