//! The flags of `loadline versus`: those of a run, and what makes it fail.

use super::compare::FailOn;
use super::run::RunFlags;
use clap::Args;

/// How two targets are tested in alternating runs, and what makes the test fail.
#[derive(Debug, Args)]
pub(crate) struct VersusFlags {
    /// Exit with 1 if B is slower in any figure (slower), or a figure changed by more for certain
    /// (p95:+10%, rate:-5%); repeatable
    #[arg(long, value_name = "RULE", allow_hyphen_values = true)]
    pub(crate) fail_on: Vec<FailOn>,

    #[command(flatten)]
    pub(crate) run: RunFlags,
}
