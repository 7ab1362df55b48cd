//! Changes of the load while a run lasted.

use crate::{PerSecond, Share};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A change of the load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LoadChange {
    /// From when on it holds, in seconds from the start of the measured part; less than 0 in the
    /// warm-up.
    pub at_s: f64,
    /// What the load is then.
    pub to: LoadLevel,
    /// The scenario whose load it is, if it is not the whole load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub scenario: Option<String>,
}

/// What a load is changed to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum LoadLevel {
    /// A share of the plan.
    Share(Share),
    /// A rate, whatever the plan says.
    Rate(PerSecond),
    /// So many users, whatever the plan says.
    Users(u32),
    /// Nothing.
    Paused,
}
