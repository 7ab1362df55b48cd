//! Errors that scripts raise in other processes, on their way to the process that reports the run.

use crate::error::ScriptError;
use loadline_engine::Tally;
use serde::{Deserialize, Serialize};

/// The first error that a script raised in another process: the tally of its users there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Raised(pub ScriptError);

impl Tally for Raised {
    /// Keeps the error that came first.
    fn merge(&mut self, _other: Self) {}
}
