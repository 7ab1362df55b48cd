//! Changes of the load during a run.

use crate::{PerSecond, Share};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A change of the load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LoadChange {
    /// The time from which the change holds, in seconds from the start of the measured part;
    /// negative in the warm-up.
    pub at_s: f64,
    /// The new load.
    pub to: LoadLevel,
    /// The scenario whose load changed; absent if it was the whole load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub scenario: Option<String>,
}

/// The load after a change.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum LoadLevel {
    /// A share of the plan's load.
    Share(Share),
    /// A rate, instead of the plan's.
    Rate(PerSecond),
    /// A number of users, instead of the plan's.
    Users(u32),
    /// No load.
    Paused,
}
