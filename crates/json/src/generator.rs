//! What the generator and its machine did meanwhile.

use crate::{Distribution, Seconds, Share, Us};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What the generator did meanwhile.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Generator {
    /// Its threads.
    pub workers: Vec<Worker>,
    /// Requests in flight on average.
    #[serde(default)]
    pub in_flight: InFlight,
    /// The whole machine.
    pub host: HostCounters,
    /// The pattern in which requests of an open load were due and sent; not in a closed one.
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
    /// Its number.
    pub worker: u32,
    /// Seconds that passed.
    pub wall_s: Seconds,
    /// The share of them in which it computed.
    pub cpu: Share,
    /// In which it polled, because the next deadline was too near to sleep; not in `cpu`.
    pub polled: Share,
    /// In which it waited for the CPU.
    pub queued: Share,
    /// In which its loop stalled.
    pub stood_still: Share,
    /// How long the iterations of its loop took.
    pub turns_us: Distribution,
    /// Requests with a whole response.
    pub answered: u64,
    /// Connections that came up.
    pub connections: u64,
    /// Bytes received, inside TLS.
    pub bytes_in: u64,
    /// Bytes sent, inside TLS.
    pub bytes_out: u64,
    /// The cores on which its thread was at the ends of intervals.
    pub cores: BTreeSet<u32>,
    /// How late the kernel might let its timers fire.
    pub timer_slack_us: Option<Us>,
}

/// Requests in flight on average.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct InFlight {
    /// The time that each was in flight, until its response was read, over that of the run.
    #[schemars(range(min = 0.0))]
    pub counted: f64,
    /// Rate times service time.
    #[schemars(range(min = 0.0))]
    pub by_littles_law: f64,
}

/// The whole machine, from the end of the warm-up on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
// As of crate::Summary: a key of a later version has its default.
#[serde(default)]
pub struct HostCounters {
    /// The share of processor time that the hypervisor gave to others.
    pub steal: Share,
    /// The share of TCP segments that were sent again.
    pub retransmitted: Share,
    /// Connections that were reset.
    pub resets: u64,
    /// Connections refused by a full queue of a listener.
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
    /// The windows in which requests were counted.
    pub window_s: Seconds,
    /// The share that was sent in another window than the one in which it was due and could be
    /// sent.
    pub displaced: Share,
    /// How much the windows' counts vary as due: variance over mean.
    #[schemars(range(min = 0.0))]
    pub dispersion_due: Option<f64>,
    /// The same as sent.
    #[schemars(range(min = 0.0))]
    pub dispersion_sent: Option<f64>,
    /// Where the dispersion of this many windows of a Poisson process lies; null of other arrivals.
    pub dispersion_of_poisson: Option<Band>,
}

/// Between which bounds a figure lies.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Band {
    /// The lower bound.
    #[schemars(range(min = 0.0))]
    pub lower: f64,
    /// The upper bound.
    #[schemars(range(min = 0.0))]
    pub upper: f64,
    /// In which share of such runs.
    pub level: Share,
}
