//! The begin of an agent's load, which all agents of a run have at one instant.

use serde::{Deserialize, Serialize};

/// The distance of the begin of an agent's load from the instant that all agents have in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentBegin {
    /// The agent's name.
    pub agent: String,
    /// By how much it was late by its own clock, in nanoseconds.
    pub late_ns: u64,
    /// The most by which its clock is wrong, in nanoseconds.
    pub clock_error_ns: u64,
}

impl AgentBegin {
    /// Returns the most by which it began before or after the common instant, in nanoseconds.
    pub fn off_ns(&self) -> u64 {
        self.late_ns.saturating_add(self.clock_error_ns)
    }
}
