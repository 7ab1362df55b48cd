//! The summary of a whole run.

use crate::{
    Check, Counts, CustomMetric, Distribution, ErrorResponse, Exception, Generator, LoadChange,
    Named, Note, Seconds, TracedRequest, Us, Validity, Watch,
};
use loadline_record::{ErrorKind, Transient};
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::num::ParseIntError;

/// The summary of a whole run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
// A key that a later version added has its default in results of earlier versions.
#[serde(default)]
pub struct Summary {
    /// Length of the measured part.
    pub duration_s: Seconds,
    /// The time after the measured part in which unfinished requests were waited for.
    pub drained_s: Seconds,
    /// True if the run was recorded to its end.
    pub complete: bool,
    /// The number of processes that ran the plan at the same time.
    #[schemars(range(min = 1))]
    pub parts: u32,
    /// The reason why the run ended.
    pub ended: Ended,
    /// The condition of `--abort-on`, or the threshold of the script, that ended the run; null if
    /// none did.
    pub aborted_by: Option<String>,
    /// The transient at the beginning of the run; only with `--warmup auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub transient: Option<Transient>,
    /// The changes of the load during the run; absent if there were none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<Vec<LoadChange>>"))]
    pub changes: Vec<LoadChange>,
    /// The notes that people wrote while the run lasted, in the order of writing; absent if there
    /// are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<Vec<Note>>"))]
    pub notes: Vec<Note>,
    /// The counts of the whole run.
    #[serde(flatten)]
    pub counts: Counts,
    /// Requests without a response when the run ended.
    pub unfinished: Unfinished,
    /// The response times: from the intended start to the last byte.
    pub response_time_us: Distribution,
    /// The service times: from the send (or the dial, if one was needed) to the last byte.
    pub service_time_us: Distribution,
    /// The waits for a free connection, from the intended start.
    pub blocked_us: Distribution,
    /// The delay added by Loadline: from the moment that a connection was free to the send.
    pub lateness_us: Distribution,
    /// The phases of a request.
    pub phases: Phases,
    /// The wake-up delays: from the kernel's receive to Loadline's read. They are part of none of
    /// the times above.
    pub wakeup_us: Distribution,
    /// The durations of iterations, from the intended start to the last response; only of
    /// iterations with several requests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub iteration_us: Option<Distribution>,
    /// The delay that Loadline added and its effect; only of an open load with responses.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub own_delay: Option<OwnDelay>,
    /// The times that a closed-loop tool would have shown; only of an open load.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub closed_loop: Option<ClosedLoop>,
    /// Responses by status code.
    #[serde(deserialize_with = "by_status")]
    pub statuses: BTreeMap<u16, u64>,
    /// Failures by kind.
    #[schemars(
        with = "BTreeMap<String, Failures>",
        extend("propertyNames" = { "enum": ErrorKind::ALL.map(ErrorKind::name) })
    )]
    #[cfg_attr(test, ts(as = "BTreeMap<String, Failures>"))]
    pub errors: BTreeMap<ErrorKind, Failures>,
    /// Responses that report errors by their status, or that a script rejected: the first one of
    /// each name and status, the most severe statuses first, at most 20. Absent if there are none,
    /// or if they were not kept: they are kept for the live page (`--web`), and of locustfiles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<Vec<ErrorResponse>>"))]
    pub error_responses: Vec<ErrorResponse>,
    /// Exceptions that nothing in a script handled, of iterations of k6 or tasks of a locustfile:
    /// equal ones together, the earliest first, at most 20. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<Vec<Exception>>"))]
    pub exceptions: Vec<Exception>,
    /// The number of exceptions that are not among these for lack of room; absent if there are
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub exceptions_left_out: Option<u64>,
    /// The requests by name, the name with the most requests first; absent if all have one name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<Vec<Named>>"))]
    pub names: Vec<Named>,
    /// The metrics that a script counted by itself, in the order of their names; absent if there
    /// are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<Vec<CustomMetric>>"))]
    pub metrics: Vec<CustomMetric>,
    /// The number of metric values that were dropped for lack of room; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub metric_values_left_out: Option<u64>,
    /// The slowest requests that carried a sampled trace, the slowest first; absent without
    /// `--traceparent`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<Vec<TracedRequest>>"))]
    pub slowest_traces: Vec<TracedRequest>,
    /// The conditions of `--check`, in their order.
    pub checks: Vec<Check>,
    /// The validity of the result.
    pub validity: Validity,
    /// The generator during the run.
    pub generator: Generator,
    /// Warnings about the figures, the most severe first.
    pub warnings: Vec<Warning>,
    /// The requests whose times were split by the kernel's timestamps; only with
    /// `--kernel-timestamps`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub kernel_timestamps: Option<KernelTimestamps>,
    /// The usage of the watched processes and of the machine in the whole run; absent if nothing
    /// was watched.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub watch: Option<Watch>,
}

/// Reads counts by status code. A document whose keys are buffered has them as text.
fn by_status<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<u16, u64>, D::Error> {
    let counts: BTreeMap<String, u64> = Deserialize::deserialize(deserializer)?;
    let counts = counts.into_iter();
    let counts = counts.map(|(status, count)| Ok((status.parse()?, count)));
    let read: Result<_, ParseIntError> = counts.collect();
    read.map_err(D::Error::custom)
}

