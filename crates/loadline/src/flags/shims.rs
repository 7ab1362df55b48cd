//! The flags of `loadline shims`.

use clap::{Args, ValueHint};
use std::path::PathBuf;

/// Where the symlinks go.
#[derive(Debug, Args)]
pub(crate) struct ShimsFlags {
    /// The folder for the symlinks; created if missing
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) folder: PathBuf,
}
