//! A script that makes the requests.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A script that makes the requests. The plan's request sets the target, and the initial values of
/// a Lua script's own table of the request, unless the script [names its URLs](Script::names_urls).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Script {
    /// The path of the script's file. The file's text is not part of the plan.
    pub path: PathBuf,
    /// The arguments of the script's `init`, after the URL.
    pub args: Vec<String>,
    /// The CRC-32 of the script's text, in eight hexadecimal digits, by which runs with the same
    /// script are recognised. `None` if the file could not be read, and in saved runs that lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crc32: Option<String>,
    /// True if the script names its URLs itself while it runs: its plan then has no requests.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub names_urls: bool,
}
