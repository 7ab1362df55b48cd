//! A script that says what is sent.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A Lua script that says what is sent; the plan's request says where to, and what the script's
/// own table of the request begins with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Script {
    /// Its file, whose text is no part of the plan.
    pub path: PathBuf,
    /// What the script's `init` is given beside the URL.
    pub args: Vec<String>,
}
