//! Advice that several findings, searches and errors at the start share, each a sentence or two.

/// Advice for a process without a free file descriptor.
pub const DESCRIPTORS: &str = "Use fewer connections (-c, --max-connections), or raise the limit \
                               of open files (ulimit -n, or LimitNOFILE in a service).";

/// Advice for a machine without a free local port.
pub const PORTS: &str = "Use keep-alive or fewer connections (-c), widen \
    net.ipv4.ip_local_port_range, or spread the connections over more addresses (--local-address).";

/// Advice for an open load that other work delays.
pub const MORE_CORES: &str =
    "Lower the rate (-r), use more cores (-t), or keep other work off them.";

/// Advice for a generator that other work delays.
pub(crate) const OWN_CORES: &str = "Give the generator cores of its own (taskset -c), or run it on \
     another machine than the target.";

/// Advice for a machine whose hypervisor takes CPU time.
pub(crate) const QUIET_HOST: &str = "Measure again when they are quiet, or on a dedicated machine.";

/// Returns the sentence about a resource that this machine ran out of, and the advice.
pub(crate) fn shortage(what: &str, advice: &str) -> String {
    format!("{what}, which says nothing of the target. {advice}")
}
