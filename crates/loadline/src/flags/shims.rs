//! The flags of `loadline shims`.

use clap::{Args, ValueHint};
use std::path::PathBuf;

/// Where the links go.
#[derive(Debug, Args)]
pub(crate) struct ShimsFlags {
    /// The folder that gets the links; made if it is not there
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) folder: PathBuf,
}
