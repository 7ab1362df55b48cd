//! The flags of `loadline man`.

use clap::Args;

/// Which page is printed.
#[derive(Debug, Args)]
pub(crate) struct ManFlags {
    /// Print the page of this subcommand
    #[arg(value_name = "COMMAND")]
    pub(crate) subcommand: Option<String>,
}
