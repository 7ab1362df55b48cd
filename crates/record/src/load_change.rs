//! Changes of the load while a run lasted.

use loadline_plan::Level;
use serde::{Deserialize, Serialize};

/// A change of the load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadChange {
    /// From when on it holds, in nanoseconds from the begin of the measured part; less than 0 in
    /// the warm-up.
    pub at_ns: i64,
    /// What the load is then.
    pub level: Level,
}
