//! The flags of `loadline study`.

use clap::{Args, ValueHint};
use std::path::PathBuf;

/// Which study is made, and where its results go.
#[derive(Debug, Args)]
pub(crate) struct StudyFlags {
    /// The study: a TOML file
    #[arg(value_name = "FILE.toml", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// Make its quick part only
    #[arg(long)]
    pub(crate) quick: bool,

    /// Make those runs again that are saved already
    #[arg(long)]
    pub(crate) redo: bool,

    /// Where results go [default: results/NAME; of its quick part, results/NAME-quick]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) results: Option<PathBuf>,

    /// List the runs in their order, and make none
    #[arg(long)]
    pub(crate) list: bool,

    /// Show no progress
    #[arg(long)]
    pub(crate) no_progress: bool,
}
