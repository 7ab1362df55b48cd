//! The first line of a saved run: what was run, where and when.

use super::role::Role;
use crate::Environment;
use flate2::Crc;
use loadline_plan::{Body, Plan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::SystemTime;

/// The longest request body, in bytes, that is kept in a header.
pub const LONGEST_KEPT_BODY: usize = 256;

/// What was run, where and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// The version of the program.
    pub version: String,
    /// When the run started; in the file UTC as of RFC 3339, with nanoseconds.
    #[serde(with = "rfc3339")]
    pub started_at: SystemTime,
    /// When its load began by the machine's monotonic clock, in nanoseconds: runs of one machine
    /// can be ordered by it even where the time of day was set meanwhile. `None` if that is not
    /// known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_monotonic_ns: Option<u64>,
    /// The seed of everything random in the run; the plan's.
    pub seed: u64,
    /// What this run is among those of its file, if there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// What was run, after defaults, its secrets masked. Bodies of more than
    /// [`LONGEST_KEPT_BODY`] bytes are left out.
    #[serde(with = "loadline_plan::json")]
    pub plan: Plan,
    /// What was left out of the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub long_bodies: Vec<LongBody>,
    /// The machine that it was run on.
    pub environment: Environment,
    /// Addresses of the target's name that were left out because they did not answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// A request body that is too long to keep, and by what it is known again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LongBody {
    /// The index of its request in the plan; that request's body is [`Body::None`].
    pub request: usize,
    /// Its length in bytes.
    pub length: u64,
    /// Its CRC-32 (that of zip and gzip), as eight hexadecimal digits.
    pub crc32: String,
}

impl Header {
    /// The header of a run of this plan by this program, alone in its file.
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

/// Times of day as RFC 3339 text.
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
