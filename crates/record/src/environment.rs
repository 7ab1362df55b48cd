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
    /// Memory of the machine in bytes.
    pub memory_bytes: Option<u64>,
    /// The soft limit of open files; `None` also when there is none.
    pub open_files: Option<u64>,
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
