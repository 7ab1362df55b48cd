//! `loadline serve`.

use crate::exit::Exit;
use crate::flags::serve::ServeFlags;

/// Runs the test server.
pub(crate) fn run(_flags: &ServeFlags) -> anyhow::Result<Exit> {
    anyhow::bail!("`loadline serve` is not part of this build yet.")
}
