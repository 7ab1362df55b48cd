//! An agent whose response times differ from those of the others.

use serde::{Deserialize, Serialize};

/// An agent whose response times differ from those of the others by more than chance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OddAgent {
    /// Its name.
    pub agent: String,
    /// The percentile in which it differs most.
    pub percentile: f64,
    /// That percentile of its response times, in nanoseconds.
    pub own_ns: u64,
    /// The same of the other agents.
    pub rest_ns: u64,
}
