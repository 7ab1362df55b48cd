//! `loadline run`, and `loadline` alone.

use crate::exit::Exit;
use crate::invocation::Invocation;

/// Runs a plan and reports what came of it.
pub(crate) fn run(_invocation: Invocation) -> anyhow::Result<Exit> {
    anyhow::bail!("the engine is not part of this build yet.")
}
