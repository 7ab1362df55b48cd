//! What a tool and its target use while a run lasts, second by second and in the mean.

use loadline_record::watched::{TreeUsage, Watched};
use loadline_watch::{Proc, Target, Watcher, is_local};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::time::Instant;

/// The interface whose every byte is counted on its way in and on its way out.
const LOOPBACK: &str = "lo";
/// Bytes of a kilobyte, as ps(1) and the published comparison count them.
const KB: f64 = 1024.0;
/// Counting a tool's sockets may use at most one part of a core in so many: a run of seconds needs
/// the count each second, and for a thousand sockets it takes some milliseconds.
const PARTS: u32 = 100;
/// Looks that are shorter say nothing about CPU: the kernel counts it in ticks of 10 ms.
const SHORTEST_S: f64 = 0.2;
/// The first look comes this early, when not every tool has its connections.
const EARLY_S: f64 = 0.1;

/// What was used in one second (the first ones, and the last, are shorter).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Second {
    /// Its end, in seconds from the tool's start.
    pub at_s: f64,
    /// Its length in seconds.
    pub length_s: f64,
    /// What the tool used.
    pub tool: Used,
    /// What the target used, where it runs on this host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Used>,
    /// What passed the interface that leads to the target, both ways, in KB/s. On the loopback,
    /// each byte once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth_kb_per_s: Option<f64>,
    /// The busier of the two ways, in % of the link's speed, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth_percent: Option<f64>,
    /// Time that all cores of the host were busy, in % of one core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_cpu_percent: Option<f64>,
}

/// What a tree of processes used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Used {
    /// Time on a core, in % of one core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_percent: Option<f64>,
    /// Resident memory in KB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_kb: Option<f64>,
    /// Open sockets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sockets: Option<u64>,
}

/// What was used in a whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Averages {
    /// How long the tool ran, in seconds.
    pub elapsed_s: f64,
    /// What the tool used.
    pub tool: Mean,
    /// What the target used, where it runs on this host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Mean>,
    /// What passed the interface, in KB/s, as in [`Second`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth_kb_per_s: Option<f64>,
    /// Of the link's speed in %, as in [`Second`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth_percent: Option<f64>,
    /// Time that all cores of the host were busy, in % of one core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_cpu_percent: Option<f64>,
}

/// What a tree of processes used in a whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Mean {
    /// Time on a core in seconds, its children's included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_s: Option<f64>,
    /// Time on a core, in % of one core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_percent: Option<f64>,
    /// Resident memory in KB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_kb: Option<f64>,
    /// The most resident memory that was seen, in KB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_memory_kb: Option<f64>,
    /// Open sockets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sockets: Option<f64>,
}

/// Watches a tool and its target.
#[derive(Debug)]
pub(crate) struct Meter {
    watcher: Watcher,
    clock: Instant,
    tool: u32,
    has_target: bool,
    sums: Sums,
}

/// What is added up, in constant memory.
#[derive(Debug, Default)]
struct Sums {
    length_s: f64,
    tool: TreeSum,
    target: TreeSum,
    host_cpu_ns: Option<f64>,
    bandwidth: Weighted,
    bandwidth_percent: Weighted,
}

#[derive(Debug, Default)]
struct TreeSum {
    cpu_ns: Option<f64>,
    memory_kb: Weighted,
    max_memory_kb: Option<f64>,
    sockets: Weighted,
}

/// A mean over time. What was seen while the tool was still coming up counts where nothing else
/// was.
#[derive(Debug, Default)]
struct Weighted {
    sum: f64,
    weight: f64,
    early: Option<f64>,
}

impl Meter {
    /// Begins to watch a tool that has just been started, and the target at this address: by its
    /// process, or by who listens there.
    pub(crate) fn begin(tool: u32, target: Option<u32>, address: Option<SocketAddr>) -> Meter {
        let mut watcher = Watcher::new(Proc::default());
        watcher.allow_each(PARTS);
        // One that has ended already has used nothing that could be seen.
        let _ = watcher.watch(&Target::Pid(tool));
        watcher.follow_route_to(address.map(|address| address.ip()));
        let local = address.filter(|address| is_local(address.ip()));
        let has_target = match (target, local) {
            (Some(pid), _) => watcher.watch(&Target::Pid(pid)).is_ok(),
            (None, Some(address)) => watcher.watch_listeners([address]) > 0,
            (None, None) => false,
        };
        watcher.begin(0);
        Meter {
            watcher,
            clock: Instant::now(),
            tool,
            has_target,
            sums: Sums::default(),
        }
    }

    /// What was used since the look before.
    pub(crate) fn look(&mut self) -> Second {
        let at_ns = self.clock.elapsed().as_nanos() as u64;
        let watched = self.watcher.look(at_ns);
        let second = second(&watched, at_ns, self.tool, self.has_target);
        self.sums.add(&watched, &second, self.tool);
        second
    }

    /// What was used in all. `cpu_s` is what the tool's process has used, if that is known better.
    pub(crate) fn averages(&self, cpu_s: Option<f64>) -> Averages {
        let sums = &self.sums;
        let mut tool = sums.tool.mean(sums.length_s);
        tool.cpu_s = larger(tool.cpu_s, cpu_s);
        tool.cpu_percent = tool.cpu_s.and_then(|cpu_s| share(cpu_s, sums.length_s));
        let host_cpu_s = sums.host_cpu_ns.map(|ns| ns / 1e9);
        Averages {
            elapsed_s: sums.length_s,
            tool,
            target: self.has_target.then(|| sums.target.mean(sums.length_s)),
            bandwidth_kb_per_s: sums.bandwidth.mean(),
            bandwidth_percent: sums.bandwidth_percent.mean(),
            host_cpu_percent: host_cpu_s.and_then(|cpu_s| share(cpu_s, sums.length_s)),
        }
    }
}

