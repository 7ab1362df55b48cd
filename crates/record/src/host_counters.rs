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
    /// TCP segments sent.
    pub segments: u64,
    /// TCP segments sent again.
    pub retransmitted: u64,
}

impl HostCounters {
    /// The machine's counters since it started, as this process's network namespace sees them.
    pub fn read() -> HostCounters {
        let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
        let snmp = fs::read_to_string("/proc/net/snmp").unwrap_or_default();
        HostCounters::parse(&stat, &snmp)
    }

    /// What was counted since an earlier reading.
    pub fn since(&self, earlier: &HostCounters) -> HostCounters {
        HostCounters {
            cpu_ticks: self.cpu_ticks.saturating_sub(earlier.cpu_ticks),
            steal_ticks: self.steal_ticks.saturating_sub(earlier.steal_ticks),
            segments: self.segments.saturating_sub(earlier.segments),
            retransmitted: self.retransmitted.saturating_sub(earlier.retransmitted),
        }
    }

    /// Adds another machine's.
    pub fn add(&mut self, other: &HostCounters) {
        let add = |sum: &mut u64, count: u64| *sum = sum.saturating_add(count);
        add(&mut self.cpu_ticks, other.cpu_ticks);
        add(&mut self.steal_ticks, other.steal_ticks);
        add(&mut self.segments, other.segments);
        add(&mut self.retransmitted, other.retransmitted);
    }

    /// The share of the machine's processor time that the hypervisor gave to others.
    pub fn steal_share(&self) -> f64 {
        self.steal_ticks as f64 / self.cpu_ticks.max(1) as f64
    }

    /// The share of the TCP segments that were sent again.
    pub fn retransmitted_share(&self) -> f64 {
        self.retransmitted as f64 / self.segments.max(1) as f64
    }

    fn parse(stat: &str, snmp: &str) -> HostCounters {
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
            segments: tcp_counter(snmp, "OutSegs").unwrap_or(0),
            retransmitted: tcp_counter(snmp, "RetransSegs").unwrap_or(0),
        }
    }
}

/// A counter of TCP's: a line of names is followed by one of numbers.
fn tcp_counter(snmp: &str, name: &str) -> Option<u64> {
    let mut lines = snmp.lines().filter_map(|line| line.strip_prefix("Tcp: "));
    let (names, numbers) = (lines.next()?, lines.next()?);
    let place = names.split_whitespace().position(|found| found == name)?;
    numbers.split_whitespace().nth(place)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "cpu  100 1 50 800 9 0 10 30 5 0\ncpu0 50 1 25 400 4 0 5 15 5 0\nintr 1 2\n";
    const SNMP: &str = "Ip: Forwarding\nIp: 1\nTcp: RtoMin InSegs OutSegs RetransSegs\n\
                        Tcp: 200 90 2000 20\nUdp: InDatagrams\nUdp: 5\n";

    #[test]
    fn reads_ticks_and_segments() {
        let counters = HostCounters::parse(STAT, SNMP);
        let expected = HostCounters {
            cpu_ticks: 1_000,
            steal_ticks: 30,
            segments: 2_000,
            retransmitted: 20,
        };
        assert_eq!(counters, expected);
        assert_eq!(counters.steal_share(), 0.03);
        assert_eq!(counters.retransmitted_share(), 0.01);
    }

    #[test]
    fn what_cannot_be_read_is_nothing() {
        let nothing = HostCounters::parse("", "Tcp: OutSegs\n");
        assert_eq!(nothing, HostCounters::default());
        assert_eq!(nothing.steal_share(), 0.0);
    }

    #[test]
    fn this_machine_counts_on() {
        let first = HostCounters::read();
        assert!(first.cpu_ticks > 0);
        assert!(HostCounters::read().cpu_ticks >= first.cpu_ticks);
        assert_eq!(first.since(&first), HostCounters::default());
    }
}
