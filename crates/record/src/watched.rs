//! The results of watching: the usage of processes and the host in one stretch of time.
//!
//! A [`Watched`] is one reading of everything that is watched; its amounts are those since the
//! previous reading. Each watched thing is a *tree*: one or more processes with all their
//! descendants. A figure that could not be read is `None`, and named in a list of [`Missing`]. A
//! [`WatchHistory`] stores the numbers of every reading, and the events of the trees.

mod history;
mod lengthen;

pub use history::{TreeHistory, WatchEvent, WatchHistory, WatchRow};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of the tree of the load generator itself.
pub const GENERATOR: &str = "generator";

/// Everything that is watched, over one stretch of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Watched {
    /// The length of the stretch, in nanoseconds.
    pub length_ns: u64,
    /// The machine.
    pub host: WatchedHost,
    /// The trees of processes, in the order in which they were requested.
    pub trees: Vec<WatchedTree>,
}

/// The machine that is watched.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WatchedHost {
    /// The cores that are online.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<u64>,
    /// The memory of the machine in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// The network interface that leads to the target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
    /// The speed of its link in bits per second, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_bits_per_s: Option<u64>,
    /// The usage.
    #[serde(flatten)]
    pub usage: HostUsage,
    /// The figures that could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Missing>,
}

/// The usage of a machine in one stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HostUsage {
    /// The time that all cores together were busy, in nanoseconds, without stolen time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
    /// The time that a hypervisor gave to other machines while this one was ready to run, in
    /// nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steal_ns: Option<u64>,
    /// The memory that is not available, at the end of the stretch, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_used_bytes: Option<u64>,
    /// The time in which tasks waited for a resource.
    #[serde(flatten)]
    pub pressure: Pressure,
    /// The bytes and packets of the interface.
    #[serde(flatten)]
    pub traffic: Option<Traffic>,
    /// The TCP segments that were sent again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retransmits: Option<u64>,
    /// The connections refused because a listener's queue was full.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listen_overflows: Option<u64>,
}

/// The time in which tasks waited for a resource, in nanoseconds (pressure stall information).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pressure {
    /// The time in which at least one task waited for the CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_pressure_ns: Option<u64>,
    /// The time in which at least one task waited for memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_pressure_ns: Option<u64>,
    /// The time in which at least one task waited for a disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io_pressure_ns: Option<u64>,
}

/// The traffic of an interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// Bytes received.
    pub net_in_bytes: u64,
    /// Bytes sent.
    pub net_out_bytes: u64,
    /// Packets received.
    pub net_in_packets: u64,
    /// Packets sent.
    pub net_out_packets: u64,
}

/// A tree of processes that is watched.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WatchedTree {
    /// The name under which it was requested; [`GENERATOR`] for the generator itself.
    pub name: String,
    /// The machine that it is on; `None` if it is this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// The name of the program of its first process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The first process; after its end the last one that existed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// The event of the tree in this stretch, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
    /// The usage.
    #[serde(flatten)]
    pub usage: TreeUsage,
    /// The figures that could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Missing>,
}

/// The usage of a tree in one stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TreeUsage {
    /// The processes that are alive at the end of the stretch; 0 once the tree has ended.
    pub processes: u32,
    /// The CPU time, user and system, including children that ended, in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<u64>,
    /// The resident memory in bytes; shared pages count in each process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rss_bytes: Option<u64>,
    /// The memory with shared pages divided among the processes that share them, in bytes. It is
    /// read less often than the rest, and present only if it was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pss_bytes: Option<u64>,
    /// The number of threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u64>,
    /// The open files, sockets included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_files: Option<u64>,
    /// The open sockets of all kinds; one that processes share counts once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sockets: Option<u64>,
    /// The TCP sockets among them, by state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tcp: Option<TcpStates>,
    /// The number of times per second that a thread released its core to wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub voluntary_switches_per_s: Option<f64>,
    /// The number of times per second that a thread was preempted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub involuntary_switches_per_s: Option<f64>,
}