fn second(watched: &Watched, at_ns: u64, tool: u32, has_target: bool) -> Second {
    let length_s = watched.length_ns as f64 / 1e9;
    let (of_tool, of_target) = sides(watched, tool);
    let (bandwidth, busier) = traffic(watched, length_s);
    let speed = watched.host.link_bits_per_s.map(|bits| bits as f64 / 8.0);
    Second {
        at_s: rounded(at_ns as f64 / 1e9),
        length_s: rounded(length_s),
        tool: of_tool
            .map(|usage| used(usage, length_s))
            .unwrap_or_default(),
        target: of_target
            .filter(|_| has_target)
            .map(|usage| used(usage, length_s)),
        bandwidth_kb_per_s: bandwidth.map(|bytes| rounded(bytes / KB)),
        bandwidth_percent: busier
            .zip(speed)
            .map(|(bytes, speed)| rounded(bytes / speed * 100.0)),
        host_cpu_percent: cpu_percent(watched.host.usage.cpu_ns, length_s),
    }
}

/// The tool's tree and the target's; the first may have ended before it was found.
fn sides(watched: &Watched, tool: u32) -> (Option<&TreeUsage>, Option<&TreeUsage>) {
    let name = tool.to_string();
    let (tools, others): (Vec<_>, Vec<_>) =
        watched.trees.iter().partition(|tree| tree.name == name);
    (
        tools.first().map(|tree| &tree.usage),
        others.first().map(|tree| &tree.usage),
    )
}

/// Bytes a second that passed the interface, and those of the busier way.
fn traffic(watched: &Watched, length_s: f64) -> (Option<f64>, Option<f64>) {
    let Some(traffic) = watched.host.usage.traffic.filter(|_| length_s > 0.0) else {
        return (None, None);
    };
    let (inward, outward) = (
        traffic.net_in_bytes as f64 / length_s,
        traffic.net_out_bytes as f64 / length_s,
    );
    let all = match watched.host.interface.as_deref() {
        Some(LOOPBACK) => inward,
        _ => inward + outward,
    };
    (Some(all), Some(inward.max(outward)))
}

fn used(usage: &TreeUsage, length_s: f64) -> Used {
    Used {
        cpu_percent: cpu_percent(usage.cpu_ns, length_s),
        memory_kb: usage.rss_bytes.map(|bytes| rounded(bytes as f64 / KB)),
        sockets: usage.sockets,
    }
}

fn cpu_percent(cpu_ns: Option<u64>, length_s: f64) -> Option<f64> {
    let cpu_s = cpu_ns? as f64 / 1e9;
    share(cpu_s, length_s).filter(|_| length_s >= SHORTEST_S)
}

/// In %, of one core.
fn share(cpu_s: f64, length_s: f64) -> Option<f64> {
    (length_s > 0.0).then(|| rounded(cpu_s / length_s * 100.0))
}

/// To the thousandth: more is noise.
fn rounded(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

fn larger(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.max(other)),
        (one, other) => one.or(other),
    }
}

impl Sums {
    fn add(&mut self, watched: &Watched, second: &Second, tool: u32) {
        let length_s = watched.length_ns as f64 / 1e9;
        self.length_s += length_s;
        let (of_tool, of_target) = sides(watched, tool);
        for (sum, usage) in [(&mut self.tool, of_tool), (&mut self.target, of_target)] {
            if let Some(usage) = usage {
                sum.add(usage, length_s);
            }
        }
        add(&mut self.host_cpu_ns, watched.host.usage.cpu_ns);
        self.bandwidth.add(second.bandwidth_kb_per_s, length_s);
        self.bandwidth_percent
            .add(second.bandwidth_percent, length_s);
    }
}

fn add(sum: &mut Option<f64>, amount: Option<u64>) {
    if let Some(amount) = amount {
        *sum = Some(sum.unwrap_or(0.0) + amount as f64);
    }
}

impl TreeSum {
    fn add(&mut self, usage: &TreeUsage, length_s: f64) {
        add(&mut self.cpu_ns, usage.cpu_ns);
        // A tree that has ended holds nothing, and did until a moment ago.
        if usage.processes == 0 {
            return;
        }
        let memory_kb = usage.rss_bytes.map(|bytes| bytes as f64 / KB);
        self.memory_kb.add(memory_kb, length_s);
        self.max_memory_kb = larger(self.max_memory_kb, memory_kb);
        self.sockets
            .add(usage.sockets.map(|count| count as f64), length_s);
    }

    fn mean(&self, length_s: f64) -> Mean {
        let cpu_s = self.cpu_ns.map(|ns| rounded(ns / 1e9));
        Mean {
            cpu_s,
            cpu_percent: cpu_s.and_then(|cpu_s| share(cpu_s, length_s)),
            memory_kb: self.memory_kb.mean(),
            max_memory_kb: self.max_memory_kb,
            sockets: self.sockets.mean(),
        }
    }
}

impl Weighted {
    fn add(&mut self, value: Option<f64>, length_s: f64) {
        match value {
            Some(value) if length_s < EARLY_S => self.early = self.early.or(Some(value)),
            Some(value) => {
                self.sum += value * length_s;
                self.weight += length_s;
            }
            None => {}
        }
    }

    fn mean(&self) -> Option<f64> {
        match self.weight > 0.0 {
            true => Some(rounded(self.sum / self.weight)),
            false => self.early.map(rounded),
        }
    }
}

#[cfg(test)]
mod tests;
