//! The flags of baselines and of the history.

use crate::flags::compare::FailOn;
use clap::{Args, ValueHint};
use std::path::PathBuf;

/// What a run is compared with, and where it is kept.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Regressions")]
pub(crate) struct BaselineFlags {
    /// Compare the run with this saved run, or with the baseline of this name in the --history
    ///
    /// The report says how the run stands to the baseline, as `loadline compare` does. A baseline
    /// of another load is refused before anything is sent.
    #[arg(long, value_name = "A.run|NAME")]
    pub(crate) baseline: Option<String>,

    /// Exit with 1 if the run is slower in any figure (slower), or a figure changed by more for
    /// certain (p95:+10%, rate:-5%, 'p95{name:login}:+10%'); with 4 if that is not known;
    /// repeatable
    #[arg(long, value_name = "RULE", allow_hyphen_values = true)]
    pub(crate) fail_on: Vec<FailOn>,

    /// Add the run to this history: a SQLite database (.sqlite, .db), or a folder
    ///
    /// `loadline history` shows it. The commit is that of GITHUB_SHA, CI_COMMIT_SHA or of the
    /// working directory's git repository, unless --commit says otherwise.
    #[arg(long, value_name = "PLACE", value_hint = ValueHint::AnyPath)]
    pub(crate) history: Option<PathBuf>,

    /// If the exit code is 0, keep the run as the baseline of this name in the --history
    #[arg(long, value_name = "NAME", requires = "history")]
    pub(crate) keep: Option<String>,

    /// What the test is called in the history [default: what is sent, and the load]
    #[arg(long, value_name = "NAME", requires = "history")]
    pub(crate) test: Option<String>,

    /// The commit of what is tested, for the history
    #[arg(long, value_name = "ID", requires = "history")]
    pub(crate) commit: Option<String>,
}
