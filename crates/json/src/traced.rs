//! Requests whose traces are known.

use crate::{Seconds, Us};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A request that carried a sampled trace (`--traceparent`).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TracedRequest {
    /// The identifier of the trace: 32 hexadecimal digits.
    pub trace_id: String,
    /// The identifier of the span that the request is: 16 hexadecimal digits.
    pub span_id: String,
    /// The response time: from the intended start to the last byte.
    pub response_us: Us,
    /// The end of the request, from the begin of the measured part.
    pub end_s: Seconds,
    /// The status of the response; null if the request timed out.
    pub status: Option<u16>,
    /// The name of the request; absent if all requests have the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub name: Option<String>,
    /// The tags of the name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<BTreeMap<String, String>>"))]
    pub tags: BTreeMap<String, String>,
}
