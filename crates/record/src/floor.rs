//! The best performance of the machine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The best performance of the generator's machine: the run's own requests, with the same protocol
/// and script, against a server on loopback that does nothing. No measurement of a target on this
/// machine can be faster, and no rate higher.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Floor {
    /// The shortest response time of requests sent one after another, in nanoseconds.
    pub min_ns: u64,
    /// The median of these response times, in nanoseconds.
    pub p50_ns: u64,
    /// The 99th percentile of these response times, in nanoseconds.
    pub p99_ns: u64,
    /// The responses per second if all connections send as fast as they can.
    pub answers_per_s: f64,
    /// The number of these connections.
    pub connections: u32,
}
