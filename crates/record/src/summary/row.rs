//! One interval of a run, reduced to the few numbers that a summary stores.

use crate::{Counts, Distribution, Snapshot};

/// One interval in a few numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The begin of the interval, in nanoseconds from the run's start.
    pub start_ns: u64,
    /// The end of the interval, in nanoseconds from the run's start.
    pub end_ns: u64,
    /// The counts.
    pub counts: Counts,
    /// The response time.
    pub response: Quantiles,
    /// The 95th percentile of response time, in nanoseconds; 0 without a response.
    pub response_p95_ns: u64,
    /// The service time.
    pub service: Quantiles,
}

/// A distribution in four numbers, each in nanoseconds; 0 if it is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quantiles {
    /// The median.
    pub p50_ns: u64,
    /// The 90th percentile.
    pub p90_ns: u64,
    /// The 99th percentile.
    pub p99_ns: u64,
    /// The maximum.
    pub max_ns: u64,
}

impl Row {
    /// Returns the row of this interval.
    pub fn of(interval: &Snapshot) -> Row {
        Row {
            start_ns: interval.start_ns,
            end_ns: interval.end_ns,
            counts: interval.counts,
            response: Quantiles::of(&interval.times.response),
            response_p95_ns: interval.times.response.percentile_ns(95.0),
            service: Quantiles::of(&interval.times.service),
        }
    }
}

impl Quantiles {
    /// Returns the four numbers of this distribution.
    pub fn of(distribution: &Distribution) -> Quantiles {
        Quantiles {
            p50_ns: distribution.percentile_ns(50.0),
            p90_ns: distribution.percentile_ns(90.0),
            p99_ns: distribution.percentile_ns(99.0),
            max_ns: distribution.max_ns(),
        }
    }
}
