//! The machines of a run: agents that wait on a bus.

use crate::flags::agent::BusFlags;
use clap::Args;
use loadline_plan::parse_duration;
use std::time::Duration;

/// The agents of a run, and the bus on which they wait.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Machines")]
#[cfg_attr(
    not(feature = "cluster"),
    allow(dead_code, reason = "a build without the bus refuses them")
)]
pub(crate) struct MachineFlags {
    /// Send the load from this many agents, or from all that have a label: 4, region=eu, or both as
    /// in 4,region=eu
    ///
    /// An agent is another machine, on which `loadline agent` waits for runs. Arrivals and report
    /// are those of as many threads of one machine; --threads is the number for all agents
    /// together. What an agent that is lost would have sent is lost from there on, and the report
    /// says so.
    #[arg(long, value_name = "N|KEY=VALUE")]
    pub(crate) agents: Option<String>,

    /// Wait this long for agents that are missing [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, requires = "agents")]
    pub(crate) agents_timeout: Option<Duration>,

    #[command(flatten)]
    pub(crate) bus: BusFlags,
}
