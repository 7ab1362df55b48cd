//! The error for invalid options.

/// The error for invalid options: a message, and the exit code of a command that ends with it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct OptionsError {
    /// The message, in k6's wording.
    pub text: String,
    /// The exit code.
    pub code: u8,
    /// Warnings to print before the message.
    pub warnings: Vec<String>,
}

/// The exit code for invalid options.
const INVALID_CONFIG: u8 = 104;
/// The exit code for all other errors.
const REFUSED: u8 = 255;

impl OptionsError {
    /// Creates the error for invalid options.
    pub(crate) fn invalid(text: impl Into<String>) -> Self {
        OptionsError {
            text: text.into(),
            code: INVALID_CONFIG,
            warnings: Vec::new(),
        }
    }

    /// Creates the error for an invalid command line.
    pub(crate) fn refused(text: impl Into<String>) -> Self {
        OptionsError {
            text: text.into(),
            code: REFUSED,
            warnings: Vec::new(),
        }
    }
}
