//! The usage of processes and of the machine.

use crate::watch::{busier_way, link_percent, per_s, percent, rounded, row_at};
use loadline_json as json;
use loadline_record::watched::{
    HostUsage, Pressure, Traffic, TreeHistory, TreeUsage, WatchHistory, Watched, WatchedTree,
    mean_level, mean_rate, rate,
};
use loadline_units::rounding;

/// Returns the usage in the interval with this end, if anything was watched.
pub(super) fn interval(watch: &WatchHistory, end_ns: u64) -> Option<json::UsageSample> {
    let row = row_at(watch, end_ns)?;
    let trees = row.trees.iter().zip(&watch.trees);
    let trees = trees.map(|(usage, tree)| json::TreeSample {
        usage: tree_usage(usage, row.length_ns),
        name: tree.name.clone(),
    });
    Some(json::UsageSample {
        length_s: json::Seconds(rounding::seconds(row.length_ns)),
        host: host_usage(&row.host, row.length_ns, watch.host.link_bits_per_s),
        trees: trees.collect(),
    })
}

/// Returns the usage in the whole run, if anything was watched.
pub(crate) fn whole_run(watch: &WatchHistory, start_ns: u64) -> Option<json::Watch> {
    let trees = watch.trees.iter().enumerate();
    let trees = trees.map(|(index, tree)| whole_tree(watch, index, tree, start_ns));
    (!watch.rows.is_empty()).then(|| json::Watch {
        host: whole_host(watch),
        trees: trees.collect(),
    })
}

fn whole_tree(watch: &WatchHistory, index: usize, tree: &TreeHistory, start_ns: u64) -> json::Tree {
    let looks = || watch.usage_of(index);
    let level = |of: fn(TreeUsage) -> Option<u64>| levels(looks().map(move |(usage, _)| of(usage)));
    let cpu = looks().map(|(usage, length_ns)| (usage.cpu_ns, length_ns));
    let used_ns: u64 = cpu.clone().filter_map(|(cpu_ns, _)| cpu_ns).sum();
    let events = tree.events.iter().map(|event| json::TreeEvent {
        at_s: json::Seconds(rounding::seconds(event.at_ns.saturating_sub(start_ns))),
        change: event.change,
        pid: event.pid,
    });
    json::Tree {
        name: tree.name.clone(),
        machine: tree.machine.clone(),
        command: tree.command.clone(),
        pid: tree.pid,
        cpu_s: json::Seconds(rounding::seconds(used_ns)),
        cpu_percent: rates(cpu, percent),
        rss_bytes: level(|usage| usage.rss_bytes),
        pss_bytes: level(|usage| usage.pss_bytes),
        threads: level(|usage| usage.threads),
        open_files: level(|usage| usage.open_files),
        sockets: level(|usage| usage.sockets),
        events: events.collect(),
        event_count: tree.event_count,
        missing: tree.missing.clone(),
    }
}

fn whole_host(watch: &WatchHistory) -> json::Host {
    let host = &watch.host;
    let looks = || watch.usage_of_host();
    let amounts = |of: fn(HostUsage) -> Option<u64>| {
        looks().map(move |(usage, length_ns)| (of(usage), length_ns))
    };
    let share = |of| rates(amounts(of), percent);
    let per_second = |of| rates(amounts(of), per_s);
    let sum = |of| -> Option<u64> { amounts(of).filter_map(|(n, _)| n).reduce(|a, b| a + b) };
    json::Host {
        cores: host.cores,
        memory_bytes: host.memory_bytes,
        interface: host.interface.clone(),
        link_bits_per_s: host.link_bits_per_s,
        cpu_percent: share(|usage| usage.cpu_ns),
        steal_percent: share(|usage| usage.steal_ns),
        memory_used_bytes: levels(looks().map(|(usage, _)| usage.memory_used_bytes)),
        cpu_pressure_percent: share(|usage| usage.pressure.cpu_pressure_ns),
        memory_pressure_percent: share(|usage| usage.pressure.memory_pressure_ns),
        io_pressure_percent: share(|usage| usage.pressure.io_pressure_ns),
        net_in_bytes_per_s: per_second(|usage| Some(usage.traffic?.net_in_bytes)),
        net_out_bytes_per_s: per_second(|usage| Some(usage.traffic?.net_out_bytes)),
        net_in_packets_per_s: per_second(|usage| Some(usage.traffic?.net_in_packets)),
        net_out_packets_per_s: per_second(|usage| Some(usage.traffic?.net_out_packets)),
        link_percent: rates(amounts(|usage| busier_way(usage.traffic)), |per_ns| {
            link_percent(per_ns, host.link_bits_per_s)
        }),
        retransmits: sum(|usage| usage.retransmits),
        listen_overflows: sum(|usage| usage.listen_overflows),
        missing: host.missing.clone(),
    }
}

