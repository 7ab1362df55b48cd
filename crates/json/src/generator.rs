//! The generator and its machine during the run.

use crate::{Distribution, Seconds, Share, Us};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The generator during the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Generator {
    /// The threads of the generator.
    pub workers: Vec<Worker>,
    /// The mean number of requests in flight.
    #[serde(default)]
    pub in_flight: InFlight,
    /// The whole machine of the generator.
    pub host: HostCounters,
    /// The pattern in which the requests of an open load were due and sent; absent in a closed
    /// load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub arrivals: Option<Arrivals>,
}

/// A thread that runs users.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
// As of crate::Summary: a key of a later version has its default.
#[serde(default)]
pub struct Worker {
    /// The number of the worker.
    pub worker: u32,
    /// The elapsed time, in seconds.
    pub wall_s: Seconds,
    /// The share of `wall_s` in which the worker computed.
    pub cpu: Share,
    /// The share of `wall_s` in which it polled, because the next deadline was too near to sleep;
    /// not part of `cpu`.
    pub polled: Share,
    /// The share of `wall_s` in which it waited for the CPU.
    pub queued: Share,
    /// The share of `wall_s` in which its event loop stalled.
    pub stood_still: Share,
    /// The durations of the iterations of its event loop.
    pub turns_us: Distribution,
    /// Requests with a whole response.
    pub answered: u64,
    /// Connections that were established.
    pub connections: u64,
    /// Bytes received, inside TLS.
    pub bytes_in: u64,
    /// Bytes sent, inside TLS.
    pub bytes_out: u64,
    /// The cores that its thread was on at the ends of the intervals.
    pub cores: BTreeSet<u32>,
    /// The longest delay with which the kernel may let its timers fire.
    pub timer_slack_us: Option<Us>,
}

/// The mean number of requests in flight, computed in two ways.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct InFlight {
    /// The sum of the times that each request was in flight, until its response was read, divided
    /// by the duration of the run.
    #[schemars(range(min = 0.0))]
    pub counted: f64,
    /// The rate multiplied by the mean service time.
    #[schemars(range(min = 0.0))]
    pub by_littles_law: f64,
}

/// The whole machine, from the end of the warm-up on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
// As of crate::Summary: a key of a later version has its default.
#[serde(default)]
pub struct HostCounters {
    /// The share of CPU time that the hypervisor gave to other machines.
    pub steal: Share,
    /// The share of TCP segments that were retransmitted.
    pub retransmitted: Share,
    /// Connections that were reset.
    pub resets: u64,
    /// Connections refused because a listener's queue was full.
    pub listen_overflows: u64,
    /// Packets dropped before TCP saw them.
    pub softnet_drops: u64,
    /// The share of the time in which some task waited for the CPU.
    pub cpu_pressure: Share,
}

/// The pattern in which requests of an open load were due and sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Arrivals {
    /// The length of the windows in which requests were counted.
    pub window_s: Seconds,
    /// The share of requests sent in another window than the one in which they were due and could
    /// be sent.
    pub displaced: Share,
    /// The dispersion of the windows' counts of requests due: variance over mean.
    #[schemars(range(min = 0.0))]
    pub dispersion_due: Option<f64>,
    /// The dispersion of the windows' counts of requests sent.
    #[schemars(range(min = 0.0))]
    pub dispersion_sent: Option<f64>,
    /// The band in which the dispersion of as many windows of a Poisson process lies; null for
    /// other arrivals.
    pub dispersion_of_poisson: Option<Band>,
}

/// The bounds of a figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Band {
    /// The lower bound.
    #[schemars(range(min = 0.0))]
    pub lower: f64,
    /// The upper bound.
    #[schemars(range(min = 0.0))]
    pub upper: f64,
    /// The share of such runs whose figure lies within the bounds.
    pub level: Share,
}
