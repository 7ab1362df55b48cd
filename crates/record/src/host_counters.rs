//! What the whole machine did while a run lasted, from `/proc` (see proc(5)).
//!
//! Two things that the generator cannot see in itself lengthen what it measures: time that the
//! hypervisor gave to other machines (steal), and packets that were lost and sent again.

use serde::{Deserialize, Serialize};
use std::fs;

/// What the whole machine did, other processes included. What could not be read is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostCounters {
    /// Processor time of all cores, in ticks, idle time included.
    pub cpu_ticks: u64,
    /// How much of it the hypervisor gave to others.
    pub steal_ticks: u64,
    /// TCP segments sent for the first time (`tcpOutSegs`, RFC 4022).
    pub segments: u64,
    /// TCP segments sent again.
    pub retransmitted: u64,
    /// TCP connections that were broken off instead of closed.
    #[serde(default)]
    pub resets: u64,
    /// Connections that a listener on this machine refused because its queue was full.
    #[serde(default)]
    pub listen_overflows: u64,
    /// Packets dropped before TCP saw them, because a core's queue was full.
    #[serde(default)]
    pub softnet_drops: u64,
    /// Time in which some task waited for the CPU, in nanoseconds (Linux,
    /// Documentation/accounting/psi).
    #[serde(default)]
    pub cpu_pressure_ns: u64,
    /// The time that passed, in nanoseconds.
    #[serde(default)]
    pub wall_ns: u64,
}

impl HostCounters {
    /// The machine's counters since it started, as this process's network namespace sees them.
    pub fn read() -> HostCounters {
        let read = |file: &str| fs::read_to_string(format!("/proc/{file}")).unwrap_or_default();
        let snmp = read("net/snmp");
        let tcp = |name| counter(&snmp, "Tcp: ", name).unwrap_or(0);
        HostCounters {
            segments: tcp("OutSegs"),
            retransmitted: tcp("RetransSegs"),
            resets: tcp("EstabResets"),
            listen_overflows: counter(&read("net/netstat"), "TcpExt: ", "ListenOverflows")
                .unwrap_or(0),
            softnet_drops: softnet_drops(&read("net/softnet_stat")),
            cpu_pressure_ns: pressure_ns(&read("pressure/cpu")).unwrap_or(0),
            wall_ns: uptime_ns(&read("uptime")).unwrap_or(0),
            ..HostCounters::of_cores(&read("stat"))
        }
    }

    /// What was counted since an earlier reading.
    pub fn since(&self, earlier: &HostCounters) -> HostCounters {
        self.with(earlier, u64::saturating_sub)
    }

    /// Adds another machine's.
    pub fn add(&mut self, other: &HostCounters) {
        *self = self.with(other, u64::saturating_add);
    }

    fn with(&self, other: &HostCounters, join: impl Fn(u64, u64) -> u64) -> HostCounters {
        HostCounters {
            cpu_ticks: join(self.cpu_ticks, other.cpu_ticks),
            steal_ticks: join(self.steal_ticks, other.steal_ticks),
            segments: join(self.segments, other.segments),
            retransmitted: join(self.retransmitted, other.retransmitted),
            resets: join(self.resets, other.resets),
            listen_overflows: join(self.listen_overflows, other.listen_overflows),
            softnet_drops: join(self.softnet_drops, other.softnet_drops),
            cpu_pressure_ns: join(self.cpu_pressure_ns, other.cpu_pressure_ns),
            wall_ns: join(self.wall_ns, other.wall_ns),
        }
    }

    /// The share of the time in which some task of the machine waited for the CPU.
    pub fn cpu_pressure_share(&self) -> f64 {
        self.cpu_pressure_ns as f64 / self.wall_ns.max(1) as f64
    }

    /// The share of the machine's processor time that the hypervisor gave to others.
    pub fn steal_share(&self) -> f64 {
        self.steal_ticks as f64 / self.cpu_ticks.max(1) as f64
    }

    /// The share of the TCP segments sent that had been sent before.
    pub fn retransmitted_share(&self) -> f64 {
        let all = self.segments.saturating_add(self.retransmitted);
        self.retransmitted as f64 / all.max(1) as f64
    }

    fn of_cores(stat: &str) -> HostCounters {
        let cpu = stat.lines().find_map(|line| line.strip_prefix("cpu "));
        let ticks: Vec<u64> = cpu
            .into_iter()
            .flat_map(str::split_whitespace)
            .map_while(|ticks| ticks.parse().ok())
            // What guests used is in user time already.
            .take(8)
            .collect();
        HostCounters {
            cpu_ticks: ticks.iter().sum(),
            steal_ticks: ticks.get(7).copied().unwrap_or(0),
            ..HostCounters::default()
        }
    }
}

/// A counter of a protocol's: a line of names is followed by one of numbers.
fn counter(text: &str, protocol: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(protocol));
    let (names, numbers) = (lines.next()?, lines.next()?);
    let place = names.split_whitespace().position(|found| found == name)?;
    numbers.split_whitespace().nth(place)?.parse().ok()
}

/// The second column of each core's line, hexadecimal.
fn softnet_drops(softnet: &str) -> u64 {
    let dropped = |line: &str| {
        let column = line.split_whitespace().nth(1)?;
        u64::from_str_radix(column, 16).ok()
    };
    softnet.lines().filter_map(dropped).sum()
}

/// The microseconds behind `total=` in the line `some`.
fn pressure_ns(pressure: &str) -> Option<u64> {
    let some = pressure.lines().find(|line| line.starts_with("some "))?;
    let (_, total_us) = some.rsplit_once("total=")?;
    total_us.trim().parse::<u64>().ok()?.checked_mul(1_000)
}

/// Seconds since the machine was started, with two decimals.
fn uptime_ns(uptime: &str) -> Option<u64> {
    let seconds: f64 = uptime.split_whitespace().next()?.parse().ok()?;
    Some((seconds * 1e9) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "cpu  100 1 50 800 9 0 10 30 5 0\ncpu0 50 1 25 400 4 0 5 15 5 0\nintr 1 2\n";
    const SNMP: &str = "Ip: Forwarding\nIp: 1\nTcp: RtoMin InSegs OutSegs RetransSegs\n\
                        Tcp: 200 90 1980 20\nUdp: InDatagrams\nUdp: 5\n";

    #[test]
    fn reads_ticks_and_segments() {
        let mut counters = HostCounters::of_cores(STAT);
        assert_eq!((counters.cpu_ticks, counters.steal_ticks), (1_000, 30));
        assert_eq!(counters.steal_share(), 0.03);
        counters.segments = counter(SNMP, "Tcp: ", "OutSegs").unwrap();
        counters.retransmitted = counter(SNMP, "Tcp: ", "RetransSegs").unwrap();
        assert_eq!(counters.retransmitted_share(), 0.01);
        // Only first segments of connections that nobody accepts, over and over.
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
    fn what_cannot_be_read_is_nothing() {
        assert_eq!(HostCounters::of_cores(""), HostCounters::default());
        assert_eq!(HostCounters::default().steal_share(), 0.0);
        assert_eq!(counter("Tcp: OutSegs\n", "Tcp: ", "OutSegs"), None);
        assert_eq!(softnet_drops("x\n"), 0);
        assert_eq!((pressure_ns(""), uptime_ns("")), (None, None));
    }

    #[test]
    fn this_machine_counts_on() {
        let first = HostCounters::read();
        assert!(first.cpu_ticks > 0);
        assert!(HostCounters::read().cpu_ticks >= first.cpu_ticks);
        assert_eq!(first.since(&first), HostCounters::default());
    }
}
