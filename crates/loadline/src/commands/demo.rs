//! `loadline demo`.

use crate::exit::Exit;
use crate::flags::demo::DemoFlags;

/// Runs the demonstration.
pub(crate) fn run(_flags: &DemoFlags) -> anyhow::Result<Exit> {
    anyhow::bail!("`loadline demo` is not part of this build yet.")
}
