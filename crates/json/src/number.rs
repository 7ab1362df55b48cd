//! Numbers with their unit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Microseconds, exact to the nanosecond.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema,
)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(transparent)]
pub struct Us(#[schemars(range(min = 0.0))] pub f64);

/// Seconds.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema,
)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(transparent)]
pub struct Seconds(#[schemars(range(min = 0.0))] pub f64);

/// A share: 1 is all.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema,
)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(transparent)]
pub struct Share(#[schemars(range(min = 0.0))] pub f64);

/// A rate per second.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema,
)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(transparent)]
pub struct PerSecond(#[schemars(range(min = 0.0))] pub f64);

/// A number that is whole where it counts something.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(untagged)]
pub enum Number {
    /// A count.
    Count(u64),
    /// A time, a rate or a share.
    Measured(f64),
}
