//! Counters of the whole machine, read from `/proc` (see proc(5)).

use crate::proc::{Proc, text};
use loadline_record::HostCounters;

/// Returns the machine's counters since it started; those of the network are of this process's
/// network namespace.
pub fn host_counters() -> HostCounters {
    host_counters_of(&Proc::default())
}

fn host_counters_of(machine: &Proc) -> HostCounters {
    let read = |file: &str| text(&machine.path(file)).unwrap_or_default();
    let snmp = read("net/snmp");
    let tcp = |name| counter(&snmp, "Tcp: ", name).unwrap_or(0);
    HostCounters {
        segments: tcp("OutSegs"),
        retransmitted: tcp("RetransSegs"),
        resets: tcp("EstabResets"),
        listen_overflows: counter(&read("net/netstat"), "TcpExt: ", "ListenOverflows").unwrap_or(0),
        softnet_drops: softnet_drops(&read("net/softnet_stat")),
        cpu_pressure_ns: pressure_ns(&read("pressure/cpu")).unwrap_or(0),
        wall_ns: uptime_ns(&read("uptime")).unwrap_or(0),
        ..of_cores(&read("stat"))
    }
}

fn of_cores(stat: &str) -> HostCounters {
    let cpu = stat.lines().find_map(|line| line.strip_prefix("cpu "));
    let ticks: Vec<u64> = cpu
        .into_iter()
        .flat_map(str::split_whitespace)
        .map_while(|ticks| ticks.parse().ok())
        // Time used by guests is part of user time already.
        .take(8)
        .collect();
    HostCounters {
        cpu_ticks: ticks.iter().sum(),
        steal_ticks: ticks.get(7).copied().unwrap_or(0),
        ..HostCounters::default()
    }
}

/// Returns a counter of a protocol: a line of names comes before a line of numbers.
fn counter(text: &str, protocol: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(protocol));
    let (names, numbers) = (lines.next()?, lines.next()?);
    let place = names.split_whitespace().position(|found| found == name)?;
    numbers.split_whitespace().nth(place)?.parse().ok()
}

/// Returns the sum of the second column of each core's line, a hexadecimal number.
fn softnet_drops(softnet: &str) -> u64 {
    let dropped = |line: &str| {
        let column = line.split_whitespace().nth(1)?;
        u64::from_str_radix(column, 16).ok()
    };
    softnet.lines().filter_map(dropped).sum()
}

/// Returns the time after `total=` in the line `some`, converted from microseconds.
fn pressure_ns(pressure: &str) -> Option<u64> {
    let some = pressure.lines().find(|line| line.starts_with("some "))?;
    let (_, total_us) = some.rsplit_once("total=")?;
    total_us.trim().parse::<u64>().ok()?.checked_mul(1_000)
}

/// Returns the uptime; the file has it in seconds with two decimals.
fn uptime_ns(uptime: &str) -> Option<u64> {
    let seconds: f64 = uptime.split_whitespace().next()?.parse().ok()?;
    Some((seconds * 1e9) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    const STAT: &str = "cpu  100 1 50 800 9 0 10 30 5 0\ncpu0 50 1 25 400 4 0 5 15 5 0\nintr 1 2\n";
    const SNMP: &str = "Ip: Forwarding\nIp: 1\nTcp: RtoMin InSegs OutSegs RetransSegs\n\
                        Tcp: 200 90 1980 20\nUdp: InDatagrams\nUdp: 5\n";

    #[test]
    fn reads_ticks_and_segments() {
        let mut counters = of_cores(STAT);
        assert_eq!((counters.cpu_ticks, counters.steal_ticks), (1_000, 30));
        assert_eq!(counters.steal_share(), 0.03);
        counters.segments = counter(SNMP, "Tcp: ", "OutSegs").unwrap();
        counters.retransmitted = counter(SNMP, "Tcp: ", "RetransSegs").unwrap();
        assert_eq!(counters.retransmitted_share(), 0.01);
        // Only first segments of connections that nobody accepts, sent again and again.
        (counters.segments, counters.retransmitted) = (10, 30);
        assert_eq!(counters.retransmitted_share(), 0.75);
    }

    #[test]
    fn reads_drops_and_pressure() {
        let softnet = "0000a1 00000010 0000\n0000b2 00000002 0000\n";
        assert_eq!(softnet_drops(softnet), 18);
        let pressure = "some avg10=0.00 avg60=1.00 avg300=0.50 total=1234\n\
                        full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
        assert_eq!(pressure_ns(pressure), Some(1_234_000));
        assert_eq!(uptime_ns("12.50 30.00\n"), Some(12_500_000_000));
        let host = HostCounters {
            cpu_pressure_ns: 25,
            wall_ns: 100,
            ..HostCounters::default()
        };
        assert_eq!(host.cpu_pressure_share(), 0.25);
    }

    #[test]
    fn a_fifth_of_the_time_in_between_was_stolen() {
        let machine = Fixture::new();
        machine.write("stat", "cpu  100 0 50 800 0 0 0 50 0 0\n");
        let before = host_counters_of(&machine.proc());
        machine.write("stat", "cpu  150 0 70 810 0 0 0 70 0 0\n");
        let meanwhile = host_counters_of(&machine.proc()).since(&before);
        assert_eq!((meanwhile.cpu_ticks, meanwhile.steal_ticks), (100, 20));
        assert_eq!(meanwhile.steal_share(), 0.2);
    }

    #[test]
    fn what_cannot_be_read_is_nothing() {
        let nothing = Fixture::new();
        assert_eq!(host_counters_of(&nothing.proc()), HostCounters::default());
        assert_eq!(of_cores(""), HostCounters::default());
        assert_eq!(HostCounters::default().steal_share(), 0.0);
        assert_eq!(counter("Tcp: OutSegs\n", "Tcp: ", "OutSegs"), None);
        assert_eq!(softnet_drops("x\n"), 0);
        assert_eq!((pressure_ns(""), uptime_ns("")), (None, None));
    }

    #[test]
    fn this_machine_counts_on() {
        let first = host_counters();
        assert!(first.cpu_ticks > 0);
        assert!(host_counters().cpu_ticks >= first.cpu_ticks);
        assert_eq!(first.since(&first), HostCounters::default());
    }
}
