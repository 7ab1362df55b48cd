//! Why a command ends otherwise than well, and with which exit code.

use loadline_k6_options::OptionsError;

/// The exit code of a command that was refused, as k6 has it.
pub const FAILED: u8 = 255;
/// Thresholds were crossed.
pub(super) const THRESHOLDS_CROSSED: u8 = 99;
/// `setup()` took too long.
pub(super) const SETUP_TIMEOUT: u8 = 100;
/// `teardown()` took too long.
pub(super) const TEARDOWN_TIMEOUT: u8 = 101;
/// The REST API was told to end the test.
pub(super) const STOPPED: u8 = 103;
/// Options are wrong.
pub(super) const INVALID_CONFIG: u8 = 104;
/// A signal ended the test.
pub const INTERRUPTED: u8 = 105;
/// The exit code of a run whose REST API can't be served, where `--address` asked for it.
pub const CANNOT_SERVE: u8 = 106;
/// The script threw where it must not.
pub(super) const SCRIPT_EXCEPTION: u8 = 107;
/// The script ended its test.
pub(super) const ABORTED: u8 = 108;
/// The script said that its test has failed.
pub(super) const MARKED_FAILED: u8 = 110;

/// Why a command ends otherwise than well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Refused {
    /// The exit code.
    pub(super) code: u8,
    /// What is said of it; nothing if it was told before.
    pub(super) text: String,
    /// What kind of problem it is, or what to do about it.
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

    /// What a script threw where it must not.
    pub(super) fn thrown(text: impl std::fmt::Display) -> Self {
        Refused::new(SCRIPT_EXCEPTION, format!("{text}\n")).with_hint("script exception")
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
