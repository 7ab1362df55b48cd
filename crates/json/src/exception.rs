//! Exceptions of a script.

use crate::Seconds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An exception that nothing in a script handled: all those of one class with one stack.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Exception {
    /// The number of times that it occurred.
    pub count: u64,
    /// The name of its class, such as `KeyError`; absent if a value was thrown that has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub kind: Option<String>,
    /// The message of the first one, at most 1 024 bytes; secrets are masked.
    pub message: String,
    /// The stack, at most 4 096 bytes; secrets are masked. Empty if there is none.
    pub trace: String,
    /// The begin of the interval in which it first occurred, from the begin of the measured part.
    pub first_s: Seconds,
    /// The agents or processes of the run in which it occurred, at most 20; absent if there is one
    /// process alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<Vec<String>>"))]
    pub parts: Vec<String>,
}
