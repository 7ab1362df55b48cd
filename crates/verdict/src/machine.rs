//! The problems of a machine before it generates load.
//!
//! Each bound is where a machine begins to be the limit of tests that people usually make; what is
//! not known is no problem. A run is not judged by this, but by what its machine did to it.

use crate::validity::STOLEN;
use loadline_findings::MachineProblem;
use loadline_record::{Environment, HostCounters, TcpSettings};

/// Fewer connections than load tests sometimes need.
const FEW_CONNECTIONS: u64 = 10_000;
/// A server's queue that a burst of connections fills (the kernel's usual length is 4096, and was
/// 128 until Linux 5.4).
const SHORT_QUEUE: u64 = 1_024;
/// The shortest queue of half-open connections that the kernel chooses by itself.
const SHORT_SYN_QUEUE: u64 = 128;
/// About what 10 Gbit/s carry in a round trip of a millisecond.
const SMALL_BUFFER_BYTES: u64 = 1 << 20;
/// A clock that a system call reads, in nanoseconds: several readings a request are then much of
/// its cost.
const SLOW_READING_NS: f64 = 200.0;
/// Clocks outside of the processor.
const SLOW_CLOCKS: [&str; 4] = ["hpet", "acpi_pm", "jiffies", "refined-jiffies"];
/// The share of its cores that other work has.
const BUSY: f64 = 0.5;

/// Returns the problems of this machine, whose counters were sampled meanwhile.
pub fn machine_problems(machine: &Environment, meanwhile: &HostCounters) -> Vec<MachineProblem> {
    let is_below = |value: Option<u64>, bound| value.is_some_and(|value| value < bound);
    let problems = [
        (
            machine.cpu_quota.is_some_and(|cores| cores < 1.0),
            MachineProblem::Quota,
        ),
        (
            machine
                .governor
                .as_ref()
                .is_some_and(|it| it != "performance"),
            MachineProblem::Governor,
        ),
        (
            is_below(machine.open_files_hard, FEW_CONNECTIONS),
            MachineProblem::Descriptors,
        ),
        (
            is_below(machine.tcp.local_ports(), FEW_CONNECTIONS),
            MachineProblem::Ports,
        ),
        (has_slow_clock(machine), MachineProblem::Clock),
        (meanwhile.steal_share() > STOLEN, MachineProblem::Stolen),
        (is_busy(machine), MachineProblem::Busy),
    ];
    let applying = problems.into_iter().filter(|(applies, _)| *applies);
    let mut problems: Vec<_> = applying.map(|(_, problem)| problem).collect();
    problems.extend(of_tcp(&machine.tcp));
    problems
}

fn has_slow_clock(machine: &Environment) -> bool {
    let source = machine.clock_source.as_deref();
    let reading_ns = machine.clock_reading_ns;
    source.is_some_and(|source| SLOW_CLOCKS.contains(&source))
        || reading_ns.is_some_and(|reading_ns| reading_ns > SLOW_READING_NS)
}

/// True if the machine is busy. The load is that of all cores, which is what the kernel reports.
fn is_busy(machine: &Environment) -> bool {
    let load = machine.load_average.map(|[last_minute, ..]| last_minute);
    let cores = machine.cores.or(machine.usable_cores);
    load.zip(cores)
        .is_some_and(|(load, cores)| load > BUSY * cores as f64)
}

