//! The usage of a tool and its target during a run, each second and on average.

use loadline_record::watched::{TreeUsage, Watched, WatchedTree};
use loadline_watch::{Proc, Target, Watcher, is_local};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::time::Instant;

/// The interface that counts each byte twice: when it leaves and when it arrives.
const LOOPBACK: &str = "lo";
/// The bytes of a kilobyte, as in ps(1) and in the published comparison.
pub(crate) const KB: f64 = 1024.0;
/// The counting of a tool's sockets may use one part of a core in this many: a run of a few seconds
/// needs the count each second, and for a thousand sockets it takes some milliseconds.
const PARTS: u32 = 100;
/// The shortest sample, in seconds, with a CPU figure: the kernel counts CPU time in ticks of 10
/// ms.
const SHORTEST_S: f64 = 0.2;
/// The length, in seconds, from which a sample is not early: in earlier ones some tools do not have
/// all their connections yet.
const EARLY_S: f64 = 0.1;
/// The longest time before a reading, in seconds, that the reading represents.
const REACH_S: f64 = 5.0;
/// The longest time after the last reading, in seconds, that the reading represents if the tool
/// ended meanwhile.
const TAIL_S: f64 = 1.0;
/// The smallest share of a run that a mean must cover.
const LEAST_SHARE: f64 = 0.5;

/// The usage in one second (the first samples and the last one are shorter).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Second {
    /// The end of the sample, in seconds from the tool's start.
    pub at_s: f64,
    /// The length of the sample, in seconds.
    pub length_s: f64,
    /// The usage of the tool.
    pub tool: Used,
    /// The usage of the target, if it runs on this host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Used>,
    /// The usage of all backends together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backends: Option<Used>,
    /// The traffic of the interface that leads to the target, both ways, in KB/s. On the loopback
    /// interface each byte counts once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth_kb_per_s: Option<f64>,
    /// The usage of the link's busier direction, in % of its speed, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth_percent: Option<f64>,
    /// Time that the cores of the host were busy, in % of one core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_cpu_percent: Option<f64>,
}

/// The usage of a tree of processes.
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

/// The usage in a whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Averages {
    /// The time that the tool ran, in seconds.
    pub elapsed_s: f64,
    /// The usage of the tool.
    pub tool: Mean,
    /// The usage of the target, if it runs on this host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Mean>,
    /// The usage of all backends together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backends: Option<Mean>,
    /// The traffic of the interface, in KB/s, as in [`Second`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth_kb_per_s: Option<f64>,
    /// The usage of the link's busier direction in %, as in [`Second`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth_percent: Option<f64>,
    /// Time that the cores of the host were busy, in % of one core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_cpu_percent: Option<f64>,
    /// True if a figure above is left out because it was read in less than half of the run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub seen_too_briefly: bool,
}

/// The usage of a tree of processes in a whole run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Mean {
    /// Time on a core in seconds, including child processes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_s: Option<f64>,
    /// Time on a core, in % of one core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_percent: Option<f64>,
    /// Resident memory in KB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_kb: Option<f64>,
    /// The highest resident memory of all samples, in KB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_memory_kb: Option<f64>,
    /// Open sockets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sockets: Option<f64>,
}

/// Samples a tool and its target.
#[derive(Debug)]
pub(crate) struct Meter {
    watcher: Watcher,
    clock: Instant,
    /// The process identifier of the tool, once it runs.
    tool: Option<u32>,
    has_target: bool,
    /// The names of the backends' trees.
    backends: Vec<String>,
    sums: Sums,
}

/// The sums of all samples, in constant memory.
#[derive(Debug, Default)]
struct Sums {
    length_s: f64,
    tool: TreeSum,
    target: TreeSum,
    backends: Option<TreeSum>,
    host_cpu: Amount,
    bandwidth: Weighted,
    bandwidth_percent: Weighted,
}

#[derive(Debug, Default)]
struct TreeSum {
    cpu: Amount,
    memory_kb: Weighted,
    max_memory_kb: Option<f64>,
    sockets: Weighted,
}

/// CPU time, and the time in which it was counted.
#[derive(Debug, Default)]
struct Amount {
    ns: Option<f64>,
    seen_s: f64,
}

/// A mean over time. Early values, from samples in which the tool was still starting, count only if
/// there are no others.
#[derive(Debug, Default)]
struct Weighted {
    sum: f64,
    weight: f64,
    early: Option<f64>,
    /// The time that was covered, and its end.
    seen_s: f64,
    until_s: f64,
}

/// Decides whether means cover enough of a run, and records whether any does not.
struct Judge {
    length_s: f64,
    leaves_out: bool,
}

