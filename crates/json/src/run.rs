//! One run.

use crate::{PerSecond, Quantiles, Seconds, Summary, Us, UsageSample};
use loadline_plan::Plan;
use loadline_record::{Environment, LongBody};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The document that `loadline -o json` prints for one run. Described in docs/guide/json.md.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[schemars(title = "Result of a Loadline run")]
pub struct Run {
    /// The version of this schema.
    #[schemars(extend("const" = crate::SCHEMA))]
    pub schema: u64,
    /// The version of the program that ran it.
    pub version: String,
    /// The start of the run, UTC, RFC 3339.
    pub started_at: String,
    /// The start of the load, by CLOCK_MONOTONIC of the machine; null if unknown.
    pub started_monotonic_ns: Option<u64>,
    /// The plan of the run, with all defaults filled in.
    #[schemars(with = "Map<String, Value>")]
    #[cfg_attr(test, ts(type = "Record<string, unknown>"))]
    pub plan: Plan,
    /// Request bodies too long to keep in the plan.
    pub long_bodies: Vec<LongBody>,
    /// The machine of the generator. Null stands for figures that could not be read.
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
    /// The beginnings of the periods, from the start of the measured part: one for each second, or
    /// for several seconds in a long run.
    pub start_s: Vec<Seconds>,
    /// The ends of the periods.
    pub end_s: Vec<Seconds>,
    /// The names, the busiest first.
    pub names: Vec<NameCourse>,
}

/// A name over time: one value for each period.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct NameCourse {
    /// The name.
    pub name: String,
    /// The tags of the name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<BTreeMap<String, String>>"))]
    pub tags: BTreeMap<String, String>,
    /// Responses per second.
    pub rate: Vec<PerSecond>,
    /// Requests that ended without a response.
    pub failed: Vec<u64>,
    /// The median response time, to within a hundredth; null without a response.
    pub p50_us: Vec<Option<Us>>,
    /// The 95th percentile of the response time, as `p50_us`.
    pub p95_us: Vec<Option<Us>>,
    /// The 99th percentile of the response time, as `p50_us`.
    pub p99_us: Vec<Option<Us>>,
}

/// One second of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Interval {
    /// The beginning of the interval, from the start of the measured part.
    pub start_s: Seconds,
    /// The end of the interval, from the start of the measured part.
    pub end_s: Seconds,
    /// The counts of the interval.
    #[serde(flatten)]
    pub counts: Counts,
    /// The mean number of requests in flight; null in a saved run of a version that did not count
    /// it.
    #[serde(default)]
    pub in_flight_mean: Option<f64>,
    /// The highest number of requests in flight at once; of several workers the sum of their
    /// highest numbers, which is an upper bound. Null as above.
    #[serde(default)]
    pub in_flight_max: Option<u64>,
    /// The response times, from the intended start to the last byte, of the requests that ended in
    /// the interval.
    pub response_time_us: Quantiles,
    /// The service times, from the send to the last byte, of the requests that ended in the
    /// interval.
    pub service_time_us: Quantiles,
    /// The most virtual users of a script that were active at once; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub users: Option<u32>,
    /// The iterations of a script that ended in the interval; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub iterations: Option<u64>,
    /// The usage of the watched processes and of the machine in the interval; absent if nothing was
    /// watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub watch: Option<UsageSample>,
}

/// Counts of requests, connections and bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Counts {
    /// Arrivals whose request fell due, after the pauses of a script before it, if its iteration
    /// sends one; in a closed load the same as `sent`.
    pub planned: u64,
    /// Requests begun.
    pub sent: u64,
    /// Requests with a whole response, whatever its status.
    pub answered: u64,
    /// Responses that ended in the interval or in the measured part, whenever their requests began;
    /// responses of the drain are not included.
    pub completed: u64,
    /// Requests that ended without a response.
    pub failed: u64,
    /// Responses that a script rejected, which declared their requests failed; each is included in
    /// `answered`. Absent if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[cfg_attr(test, ts(optional, as = "Option<u64>"))]
    pub rejected: u64,
    /// Requests begun and not ended, at the end of the interval or of the run.
    pub in_flight: u64,
    /// Kept-alive connections that the server had closed and that were replaced.
    pub reconnects: u64,
    /// Requests that were sent again; each of them is included in `sent`.
    #[serde(default)]
    pub resent: u64,
    /// Connections that were closed because more data came on them than the lengths of the
    /// responses announced.
    pub surplus: u64,
    /// Arrivals that fell due when no user was free and that were not begun, if the plan drops such
    /// arrivals; absent if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[cfg_attr(test, ts(optional, as = "Option<u64>"))]
    pub dropped: u64,
    /// Starts of a paced load that fell due while their user still waited for a response; each is
    /// included in the response times. Absent if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[cfg_attr(test, ts(optional, as = "Option<u64>"))]
    pub missed: u64,
    /// Connections that were established.
    pub connections: u64,
    /// Bytes received, inside TLS.
    pub bytes_in: u64,
    /// Bytes sent, inside TLS.
    pub bytes_out: u64,
    /// `completed` per second.
    pub rate: PerSecond,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}
