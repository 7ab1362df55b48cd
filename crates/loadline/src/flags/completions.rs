//! The flags of `loadline completions`.

use clap::Args;
use clap_complete::Shell;

/// Whose completions are printed.
#[derive(Debug, Args)]
pub(crate) struct CompletionsFlags {
    /// The shell
    pub(crate) shell: Shell,
}
