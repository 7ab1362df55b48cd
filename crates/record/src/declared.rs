//! Conditions that a script sets and that are judged by its own tool's rules: k6's thresholds.

use serde::{Deserialize, Serialize};

/// A condition that was judged when the load of its run had ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeclaredCheck {
    /// The condition, with what it is on.
    pub text: String,
    /// Whether it holds.
    pub holds: bool,
    /// The value that was compared; `None` without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actual: Option<f64>,
    /// What it was compared with.
    pub bound: f64,
    /// How many values `actual` was made of.
    pub samples: u64,
}
