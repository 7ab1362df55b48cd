//! A whole run.

use crate::{
    Check, Counts, CustomMetric, Distribution, Generator, LoadChange, Named, Seconds, Us, Validity,
    Watch,
};
use loadline_record::{ErrorKind, Transient};
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::num::ParseIntError;

/// The whole run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
// A key that came with a later version has its default in the result of an earlier one.
#[serde(default)]
pub struct Summary {
    /// Length of the measured part.
    pub duration_s: Seconds,
    /// How long what was unfinished was waited for behind that.
    pub drained_s: Seconds,
    /// Whether the run was recorded to its end.
    pub complete: bool,
    /// How many processes ran the plan at the same time.
    #[schemars(range(min = 1))]
    pub parts: u32,
    /// What ended the run.
    pub ended: Ended,
    /// The condition of `--abort-on` that ended it, if one did.
    pub aborted_by: Option<String>,
    /// What was found of the run's beginning, with `--warmup auto` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub transient: Option<Transient>,
    /// How the load was changed while it lasted; absent where it was not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<Vec<LoadChange>>"))]
    pub changes: Vec<LoadChange>,
    /// What was counted.
    #[serde(flatten)]
    pub counts: Counts,
    /// Requests without a response when the run ended.
    pub unfinished: Unfinished,
    /// From the intended start to the last byte.
    pub response_time_us: Distribution,
    /// From the send (or the dial, where one was needed) to the last byte.
    pub service_time_us: Distribution,
    /// From the intended start until a connection was free.
    pub blocked_us: Distribution,
    /// From there to the send: delay added by Loadline.
    pub lateness_us: Distribution,
    /// The parts of a request.
    pub phases: Phases,
    /// From the kernel's receive to Loadline's read; in none of the times above.
    pub wakeup_us: Distribution,
    /// From the intended start of an iteration to its last response; of iterations of several
    /// requests only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub iteration_us: Option<Distribution>,
    /// The delay that Loadline added, and what it changes; of an open load with answers only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub own_delay: Option<OwnDelay>,
    /// What a closed-loop tool would have shown of an open load; only there.
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
    /// The requests by name, those with the most requests first; absent where all have one name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<Vec<Named>>"))]
    pub names: Vec<Named>,
    /// The metrics that a script counted by itself, in the order of their names; absent where there
    /// are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(optional, as = "Option<Vec<CustomMetric>>"))]
    pub metrics: Vec<CustomMetric>,
    /// Values that are in none of them, as there was no room; absent where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub metric_values_left_out: Option<u64>,
    /// The conditions of `--check`, in their order.
    pub checks: Vec<Check>,
    /// Whether the result may be believed.
    pub validity: Validity,
    /// What the generator did meanwhile.
    pub generator: Generator,
    /// What to know before believing the figures, the gravest first.
    pub warnings: Vec<Warning>,
    /// Requests that the kernel's clock split, with `--kernel-timestamps` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub kernel_timestamps: Option<KernelTimestamps>,
    /// What was watched in the whole run; absent where nothing was.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub watch: Option<Watch>,
}

/// Counts by status code. Within a document whose keys are buffered, their keys are text.
fn by_status<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<u16, u64>, D::Error> {
    let counts: BTreeMap<String, u64> = Deserialize::deserialize(deserializer)?;
    let counts = counts.into_iter();
    let counts = counts.map(|(status, count)| Ok((status.parse()?, count)));
    let read: Result<_, ParseIntError> = counts.collect();
    read.map_err(D::Error::custom)
}

