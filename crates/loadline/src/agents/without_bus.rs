//! The refusals of a build without the bus.

use super::Hired;
use crate::exit::{Exit, refuse};
use crate::flags::agent::{AgentFlags, AgentsFlags};
use crate::flags::run::machines::MachineFlags;
use anyhow::Result;

/// The sentence for all that needs the bus.
const LEFT_OUT: &str = "this build has no agents; build it with `make build`, or `cargo build \
                        --features cluster`.";

pub(crate) fn hire(
    flags: &MachineFlags,
    _processes: u32,
    _prints_wait: bool,
) -> Result<Option<Hired>, String> {
    match flags.agents.is_some() || flags.bus.nats.is_some() {
        true => Err(LEFT_OUT.to_owned()),
        false => Ok(None),
    }
}

pub(crate) fn of_locustfile(flags: &MachineFlags) -> Result<Option<String>, String> {
    hire(flags, 1, false).map(|_| None)
}

pub(crate) fn serve(_flags: &AgentFlags) -> Result<Exit> {
    Ok(refuse(LEFT_OUT))
}

pub(crate) fn list(_flags: &AgentsFlags) -> Result<Exit> {
    Ok(refuse(LEFT_OUT))
}
