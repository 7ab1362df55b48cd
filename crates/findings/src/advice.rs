//! Advice that several findings, searches and refusals share, each a sentence or two.

/// What to do where this process has no file descriptor left.
pub const DESCRIPTORS: &str = "Use fewer connections (-c, --max-connections), or raise the limit \
                               of open files (ulimit -n, or LimitNOFILE in a service).";

/// What to do where this machine has no local port left.
pub const PORTS: &str = "Use keep-alive or fewer connections (-c), widen \
    net.ipv4.ip_local_port_range, or spread the connections over more addresses (--local-address).";

/// What to do where other work delays Loadline in an open load.
pub const MORE_CORES: &str =
    "Lower the rate (-r), use more cores (-t), or keep other work off them.";

/// What to do where other work delays the generator.
pub(crate) const OWN_CORES: &str = "Give the generator cores of its own (taskset -c), or run it on \
     another machine than the target.";

/// What to do where a hypervisor takes time.
pub(crate) const QUIET_HOST: &str = "Measure again when they are quiet, or on a dedicated machine.";

/// That something ran out on this machine, and what to do about it.
pub(crate) fn shortage(what: &str, advice: &str) -> String {
    format!("{what}, which says nothing of the target. {advice}")
}