/// What ended a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// Its duration was over.
    Duration,
    /// The last of its requests ended.
    Requests,
    /// The last of its stages was over.
    Stages,
    /// Its percentiles were as precise as `--until` asked for.
    Precise,
    /// Its checks were decided, as `--until` asked for.
    Decided,
    /// The user stopped it.
    Interrupted,
    /// A check of `--abort-on` failed.
    Aborted,
    /// Its script threw.
    Threw,
    /// A worker was lost.
    Failed,
    /// It was killed, or ended by what this version does not know.
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
    /// Unsent because all connections were in use, by a target slower than at low load.
    pub by_target: u64,
    /// Unsent because the plan allows too few connections, or its script or user ended the load.
    pub by_plan: u64,
    /// Unsent although a connection was free, or could be opened.
    pub by_loadline: u64,
    /// Arrivals that would have been those of a worker that was lost, so that planned = sent +
    /// unsent + lost; absent without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub lost: Option<u64>,
    /// Requests in flight.
    pub in_flight: u64,
    /// How long the oldest had waited since its intended start.
    pub oldest_us: Us,
}

/// The parts of a request.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Phases {
    /// Names resolved, of the connections made.
    pub resolve_us: Distribution,
    /// Connections made.
    pub connect_us: Distribution,
    /// TLS handshakes of the connections made.
    pub tls_us: Distribution,
    /// From the send to the first byte of the response.
    pub first_byte_us: Distribution,
    /// From there to the last byte.
    pub rest_us: Distribution,
}

/// The response time without the delay that Loadline added, and the figures that are not the
/// target's alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct OwnDelay {
    /// The response time without the delay that Loadline added.
    pub response_time_without_us: Distribution,
    /// Figures of the response time that contain more than a tenth, and more than 50 µs, of delay
    /// not caused by the target.
    pub affected: Vec<Affected>,
}

/// A figure with a large part that the target did not cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Affected {
    /// Its name, as in the text report: p99, mean, max.
    pub figure: String,
    /// By which delay.
    pub by: AffectedBy,
    /// With that delay.
    pub with_us: Us,
    /// Without it.
    pub without_us: Us,
}

/// What affected a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum AffectedBy {
    /// The delay that Loadline added.
    OwnDelay,
    /// The wait for one of the connections that the plan allows.
    Plan,
}

/// What a closed-loop tool would have shown of an open load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ClosedLoop {
    /// How many users it would have had: the connections at the beginning.
    #[schemars(range(min = 1))]
    pub users: u64,
    /// Requests that fell due while all of its users would have waited, and that went out on
    /// further connections.
    pub omitted: u64,
    /// Requests that waited longer for a connection than its p99, before they were sent.
    pub waited: u64,
    /// What makes the response time longer than twice what it shows, if it is; else null.
    pub hides: Option<Hides>,
    /// What it would have timed.
    pub shown_us: Distribution,
}

/// What a closed-loop tool would have hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Hides {
    /// The target kept requests waiting.
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
    /// How many there were.
    pub count: u64,
    /// What the first of them said; empty if not known.
    pub example: String,
}

/// The kinds of warnings that this version knows.
const WARNINGS: [&str; 13] = [
    "aborted",
    "few_samples",
    "interrupted",
    "left_out",
    "not_successful",
    "nothing_answered",
    "rate_below_asked",
    "reconnects",
    "resent",
    "script_threw",
    "surplus",
    "unanswered",
    "worker_failed",
];

/// What to know before believing a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Warning {
    /// What it is.
    #[schemars(extend("enum" = WARNINGS))]
    pub kind: String,
    /// What it means and what to do.
    pub text: String,
}

/// Requests that the kernel's clock split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct KernelTimestamps {
    /// One in this many requests of a worker was picked.
    #[schemars(range(min = 1))]
    pub every: u32,
    /// From the intended start to the start.
    pub schedule_wait_us: Distribution,
    /// From there until the request left for the network device.
    pub send_us: Distribution,
    /// From there until the last packet of the response was received.
    pub wire_and_server_us: Distribution,
    /// From there to Loadline's read.
    pub wakeup_us: Distribution,
    /// From there until the response was known to be whole.
    pub parse_us: Distribution,
    /// The last four together: what a clock in user space takes for the time of wire and server.
    pub user_space_us: Distribution,
    /// By how much that overstates it.
    pub overstated_us: Overstated,
}

/// By how much a clock in user space overstates the time of wire and server; null without a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Overstated {
    /// At the median.
    pub p50: Option<Us>,
    /// At the 99th percentile.
    pub p99: Option<Us>,
}