/// The reason why a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// The duration was over.
    Duration,
    /// The last request ended.
    Requests,
    /// The last stage was over.
    Stages,
    /// The percentiles were as precise as `--until` requires.
    Precise,
    /// The checks were decided, as `--until` requires.
    Decided,
    /// The user stopped it.
    Interrupted,
    /// A check of `--abort-on`, or a threshold of the script, failed.
    Aborted,
    /// The script threw an exception.
    Threw,
    /// A worker was lost.
    Failed,
    /// The process was killed, or the reason is one that this version does not know.
    #[default]
    #[serde(other)]
    Unknown,
}

/// Requests without a response when the run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Unfinished {
    /// Arrivals that were never sent.
    pub unsent: u64,
    /// Unsent because all connections were in use by a target that was slower than at low load.
    pub by_target: u64,
    /// Unsent because the plan allows too few connections, or its script or user ended the load.
    pub by_plan: u64,
    /// Unsent although a connection was free, or could be opened.
    pub by_loadline: u64,
    /// Arrivals of a worker that was lost: planned = sent + unsent + lost. Absent if there are
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub lost: Option<u64>,
    /// Requests in flight.
    pub in_flight: u64,
    /// The longest wait of these requests, from their intended start.
    pub oldest_us: Us,
}

/// The phases of a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Phases {
    /// Name resolutions for new connections.
    pub resolve_us: Distribution,
    /// TCP connects of new connections.
    pub connect_us: Distribution,
    /// TLS handshakes of new connections.
    pub tls_us: Distribution,
    /// The times from the send to the first byte of the response.
    pub first_byte_us: Distribution,
    /// The times from the first byte to the last byte of the response.
    pub rest_us: Distribution,
}

/// The response time without the delay that Loadline added, and the figures that the target did not
/// cause alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct OwnDelay {
    /// The response time without the delay that Loadline added.
    pub response_time_without_us: Distribution,
    /// Figures of the response time that contain more than a tenth, and more than 50 µs, of delay
    /// not caused by the target.
    pub affected: Vec<Affected>,
}

/// A figure that contains much delay not caused by the target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Affected {
    /// The name of the figure, as in the text report: p99, mean, max.
    pub figure: String,
    /// The kind of delay.
    pub by: AffectedBy,
    /// The figure with that delay.
    pub with_us: Us,
    /// The figure without that delay.
    pub without_us: Us,
}

/// The kind of delay in an affected figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum AffectedBy {
    /// The delay that Loadline added.
    OwnDelay,
    /// The wait for one of the connections that the plan allows.
    Plan,
}

/// The times that a closed-loop tool would have shown of an open load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ClosedLoop {
    /// The number of users of that tool: the connections at the beginning.
    #[schemars(range(min = 1))]
    pub users: u64,
    /// Requests that fell due while all of these users would have waited, and that were sent on
    /// further connections.
    pub omitted: u64,
    /// Requests that waited longer for a connection, before they were sent, than the tool's p99.
    pub waited: u64,
    /// The main cause of the difference, if the response time is longer than twice the time that
    /// the tool shows; else null.
    pub hides: Option<Hides>,
    /// The times that the tool would have measured.
    pub shown_us: Distribution,
}

/// The effect that a closed-loop tool would have hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Hides {
    /// The target made requests wait.
    Stall,
    /// Delay that Loadline added.
    Lateness,
    /// The wait for one of the connections that the plan allows.
    Plan,
}

/// Failures of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Failures {
    /// The number of failures.
    pub count: u64,
    /// The message of the first failure; empty if unknown.
    pub example: String,
}

/// The kinds of warnings of this version.
const WARNINGS: [&str; 16] = [
    "aborted",
    "few_samples",
    "interrupted",
    "left_out",
    "many_failed",
    "not_delivered",
    "not_successful",
    "nothing_answered",
    "odd_agent",
    "rate_below_asked",
    "reconnects",
    "resent",
    "script_threw",
    "surplus",
    "unanswered",
    "worker_failed",
];

/// A warning about the figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Warning {
    /// The kind of warning.
    #[schemars(extend("enum" = WARNINGS))]
    pub kind: String,
    /// The meaning, and what to do.
    pub text: String,
}

/// The requests whose times were split by the kernel's timestamps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct KernelTimestamps {
    /// The sampling interval: one in this many requests of a worker was selected.
    #[schemars(range(min = 1))]
    pub every: u32,
    /// The times from the intended start to the start.
    pub schedule_wait_us: Distribution,
    /// The times from the start until the request left for the network device.
    pub send_us: Distribution,
    /// The times from there until the last packet of the response was received.
    pub wire_and_server_us: Distribution,
    /// The times from there to Loadline's read.
    pub wakeup_us: Distribution,
    /// The times from there until the response was known to be complete.
    pub parse_us: Distribution,
    /// The sums of the last four: the time of wire and server as a clock in user space measures it.
    pub user_space_us: Distribution,
    /// The excess of `user_space_us` over `wire_and_server_us`.
    pub overstated_us: Overstated,
}

/// The time by which a clock in user space overstates the time of wire and server; null without a
/// sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Overstated {
    /// The excess at the median.
    pub p50: Option<Us>,
    /// The excess at the 99th percentile.
    pub p99: Option<Us>,
}
