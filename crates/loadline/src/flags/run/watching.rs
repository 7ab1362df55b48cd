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

    /// Measure before the run, for two seconds, what this machine can do at best
    ///
    /// The same requests go to a server on loopback that does nothing: no response time here can be
    /// shorter, and no rate higher. It is kept with the result. Of several runs it is measured once,
    /// before the first; of two targets with the requests of A.
    #[arg(long)]
    pub(crate) floor: bool,
}
