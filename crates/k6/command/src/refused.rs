//! The reasons why a command fails, with their exit codes.

use loadline_k6_options::OptionsError;

/// The exit code of a command that was refused, as in k6.
pub const FAILED: u8 = 255;
/// Thresholds were crossed.
pub(super) const THRESHOLDS_CROSSED: u8 = 99;
/// `setup()` took too long.
pub(super) const SETUP_TIMEOUT: u8 = 100;
/// `teardown()` took too long.
pub(super) const TEARDOWN_TIMEOUT: u8 = 101;
/// The test was stopped by the REST API.
pub(super) const STOPPED: u8 = 103;
/// Options are invalid.
pub(super) const INVALID_CONFIG: u8 = 104;
/// A signal ended the test.
pub const INTERRUPTED: u8 = 105;
/// The exit code of a run whose REST API can't be served although `--address` is given.
pub(crate) const CANNOT_SERVE: u8 = 106;
/// The script threw outside an iteration.
pub(super) const SCRIPT_EXCEPTION: u8 = 107;
/// The script ended its test.
pub(super) const ABORTED: u8 = 108;
/// The script marked its test as failed.
pub(super) const MARKED_FAILED: u8 = 110;

/// The reason why a command fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refused {
    /// The exit code.
    pub(super) code: u8,
    /// The message; empty if it was logged before.
    pub(super) text: String,
    /// The kind of problem, or the remedy.
    pub(super) hint: Option<String>,
}

impl Refused {
    pub(super) fn new(code: u8, text: impl ToString) -> Self {
        Refused {
            code,
            text: text.to_string(),
            hint: None,
        }
    }

    /// Creates the refusal for an exception outside an iteration.
    pub(super) fn thrown(text: impl std::fmt::Display) -> Self {
        Refused::new(SCRIPT_EXCEPTION, format!("{text}\n")).with_hint("script exception")
    }

    /// Returns the first line of the message, without the trace of an exception.
    pub(super) fn first_line(&self) -> String {
        self.text.lines().next().unwrap_or_default().to_owned()
    }

    pub(super) fn with_hint(self, hint: &str) -> Self {
        Refused {
            hint: Some(hint.to_owned()),
            ..self
        }
    }
}

impl From<OptionsError> for Refused {
    fn from(error: OptionsError) -> Self {
        Refused::new(error.code, error.text)
    }
}
