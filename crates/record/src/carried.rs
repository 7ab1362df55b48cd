//! Snapshots in transfer from one process or machine to another, in few bytes.
//!
//! A snapshot is carried as plain data for a binary format of serde: whole numbers that are mostly
//! small, the counts of its distributions in bits (`carried/counts.rs`), and numbers instead of
//! names that were sent before (`carried/names.rs`). What arrives is equal to what was sent, so
//! that it makes no difference whether snapshots are merged before they are sent or afterwards.
//!
//! Only programs of the same version send each other snapshots. Files have a format of their own,
//! that of the saved run.

mod bits;
mod counts;
mod distribution;
mod error;
mod error_responses;
mod metrics;
mod names;
mod series;
mod times;
mod traced;
mod unfinished;

pub use distribution::CarriedDistribution;
pub use error::CarryError;
pub use names::{CarriedNames, KnownNames, SentNames};
pub use unfinished::CarriedUnfinished;

pub(crate) use self::counts::PackedCounts;
use self::error_responses::CarriedErrorResponses;
use self::metrics::CarriedMetrics;
use self::series::CarriedSeries;
use self::times::CarriedTimes;
use self::traced::CarriedTraced;
use crate::{Arrivals, Counts, ErrorKind, Exceptions, Failures, Snapshot, WorkerTimes, Workers};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A snapshot in transfer.
#[derive(Debug, Serialize, Deserialize)]
pub struct CarriedSnapshot {
    start_ns: u64,
    length_ns: u64,
    drain: bool,
    #[serde(with = "CarriedCounts")]
    counts: Counts,
    statuses: BTreeMap<u16, u64>,
    rejected: BTreeMap<u16, u64>,
    errors: BTreeMap<ErrorKind, Failures>,
    times: CarriedTimes,
    workers: BTreeMap<u32, CarriedWorker>,
    arrivals: Arrivals,
    series: CarriedSeries,
    metrics: CarriedMetrics,
    traced: CarriedTraced,
    error_responses: CarriedErrorResponses,
    exceptions: Exceptions,
}

impl CarriedSnapshot {
    /// Prepares a snapshot for its transfer. Its new names are in `names` and have to be sent with
    /// it.
    pub fn of(snapshot: &Snapshot, names: &mut SentNames) -> Self {
        let workers = snapshot.workers.iter();
        CarriedSnapshot {
            start_ns: snapshot.start_ns,
            length_ns: snapshot.length_ns(),
            drain: snapshot.drain,
            counts: snapshot.counts,
            statuses: snapshot.statuses.clone(),
            rejected: snapshot.rejected.clone(),
            errors: snapshot.errors.clone(),
            times: CarriedTimes::of(&snapshot.times),
            workers: workers
                .map(|(worker, times)| (*worker, CarriedWorker::of(times)))
                .collect(),
            arrivals: snapshot.arrivals.clone(),
            series: CarriedSeries::of(&snapshot.series, names),
            metrics: CarriedMetrics::of(&snapshot.metrics, names),
            traced: CarriedTraced::of(&snapshot.traced, names),
            error_responses: CarriedErrorResponses::of(&snapshot.error_responses, names),
            exceptions: snapshot.exceptions.clone(),
        }
    }

    /// Returns the snapshot that was sent.
    ///
    /// # Errors
    /// If its contents are invalid.
    pub fn snapshot(self, names: &KnownNames) -> Result<Snapshot, CarryError> {
        let mut workers = Workers::default();
        for (worker, times) in self.workers {
            workers.insert(worker, times.times()?);
        }
        Ok(Snapshot {
            start_ns: self.start_ns,
            end_ns: self.start_ns.saturating_add(self.length_ns),
            drain: self.drain,
            counts: self.counts,
            times: self.times.times()?,
            statuses: self.statuses,
            rejected: self.rejected,
            errors: self.errors,
            workers,
            arrivals: self.arrivals,
            series: self.series.set(names)?,
            metrics: self.metrics.set(names)?,
            traced: self.traced.traced(names)?,
            error_responses: self.error_responses.responses(names)?,
            exceptions: self.exceptions,
        })
    }
}

/// The counts, every one of them, in this order.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Counts")]
struct CarriedCounts {
    planned: u64,
    sent: u64,
    answered: u64,
    completed: u64,
    flight_ns: u64,
    failed: u64,
    rejected: u64,
    in_flight: u64,
    in_flight_ns: u64,
    in_flight_max: u64,
    reconnects: u64,
    resent: u64,
    closed_for_extra_bytes: u64,
    late: u64,
    dropped: u64,
    missed: u64,
    interrupted: u64,
    connections: u64,
    bytes_in: u64,
    bytes_out: u64,
}

/// The use of time by a worker.
#[derive(Debug, Serialize, Deserialize)]
struct CarriedWorker {
    wall_ns: u64,
    cpu_ns: u64,
    polled_ns: u64,
    queued_ns: u64,
    loop_iterations: PackedCounts,
    stalled_ns: u64,
    answered: u64,
    connections: u64,
    bytes_in: u64,
    bytes_out: u64,
    cores: BTreeSet<u32>,
    timer_slack_ns: Option<u64>,
}

impl CarriedWorker {
    fn of(times: &WorkerTimes) -> Self {
        CarriedWorker {
            wall_ns: times.wall_ns,
            cpu_ns: times.cpu_ns,
            polled_ns: times.polled_ns,
            queued_ns: times.queued_ns,
            loop_iterations: times.loop_iterations.packed(),
            stalled_ns: times.stalled_ns,
            answered: times.answered,
            connections: times.connections,
            bytes_in: times.bytes_in,
            bytes_out: times.bytes_out,
            cores: times.cores.clone(),
            timer_slack_ns: times.timer_slack_ns,
        }
    }

    fn times(self) -> Result<WorkerTimes, CarryError> {
        Ok(WorkerTimes {
            wall_ns: self.wall_ns,
            cpu_ns: self.cpu_ns,
            polled_ns: self.polled_ns,
            queued_ns: self.queued_ns,
            loop_iterations: self.loop_iterations.sparse()?,
            stalled_ns: self.stalled_ns,
            answered: self.answered,
            connections: self.connections,
            bytes_in: self.bytes_in,
            bytes_out: self.bytes_out,
            cores: self.cores,
            timer_slack_ns: self.timer_slack_ns,
        })
    }
}

#[cfg(test)]
mod tests;
