//! How the command ends.

use std::process::ExitCode;

/// How the command ends: what its caller learns without reading a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Done, and every check held.
    Good = 0,
    /// Done, and a check failed.
    CheckFailed = 1,
    /// Bad usage, or a run that could not be made.
    Failed = 2,
    /// The measurement can't be believed.
    Invalid = 3,
    /// Interrupted; what was measured is printed all the same.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}
