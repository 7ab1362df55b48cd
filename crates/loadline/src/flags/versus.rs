//! The flags of `loadline versus`: those of a run, on two targets.
//!
//! One target is the other's baseline, so that the flags of another one are hidden here, and
//! refused with a sentence.

use super::run::RunFlags;
use clap::Args;

/// How two targets are tested in alternating runs.
#[derive(Debug, Args)]
pub(crate) struct VersusFlags {
    #[command(flatten)]
    pub(crate) run: RunFlags,
}

/// The flags of a run that a test of two targets has no use for.
const HIDDEN: [&str; 5] = ["baseline", "history", "keep", "test", "commit"];

/// Gives the flags of a run the help that fits a test of two targets.
pub(crate) fn adapt(command: clap::Command) -> clap::Command {
    let command = HIDDEN.iter().fold(command, |command, flag| {
        command.mut_arg(flag, |flag| flag.hide(true))
    });
    command.mut_arg("fail_on", |flag| {
        flag.help(
            "Exit with 1 if B is slower in any figure (slower), or a figure changed by more for \
             certain (p95:+10%, rate:-5%, 'p95{name:login}:+10%'); with 4 if that is not known; \
             repeatable",
        )
    })
}
