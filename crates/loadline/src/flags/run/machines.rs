//! The machines of a run: agents that wait on a bus.

use crate::flags::agent::BusFlags;
use clap::{Args, ValueEnum};
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
    /// together. When an agent is lost, the others take over what it would have sent of an open
    /// load, and the report says what is missing.
    #[arg(long, value_name = "N|KEY=VALUE")]
    pub(crate) agents: Option<String>,

    /// Wait this long for agents that are missing [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, requires = "nats")]
    pub(crate) agents_timeout: Option<Duration>,

    /// What becomes of the load of an agent that is lost [default: share]
    #[arg(long, value_name = "CHOICE", value_enum, requires = "agents")]
    pub(crate) on_loss: Option<LossFlag>,

    /// Let agents that come while the run lasts take a share of its arrivals, or of its users
    ///
    /// Each begins at a whole second, from which on all agents have equal shares. Not with a number
    /// of requests without a rate. New agents of a locustfile get users as the test starts some.
    #[arg(long, requires = "agents")]
    pub(crate) elastic: bool,

    /// Give each series of exporters (-o) the label agent, with the figures of that agent alone
    ///
    /// What is planned has no such label: it is of all of them. For at most 64 agents.
    #[arg(long, requires = "agents")]
    pub(crate) per_agent: bool,

    /// Watch processes on the target's machine, by this many agents that run there with --watch, or
    /// by all that have a label
    ///
    /// Their CPU, memory and sockets are in the report beside what is watched here.
    #[arg(long, value_name = "N|KEY=VALUE", requires = "nats")]
    pub(crate) watch_agents: Option<String>,

    #[command(flatten)]
    pub(crate) bus: BusFlags,
}

impl MachineFlags {
    /// Returns the number of agents, if one is given.
    pub(crate) fn count(&self) -> Option<u32> {
        let words = self.agents.as_deref()?.split(',');
        words.into_iter().find_map(|word| word.parse().ok())
    }
}

/// The load of an agent that is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LossFlag {
    /// The others take it over.
    Share,
    /// It is lost, and the others keep theirs.
    Keep,
}
