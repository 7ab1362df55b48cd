//! The watched usage, sample by sample: as JSON and CSV beside a run, and alone.
//!
//! CPU is in percent of one core, so two busy cores are 200. What was not read is `null`, or empty.

use crate::layout;
use crate::text::unread;
use loadline_record::watched::{
    Change, GENERATOR, Traffic, TreeUsage, WatchHistory, WatchRow, Watched, WatchedTree, rate,
};
use loadline_units as units;

/// The columns that a run's CSV has of what was watched. The target is all that was watched but the
/// generator.
pub(crate) const RUN_COLUMNS: [&str; 9] = [
    "generator_cpu_percent",
    "generator_rss_bytes",
    "target_cpu_percent",
    "target_rss_bytes",
    "target_sockets",
    "host_cpu_percent",
    "host_memory_used_bytes",
    "net_in_bytes_per_s",
    "net_out_bytes_per_s",
];

/// The columns of `loadline watch`.
const COLUMNS: [&str; 22] = [
    "time_s",
    "pid",
    "processes",
    "cpu_percent",
    "rss_bytes",
    "pss_bytes",
    "threads",
    "open_files",
    "sockets",
    "tcp_established",
    "voluntary_switches_per_s",
    "involuntary_switches_per_s",
    "host_cpu_percent",
    "host_memory_used_bytes",
    "cpu_pressure_percent",
    "memory_pressure_percent",
    "io_pressure_percent",
    "net_in_bytes_per_s",
    "net_out_bytes_per_s",
    "retransmits",
    "listen_overflows",
    "change",
];

/// The fields of a run's row under [`RUN_COLUMNS`]; empty where nothing was watched.
pub(crate) fn run_fields(watch: &WatchHistory, end_ns: u64) -> [String; RUN_COLUMNS.len()] {
    let Some(row) = row_at(watch, end_ns) else {
        return Default::default();
    };
    let is_generator = |index: &usize| {
        let tree = watch.trees.get(*index);
        tree.is_some_and(|tree| tree.name == GENERATOR)
    };
    let sum = |generator: bool, of: fn(&TreeUsage) -> Option<u64>| {
        let trees = row.trees.iter().enumerate();
        let trees = trees.filter(|(index, _)| is_generator(index) == generator);
        trees.filter_map(|(_, tree)| of(tree)).reduce(|a, b| a + b)
    };
    let length_ns = row.length_ns;
    let traffic = |of: fn(Traffic) -> u64| rate(row.host.traffic.map(of), length_ns);
    [
        number(percent(rate(sum(true, |tree| tree.cpu_ns), length_ns))),
        number(sum(true, |tree| tree.rss_bytes)),
        number(percent(rate(sum(false, |tree| tree.cpu_ns), length_ns))),
        number(sum(false, |tree| tree.rss_bytes)),
        number(sum(false, |tree| tree.sockets)),
        number(percent(rate(row.host.cpu_ns, length_ns))),
        number(row.host.memory_used_bytes),
        number(per_s(traffic(|traffic| traffic.net_in_bytes))),
        number(per_s(traffic(|traffic| traffic.net_out_bytes))),
    ]
}

pub(crate) fn row_at(watch: &WatchHistory, end_ns: u64) -> Option<&WatchRow> {
    let found = watch.rows.binary_search_by_key(&end_ns, |row| row.at_ns);
    found.ok().map(|index| &watch.rows[index])
}

/// The line of names of [`watch_csv_row`], without its end.
pub fn watch_csv_header() -> String {
    COLUMNS.join(",")
}

