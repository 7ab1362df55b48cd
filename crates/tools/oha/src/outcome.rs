//! The output that a command prints in place of a run, and its exit code.

use std::fmt::Display;

/// The output in place of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Output {
    pub(super) stdout: String,
    pub(super) stderr: String,
    pub(super) code: u8,
}

impl Output {
    /// Creates the output for a failure, in oha's words.
    pub(super) fn error(problem: impl Display) -> Self {
        Output {
            stderr: format!("Error: {problem}\n"),
            code: 1,
            ..Output::default()
        }
    }

    /// Creates the output for options that can't be carried out, where oha panics or has no
    /// message.
    pub(super) fn refusal(problem: impl Display) -> Self {
        Output {
            stderr: format!("oha: {problem}\n"),
            code: 2,
            ..Output::default()
        }
    }

    /// Creates the output of a command that only prints a text.
    pub(super) fn text(stdout: String) -> Self {
        Output {
            stdout,
            ..Output::default()
        }
    }
}

impl From<clap::Error> for Output {
    /// Converts the refusal, the help or the version, with the stream that clap prints it to.
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
