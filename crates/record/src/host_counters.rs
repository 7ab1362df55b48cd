//! Counters of the whole machine during a run.
//!
//! Two things that the generator cannot detect in its own counters lengthen the times that it
//! measures: time that the hypervisor gave to other machines (steal), and packets that were lost
//! and sent again.

use serde::{Deserialize, Serialize};

/// Counters of the whole machine, other processes included. A value that could not be read is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostCounters {
    /// The processor time of all cores, in ticks, idle time included.
    pub cpu_ticks: u64,
    /// The part of it that the hypervisor gave to other machines.
    pub steal_ticks: u64,
    /// The TCP segments sent for the first time (`tcpOutSegs`, RFC 4022).
    pub segments: u64,
    /// The TCP segments sent again.
    pub retransmitted: u64,
    /// The TCP connections that were reset instead of closed.
    #[serde(default)]
    pub resets: u64,
    /// The connections that a listener on this machine refused because its queue was full.
    #[serde(default)]
    pub listen_overflows: u64,
    /// The packets dropped before TCP received them, because a core's queue was full.
    #[serde(default)]
    pub softnet_drops: u64,
    /// The time in which some task waited for the CPU, in nanoseconds (Linux,
    /// Documentation/accounting/psi).
    #[serde(default)]
    pub cpu_pressure_ns: u64,
    /// The time that passed, in nanoseconds.
    #[serde(default)]
    pub wall_ns: u64,
}

impl HostCounters {
    /// Returns the counts since an earlier reading.
    pub fn since(&self, earlier: &HostCounters) -> HostCounters {
        self.with(earlier, u64::saturating_sub)
    }

    /// Adds the counts of another machine.
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

    /// Returns the share of the time in which some task of the machine waited for the CPU.
    pub fn cpu_pressure_share(&self) -> f64 {
        self.cpu_pressure_ns as f64 / self.wall_ns.max(1) as f64
    }

    /// Returns the share of the machine's processor time that the hypervisor gave to others.
    pub fn steal_share(&self) -> f64 {
        self.steal_ticks as f64 / self.cpu_ticks.max(1) as f64
    }

    /// Returns the share of the sent TCP segments that were retransmissions.
    pub fn retransmitted_share(&self) -> f64 {
        let all = self.segments.saturating_add(self.retransmitted);
        self.retransmitted as f64 / all.max(1) as f64
    }
}
