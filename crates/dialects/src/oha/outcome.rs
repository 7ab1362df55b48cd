//! What a command prints in place of a run, and its exit code.

use std::fmt::Display;

/// What is printed in place of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Output {
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) code: u8,
}

impl Output {
    /// A failure in oha's words.
    pub(super) fn error(problem: impl Display) -> Self {
        Output {
            stderr: format!("Error: {problem}\n"),
            code: 1,
            ..Output::default()
        }
    }

    /// A request that can't be carried out, where oha panics or has no words.
    pub(super) fn refusal(problem: impl Display) -> Self {
        Output {
            stderr: format!("oha: {problem}\n"),
            code: 2,
            ..Output::default()
        }
    }

    /// Something to print, and no more.
    pub(super) fn text(stdout: String) -> Self {
        Output {
            stdout,
            ..Output::default()
        }
    }
}

impl From<clap::Error> for Output {
    /// The refusal, the help or the version, where clap prints it.
    fn from(error: clap::Error) -> Self {
        let text = error.render().to_string();
        let code = error.exit_code() as u8;
        match error.use_stderr() {
            true => Output {
                stderr: text,
                code,
                ..Output::default()
            },
            false => Output::text(text),
        }
    }
}