/// The mean level, and the highest of one look.
fn levels(looks: impl Iterator<Item = Option<u64>> + Clone) -> json::MeanAndMax {
    json::MeanAndMax {
        mean: rounded(mean_level(looks.clone())),
        max: looks.flatten().max().map(json::Number::Count),
    }
}

/// The mean rate and the highest of one look, in the unit that `unit` makes of it.
fn rates(
    looks: impl Iterator<Item = (Option<u64>, u64)> + Clone,
    unit: impl Fn(Option<f64>) -> Option<f64>,
) -> json::MeanAndMax {
    let rates = looks
        .clone()
        .filter_map(|(amount, length_ns)| rate(amount, length_ns));
    let highest = unit(rates.reduce(f64::max));
    json::MeanAndMax {
        mean: unit(mean_rate(looks)),
        max: highest.map(json::Number::Measured),
    }
}

/// One tree in one look.
fn tree_usage(usage: &TreeUsage, length_ns: u64) -> json::TreeUsage {
    json::TreeUsage {
        processes: usage.processes,
        cpu_percent: percent(rate(usage.cpu_ns, length_ns)),
        rss_bytes: usage.rss_bytes,
        pss_bytes: usage.pss_bytes,
        threads: usage.threads,
        open_files: usage.open_files,
        sockets: usage.sockets,
        tcp: usage.tcp,
        voluntary_switches_per_s: rounded(usage.voluntary_switches_per_s),
        involuntary_switches_per_s: rounded(usage.involuntary_switches_per_s),
    }
}

/// The machine in one look.
fn host_usage(usage: &HostUsage, length_ns: u64, link_bits_per_s: Option<u64>) -> json::HostUsage {
    let share = |amount| percent(rate(amount, length_ns));
    let passed = |of: fn(Traffic) -> u64| per_s(rate(usage.traffic.map(of), length_ns));
    let Pressure {
        cpu_pressure_ns,
        memory_pressure_ns,
        io_pressure_ns,
    } = usage.pressure;
    let busier = rate(busier_way(usage.traffic), length_ns);
    json::HostUsage {
        cpu_percent: share(usage.cpu_ns),
        steal_percent: share(usage.steal_ns),
        memory_used_bytes: usage.memory_used_bytes,
        cpu_pressure_percent: share(cpu_pressure_ns),
        memory_pressure_percent: share(memory_pressure_ns),
        io_pressure_percent: share(io_pressure_ns),
        net_in_bytes_per_s: passed(|traffic| traffic.net_in_bytes),
        net_out_bytes_per_s: passed(|traffic| traffic.net_out_bytes),
        net_in_packets_per_s: passed(|traffic| traffic.net_in_packets),
        net_out_packets_per_s: passed(|traffic| traffic.net_out_packets),
        link_percent: link_percent(busier, link_bits_per_s),
        retransmits: usage.retransmits,
        listen_overflows: usage.listen_overflows,
    }
}

/// A look of `loadline watch` that ends at `time_s`.
pub(super) fn watched(watched: &Watched, time_s: f64) -> json::Watched {
    let (host, length_ns) = (&watched.host, watched.length_ns);
    let tree = |tree: &WatchedTree| json::WatchedTree {
        usage: tree_usage(&tree.usage, length_ns),
        name: tree.name.clone(),
        command: tree.command.clone(),
        pid: tree.pid,
        change: tree.change,
        missing: tree.missing.clone(),
    };
    json::Watched {
        time_s: json::Seconds(time_s),
        host: json::WatchedHost {
            usage: host_usage(&host.usage, length_ns, host.link_bits_per_s),
            missing: host.missing.clone(),
        },
        trees: watched.trees.iter().map(tree).collect(),
    }
}
