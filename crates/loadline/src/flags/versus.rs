//! The flags of `loadline versus`: those of a run, and what makes it fail.

use super::compare::FailOn;
use super::run::RunFlags;
use clap::Args;

/// How two targets are tested in alternating runs, and what makes the test fail.
#[derive(Debug, Args)]
pub(crate) struct VersusFlags {
    /// Exit with 1 if B is this in any figure
    #[arg(long, value_name = "STANDING")]
    pub(crate) fail_on: Option<FailOn>,

    #[command(flatten)]
    pub(crate) run: RunFlags,
}
