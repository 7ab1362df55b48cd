//! What is wrong with a machine that is to generate load, and what to do about it.
//!
//! It is known before a run, of the machine alone; what a machine did to a run is a
//! [`Cause`](crate::Cause).

use crate::advice;

/// One thing about a machine that limits or distorts a load. When it applies is decided in
/// `verdict`.
#[derive(Clone, Debug, PartialEq)]
pub enum MachineProblem {
    /// The control group has less than a core's time.
    Quota,
    /// Something else than full speed chooses the frequency of the cores.
    Governor,
    /// A process may open few files.
    Descriptors,
    /// There are few local ports.
    Ports,
    /// Reading the clock takes long.
    Clock,
    /// Few connections may wait at a server on this machine, because of these settings.
    Queues(Vec<&'static str>),
    /// The buffers of a connection can't grow far, because of these settings.
    Buffers(Vec<&'static str>),
    /// The hypervisor gives time to other machines.
    Stolen,
    /// Other work uses the cores.
    Busy,
}

impl MachineProblem {
    /// The part of the machine that has it, as `loadline doctor` calls it.
    pub fn name(&self) -> &'static str {
        match self {
            MachineProblem::Quota => "cores",
            MachineProblem::Governor => "governor",
            MachineProblem::Descriptors => "descriptors",
            MachineProblem::Ports => "local_ports",
            MachineProblem::Clock => "clock",
            MachineProblem::Queues(_) => "queues",
            MachineProblem::Buffers(_) => "buffers",
            MachineProblem::Stolen => "steal",
            MachineProblem::Busy => "other_load",
        }
    }

    /// What to do about it, in a short sentence.
    pub fn advice(&self) -> String {
        match self {
            MachineProblem::Quota => "Raise the quota (cpu.max, or --cpus of a container).".into(),
            MachineProblem::Governor => "Run cpupower frequency-set -g performance.".into(),
            MachineProblem::Descriptors => "Raise the hard limit (ulimit -Hn, LimitNOFILE).".into(),
            MachineProblem::Ports => "Widen net.ipv4.ip_local_port_range.".into(),
            MachineProblem::Clock => "Look in dmesg why it is not tsc.".into(),
            MachineProblem::Queues(settings) | MachineProblem::Buffers(settings) => {
                format!("Raise {}.", settings.join(" and "))
            }
            MachineProblem::Stolen => advice::QUIET_HOST.into(),
            MachineProblem::Busy => "Stop other work, or wait for its end.".into(),
        }
    }
}
