//! The usage of watched processes and of the machine. CPU is in percent of one core; null stands
//! for figures that could not be read.

use crate::{Number, Seconds};
use loadline_record::watched::{Change, Missing, TcpStates};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The document that `loadline watch -o json` prints, one object per line. Described in
/// docs/guide/watch.md.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[schemars(title = "Usage sample of loadline watch")]
pub struct Watched {
    /// The end of the sample, from the start.
    pub time_s: Seconds,
    /// The machine.
    pub host: WatchedHost,
    /// The processes, each with all its descendants.
    pub trees: Vec<WatchedTree>,
}

/// The machine, and its figures that could not be read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WatchedHost {
    /// The usage of the machine.
    #[serde(flatten)]
    pub usage: HostUsage,
    /// The figures that could not be read.
    pub missing: Vec<Missing>,
}

/// A tree of processes that is watched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WatchedTree {
    /// The usage of the tree.
    #[serde(flatten)]
    pub usage: TreeUsage,
    /// `generator`, or the argument that selected the tree.
    pub name: String,
    /// The program name of the tree's first process.
    pub command: Option<String>,
    /// The process identifier of the tree's first process.
    pub pid: Option<u32>,
    /// The last change of the tree.
    pub change: Option<Change>,
    /// The figures that could not be read.
    pub missing: Vec<Missing>,
}

/// The usage in one interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct UsageSample {
    /// The length of the sample, which differs from the length of the interval by a few
    /// milliseconds.
    pub length_s: Seconds,
    /// The machine.
    pub host: HostUsage,
    /// The processes, each with all its descendants; the generator is the first.
    pub trees: Vec<TreeSample>,
}

/// A tree of processes in one interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TreeSample {
    /// The usage of the tree.
    #[serde(flatten)]
    pub usage: TreeUsage,
    /// `generator`, or the argument that selected the tree.
    pub name: String,
}

/// The usage of a tree of processes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
// As of crate::Summary: a key of a later version has its default.
#[serde(default)]
pub struct TreeUsage {
    /// The number of processes at the end.
    pub processes: u32,
    /// Time on a core, user and system, child processes included.
    #[schemars(range(min = 0.0))]
    pub cpu_percent: Option<f64>,
    /// Resident memory; pages that processes share count in each of them.
    pub rss_bytes: Option<u64>,
    /// Resident memory with shared pages divided among the processes; read every five seconds at
    /// most.
    pub pss_bytes: Option<u64>,
    /// Threads.
    pub threads: Option<u64>,
    /// Open files.
    pub open_files: Option<u64>,
    /// Open sockets; one that processes share counts once.
    pub sockets: Option<u64>,
    /// TCP sockets by state.
    pub tcp: Option<TcpStates>,
    /// Voluntary context switches per second: a thread gave up its core to wait.
    #[schemars(range(min = 0.0))]
    pub voluntary_switches_per_s: Option<f64>,
    /// Involuntary context switches per second: a core was taken from a thread.
    #[schemars(range(min = 0.0))]
    pub involuntary_switches_per_s: Option<f64>,
}

/// The usage of the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
// As of crate::Summary: a key of a later version has its default.
#[serde(default)]
pub struct HostUsage {
    /// Time that the cores were busy, all of them together.
    #[schemars(range(min = 0.0))]
    pub cpu_percent: Option<f64>,
    /// Time that a hypervisor gave to other machines instead.
    #[schemars(range(min = 0.0))]
    pub steal_percent: Option<f64>,
    /// Memory in use: all but the available memory.
    pub memory_used_bytes: Option<u64>,
    /// The share of the time in which some task waited for the CPU.
    #[schemars(range(min = 0.0))]
    pub cpu_pressure_percent: Option<f64>,
    /// The share of the time in which some task waited for memory.
    #[schemars(range(min = 0.0))]
    pub memory_pressure_percent: Option<f64>,
    /// The share of the time in which some task waited for a disk.
    #[schemars(range(min = 0.0))]
    pub io_pressure_percent: Option<f64>,
    /// Bytes received through the interface, by all programs.
    #[schemars(range(min = 0.0))]
    pub net_in_bytes_per_s: Option<f64>,
    /// Bytes sent through the interface, by all programs.
    #[schemars(range(min = 0.0))]
    pub net_out_bytes_per_s: Option<f64>,
    /// Packets received through the interface, by all programs.
    #[schemars(range(min = 0.0))]
    pub net_in_packets_per_s: Option<f64>,
    /// Packets sent through the interface, by all programs.
    #[schemars(range(min = 0.0))]
    pub net_out_packets_per_s: Option<f64>,
    /// The usage of the link's busier direction, in percent of its speed.
    #[schemars(range(min = 0.0))]
    pub link_percent: Option<f64>,
    /// TCP segments that were retransmitted.
    pub retransmits: Option<u64>,
    /// Connections refused because a listener's queue was full.
    pub listen_overflows: Option<u64>,
}