/// TCP sockets by state (RFC 9293, section 3.3.2). A socket without an owner, as in TIME-WAIT,
/// belongs to no process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[cfg_attr(
    feature = "typescript",
    ts(type = "{ established: number } & { [state in \
               'syn_sent' | 'syn_received' | 'fin_wait_1' | 'fin_wait_2' | 'time_wait' | \
               'closed' | 'close_wait' | 'last_ack' | 'listening' | 'closing']?: number }")
)]
#[serde(default)]
#[allow(missing_docs, reason = "the states are those of the protocol")]
pub struct TcpStates {
    pub established: u32,
    #[serde(skip_serializing_if = "is_zero")]
    pub syn_sent: u32,
    #[serde(skip_serializing_if = "is_zero")]
    pub syn_received: u32,
    #[serde(skip_serializing_if = "is_zero")]
    pub fin_wait_1: u32,
    #[serde(skip_serializing_if = "is_zero")]
    pub fin_wait_2: u32,
    #[serde(skip_serializing_if = "is_zero")]
    pub time_wait: u32,
    #[serde(skip_serializing_if = "is_zero")]
    pub closed: u32,
    #[serde(skip_serializing_if = "is_zero")]
    pub close_wait: u32,
    #[serde(skip_serializing_if = "is_zero")]
    pub last_ack: u32,
    #[serde(skip_serializing_if = "is_zero")]
    pub listening: u32,
    #[serde(skip_serializing_if = "is_zero")]
    pub closing: u32,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// An event of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// The first processes ended.
    Ended,
    /// The first processes ended, and others replaced them.
    Restarted,
}

/// A figure that could not be read, with the reason.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Missing {
    /// The figure.
    pub figure: Figure,
    /// The reason.
    pub why: Why,
}

/// A figure that can be watched.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Figure {
    /// Context switches of a tree.
    ContextSwitches,
    /// CPU time.
    Cpu,
    /// Connections refused by a full queue.
    ListenOverflows,
    /// Memory of the machine.
    Memory,
    /// Traffic of the interface.
    Network,
    /// Open files of a tree.
    OpenFiles,
    /// Pressure stall information.
    Pressure,
    /// Proportional memory of a tree.
    Pss,
    /// TCP segments sent again.
    Retransmits,
    /// Open sockets of a tree.
    Sockets,
    /// TCP sockets of a tree by state.
    TcpStates,
}

impl Figure {
    /// Returns the name of the figure in reports.
    pub fn name(self) -> &'static str {
        match self {
            Figure::ContextSwitches => "context switches",
            Figure::Cpu => "CPU",
            Figure::ListenOverflows => "listen overflows",
            Figure::Memory => "memory",
            Figure::Network => "network traffic",
            Figure::OpenFiles => "open files",
            Figure::Pressure => "pressure",
            Figure::Pss => "PSS",
            Figure::Retransmits => "retransmits",
            Figure::Sockets => "sockets",
            Figure::TcpStates => "TCP states",
        }
    }
}

/// The reason why a figure could not be read.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// It belongs to another user.
    Rights,
    /// Reading it would take too long: there is too much memory to add up, or too many open files.
    TooLarge,
    /// The kernel does not provide it.
    Untold,
}

impl Why {
    /// Returns the reason as a phrase for reports.
    pub fn text(self) -> &'static str {
        match self {
            Why::Rights => "it belongs to another user",
            Why::TooLarge => "there is too much to read",
            Why::Untold => "this kernel does not show it",
        }
    }
}

/// Returns the rate of an amount in one reading, per nanosecond; `None` if the reading is too
/// short. CPU time in nanoseconds gives cores.
pub fn rate(amount: Option<u64>, length_ns: u64) -> Option<f64> {
    // The kernel counts CPU time in ticks of 10 ms.
    const SHORTEST_NS: u64 = 200_000_000;
    (length_ns >= SHORTEST_NS).then_some(amount? as f64 / length_ns as f64)
}

