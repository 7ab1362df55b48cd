//! The load that a machine can generate and its problems, in ten lines, and as JSON.
//!
//! A line is about one part of the machine: `ok`, `change` with what to do, or `?` where nothing is
//! known of it. Lines are not wrapped, so that there are always ten of them.

use crate::layout;
use loadline_json::{Doctor, MachineChange, PerSecond, Share};
use loadline_record::{Environment, HostCounters};
use loadline_units as units;
use loadline_units::rounding;
use loadline_verdict::MachineProblem;

/// The time for which a closed connection occupies its port, in seconds (`TCP_TIMEWAIT_LEN` of
/// Linux).
const TIME_WAIT_S: u64 = 60;
const NOT_KNOWN: &str = "not known";

/// A machine that was looked at.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The environment that a run would record.
    pub environment: Environment,
    /// Its counters during the samples.
    pub meanwhile: HostCounters,
    /// The number of files that a run opens in addition to its connections.
    pub other_files: u64,
    /// The problems to solve.
    pub problems: Vec<MachineProblem>,
}

/// A part of a machine: its name, as in JSON, and what is known of it.
type Part = (&'static str, fn(&Machine) -> Option<String>);

const PARTS: [Part; 9] = [
    ("cores", cores),
    ("governor", |it| it.environment.governor.clone()),
    ("descriptors", descriptors),
    ("local_ports", local_ports),
    ("clock", clock),
    ("queues", queues),
    ("buffers", buffers),
    ("steal", steal),
    ("other_load", other_load),
];

/// A line for each part of a machine, and one that counts what to change.
pub fn machine_text(machine: &Machine) -> String {
    let mut text: String = PARTS.iter().map(|part| line(machine, part)).collect();
    text += &match machine.problems.len() {
        0 => "Nothing to change.\n".to_owned(),
        n => format!("{} to change.\n", units::counted(n as u64, "thing")),
    };
    text
}

fn line(machine: &Machine, (name, of): &Part) -> String {
    let fact = of(machine);
    let problem = machine
        .problems
        .iter()
        .find(|problem| problem.name() == *name);
    let mark = match (&fact, problem) {
        (_, Some(_)) => "change",
        (Some(_), None) => "ok",
        (None, None) => "?",
    };
    let fact = fact.unwrap_or_else(|| NOT_KNOWN.to_owned());
    let advice = problem.map(|problem| format!(". {}", problem.advice()));
    format!(
        "{}  {}  {fact}{}\n",
        layout::left(mark, "change".len()),
        layout::left(&name.replace('_', " "), "descriptors".len()),
        advice.unwrap_or_default(),
    )
}

fn cores(machine: &Machine) -> Option<String> {
    let environment = &machine.environment;
    let usable = environment.usable_cores.or(environment.cores)?;
    let cores = match environment.cores {
        Some(cores) if cores != usable => format!("{usable} of {cores} usable"),
        _ => format!("{usable}"),
    };
    Some(match environment.cpu_quota {
        Some(quota) => format!("{cores}, CPU time for {}", units::number(quota)),
        None => cores,
    })
}

/// A run raises its own limit as far as it may.
fn files(environment: &Environment) -> Option<u64> {
    environment.open_files_hard.or(environment.open_files)
}

fn connections(machine: &Machine) -> Option<u64> {
    files(&machine.environment).map(|files| files.saturating_sub(machine.other_files))
}

fn descriptors(machine: &Machine) -> Option<String> {
    let files = files(&machine.environment)?;
    let connections = connections(machine)?;
    Some(format!(
        "{}: {} at once",
        units::count(files),
        units::counted(connections, "connection"),
    ))
}

/// Returns the number of connections per second that can certainly be opened to a target, if none
/// is kept alive and Loadline closes each: `None` also if the kernel reuses ports at once.
fn new_per_s(environment: &Environment) -> Option<u64> {
    let waits = environment.tcp.tcp_tw_reuse != Some(1);
    let ports = environment.tcp.local_ports().filter(|_| waits)?;
    Some(ports / TIME_WAIT_S)
}

fn local_ports(machine: &Machine) -> Option<String> {
    let environment = &machine.environment;
    let ports = environment.tcp.local_ports()?;
    let text = format!("{} to a target", units::count(ports));
    Some(match new_per_s(environment) {
        Some(new) => format!("{text}, {} new ones a second", units::count(new)),
        None => format!("{text}, used again at once"),
    })
}

fn clock(machine: &Machine) -> Option<String> {
    let environment = &machine.environment;
    let reading = environment.clock_reading_ns.map(|ns| match ns {
        // Times of requests have no smaller unit than microseconds.
        ..1_000.0 => format!("{ns:.0} ns"),
        _ => units::time(ns),
    });
    let parts = [
        environment.clock_source.clone(),
        reading.map(|reading| format!("{reading} a reading")),
    ];
    join(parts)
}

fn queues(machine: &Machine) -> Option<String> {
    let tcp = &machine.environment.tcp;
    let some = |value: Option<u64>, what| value.map(|it| format!("{} {what}", units::count(it)));
    join([
        some(tcp.somaxconn, "to accept"),
        some(tcp.tcp_max_syn_backlog, "half open"),
    ])
}

fn buffers(machine: &Machine) -> Option<String> {
    let tcp = &machine.environment.tcp;
    let some =
        |value: Option<u64>, what| value.map(|it| format!("{} to {what}", units::bytes(it as f64)));
    join([
        some(tcp.tcp_rmem_max, "receive"),
        some(tcp.tcp_wmem_max, "send"),
    ])
}

/// Returns the share of CPU time taken by the hypervisor; `None` if the machine's CPU time can't be
/// read.
fn steal_share(machine: &Machine) -> Option<f64> {
    let is_known = machine.meanwhile.cpu_ticks > 0;
    is_known.then(|| machine.meanwhile.steal_share())
}

fn steal(machine: &Machine) -> Option<String> {
    let kind = match machine.environment.is_virtual {
        Some(true) => Some("virtual".to_owned()),
        Some(false) => Some("not virtual".to_owned()),
        None => None,
    };
    let taken = steal_share(machine).map(|share| format!("{} to others", units::share(share)));
    join([kind, taken])
}

fn other_load(machine: &Machine) -> Option<String> {
    let environment = &machine.environment;
    let [load, ..] = environment.load_average?;
    let text = format!("{} in the last minute", units::number(load));
    Some(match environment.cores {
        Some(cores) => format!("{text}, on {}", units::counted(cores, "core")),
        None => text,
    })
}

/// Joins those parts that are known.
fn join(parts: [Option<String>; 2]) -> Option<String> {
    let known: Vec<String> = parts.into_iter().flatten().collect();
    (!known.is_empty()).then(|| known.join(", "))
}

/// The document that [`machine_json`] prints.
fn document(machine: &Machine) -> Doctor {
    let environment = &machine.environment;
    let change = |problem: &MachineProblem| MachineChange {
        part: problem.name().to_owned(),
        advice: problem.advice(),
    };
    Doctor {
        doctor_schema: loadline_json::DOCTOR_SCHEMA,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        environment: environment.clone(),
        connections: connections(machine),
        connections_to_a_target: environment.tcp.local_ports(),
        new_connections_per_s: new_per_s(environment).map(|new| PerSecond(new as f64)),
        steal: steal_share(machine).map(|share| Share(rounding::share(share))),
        changes: machine.problems.iter().map(change).collect(),
    }
}

/// A machine as a [`loadline_json::Doctor`].
pub fn machine_json(machine: &Machine) -> serde_json::Value {
    crate::json::value(&document(machine))
}

#[cfg(test)]
pub(crate) mod tests;
