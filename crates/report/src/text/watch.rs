//! The cost of the run: the generator, the target and the machine.

use super::Canvas;
use crate::layout;
use crate::table::{Column, indented, line};
use loadline_record::Summary;
use loadline_record::watched::{
    Change, Figure, HostUsage, Missing, TreeHistory, TreeUsage, WatchEvent, WatchHistory, Why,
    mean_level, mean_rate, rate,
};
use loadline_units as units;

/// Columns of a tree's name.
const NAMES: usize = 19;
/// The columns of numbers, with their names.
const COLUMNS: [(&str, Column); 7] = [
    ("CPU", Column::Right(9)),
    ("max", Column::Right(9)),
    ("RSS", Column::Right(9)),
    ("PSS", Column::Right(9)),
    ("threads", Column::Right(8)),
    ("sockets", Column::Right(8)),
    ("switches", Column::Right(9)),
];
/// Events of a tree that are listed one by one.
const MOST_EVENTS: usize = 5;

/// The shortest run that is shown: the kernel counts CPU in ticks of up to 10 ms.
const SHORTEST_NS: u64 = 100_000_000;

/// Returns the usage; empty if nothing was watched, or for no longer than a few ticks of the
/// kernel's counters.
pub(super) fn lines(summary: &Summary, canvas: Canvas) -> Vec<String> {
    let watch = &summary.watch;
    if watch.rows.is_empty() || summary.duration_ns < SHORTEST_NS {
        return Vec::new();
    }
    let mut lines = vec![header(canvas)];
    for (index, tree) in watch.trees.iter().enumerate() {
        lines.push(row(index, tree, watch));
    }
    let start_ns = summary.total.start_ns;
    let events = watch.trees.iter().flat_map(|tree| events(tree, start_ns));
    let notes = host(watch).into_iter().chain(events).chain(missing(watch));
    lines.extend(notes.flat_map(|note| canvas.paragraph(&note)));
    lines
}

fn header(canvas: Canvas) -> String {
    let (names, columns) = (
        COLUMNS.map(|(name, _)| name),
        COLUMNS.map(|(_, column)| column),
    );
    canvas.heading(&layout::left("Watched", NAMES), &line(columns, names))
}

/// CPU is the mean and the highest of an interval, switches are the mean a second, all else is
/// the highest.
fn row(index: usize, tree: &TreeHistory, watch: &WatchHistory) -> String {
    let looks = || watch.usage_of(index);
    let highest = |of: fn(TreeUsage) -> Option<u64>| looks().filter_map(|(u, _)| of(u)).max();
    let bytes = |bytes: Option<u64>| bytes.map(|bytes| units::bytes(bytes as f64));
    let cells = [
        mean_rate(looks().map(|(usage, length_ns)| (usage.cpu_ns, length_ns))).map(units::share),
        peak(looks().map(|(usage, length_ns)| rate(usage.cpu_ns, length_ns))).map(units::share),
        bytes(highest(|usage| usage.rss_bytes)),
        bytes(highest(|usage| usage.pss_bytes)),
        highest(|usage| usage.threads).map(units::count),
        highest(|usage| usage.sockets).map(units::count),
        switches(looks().map(|(usage, _)| usage)).map(units::rate),
    ];
    let cells = cells.map(|cell| cell.unwrap_or_else(|| "-".to_owned()));
    let name = layout::cut(&indented(&title(tree)), NAMES);
    layout::left(&name, NAMES) + &line(COLUMNS.map(|(_, column)| column), cells)
}

/// Returns the title of a tree: the name by which it was requested, and its program.
pub(crate) fn title(tree: &TreeHistory) -> String {
    let name = layout::harmless(&tree.name);
    // The name on another machine follows that of the machine.
    let own = match &tree.machine {
        Some(machine) => tree.name.get(machine.len() + 1..).unwrap_or_default(),
        None => &tree.name,
    };
    match &tree.command {
        Some(command) if own.starts_with(|c: char| c == ':' || c.is_ascii_digit()) => {
            format!("{name} {}", layout::harmless(command))
        }
        _ => name,
    }
}

fn peak(rates: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    rates.flatten().reduce(f64::max)
}

