//! The flags of `loadline man`.

use clap::Args;

/// Which page is printed.
#[derive(Debug, Args)]
pub(crate) struct ManFlags {
    /// The page of this subcommand instead of the whole command's
    #[arg(value_name = "COMMAND")]
    pub(crate) subcommand: Option<String>,
}
