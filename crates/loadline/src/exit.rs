//! How the command ends.

use crate::visible::visible;
use std::io::{self, Write};
use std::process::ExitCode;

/// How the command ends: what its caller learns without reading a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done, and every check held.
    Good,
    /// Done, and a check failed.
    CheckFailed,
    /// Bad usage, or a run that could not be made.
    Failed,
    /// The measurement can't be believed.
    Invalid,
    /// Interrupted; what was measured is printed all the same.
    Interrupted,
    /// Done, no check broken, but one that the measurement can't decide.
    NotKnown,
    /// As another tool whose language was spoken would end, for reasons of its own.
    Of(u8),
}

impl Exit {
    /// How much worse than good it is, to tell the worst of several.
    pub(crate) fn severity(self) -> u8 {
        match self {
            // A check that is broken tells more than one that nobody can decide.
            Exit::NotKnown => 1,
            Exit::CheckFailed => 2,
            other => other.code().saturating_mul(2),
        }
    }

    /// The number that the caller sees.
    pub(crate) fn code(self) -> u8 {
        match self {
            Exit::Good => 0,
            Exit::CheckFailed => 1,
            Exit::Failed => 2,
            Exit::Invalid | Exit::NotKnown => 3,
            Exit::Interrupted => 130,
            Exit::Of(code) => code,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}

/// An error with its causes, but for those that it names itself. What others say of a cause has no
/// full stop.
pub(crate) fn sentence(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text = format!("{text}: {}.", cause.trim_end_matches('.'));
        }
    }
    text
}

/// Says why nothing was done.
pub(crate) fn refuse(sentence: &str) -> Exit {
    // Where even stderr is closed there is nobody left to tell.
    let _ = writeln!(io::stderr(), "loadline: {}", visible(sentence));
    Exit::Failed
}
