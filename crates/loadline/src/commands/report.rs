//! `loadline report`.

use crate::exit::Exit;
use crate::flags::report::ReportFlags;

/// Prints saved runs again.
pub(crate) fn run(_flags: &ReportFlags) -> anyhow::Result<Exit> {
    anyhow::bail!("`loadline report` is not part of this build yet.")
}
