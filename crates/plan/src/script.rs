//! A script that says what is sent.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A script that says what is sent; the plan's request says where to, and what a Lua script's own
/// table of the request begins with, unless the script [names its URLs](Script::names_urls).
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
    /// Whether it names its URLs itself while it runs: then its plan has no requests.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub names_urls: bool,
}
