//! The transient at the beginning of a run, and the run before it was cut.

use crate::{Blocks, Snapshot};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The result of the search for a transient at a run's beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Transient {
    /// This many intervals at the beginning are excluded from every figure; 0 if the run was steady
    /// at once.
    Cut {
        /// The number of intervals.
        intervals: usize,
    },
    /// The run never settled; all of it is in the figures.
    Never,
    /// The run was too short to decide; all of it is in the figures.
    TooShort,
}

impl Transient {
    /// Returns the number of excluded intervals.
    pub fn intervals(self) -> usize {
        match self {
            Transient::Cut { intervals } => intervals,
            Transient::Never | Transient::TooShort => 0,
        }
    }
}

/// The data of a run before its transient was cut that checks need: they must hold on all of it, or
/// cutting the beginning would be a way to pass them.
#[derive(Clone, Debug, PartialEq)]
pub struct Uncut {
    /// The sum of all intervals.
    pub total: Snapshot,
    /// The time over which rates are computed, in nanoseconds.
    pub rated_ns: u64,
    /// The response times in stretches of the run.
    pub response_blocks: Blocks,
    /// The service times in stretches of the run.
    pub service_blocks: Blocks,
}