impl Meter {
    /// Finds the target at this address, by its process or by who listens there, and the backends.
    /// That may take its time: it comes before the tool is started.
    pub(crate) fn prepare(
        target: Option<u32>,
        address: Option<SocketAddr>,
        backends: &[u32],
    ) -> Meter {
        let mut watcher = Watcher::new(Proc::default());
        watcher.allow_each(PARTS);
        watcher.follow_route_to(address.map(|address| address.ip()));
        let local = address.filter(|address| is_local(address.ip()));
        let is_elsewhere = address.is_some() && local.is_none();
        let has_target = match (target, local) {
            // What was started here only passes on what happens there.
            _ if is_elsewhere => false,
            (Some(pid), _) => watcher.watch(&Target::Pid(pid)).is_ok(),
            (None, Some(address)) => {
                watcher.find_listeners(&[address.port()]);
                watcher.watch_listeners([address]) > 0
            }
            (None, None) => false,
        };
        let is_there = |pid: &&u32| watcher.watch(&Target::Pid(**pid)).is_ok();
        let backends = backends.iter().filter(is_there);
        let backends = backends.map(ToString::to_string).collect();
        Meter {
            watcher,
            clock: Instant::now(),
            tool: None,
            has_target,
            backends,
            sums: Sums::default(),
        }
    }

    /// Starts the measured time; call it just before the tool is started.
    pub(crate) fn begin(mut self) -> Meter {
        self.watcher.begin(0);
        self.clock = Instant::now();
        self
    }

    /// Watches the tool that was started as this process.
    pub(crate) fn follow(&mut self, tool: u32) {
        self.tool = Some(tool);
        // A process that has ended already used nothing that could be read.
        let _ = self.watcher.watch(&Target::Pid(tool));
    }

    /// Returns the usage since the sample before.
    pub(crate) fn look(&mut self) -> Second {
        let at_ns = self.clock.elapsed().as_nanos() as u64;
        let mut watched = self.watcher.look(at_ns);
        let backends = take(&mut watched, &self.backends);
        let tool = self.tool.unwrap_or_default();
        let mut second = second(&watched, at_ns, tool, self.has_target);
        self.sums.add(&watched, &second, tool);
        if let Some(usage) = &backends {
            second.backends = Some(used(usage, second.length_s));
            self.sums.add_backends(usage, second.length_s);
        }
        second
    }

    /// Returns the usage of the whole run. `cpu_s` is the CPU time of the tool's process, if it is
    /// known more exactly.
    pub(crate) fn averages(&self, cpu_s: Option<f64>) -> Averages {
        self.sums.averages(self.has_target, cpu_s)
    }
}

impl Sums {
    fn averages(&self, has_target: bool, cpu_s: Option<f64>) -> Averages {
        let mut judge = Judge {
            length_s: self.length_s,
            leaves_out: false,
        };
        let tool = self.tool.mean(&mut judge, cpu_s);
        let host_cpu_s = judge.of(self.host_cpu.seconds(), self.host_cpu.seen_s);
        Averages {
            elapsed_s: self.length_s,
            tool,
            target: has_target.then(|| self.target.mean(&mut judge, None)),
            backends: self.backends.as_ref().map(|sum| sum.mean(&mut judge, None)),
            bandwidth_kb_per_s: judge.flow(&self.bandwidth),
            bandwidth_percent: judge.flow(&self.bandwidth_percent),
            host_cpu_percent: host_cpu_s.and_then(|cpu_s| share(cpu_s, self.length_s)),
            seen_too_briefly: judge.leaves_out,
        }
    }
}

impl Judge {
    /// Returns a mean that covers `seen_s` seconds; `None` if that is too little of the run.
    fn of(&mut self, mean: Option<f64>, seen_s: f64) -> Option<f64> {
        let is_enough = seen_s >= LEAST_SHARE * self.length_s;
        self.leaves_out |= mean.is_some() && !is_enough;
        mean.filter(|_| is_enough)
    }

    /// Returns the mean of a traffic, which each sample measured as a whole.
    fn flow(&mut self, flow: &Weighted) -> Option<f64> {
        self.of(flow.mean(), flow.seen_s)
    }

    /// Returns the mean of a value that was read now and then. The last reading represents some
    /// time after it, too.
    fn level(&mut self, level: &Weighted) -> Option<f64> {
        let tail_s = (self.length_s - level.until_s).clamp(0.0, TAIL_S);
        self.of(level.mean(), level.seen_s + tail_s)
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
        backends: None,
        bandwidth_kb_per_s: bandwidth.map(|bytes| rounded(bytes / KB)),
        bandwidth_percent: busier
            .zip(speed)
            .map(|(bytes, speed)| rounded(bytes / speed * 100.0)),
        host_cpu_percent: cpu_percent(watched.host.usage.cpu_ns, length_s),
    }
}

