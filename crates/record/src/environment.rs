//! The machine that a run was made on.
//!
//! Latencies only compare between runs of the same environment, so every saved run carries it. The
//! host's name is left out on purpose: saved runs are passed around.

use crate::Floor;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The machine that a run was made on. What could not be read is `None`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Environment {
    /// The kernel's release, as of `uname -r`.
    pub kernel: Option<String>,
    /// The processor's model name.
    pub cpu_model: Option<String>,
    /// Cores (hardware threads) that are online.
    pub cores: Option<u64>,
    /// Cores that this process may use, by its affinity and its control group.
    pub usable_cores: Option<u64>,
    /// How many cores' time its control group may use; `None` also when that has no limit.
    #[serde(default)]
    pub cpu_quota: Option<f64>,
    /// Memory of the machine in bytes.
    pub memory_bytes: Option<u64>,
    /// The soft limit of open files; `None` also when there is none.
    pub open_files: Option<u64>,
    /// The hard limit, to which a run raises its own; `None` also when there is none.
    #[serde(default)]
    pub open_files_hard: Option<u64>,
    /// Mean number of runnable tasks over the last 1, 5 and 15 minutes.
    pub load_average: Option<[f64; 3]>,
    /// What the kernel's clocks count (`tsc`, `kvm-clock`, …).
    #[serde(default)]
    pub clock_source: Option<String>,
    /// What one reading of the monotonic clock takes, in nanoseconds.
    #[serde(default)]
    pub clock_reading_ns: Option<f64>,
    /// What chooses the cores' frequency (`performance`, `powersave`, …).
    #[serde(default)]
    pub governor: Option<String>,
    /// Whether cores share their parts with a twin (hyper-threading).
    #[serde(default)]
    pub smt: Option<bool>,
    /// Whether it is a virtual machine, whose hypervisor may take time from it.
    #[serde(default)]
    pub is_virtual: Option<bool>,
    /// What limits its connections.
    #[serde(default)]
    pub tcp: TcpSettings,
    /// How this program was built: `release` or `debug`.
    #[serde(default)]
    pub build: Option<String>,
    /// By which flags the compiler made this program: optimisation, target and features of the
    /// processor.
    #[serde(default)]
    pub build_flags: Option<String>,
    /// How this program waits for the instant at which something is due.
    #[serde(default)]
    pub pacing: Option<String>,
    /// What the machine does at best, if that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub floor: Option<Floor>,
}

/// The kernel's settings for TCP that limit a load, named as below `net.ipv4` and `net.core` (see
/// tcp(7) and ip(7)). What could not be read is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct TcpSettings {
    /// The first and the last local port that a connection may be given.
    pub ip_local_port_range: Option<[u64; 2]>,
    /// Whether the port of a closed connection may be given to a new one at once: 0 never,
    /// 1 always, 2 on loopback.
    pub tcp_tw_reuse: Option<u64>,
    /// How many connections may wait for a server on this machine to accept them.
    pub somaxconn: Option<u64>,
    /// How many may be half open at such a server.
    pub tcp_max_syn_backlog: Option<u64>,
    /// The largest receive buffer of a connection, in bytes.
    pub tcp_rmem_max: Option<u64>,
    /// The largest send buffer of a connection, in bytes.
    pub tcp_wmem_max: Option<u64>,
}

impl TcpSettings {
    /// How many connections this machine can have to one address and port of a target, from one of
    /// its own.
    pub fn local_ports(&self) -> Option<u64> {
        let [first, last] = self.ip_local_port_range?;
        Some(last.saturating_add(1).saturating_sub(first))
    }
}
