//! The first line of a saved run: the plan, the machine and the time of the start.

use super::role::Role;
use crate::Environment;
use flate2::Crc;
use loadline_plan::{Body, Plan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::SystemTime;

/// The size of the longest request body in a header, in bytes.
pub const LONGEST_KEPT_BODY: usize = 256;

/// The plan, the machine and the time of the start of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The version of the program.
    pub version: String,
    /// The start of the run; in the file UTC as of RFC 3339, with nanoseconds.
    #[serde(with = "rfc3339")]
    pub started_at: SystemTime,
    /// The begin of the load by the machine's monotonic clock, in nanoseconds: it orders the runs
    /// of one machine even if the time of day was set between them. `None` if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_monotonic_ns: Option<u64>,
    /// The seed of all random choices in the run; equal to the plan's.
    pub seed: u64,
    /// The role of this run in its file, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// The plan, after defaults, with secrets masked. Bodies of more than [`LONGEST_KEPT_BODY`]
    /// bytes are excluded.
    #[serde(with = "loadline_plan::json")]
    pub plan: Plan,
    /// The bodies that are excluded from the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub long_bodies: Vec<LongBody>,
    /// The machine of the run.
    pub environment: Environment,
    /// The addresses of the target's name that were excluded because they did not respond.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// The names of the agents that sent the load, in the order of their parts; empty if this
    /// machine sent it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
}

/// A request body that is too long to store, with data to recognise it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LongBody {
    /// The index of its request in the plan; the body of that request is [`Body::None`].
    pub request: usize,
    /// The length in bytes.
    pub length: u64,
    /// The CRC-32 (as in zip and gzip), as eight hexadecimal digits.
    pub crc32: String,
}

impl Header {
    /// Creates the header of a run of this plan by this program, alone in its file.
    pub fn new(plan: &Plan, environment: Environment, started_at: SystemTime) -> Header {
        let mut plan = plan.clone();
        plan.mask_secrets();
        let long_bodies = take_long_bodies(&mut plan);
        Header {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at,
            started_monotonic_ns: None,
            seed: plan.seed,
            role: None,
            plan,
            long_bodies,
            environment,
            left_out: Vec::new(),
            agents: Vec::new(),
        }
    }
}

fn take_long_bodies(plan: &mut Plan) -> Vec<LongBody> {
    let mut long_bodies = Vec::new();
    for (index, request) in plan.requests.iter_mut().enumerate() {
        if let Body::Bytes(bytes) = &request.body
            && bytes.len() > LONGEST_KEPT_BODY
        {
            long_bodies.push(LongBody::of(index, bytes));
            request.body = Body::None;
        }
    }
    long_bodies
}

impl LongBody {
    fn of(request: usize, bytes: &[u8]) -> LongBody {
        let mut crc = Crc::new();
        crc.update(bytes);
        LongBody {
            request,
            length: bytes.len() as u64,
            crc32: format!("{:08x}", crc.sum()),
        }
    }
}

/// The format of times of day: RFC 3339.
mod rfc3339 {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};
    use std::time::SystemTime;

    pub(super) fn serialize<S: Serializer>(
        time: &SystemTime,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&humantime::format_rfc3339_nanos(*time))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<SystemTime, D::Error> {
        let text = String::deserialize(deserializer)?;
        humantime::parse_rfc3339(&text).map_err(D::Error::custom)
    }
}
