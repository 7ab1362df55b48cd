//! Problems of a machine that is to generate load, with advice.
//!
//! They are known before a run, and concern the machine alone; effects of the machine on a run are
//! [`Cause`](crate::Cause)s.

use crate::advice;

/// A property of a machine that limits or distorts a load. The crate `verdict` decides whether it
/// applies.
#[derive(Clone, Debug, PartialEq)]
pub enum MachineProblem {
    /// The control group allows less CPU time than one core.
    Quota,
    /// The governor does not run the cores at full speed.
    Governor,
    /// The limit of open files is low.
    Descriptors,
    /// The range of local ports is small.
    Ports,
    /// Reading the clock takes long.
    Clock,
    /// These settings let few connections wait at a server on this machine.
    Queues(Vec<&'static str>),
    /// These settings keep the buffers of a connection small.
    Buffers(Vec<&'static str>),
    /// The hypervisor gives time to other machines.
    Stolen,
    /// Other work uses the cores.
    Busy,
}

impl MachineProblem {
    /// Returns the affected part of the machine, as `loadline doctor` names it.
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

    /// Returns the advice, a short sentence.
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
