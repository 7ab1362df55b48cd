//! What is watched while a run lasts.

use clap::Args;
use loadline_watch::Target;

/// What is watched while a run lasts, beside the generator.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Watching")]
pub(crate) struct WatchingFlags {
    /// Watch a process of this host: its number, its program's name, or : and the port it listens on
    /// (repeatable) [default: who listens at the target]
    #[arg(long, value_name = "PID|NAME|:PORT")]
    pub(crate) watch: Vec<Target>,

    /// Watch the generator alone
    #[arg(long, conflicts_with = "watch")]
    pub(crate) no_watch: bool,
}
