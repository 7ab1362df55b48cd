//! Conditions that a script sets and that are judged by its own tool's rules: k6's thresholds.

use serde::{Deserialize, Serialize};

/// A condition that was judged when the load of its run had ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeclaredCheck {
    /// The condition, including its metric.
    pub text: String,
    /// True if it holds.
    pub holds: bool,
    /// The compared value; `None` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actual: Option<f64>,
    /// The bound that the value was compared with.
    pub bound: f64,
    /// The number of samples from which `actual` was computed.
    pub samples: u64,
}
