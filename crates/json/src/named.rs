//! The requests of one name.

use crate::{PerSecond, Us};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The requests of one name that ended in the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Named {
    /// The name; for requests without one their URL, after the method if that is not GET. The
    /// requests of all names after the first `--max-series` share `(other)`.
    pub name: String,
    /// The tags of the name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<BTreeMap<String, String>>"))]
    pub tags: BTreeMap<String, String>,
    /// Requests with a whole response, whatever its status.
    pub answered: u64,
    /// Requests that ended without a response.
    pub failed: u64,
    /// Responses that a script rejected; each is included in `answered`. Absent if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[cfg_attr(test, ts(optional, as = "Option<u64>"))]
    pub rejected: u64,
    /// Responses by status code.
    pub statuses: BTreeMap<String, u64>,
    /// Responses per second, defined as `rate` of the run.
    pub rate: PerSecond,
    /// The response times, from the intended start to the last byte, to within a hundredth.
    pub response_time_us: NamedTimes,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The response times of a name; null without a response, and a percentile also if there are too
/// few responses for it (p99 takes 368).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct NamedTimes {
    /// The arithmetic mean.
    pub mean: Option<Us>,
    /// The median.
    pub p50: Option<Us>,
    /// The 90th percentile.
    pub p90: Option<Us>,
    /// The 95th percentile.
    pub p95: Option<Us>,
    /// The 99th percentile.
    pub p99: Option<Us>,
    /// The largest.
    pub max: Option<Us>,
}
