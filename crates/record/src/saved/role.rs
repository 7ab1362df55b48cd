//! What a run is among the runs of its file.

use super::search::{Searched, readable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a run is in a *series*: several runs in one file, one behind the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Role {
    /// Why there are several.
    pub kind: RoleKind,
    /// Which one of its kind (and name) it is, from 1, in the order in which they were run.
    pub number: u32,
    /// How many there were to be, where that was known before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub of: Option<u32>,
    /// Which of several things it measured (`A` or `B`, say), where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub name: Option<String>,
    /// What the search was asked for that a trial belongs to.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "readable"
    )]
    // The schemas describe a plan as any object, as they do for the plan of a run.
    #[schemars(with = "Option<Map<String, Value>>")]
    #[cfg_attr(feature = "typescript", ts(optional, type = "Record<string, unknown>"))]
    pub search: Option<Searched>,
    /// Of a trial: seconds of the search's budget that were gone when the one before it had ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub spent_s: Option<f64>,
}

/// Why there are several runs in one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum RoleKind {
    /// One run made again and again, to see what differs from run to run.
    Repeat,
    /// One measurement of a search.
    Trial,
    /// One of two targets that took turns.
    Side,
    /// One that this program does not know; a later one wrote it.
    #[serde(other)]
    Unknown,
}

impl RoleKind {
    /// Its name, as in the file.
    pub fn name(self) -> &'static str {
        match self {
            RoleKind::Repeat => "repeat",
            RoleKind::Trial => "trial",
            RoleKind::Side => "side",
            RoleKind::Unknown => "unknown",
        }
    }
}