fn of_tcp(tcp: &TcpSettings) -> impl Iterator<Item = MachineProblem> {
    let below = |settings: [(&'static str, Option<u64>, u64); 2]| {
        let low = settings
            .into_iter()
            .filter(|(_, value, bound)| value.is_some_and(|value| value < *bound));
        low.map(|(name, ..)| name).collect::<Vec<_>>()
    };
    let queues = below([
        ("net.core.somaxconn", tcp.somaxconn, SHORT_QUEUE),
        (
            "net.ipv4.tcp_max_syn_backlog",
            tcp.tcp_max_syn_backlog,
            SHORT_SYN_QUEUE,
        ),
    ]);
    let buffers = below([
        ("net.ipv4.tcp_rmem", tcp.tcp_rmem_max, SMALL_BUFFER_BYTES),
        ("net.ipv4.tcp_wmem", tcp.tcp_wmem_max, SMALL_BUFFER_BYTES),
    ]);
    let problems = [
        (!queues.is_empty()).then_some(MachineProblem::Queues(queues)),
        (!buffers.is_empty()).then_some(MachineProblem::Buffers(buffers)),
    ];
    problems.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> Environment {
        Environment {
            cores: Some(2),
            usable_cores: Some(2),
            open_files: Some(1_024),
            open_files_hard: Some(524_288),
            load_average: Some([0.2, 4.0, 4.0]),
            clock_source: Some("tsc".to_owned()),
            clock_reading_ns: Some(24.0),
            governor: Some("performance".to_owned()),
            is_virtual: Some(true),
            tcp: TcpSettings {
                ip_local_port_range: Some([32_768, 60_999]),
                tcp_tw_reuse: Some(2),
                somaxconn: Some(4_096),
                tcp_max_syn_backlog: Some(1_024),
                tcp_rmem_max: Some(6_291_456),
                tcp_wmem_max: Some(4_194_304),
            },
            ..Environment::default()
        }
    }

    fn problems(change: impl FnOnce(&mut Environment)) -> Vec<MachineProblem> {
        let mut machine = good();
        change(&mut machine);
        machine_problems(&machine, &HostCounters::default())
    }

    #[test]
    fn a_usual_machine_and_an_unknown_one_have_no_problem() {
        assert_eq!(problems(|_| {}), []);
        assert_eq!(problems(|machine| *machine = Environment::default()), []);
    }

    #[test]
    fn each_problem_has_its_own_sign() {
        let governor = |machine: &mut Environment| machine.governor = Some("powersave".to_owned());
        assert_eq!(problems(governor), [MachineProblem::Governor]);
        let quota = |machine: &mut Environment| machine.cpu_quota = Some(0.5);
        assert_eq!(problems(quota), [MachineProblem::Quota]);
        let descriptors = |machine: &mut Environment| machine.open_files_hard = Some(256);
        assert_eq!(problems(descriptors), [MachineProblem::Descriptors]);
        let ports = |machine: &mut Environment| {
            machine.tcp.ip_local_port_range = Some([32_768, 33_000]);
        };
        assert_eq!(problems(ports), [MachineProblem::Ports]);
        let load = |machine: &mut Environment| machine.load_average = Some([8.0, 1.0, 1.0]);
        assert_eq!(problems(load), [MachineProblem::Busy]);
    }

    #[test]
    fn a_clock_is_slow_by_its_name_or_by_what_it_takes() {
        let hpet = |machine: &mut Environment| machine.clock_source = Some("hpet".to_owned());
        assert_eq!(problems(hpet), [MachineProblem::Clock]);
        let slow = |machine: &mut Environment| machine.clock_reading_ns = Some(900.0);
        assert_eq!(problems(slow), [MachineProblem::Clock]);
    }

    #[test]
    fn a_fifth_of_the_time_stolen_is_a_problem_and_a_hundredth_is_none() {
        let stolen = |steal_ticks| {
            let meanwhile = HostCounters {
                cpu_ticks: 100,
                steal_ticks,
                ..HostCounters::default()
            };
            machine_problems(&good(), &meanwhile)
        };
        assert_eq!(stolen(20), [MachineProblem::Stolen]);
        assert_eq!(stolen(1), []);
    }

    #[test]
    fn settings_of_tcp_are_named_where_they_limit() {
        let short = |machine: &mut Environment| {
            machine.tcp.somaxconn = Some(128);
            machine.tcp.tcp_max_syn_backlog = Some(64);
            machine.tcp.tcp_wmem_max = Some(212_992);
        };
        let expected = [
            MachineProblem::Queues(vec!["net.core.somaxconn", "net.ipv4.tcp_max_syn_backlog"]),
            MachineProblem::Buffers(vec!["net.ipv4.tcp_wmem"]),
        ];
        assert_eq!(problems(short), expected);
    }

    #[test]
    fn the_load_is_one_of_all_cores() {
        let many = |machine: &mut Environment| {
            machine.cores = Some(64);
            machine.load_average = Some([8.0; 3]);
        };
        assert_eq!(problems(many), []);
    }
}
