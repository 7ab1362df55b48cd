//! Notes that people wrote on a run while it lasted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A note on an instant of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Note {
    /// The instant, in seconds from the start of the measured part.
    pub at_s: f64,
    /// The text.
    pub text: String,
}
