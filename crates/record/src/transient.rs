//! The transient at the beginning of a run, and the run before it was left out.

use crate::{Blocks, Snapshot};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was found of a run's beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Transient {
    /// This many intervals at the beginning are left out of every figure; none if it was steady at
    /// once.
    Cut {
        /// Their number.
        intervals: usize,
    },
    /// The run never settled; all of it is in the figures.
    Never,
    /// The run was too short to tell; all of it is in the figures.
    TooShort,
}

impl Transient {
    /// How many intervals are left out.
    pub fn intervals(self) -> usize {
        match self {
            Transient::Cut { intervals } => intervals,
            Transient::Never | Transient::TooShort => 0,
        }
    }
}

/// A run before its transient was left out, as far as checks look at it: they must hold on all of
/// it, or leaving out the beginning would be a way to keep them.
#[derive(Clone, Debug, PartialEq)]
pub struct Uncut {
    /// All intervals together.
    pub total: Snapshot,
    /// The time over which rates are taken, in nanoseconds.
    pub rated_ns: u64,
    /// The response times in stretches of the run.
    pub response_blocks: Blocks,
    /// The service times in stretches of the run.
    pub service_blocks: Blocks,
}
