//! Responses that report errors.

use crate::Seconds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A response that reports an error: the first one with its name and status.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ErrorResponse {
    /// The status. One below 400 was rejected by a script.
    pub status: u16,
    /// The number of responses with this name and status; of rejected ones with this name.
    pub count: u64,
    /// The end of the response, from the begin of the measured part.
    pub end_s: Seconds,
    /// The beginning of the body as text, decoded, at most 2 048 bytes; secrets are masked.
    pub body: String,
    /// True if the body was longer.
    pub is_cut: bool,
    /// The name of the request; absent if all requests have the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub name: Option<String>,
    /// The tags of the name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<BTreeMap<String, String>>"))]
    pub tags: BTreeMap<String, String>,
}
