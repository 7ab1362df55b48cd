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
    /// The CRC-32 of its text, in eight hexadecimal digits: whether two runs had the same script.
    /// `None` where the file could not be read, and in runs that were saved without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crc32: Option<String>,
}