/// Takes the trees of these names out of what was watched, and adds them up; `None` without names.
fn take(watched: &mut Watched, names: &[String]) -> Option<TreeUsage> {
    let is_taken = |tree: &WatchedTree| names.contains(&tree.name);
    let trees = std::mem::take(&mut watched.trees);
    let (taken, others): (Vec<_>, Vec<_>) = trees.into_iter().partition(is_taken);
    watched.trees = others;
    let usages = taken.into_iter().map(|tree| tree.usage);
    usages.reduce(|sum, usage| TreeUsage {
        processes: sum.processes + usage.processes,
        cpu_ns: both(sum.cpu_ns, usage.cpu_ns),
        rss_bytes: both(sum.rss_bytes, usage.rss_bytes),
        sockets: both(sum.sockets, usage.sockets),
        ..TreeUsage::default()
    })
}

/// The sum of what both know.
fn both(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    Some(one? + other?)
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

/// Returns the bytes per second through the interface, and those of the busier direction.
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

/// Returns the CPU time in % of one core.
fn share(cpu_s: f64, length_s: f64) -> Option<f64> {
    (length_s > 0.0).then(|| rounded(cpu_s / length_s * 100.0))
}

/// Rounds to a thousandth: more digits are noise.
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
    /// Adds what the backends used in the look that was added last, of this length.
    fn add_backends(&mut self, usage: &TreeUsage, length_s: f64) {
        let sum = self.backends.get_or_insert_default();
        sum.add(usage, length_s, self.length_s);
    }

    fn add(&mut self, watched: &Watched, second: &Second, tool: u32) {
        let length_s = watched.length_ns as f64 / 1e9;
        self.length_s += length_s;
        let (of_tool, of_target) = sides(watched, tool);
        for (sum, usage) in [(&mut self.tool, of_tool), (&mut self.target, of_target)] {
            if let Some(usage) = usage {
                sum.add(usage, length_s, self.length_s);
            }
        }
        self.host_cpu.add(watched.host.usage.cpu_ns, length_s);
        self.bandwidth.add_flow(second.bandwidth_kb_per_s, length_s);
        self.bandwidth_percent
            .add_flow(second.bandwidth_percent, length_s);
    }
}

impl TreeSum {
    /// Adds a sample of this length that ended at this instant.
    fn add(&mut self, usage: &TreeUsage, length_s: f64, at_s: f64) {
        self.cpu.add(usage.cpu_ns, length_s);
        // A tree that has ended has no memory and no sockets, but had them a moment ago.
        if usage.processes == 0 {
            return;
        }
        let memory_kb = usage.rss_bytes.map(|bytes| bytes as f64 / KB);
        self.memory_kb.add_level(memory_kb, length_s, at_s);
        self.max_memory_kb = larger(self.max_memory_kb, memory_kb);
        let sockets = usage.sockets.map(|count| count as f64);
        self.sockets.add_level(sockets, length_s, at_s);
    }

    /// `life_cpu_s` is the CPU time of the tree's first process from its start to its end, if
    /// known.
    fn mean(&self, judge: &mut Judge, life_cpu_s: Option<f64>) -> Mean {
        let cpu_s = match life_cpu_s {
            Some(_) => larger(self.cpu.seconds(), life_cpu_s),
            None => judge.of(self.cpu.seconds(), self.cpu.seen_s),
        };
        Mean {
            cpu_s,
            cpu_percent: cpu_s.and_then(|cpu_s| share(cpu_s, judge.length_s)),
            memory_kb: judge.level(&self.memory_kb),
            max_memory_kb: self.max_memory_kb,
            sockets: judge.level(&self.sockets),
        }
    }
}

impl Amount {
    fn seconds(&self) -> Option<f64> {
        self.ns.map(|ns| rounded(ns / 1e9))
    }

    fn add(&mut self, ns: Option<u64>, length_s: f64) {
        if let Some(ns) = ns {
            self.ns = Some(self.ns.unwrap_or(0.0) + ns as f64);
            self.seen_s += length_s;
        }
    }
}

impl Weighted {
    /// Adds the value of a whole sample of this length.
    fn add_flow(&mut self, value: Option<f64>, length_s: f64) {
        self.add(value, length_s, length_s);
    }

    /// Adds a value that was read at the end of a sample of this length, at the instant `at_s`.
    fn add_level(&mut self, value: Option<f64>, length_s: f64, at_s: f64) {
        self.add(value, length_s, (at_s - self.until_s).min(REACH_S));
        if value.is_some() {
            self.until_s = at_s;
        }
    }

    fn add(&mut self, value: Option<f64>, length_s: f64, stands_for_s: f64) {
        let Some(value) = value else {
            return;
        };
        self.seen_s += stands_for_s;
        if length_s < EARLY_S {
            self.early = self.early.or(Some(value));
        } else {
            self.sum += value * length_s;
            self.weight += length_s;
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
