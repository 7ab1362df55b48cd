//! The load that a machine can generate.

use crate::{PerSecond, Share};
use loadline_record::Environment;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The document that `loadline doctor -o json` prints. Described in docs/guide/doctor.md.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[schemars(title = "Machine as loadline doctor sees it")]
pub struct Doctor {
    /// The version of this schema.
    #[schemars(extend("const" = crate::DOCTOR_SCHEMA))]
    pub doctor_schema: u64,
    /// The version of the program that inspected the machine.
    pub version: String,
    /// The machine, as a run records it. What could not be read is null.
    pub environment: Environment,
    /// The number of simultaneous connections for which there are descriptors; null if unknown.
    pub connections: Option<u64>,
    /// The number of simultaneous connections to one address of a target for which there are local
    /// ports; null if unknown.
    pub connections_to_a_target: Option<u64>,
    /// The rate at which connections to one address can be opened anew, where each closed one keeps
    /// its port for a minute; null if closed connections free their ports, or if unknown.
    pub new_connections_per_s: Option<PerSecond>,
    /// The share of the CPU time that the hypervisor gave to other machines during the inspection;
    /// null if unknown.
    pub steal: Option<Share>,
    /// The recommended changes.
    pub changes: Vec<MachineChange>,
}

/// One thing to change about a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MachineChange {
    /// The part of the machine: `cores`, `governor`, `descriptors`, `local_ports`, `clock`,
    /// `queues`, `buffers`, `steal` or `other_load`.
    pub part: String,
    /// The advice: what to do.
    pub advice: String,
}
