//! What the workers of a run report.

use crate::control::Change;
use crate::lost::WorkerFailure;
use crate::not_due::NotDue;
use crate::tally::AnyTally;
use loadline_record::{Exchange, SlowRequest, Snapshot, Unfinished};
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A report to a run from one of its members: a worker, or a process that has joined the reports of
/// its workers.
#[derive(Debug)]
pub(crate) struct MemberReport {
    /// The member's number in the run, from 0. The number of a worker is that of the member, if
    /// each member is a worker; a log is always that of a worker.
    pub(crate) member: usize,
    /// The scenario's number, from 0.
    pub(crate) scenario: usize,
    pub(crate) report: Report,
}

/// A report on a scenario.
#[derive(Clone, Debug)]
pub(crate) enum Report {
    Interval(Interval),
    Log(Vec<Exchange>),
    /// The slowest requests of the interval that is reported next.
    Slow(Vec<SlowRequest>),
    /// The scenario's counts since its last tally, before the end of the interval.
    Tally(AnyTally),
    /// The last report of a member.
    Done(Done),
    /// The last report of a member that did not reach the end.
    Lost(WorkerFailure),
    /// The loss of workers whose reports another member joins, and ends.
    Failed(WorkerFailure),
    /// The first report of a member that joins the run with these workers: its intervals count from
    /// this instant on, in nanoseconds from the run's zero.
    Joined {
        workers: Range<u32>,
        from_ns: u64,
    },
}

/// The record of one interval.
#[derive(Clone, Debug)]
pub(crate) struct Interval {
    pub(crate) snapshot: Box<Snapshot>,
    /// The scenario's counts since its last tally.
    pub(crate) tally: Option<AnyTally>,
    /// The instant up to which the schedule was followed: the interval's end, or the stop of the
    /// run. Nanoseconds from the begin of the load.
    pub(crate) followed_ns: u64,
    /// The starts of a closed load that users took from its number since the last interval.
    pub(crate) begun: u64,
    /// The changes of the load that the workers received since the last reported interval.
    pub(crate) changes: Vec<ReceivedChange>,
    /// The workers of the member that have finished, while others continue.
    pub(crate) gone: Gone,
    /// The arrivals of an open load for which no request is due.
    pub(crate) not_due: NotDue,
}

/// Workers that have finished, and are in no interval any more.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Gone {
    /// Their numbers, rising.
    pub(crate) workers: Vec<u32>,
    /// Their requests in flight: the number stays constant.
    pub(crate) in_flight: u64,
}

/// A change of the load that a worker received.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ReceivedChange {
    pub(crate) worker: u32,
    /// The number of the change in the run, from 0.
    pub(crate) number: usize,
    /// The change, with the instant from which it applies to this worker.
    pub(crate) change: Change,
}

impl ReceivedChange {
    /// True if another worker received the same change, with the same instant.
    pub(crate) fn is_same(&self, other: &ReceivedChange) -> bool {
        (self.number, self.change) == (other.number, other.change)
    }
}

/// The end of a member.
#[derive(Clone, Debug, Default)]
pub(crate) struct Done {
    /// True if all its users had finished, false if some were cut off.
    pub(crate) complete: bool,
    pub(crate) stopped: bool,
    pub(crate) unfinished: Box<Unfinished>,
    /// The reasons why workers of it were lost, without duplicates.
    pub(crate) failures: Vec<WorkerFailure>,
    /// True if all its workers were lost.
    pub(crate) is_lost: bool,
}

impl Done {
    /// Returns the end of a lost member that had so many requests in flight.
    pub(crate) fn lost(failure: WorkerFailure, in_flight: u64) -> Self {
        Done {
            unfinished: Box::new(Unfinished {
                in_flight,
                ..Unfinished::default()
            }),
            failures: vec![failure],
            is_lost: true,
            ..Done::default()
        }
    }
}
