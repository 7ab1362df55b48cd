//! Why options can't be used.

/// Why options can't be used: a sentence, and the exit code of a command that ends with it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct OptionsError {
    /// What is wrong, in k6's words.
    pub text: String,
    /// The exit code.
    pub code: u8,
    /// What has to be told before.
    pub warnings: Vec<String>,
}

/// The exit code where options are wrong.
const INVALID_CONFIG: u8 = 104;
/// The exit code of every other refusal.
const REFUSED: u8 = 255;

impl OptionsError {
    /// Options that are wrong.
    pub(crate) fn invalid(text: impl Into<String>) -> Self {
        OptionsError {
            text: text.into(),
            code: INVALID_CONFIG,
            warnings: Vec::new(),
        }
    }

    /// A command line that is wrong.
    pub(crate) fn refused(text: impl Into<String>) -> Self {
        OptionsError {
            text: text.into(),
            code: REFUSED,
            warnings: Vec::new(),
        }
    }
}
