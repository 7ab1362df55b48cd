//! One run.

use crate::{Look, PerSecond, Quantiles, Seconds, Summary, Us};
use loadline_plan::Plan;
use loadline_record::{Environment, LongBody};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What `loadline -o json` prints of a run. Described in docs/guide/json.md.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[schemars(title = "Result of a Loadline run")]
pub struct Run {
    /// The version of this schema.
    #[schemars(extend("const" = crate::SCHEMA))]
    pub schema: u64,
    /// The version of the program that ran it.
    pub version: String,
    /// When the run started, UTC, RFC 3339.
    pub started_at: String,
    /// When its load began, by CLOCK_MONOTONIC of the machine; null if that is not known.
    pub started_monotonic_ns: Option<u64>,
    /// What was run, after defaults.
    #[schemars(with = "Map<String, Value>")]
    #[cfg_attr(test, ts(type = "Record<string, unknown>"))]
    pub plan: Plan,
    /// Request bodies too long to keep in the plan.
    pub long_bodies: Vec<LongBody>,
    /// The machine it was run on. What could not be read is null.
    pub environment: Environment,
    /// The measured part, second by second.
    pub intervals: Vec<Interval>,
    /// The busiest names over time; absent where all requests have one name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub names_over_time: Option<NamesOverTime>,
    /// The whole run.
    pub summary: Summary,
}

/// The busiest names over time, as columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct NamesOverTime {
    /// When each stretch begins, from the start of the measured part: a second each, or several in
    /// a long run.
    pub start_s: Vec<Seconds>,
    /// When each stretch ends.
    pub end_s: Vec<Seconds>,
    /// The names, the busiest first.
    pub names: Vec<NameCourse>,
}

/// A name over time: a value for each stretch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct NameCourse {
    /// The name.
    pub name: String,
    /// Its tags.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<BTreeMap<String, String>>"))]
    pub tags: BTreeMap<String, String>,
    /// Responses a second.
    pub rate: Vec<PerSecond>,
    /// Requests that ended without a response.
    pub failed: Vec<u64>,
    /// The median response time, to within a hundredth; null without a response.
    pub p50_us: Vec<Option<Us>>,
    /// The 95th percentile.
    pub p95_us: Vec<Option<Us>>,
    /// The 99th percentile.
    pub p99_us: Vec<Option<Us>>,
}

/// One second of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Interval {
    /// Its beginning, from the start of the measured part.
    pub start_s: Seconds,
    /// Its end, from the start of the measured part.
    pub end_s: Seconds,
    /// What was counted in it.
    #[serde(flatten)]
    pub counts: Counts,
    /// How many requests were in flight on average; null in a saved run of a version that did not
    /// count it.
    #[serde(default)]
    pub in_flight_mean: Option<f64>,
    /// The most that were in flight at once; of several workers the sum of what each had, an upper
    /// bound. Null as above.
    #[serde(default)]
    pub in_flight_max: Option<u64>,
    /// From the intended start to the last byte, of the requests that ended in it.
    pub response_time_us: Quantiles,
    /// From the send to the last byte, of the requests that ended in it.
    pub service_time_us: Quantiles,
    /// What was watched in it; absent where nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub watch: Option<Look>,
}

/// What was counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Counts {
    /// Arrivals whose intended start fell due; in a closed load the same as `sent`.
    pub planned: u64,
    /// Requests begun.
    pub sent: u64,
    /// Requests with a whole response, whatever its status.
    pub answered: u64,
    /// Responses that ended in the interval or the window, whenever begun; none of the drain.
    pub completed: u64,
    /// Requests that ended without a response.
    pub failed: u64,
    /// Requests begun and not ended, at the end of the interval or of the run.
    pub in_flight: u64,
    /// Kept-alive connections that the server had closed and that were replaced.
    pub reconnects: u64,
    /// Requests that went out once more, each of which is one of those sent.
    #[serde(default)]
    pub resent: u64,
    /// Connections given up because more data came on them than the lengths of the responses said.
    pub surplus: u64,
    /// Arrivals that fell due when no user was free and were not begun, where the plan drops such;
    /// absent where there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[cfg_attr(test, ts(optional, as = "Option<u64>"))]
    pub dropped: u64,
    /// Starts that users who pace themselves did not make, as they still waited for a response;
    /// each is among the response times. Absent where there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[cfg_attr(test, ts(optional, as = "Option<u64>"))]
    pub missed: u64,
    /// Connections that came up.
    pub connections: u64,
    /// Bytes received, inside TLS.
    pub bytes_in: u64,
    /// Bytes sent, inside TLS.
    pub bytes_out: u64,
    /// `completed` a second.
    pub rate: PerSecond,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}
