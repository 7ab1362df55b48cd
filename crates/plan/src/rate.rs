//! Rates as exact fractions.

use serde::{Deserialize, Serialize};

/// `count` arrivals every `per_ns` nanoseconds: a fraction, so that `0.2/s` and `90/m` are exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rate {
    /// Arrivals in one period.
    pub count: u64,
    /// The period in nanoseconds, more than zero.
    pub per_ns: u64,
}
