//! The role of a run among the runs of its file.

use super::search::{Searched, readable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The role of a run in a *series*: several runs in one file, one after another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Role {
    /// The reason why there are several runs.
    pub kind: RoleKind,
    /// The number of the run within its kind (and name), from 1, in the order in which they were
    /// run.
    pub number: u32,
    /// The planned number of such runs, if it was known in advance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub of: Option<u32>,
    /// The name of the measured variant (such as `A` or `B`), if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub name: Option<String>,
    /// The parameters of the search that a trial belongs to.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "readable"
    )]
    // The schemas describe a plan as any object, as they do for the plan of a run.
    #[schemars(with = "Option<Map<String, Value>>")]
    #[cfg_attr(feature = "typescript", ts(optional, type = "Record<string, unknown>"))]
    pub search: Option<Searched>,
    /// For a trial: the seconds of the search's budget spent when the previous trial had ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub spent_s: Option<f64>,
}

/// The reason why there are several runs in one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum RoleKind {
    /// One run repeated to measure the variation from run to run.
    Repeat,
    /// One measurement of a search.
    Trial,
    /// One of two targets that took turns.
    Side,
    /// A kind unknown to this program, written by a later version.
    #[serde(other)]
    Unknown,
}

impl RoleKind {
    /// Returns the name in the file.
    pub fn name(self) -> &'static str {
        match self {
            RoleKind::Repeat => "repeat",
            RoleKind::Trial => "trial",
            RoleKind::Side => "side",
            RoleKind::Unknown => "unknown",
        }
    }
}
