//! The flags of watching processes and this machine.

use clap::Args;
use loadline_watch::Target;

/// What is measured of processes and of this machine, besides the run itself.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Watching")]
pub(crate) struct WatchingFlags {
    /// Watch a process of this host, by pid, program name or :port it listens on (repeatable)
    /// [default: the process that serves the target]
    #[arg(long, value_name = "PID|NAME|:PORT")]
    pub(crate) watch: Vec<Target>,

    /// Watch only Loadline itself
    #[arg(long, conflicts_with = "watch")]
    pub(crate) no_watch: bool,

    /// First measure for 2 s the best that this machine can do, with a server that does nothing
    ///
    /// The same requests go to that server on loopback: no response time here can be shorter, and
    /// no rate higher. The result keeps these figures. Several runs share one such measurement;
    /// with two targets it uses the requests of A.
    #[arg(long)]
    pub(crate) floor: bool,
}
