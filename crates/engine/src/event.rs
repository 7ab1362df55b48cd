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
    /// True if it reports [`Event::Parts`].
    #[serde(default)]
    pub parts: bool,
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
    /// The record of an interval by each part of a run in [parts](crate::Run::of_parts) that has
    /// one, before the interval itself, if they were requested.
    Parts(Vec<PartRecord>),
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

/// The record of an interval by a part of a run. Arrivals that are planned are those of the run: of
/// an open load no part knows its own.
#[derive(Clone, Debug, PartialEq)]
pub struct PartRecord {
    /// The number of the part, from 0.
    pub part: usize,
    /// Its record, with what its scenarios counted.
    pub snapshot: Box<Snapshot>,
}

impl PartRecord {
    /// Returns the part and the requests that it has in flight at the end of the interval.
    pub(crate) fn in_flight(&self) -> (usize, u64) {
        (self.part, self.snapshot.counts.in_flight)
    }

    /// Adds requests that parts had in flight during the whole interval; those without a record
    /// have what they had at the end of their last one.
    pub(crate) fn add_in_flight(all: &mut [PartRecord], in_flight: &[(usize, u64)]) {
        for own in all {
            let found = in_flight.iter().find(|(part, _)| *part == own.part);
            if let Some((_, count)) = found {
                own.snapshot.add_in_flight(*count);
            }
        }
    }

    /// Adds records of other scenarios for the same interval.
    pub(crate) fn add_all(sum: &mut Vec<PartRecord>, others: Vec<PartRecord>) {
        for other in others {
            match sum.iter_mut().find(|own| own.part == other.part) {
                Some(own) => own.snapshot.merge(&other.snapshot),
                None => sum.push(other),
            }
        }
    }
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