/// A look at one tree as a row of CSV, without its end; `time_s` is its end.
pub fn watch_csv_row(watched: &Watched, time_s: f64) -> String {
    let WatchedTree {
        pid, usage, change, ..
    } = watched.trees.first().cloned().unwrap_or_default();
    let host = &watched.host.usage;
    let share = |amount| number(percent(rate(amount, watched.length_ns)));
    let passed =
        |of: fn(Traffic) -> u64| number(per_s(rate(host.traffic.map(of), watched.length_ns)));
    let fields: [String; COLUMNS.len()] = [
        time_s.to_string(),
        number(pid),
        usage.processes.to_string(),
        share(usage.cpu_ns),
        number(usage.rss_bytes),
        number(usage.pss_bytes),
        number(usage.threads),
        number(usage.open_files),
        number(usage.sockets),
        number(usage.tcp.map(|tcp| tcp.established)),
        number(rounded(usage.voluntary_switches_per_s)),
        number(rounded(usage.involuntary_switches_per_s)),
        share(host.cpu_ns),
        number(host.memory_used_bytes),
        share(host.pressure.cpu_pressure_ns),
        share(host.pressure.memory_pressure_ns),
        share(host.pressure.io_pressure_ns),
        passed(|traffic| traffic.net_in_bytes),
        passed(|traffic| traffic.net_out_bytes),
        number(host.retransmits),
        number(host.listen_overflows),
        change.map(self::change).unwrap_or_default().to_owned(),
    ];
    fields.join(",")
}

/// The columns of [`watch_line`], with their width.
const LINE: [(&str, usize); 9] = [
    ("time", 9),
    ("CPU", 8),
    ("RSS", 9),
    ("PSS", 9),
    ("threads", 8),
    ("files", 7),
    ("sockets", 8),
    ("switches", 11),
    ("host CPU", 10),
];

/// The names over [`watch_line`], without a line's end.
pub fn watch_line_header() -> String {
    LINE.map(|(name, width)| layout::right(name, width))
        .concat()
}

/// A look at one tree as a line for people, without its end; `pss_bytes` is the last that is known,
/// as it is read less often than the rest.
pub fn watch_line(watched: &Watched, time_s: f64, pss_bytes: Option<u64>) -> String {
    let usage = watched.trees.first().map(|tree| tree.usage);
    let usage = usage.unwrap_or_default();
    let share = |amount| rate(amount, watched.length_ns).map(units::share);
    let bytes = |bytes: Option<u64>| bytes.map(|bytes| units::bytes(bytes as f64));
    let switches = usage
        .voluntary_switches_per_s
        .zip(usage.involuntary_switches_per_s)
        .map(|(voluntary, involuntary)| units::rate(voluntary + involuntary));
    let cells = [
        Some(format!("{time_s:.1} s")),
        share(usage.cpu_ns),
        bytes(usage.rss_bytes),
        bytes(pss_bytes),
        usage.threads.map(units::count),
        usage.open_files.map(units::count),
        usage.sockets.map(units::count),
        switches,
        share(watched.host.usage.cpu_ns),
    ];
    let cells = cells.into_iter().zip(LINE);
    let cells =
        cells.map(|(cell, (_, width))| layout::right(cell.as_deref().unwrap_or("-"), width));
    cells.collect()
}

/// Returns the figures that a sample lacks, in a sentence for each reason.
pub fn watch_notes(watched: &Watched) -> Vec<String> {
    let host = unread("the host", &watched.host.missing);
    let trees = watched
        .trees
        .iter()
        .flat_map(|tree| unread(&tree.name, &tree.missing));
    host.into_iter().chain(trees).collect()
}

fn change(change: Change) -> &'static str {
    match change {
        Change::Ended => "ended",
        Change::Restarted => "restarted",
    }
}

/// The way of an interface on which more passed: a link carries both at once.
pub(crate) fn busier_way(traffic: Option<Traffic>) -> Option<u64> {
    traffic.map(|traffic| traffic.net_in_bytes.max(traffic.net_out_bytes))
}

pub(crate) fn link_percent(bytes_per_ns: Option<f64>, link_bits_per_s: Option<u64>) -> Option<f64> {
    let link = link_bits_per_s.filter(|link| *link > 0)?;
    percent(Some(bytes_per_ns? * 8e9 / link as f64))
}

pub(crate) fn percent(share: Option<f64>) -> Option<f64> {
    rounded(share.map(|share| share * 100.0))
}

pub(crate) fn per_s(per_ns: Option<f64>) -> Option<f64> {
    rounded(per_ns.map(|per_ns| per_ns * 1e9))
}

/// To the thousandth.
pub(crate) fn rounded(value: Option<f64>) -> Option<f64> {
    value.map(|value| (value * 1e3).round() / 1e3)
}

fn number(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