/// The usage in the whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Watch {
    /// The machine.
    pub host: Host,
    /// The processes, each with all its descendants; the generator is the first.
    pub trees: Vec<Tree>,
}

/// The machine in the whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Host {
    /// The number of cores that are online.
    pub cores: Option<u64>,
    /// The memory of the machine.
    pub memory_bytes: Option<u64>,
    /// The network interface that leads to the target.
    pub interface: Option<String>,
    /// The speed of the interface's link; null if it has none.
    pub link_bits_per_s: Option<u64>,
    /// Time that the cores were busy, all of them together.
    pub cpu_percent: MeanAndMax,
    /// Time that a hypervisor gave to other machines instead.
    pub steal_percent: MeanAndMax,
    /// Memory in use: all but the available memory.
    pub memory_used_bytes: MeanAndMax,
    /// The share of the time in which some task waited for the CPU.
    pub cpu_pressure_percent: MeanAndMax,
    /// The share of the time in which some task waited for memory.
    pub memory_pressure_percent: MeanAndMax,
    /// The share of the time in which some task waited for a disk.
    pub io_pressure_percent: MeanAndMax,
    /// Bytes received through the interface, by all programs.
    pub net_in_bytes_per_s: MeanAndMax,
    /// Bytes sent through the interface, by all programs.
    pub net_out_bytes_per_s: MeanAndMax,
    /// Packets received through the interface, by all programs.
    pub net_in_packets_per_s: MeanAndMax,
    /// Packets sent through the interface, by all programs.
    pub net_out_packets_per_s: MeanAndMax,
    /// The usage of the link's busier direction, in percent of its speed.
    pub link_percent: MeanAndMax,
    /// TCP segments that were retransmitted.
    pub retransmits: Option<u64>,
    /// Connections refused because a listener's queue was full.
    pub listen_overflows: Option<u64>,
    /// The figures that could not be read.
    pub missing: Vec<Missing>,
}

/// A tree of processes in the whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Tree {
    /// `generator`, or the argument that selected the tree, after the name of its machine.
    pub name: String,
    /// The agent on whose machine the tree is; absent if it is on this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub machine: Option<String>,
    /// The program name of the tree's first process.
    pub command: Option<String>,
    /// The process identifier of the tree's first process.
    pub pid: Option<u32>,
    /// The total time on a core, child processes included.
    pub cpu_s: Seconds,
    /// Time on a core, user and system, children included.
    pub cpu_percent: MeanAndMax,
    /// Resident memory; pages that processes share count in each of them.
    pub rss_bytes: MeanAndMax,
    /// Resident memory with shared pages divided among the processes.
    pub pss_bytes: MeanAndMax,
    /// Threads.
    pub threads: MeanAndMax,
    /// Open files.
    pub open_files: MeanAndMax,
    /// Open sockets; one that processes share counts once.
    pub sockets: MeanAndMax,
    /// The changes of the tree, at most a hundred.
    pub events: Vec<TreeEvent>,
    /// The number of changes.
    pub event_count: u64,
    /// The figures that could not be read.
    pub missing: Vec<Missing>,
}

/// The mean over a run, and the highest value of one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MeanAndMax {
    /// The mean.
    #[schemars(range(min = 0.0))]
    pub mean: Option<f64>,
    /// The highest.
    pub max: Option<Number>,
}

/// A change of a watched tree.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TreeEvent {
    /// The end of the interval in which the change was seen, from the start of the measured part.
    pub at_s: Seconds,
    /// The kind of change.
    pub change: Change,
    /// The first process after the change.
    pub pid: Option<u32>,
}