/// Both kinds together, the mean of the looks that have them.
fn switches(looks: impl Iterator<Item = TreeUsage>) -> Option<f64> {
    let both = looks.filter_map(|usage| {
        Some(usage.voluntary_switches_per_s? + usage.involuntary_switches_per_s?)
    });
    let (sum, count) = both.fold((0.0, 0), |(sum, count), one| (sum + one, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// The machine: CPU and memory, what tasks waited for, the interface, TCP trouble.
pub(crate) fn host(watch: &WatchHistory) -> Vec<String> {
    let parts = [machine(watch), waits(watch), traffic(watch), trouble(watch)];
    parts.into_iter().flatten().collect()
}

/// The mean rate of an amount of the machine, by the nanosecond.
fn mean(watch: &WatchHistory, of: fn(HostUsage) -> Option<u64>) -> Option<f64> {
    mean_rate(
        watch
            .usage_of_host()
            .map(|(usage, length_ns)| (of(usage), length_ns)),
    )
}

fn machine(watch: &WatchHistory) -> Option<String> {
    let busy = units::share(mean(watch, |host| host.cpu_ns)?);
    let cores = units::counted(watch.host.cores.unwrap_or(1), "core");
    let mut text = format!("Host: {busy} CPU of {cores}");
    let stolen = mean(watch, |host| host.steal_ns).filter(|stolen| *stolen >= 0.001);
    if let Some(stolen) = stolen {
        text.push_str(&format!(
            ", {} more stolen by other machines",
            units::share(stolen)
        ));
    }
    let used = mean_level(
        watch
            .usage_of_host()
            .map(|(host, _)| host.memory_used_bytes),
    );
    if let Some((used, all)) = used.zip(watch.host.memory_bytes) {
        let (used, all) = (units::bytes(used), units::bytes(all as f64));
        text.push_str(&format!(", {used} of {all} memory"));
    }
    Some(text + ".")
}

fn waits(watch: &WatchHistory) -> Option<String> {
    let share = |of| mean(watch, of).map(units::share);
    let cpu = share(|host| host.pressure.cpu_pressure_ns)?;
    let memory = share(|host| host.pressure.memory_pressure_ns)?;
    let disk = share(|host| host.pressure.io_pressure_ns)?;
    Some(format!(
        "Pressure: some task waited {cpu} of the time for the CPU, {memory} for memory, {disk} \
         for a disk."
    ))
}

fn traffic(watch: &WatchHistory) -> Option<String> {
    let per_s = |of| mean(watch, of).map(|per_ns| per_ns * 1e9);
    let bytes_in = per_s(|host| Some(host.traffic?.net_in_bytes))?;
    let bytes_out = per_s(|host| Some(host.traffic?.net_out_bytes))?;
    let packets = per_s(|host| {
        let traffic = host.traffic?;
        Some(traffic.net_in_packets + traffic.net_out_packets)
    })?;
    let interface = layout::harmless(watch.host.interface.as_deref().unwrap_or("Network"));
    let (shown_in, shown_out) = (units::bytes(bytes_in), units::bytes(bytes_out));
    let packets = units::rate(packets).replace("/s", " packets/s");
    let mut text = format!("{interface}: {shown_in}/s in, {shown_out}/s out, {packets}");
    if let Some(link) = watch.host.link_bits_per_s {
        let share = bytes_in.max(bytes_out) * 8.0 / link as f64;
        text.push_str(&format!(", {} of the link", units::share(share)));
    }
    Some(text + ".")
}

fn trouble(watch: &WatchHistory) -> Option<String> {
    let sum = |of: fn(HostUsage) -> Option<u64>| -> u64 {
        watch.usage_of_host().filter_map(|(host, _)| of(host)).sum()
    };
    let resent = sum(|host| host.retransmits);
    let refused = sum(|host| host.listen_overflows);
    let parts = [
        (resent > 0).then(|| format!("{} sent again", units::counted(resent, "segment"))),
        (refused > 0).then(|| {
            let times = units::counted(refused, "connection");
            format!("{times} refused by a full listen queue")
        }),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("TCP on this host: {}.", parts.join(", ")))
}

/// Returns the times at which a tree ended or came back.
fn events(tree: &TreeHistory, start_ns: u64) -> Vec<String> {
    let printed = tree.events.iter().take(MOST_EVENTS);
    let mut lines: Vec<String> = printed
        .map(|event| event_text(tree, event, start_ns))
        .collect();
    let more = tree.event_count.saturating_sub(lines.len() as u64);
    if more > 0 {
        let title = title(tree);
        lines.push(format!(
            "{title} ended or restarted {} more times.",
            units::count(more)
        ));
    }
    lines
}

fn event_text(tree: &TreeHistory, event: &WatchEvent, start_ns: u64) -> String {
    let at = units::time(event.at_ns.saturating_sub(start_ns) as f64);
    match (event.change, event.pid) {
        (Change::Restarted, Some(pid)) => {
            format!("{} was restarted by {at}, as process {pid}.", title(tree))
        }
        (Change::Restarted, None) => format!("{} was restarted by {at}.", title(tree)),
        (Change::Ended, _) => format!("{} ended by {at}.", title(tree)),
    }
}

/// Returns the figures that could not be read, with the process and the reason.
fn missing(watch: &WatchHistory) -> Vec<String> {
    let host = unread("the host", &watch.host.missing);
    let trees = watch
        .trees
        .iter()
        .flat_map(|tree| unread(&title(tree), &tree.missing));
    host.into_iter().chain(trees).collect()
}

/// A sentence for each reason why figures of `whom` could not be read.
pub(crate) fn unread(whom: &str, missing: &[Missing]) -> Vec<String> {
    let reasons = [
        (Why::Rights, "; run Loadline as that user or as root"),
        (Why::TooLarge, ""),
        (Why::Untold, ""),
    ];
    let sentences = reasons.into_iter().filter_map(|(reason, advice)| {
        let of_reason = missing.iter().filter(|missing| missing.why == reason);
        let names: Vec<&str> = of_reason
            .map(|missing| Figure::name(missing.figure))
            .collect();
        let why = reason.text();
        (!names.is_empty()).then(|| {
            format!(
                "Not measured for {whom}: {} ({why}{advice}).",
                names.join(", ")
            )
        })
    });
    sentences.collect()
}
