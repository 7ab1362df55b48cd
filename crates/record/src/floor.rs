//! What the machine does at best.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the machine of the generator does at best: the run's own requests, by its own protocol and
/// script, against a server on loopback that does nothing. No measurement of a target on this
/// machine can be faster, and no rate higher.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Floor {
    /// The shortest response time where one request is sent after the other, in nanoseconds.
    pub min_ns: u64,
    /// The median of these response times, in nanoseconds.
    pub p50_ns: u64,
    /// Their 99th percentile, in nanoseconds.
    pub p99_ns: u64,
    /// Answers a second where all connections send as fast as they can.
    pub answers_per_s: f64,
    /// How many connections these were.
    pub connections: u32,
}
