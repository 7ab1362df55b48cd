//! What was watched of processes and of the machine. CPU is in percent of one core; what could not
//! be read is null.

use crate::{Number, Seconds};
use loadline_record::watched::{Change, Missing, TcpStates};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What `loadline watch -o json` prints, one object to a line. Described in docs/guide/watch.md.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[schemars(title = "Look of loadline watch")]
pub struct Watched {
    /// The end of the look, from the start.
    pub time_s: Seconds,
    /// The machine.
    pub host: WatchedHost,
    /// The processes, each with all that descend from it.
    pub trees: Vec<WatchedTree>,
}

/// The machine, and what could not be read of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WatchedHost {
    /// What was used.
    #[serde(flatten)]
    pub usage: HostUsage,
    /// What could not be read.
    pub missing: Vec<Missing>,
}

/// A tree of processes that is watched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WatchedTree {
    /// What was used.
    #[serde(flatten)]
    pub usage: TreeUsage,
    /// `generator`, or what it was asked for by.
    pub name: String,
    /// The name of its first process's program.
    pub command: Option<String>,
    /// Its first process.
    pub pid: Option<u32>,
    /// What happened to it.
    pub change: Option<Change>,
    /// What could not be read.
    pub missing: Vec<Missing>,
}

/// What was watched in an interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Look {
    /// Its length, which is that of the interval but for some milliseconds.
    pub length_s: Seconds,
    /// The machine.
    pub host: HostUsage,
    /// The processes, each with all that descend from it; the generator is the first.
    pub trees: Vec<TreeLook>,
}

/// A tree of processes in one interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TreeLook {
    /// What was used.
    #[serde(flatten)]
    pub usage: TreeUsage,
    /// `generator`, or what it was asked for by.
    pub name: String,
}

/// What a tree of processes used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
// As of crate::Summary: a key of a later version has its default.
#[serde(default)]
pub struct TreeUsage {
    /// How many processes there were at the end.
    pub processes: u32,
    /// Time on a core, user and system, children included.
    #[schemars(range(min = 0.0))]
    pub cpu_percent: Option<f64>,
    /// Resident memory; pages that processes share count in each of them.
    pub rss_bytes: Option<u64>,
    /// The same with shared pages divided among them; read every five seconds at most.
    pub pss_bytes: Option<u64>,
    /// Threads.
    pub threads: Option<u64>,
    /// Open files.
    pub open_files: Option<u64>,
    /// Open sockets; one that processes share counts once.
    pub sockets: Option<u64>,
    /// TCP sockets by state.
    pub tcp: Option<TcpStates>,
    /// How often a second a thread gave its core away to wait.
    #[schemars(range(min = 0.0))]
    pub voluntary_switches_per_s: Option<f64>,
    /// How often a second a core was taken from a thread.
    #[schemars(range(min = 0.0))]
    pub involuntary_switches_per_s: Option<f64>,
}

/// What the machine used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
// As of crate::Summary: a key of a later version has its default.
#[serde(default)]
pub struct HostUsage {
    /// Time that all cores were busy.
    #[schemars(range(min = 0.0))]
    pub cpu_percent: Option<f64>,
    /// Time that a hypervisor gave to others instead.
    #[schemars(range(min = 0.0))]
    pub steal_percent: Option<f64>,
    /// Memory that is not available.
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
    /// Bytes that went out through it.
    #[schemars(range(min = 0.0))]
    pub net_out_bytes_per_s: Option<f64>,
    /// Packets that came through it.
    #[schemars(range(min = 0.0))]
    pub net_in_packets_per_s: Option<f64>,
    /// Packets that went out through it.
    #[schemars(range(min = 0.0))]
    pub net_out_packets_per_s: Option<f64>,
    /// The busier of its two ways, of the link's speed.
    #[schemars(range(min = 0.0))]
    pub link_percent: Option<f64>,
    /// TCP segments sent again.
    pub retransmits: Option<u64>,
    /// Connections refused because a listener's queue was full.
    pub listen_overflows: Option<u64>,
}

/// What was watched in the whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Watch {
    /// The machine.
    pub host: Host,
    /// The processes, each with all that descend from it; the generator is the first.
    pub trees: Vec<Tree>,
}

/// The machine in the whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Host {
    /// Cores that are online.
    pub cores: Option<u64>,
    /// Memory that the machine has.
    pub memory_bytes: Option<u64>,
    /// The network interface that leads to the target.
    pub interface: Option<String>,
    /// The speed of its link, where it has one.
    pub link_bits_per_s: Option<u64>,
    /// Time that all cores were busy.
    pub cpu_percent: MeanAndMax,
    /// Time that a hypervisor gave to others instead.
    pub steal_percent: MeanAndMax,
    /// Memory that is not available.
    pub memory_used_bytes: MeanAndMax,
    /// The share of the time in which some task waited for the CPU.
    pub cpu_pressure_percent: MeanAndMax,
    /// The share of the time in which some task waited for memory.
    pub memory_pressure_percent: MeanAndMax,
    /// The share of the time in which some task waited for a disk.
    pub io_pressure_percent: MeanAndMax,
    /// Bytes received through the interface, by all programs.
    pub net_in_bytes_per_s: MeanAndMax,
    /// Bytes that went out through it.
    pub net_out_bytes_per_s: MeanAndMax,
    /// Packets that came through it.
    pub net_in_packets_per_s: MeanAndMax,
    /// Packets that went out through it.
    pub net_out_packets_per_s: MeanAndMax,
    /// The busier of its two ways, of the link's speed.
    pub link_percent: MeanAndMax,
    /// TCP segments sent again.
    pub retransmits: Option<u64>,
    /// Connections refused because a listener's queue was full.
    pub listen_overflows: Option<u64>,
    /// What could not be read.
    pub missing: Vec<Missing>,
}

/// A tree of processes in the whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Tree {
    /// `generator`, or what it was asked for by.
    pub name: String,
    /// The name of its first process's program.
    pub command: Option<String>,
    /// Its first process.
    pub pid: Option<u32>,
    /// Time on a core in all, children included.
    pub cpu_s: Seconds,
    /// Time on a core, user and system, children included.
    pub cpu_percent: MeanAndMax,
    /// Resident memory; pages that processes share count in each of them.
    pub rss_bytes: MeanAndMax,
    /// The same with shared pages divided among them.
    pub pss_bytes: MeanAndMax,
    /// Threads.
    pub threads: MeanAndMax,
    /// Open files.
    pub open_files: MeanAndMax,
    /// Open sockets; one that processes share counts once.
    pub sockets: MeanAndMax,
    /// What happened to it, at most a hundred events.
    pub events: Vec<TreeEvent>,
    /// How many events there were.
    pub event_count: u64,
    /// What could not be read.
    pub missing: Vec<Missing>,
}

/// The mean over a run, and the highest of one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MeanAndMax {
    /// The mean.
    #[schemars(range(min = 0.0))]
    pub mean: Option<f64>,
    /// The highest.
    pub max: Option<Number>,
}

/// What happened to a tree.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TreeEvent {
    /// The end of the interval in which it was seen, from the start of the measured part.
    pub at_s: Seconds,
    /// What it was.
    pub change: Change,
    /// Its first process after it.
    pub pid: Option<u32>,
}
