//! The usage of the generator, the target and the machine, at the times of the timeline.

use crate::text;
use crate::text::unread;
use loadline_page::{Measure, Resource, Track};
use loadline_record::Summary;
use loadline_record::watched::{
    Change, HostUsage, Traffic, TreeHistory, TreeUsage, WatchEvent, WatchHistory, WatchRow, rate,
};
use loadline_units as units;

/// All that was watched with its numbers over time, each `each` moments joined; nothing if nothing
/// was.
pub(super) fn resources(summary: &Summary, each: usize) -> Vec<(Resource, Vec<Track>)> {
    if summary.watch.rows.is_empty() {
        return Vec::new();
    }
    let looks = looks(summary);
    let trees = summary.watch.trees.iter().enumerate();
    let mut resources: Vec<_> = trees
        .map(|(index, history)| tree(&looks, index, history, summary.total.start_ns))
        .collect();
    resources.push(host(&looks, &summary.watch));
    for track in resources.iter_mut().flat_map(|(_, tracks)| tracks) {
        *track = track.thinned(each);
    }
    resources
}

/// The look of each interval, if there was one.
fn looks(summary: &Summary) -> Vec<Option<&WatchRow>> {
    let rows = &summary.watch.rows;
    let look = |end_ns: u64| {
        let found = rows.binary_search_by_key(&end_ns, |row| row.at_ns);
        found.ok().map(|index| &rows[index])
    };
    summary.rows.iter().map(|row| look(row.end_ns)).collect()
}

fn tree(
    looks: &[Option<&WatchRow>],
    index: usize,
    history: &TreeHistory,
    zero_ns: u64,
) -> (Resource, Vec<Track>) {
    let track = |measure, of: &dyn Fn(&TreeUsage, u64) -> Option<f64>| {
        let value = |look: &Option<&WatchRow>| {
            let look = (*look)?;
            of(look.trees.get(index)?, look.length_ns)
        };
        known(measure, looks.iter().map(value).collect())
    };
    let level = |level: Option<u64>| level.map(|level| level as f64);
    let tracks = [
        track(Measure::Cpu, &|usage, length_ns| {
            percent(usage.cpu_ns, length_ns)
        }),
        track(Measure::Memory, &|usage, _| level(usage.rss_bytes)),
        track(Measure::Sockets, &|usage, _| level(usage.sockets)),
        track(Measure::Threads, &|usage, _| level(usage.threads)),
    ];
    let pid = history.pid.map(|pid| format!("Process {pid}."));
    let events = history.events.iter().map(|event| happened(event, zero_ns));
    let resource = Resource {
        name: text::tree_title(history),
        notes: pid
            .into_iter()
            .chain(events)
            .chain(unread(&history.name, &history.missing))
            .collect(),
    };
    (resource, tracks.into_iter().flatten().collect())
}

fn happened(event: &WatchEvent, zero_ns: u64) -> String {
    let at = units::time(event.at_ns.saturating_sub(zero_ns) as f64);
    match (event.change, event.pid) {
        (Change::Restarted, Some(pid)) => format!("Restarted as process {pid} by {at}."),
        (Change::Restarted, None) => format!("Restarted by {at}."),
        (Change::Ended, _) => format!("Ended by {at}."),
    }
}

fn host(looks: &[Option<&WatchRow>], watch: &WatchHistory) -> (Resource, Vec<Track>) {
    let track = |measure, of: &dyn Fn(&HostUsage, u64) -> Option<f64>| {
        let value =
            |look: &Option<&WatchRow>| (*look).and_then(|look| of(&look.host, look.length_ns));
        known(measure, looks.iter().map(value).collect())
    };
    let passed = |host: &HostUsage, length_ns, of: fn(Traffic) -> u64| {
        rate(host.traffic.map(of), length_ns).map(|per_ns| per_ns * 1e9)
    };
    let tracks = [
        track(Measure::Cpu, &|host, length_ns| {
            percent(host.cpu_ns, length_ns)
        }),
        track(Measure::Memory, &|host, _| {
            host.memory_used_bytes.map(|bytes| bytes as f64)
        }),
        track(Measure::BytesIn, &|host, length_ns| {
            passed(host, length_ns, |traffic| traffic.net_in_bytes)
        }),
        track(Measure::BytesOut, &|host, length_ns| {
            passed(host, length_ns, |traffic| traffic.net_out_bytes)
        }),
        track(Measure::CpuPressure, &|host, length_ns| {
            percent(host.pressure.cpu_pressure_ns, length_ns)
        }),
    ];
    let resource = Resource {
        name: "host".to_owned(),
        notes: text::host_notes(watch)
            .into_iter()
            .map(|note| note.strip_prefix("Host: ").unwrap_or(&note).to_owned())
            .chain(unread("the host", &watch.host.missing))
            .collect(),
    };
    (resource, tracks.into_iter().flatten().collect())
}

/// The track, unless there is not one number in it.
fn known(measure: Measure, values: Vec<Option<f64>>) -> Option<Track> {
    let any = values.iter().any(Option::is_some);
    any.then_some(Track { measure, values })
}

/// Time on a core in percent of one.
fn percent(amount_ns: Option<u64>, length_ns: u64) -> Option<f64> {
    rate(amount_ns, length_ns).map(|share| share * 100.0)
}
