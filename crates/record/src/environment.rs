//! The machine of a run.
//!
//! Times can only be compared between runs of the same environment, so every saved run contains it.
//! The host's name is excluded on purpose, because saved runs are shared.

use crate::Floor;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The machine of a run. A value that could not be read is `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Environment {
    /// The kernel's release, as of `uname -r`.
    pub kernel: Option<String>,
    /// The model name of the processor.
    pub cpu_model: Option<String>,
    /// The cores (hardware threads) that are online.
    pub cores: Option<u64>,
    /// The cores that this process may use, by its affinity and its control group.
    pub usable_cores: Option<u64>,
    /// The CPU limit of its control group, in cores; `None` also without a limit.
    #[serde(default)]
    pub cpu_quota: Option<f64>,
    /// The memory of the machine in bytes.
    pub memory_bytes: Option<u64>,
    /// The soft limit of open files; `None` also without a limit.
    pub open_files: Option<u64>,
    /// The hard limit of open files, to which a run raises its own; `None` also without a limit.
    #[serde(default)]
    pub open_files_hard: Option<u64>,
    /// The mean number of runnable tasks over the last 1, 5 and 15 minutes.
    pub load_average: Option<[f64; 3]>,
    /// The source of the kernel's clocks (`tsc`, `kvm-clock`, …).
    #[serde(default)]
    pub clock_source: Option<String>,
    /// The time to read the monotonic clock, in nanoseconds.
    #[serde(default)]
    pub clock_reading_ns: Option<f64>,
    /// The governor of the cores' frequency (`performance`, `powersave`, …).
    #[serde(default)]
    pub governor: Option<String>,
    /// True if cores are hardware threads that share a physical core (hyper-threading).
    #[serde(default)]
    pub smt: Option<bool>,
    /// True for a virtual machine, whose hypervisor may take time from it.
    #[serde(default)]
    pub is_virtual: Option<bool>,
    /// The limits of its connections.
    #[serde(default)]
    pub tcp: TcpSettings,
    /// The build profile of this program: `release` or `debug`.
    #[serde(default)]
    pub build: Option<String>,
    /// The compiler flags of this program: optimisation, target and features of the processor.
    #[serde(default)]
    pub build_flags: Option<String>,
    /// The method by which this program waits for the instant of a send.
    #[serde(default)]
    pub pacing: Option<String>,
    /// The best performance of the machine, if it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub floor: Option<Floor>,
}

/// The kernel's settings for TCP that limit a load, named as below `net.ipv4` and `net.core` (see
/// tcp(7) and ip(7)). A value that could not be read is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TcpSettings {
    /// The first and the last local port for connections.
    pub ip_local_port_range: Option<[u64; 2]>,
    /// The rule for reusing the port of a closed connection at once: 0 never, 1 always, 2 on
    /// loopback.
    pub tcp_tw_reuse: Option<u64>,
    /// The maximum number of connections that wait to be accepted by a server on this machine.
    pub somaxconn: Option<u64>,
    /// The maximum number of half-open connections of such a server.
    pub tcp_max_syn_backlog: Option<u64>,
    /// The largest receive buffer of a connection, in bytes.
    pub tcp_rmem_max: Option<u64>,
    /// The largest send buffer of a connection, in bytes.
    pub tcp_wmem_max: Option<u64>,
}

impl TcpSettings {
    /// Returns the maximum number of connections from one address of this machine to one address
    /// and port of a target.
    pub fn local_ports(&self) -> Option<u64> {
        let [first, last] = self.ip_local_port_range?;
        Some(last.saturating_add(1).saturating_sub(first))
    }
}
