//! The flags of `loadline study`.

use clap::{Args, ValueHint};
use std::path::PathBuf;

/// Which study is run, and where its results go.
#[derive(Debug, Args)]
pub(crate) struct StudyFlags {
    /// The study file (TOML)
    #[arg(value_name = "FILE.toml", value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// Run only its quick part
    #[arg(long)]
    pub(crate) quick: bool,

    /// Repeat runs that are saved already
    #[arg(long)]
    pub(crate) redo: bool,

    /// Where results go [default: results/NAME, or results/NAME-quick with --quick]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) results: Option<PathBuf>,

    /// List the runs in their order, without running any
    #[arg(long)]
    pub(crate) list: bool,

    /// Do not show progress
    #[arg(long)]
    pub(crate) no_progress: bool,
}
