//! What a machine can carry.

use crate::{PerSecond, Share};
use loadline_record::Environment;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What `loadline doctor -o json` prints. Described in docs/guide/doctor.md.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[schemars(title = "Machine as loadline doctor sees it")]
pub struct Doctor {
    /// The version of this schema.
    #[schemars(extend("const" = crate::DOCTOR_SCHEMA))]
    pub doctor_schema: u64,
    /// The version of the program that looked.
    pub version: String,
    /// The machine, as a run records it. What could not be read is null.
    pub environment: Environment,
    /// For how many connections at once there are descriptors; null if that is not known.
    pub connections: Option<u64>,
    /// For how many connections to one address of a target there are local ports; null if that is
    /// not known.
    pub connections_to_a_target: Option<u64>,
    /// How many of these can be opened anew, where each closed one keeps its port for a minute;
    /// null if it does not, or that is not known.
    pub new_connections_per_s: Option<PerSecond>,
    /// The share of the CPU time that the hypervisor gave to other machines, while this one was
    /// looked at; null if that is not known.
    pub steal: Option<Share>,
    /// What to change.
    pub changes: Vec<MachineChange>,
}

/// One thing to change about a machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MachineChange {
    /// Which part of it: `cores`, `governor`, `descriptors`, `local_ports`, `clock`, `queues`,
    /// `buffers`, `steal` or `other_load`.
    pub part: String,
    /// What to do.
    pub advice: String,
}