/// Returns the mean rate of an amount over the readings that have it: its sum divided by their
/// length in nanoseconds. CPU time in nanoseconds gives cores; the result times 1e9 is an amount
/// per second.
pub fn mean_rate(looks: impl Iterator<Item = (Option<u64>, u64)>) -> Option<f64> {
    let known = looks.filter_map(|(amount, length_ns)| Some((amount?, length_ns)));
    let (sum, length_ns) = known.fold((0.0, 0.0), |(sum, length), (amount, length_ns)| {
        (sum + amount as f64, length + length_ns as f64)
    });
    (length_ns > 0.0).then(|| sum / length_ns)
}

/// Returns the mean of a level over the readings that have it.
pub fn mean_level(levels: impl Iterator<Item = Option<u64>>) -> Option<f64> {
    let (sum, count) = levels.flatten().fold((0.0, 0_u64), |(sum, count), level| {
        (sum + level as f64, count + 1)
    });
    (count > 0).then(|| sum / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(change: Option<Change>, cpu_ns: u64) -> Watched {
        let tree = WatchedTree {
            name: ":80".to_owned(),
            pid: Some(7),
            change,
            usage: TreeUsage {
                processes: 1,
                cpu_ns: Some(cpu_ns),
                ..TreeUsage::default()
            },
            missing: vec![Missing {
                figure: Figure::Pss,
                why: Why::Rights,
            }],
            ..WatchedTree::default()
        };
        Watched {
            length_ns: 1_000,
            host: WatchedHost::default(),
            trees: vec![tree],
        }
    }

    #[test]
    fn looks_are_kept_as_rows_and_what_is_missing_once() {
        let mut history = WatchHistory::default();
        history.observe(&look(None, 100), 1_000);
        history.observe(&look(None, 300), 2_000);
        let cpu = history
            .usage_of(0)
            .map(|(usage, length_ns)| (usage.cpu_ns, length_ns));
        assert_eq!(mean_rate(cpu), Some(0.2));
        assert_eq!(
            (history.trees.len(), history.trees[0].missing.len()),
            (1, 1)
        );
        assert_eq!(history.rows[1].at_ns, 2_000);
    }

    #[test]
    fn a_tree_that_restarts_for_ever_is_counted_and_not_kept() {
        let mut history = WatchHistory::default();
        for at_ns in 0..250 {
            history.observe(&look(Some(Change::Restarted), 0), at_ns);
        }
        let tree = &history.trees[0];
        assert_eq!((tree.events.len(), tree.event_count), (100, 250));
    }

    #[test]
    fn what_was_not_read_is_in_no_mean() {
        assert_eq!(mean_level([None, Some(2), Some(4)].into_iter()), Some(3.0));
        assert_eq!(mean_level([None].into_iter()), None);
        assert_eq!(mean_rate([(None, 5), (Some(4), 2)].into_iter()), Some(2.0));
        assert_eq!(mean_rate([(Some(4), 0)].into_iter()), None);
    }

    #[test]
    fn what_is_absent_is_not_written_and_read_back_as_absent() {
        let watched = look(Some(Change::Ended), 5);
        let text = serde_json::to_string(&watched).unwrap();
        assert!(
            !text.contains("rss_bytes") && !text.contains("net_in"),
            "{text}"
        );
        assert_eq!(serde_json::from_str::<Watched>(&text).unwrap(), watched);
    }

    #[test]
    fn traffic_and_states_are_read_back() {
        let mut watched = look(None, 5);
        watched.host.usage.traffic = Some(Traffic {
            net_in_bytes: 1,
            net_out_bytes: 2,
            net_in_packets: 3,
            net_out_packets: 4,
        });
        watched.trees[0].usage.tcp = Some(TcpStates {
            established: 3,
            listening: 1,
            ..TcpStates::default()
        });
        let text = serde_json::to_string(&watched).unwrap();
        assert!(
            text.contains(r#""tcp":{"established":3,"listening":1}"#),
            "{text}"
        );
        assert_eq!(serde_json::from_str::<Watched>(&text).unwrap(), watched);
    }
}
