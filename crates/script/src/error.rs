//! Errors of scripts, whatever their language.

use serde::{Deserialize, Serialize};
use std::error::Error;
use std::fmt;
use std::path::PathBuf;

/// The error for a script that can't be loaded, with the reason of its language.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct LoadError(Box<dyn Error + Send + Sync>);

impl LoadError {
    /// Wraps the error of a language.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        LoadError(error.into())
    }
}

/// The error for a script that raised one, or that used a function it may not use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptError {
    /// The file that raised it.
    pub file: PathBuf,
    /// The line, from 1, if it is known.
    pub line: Option<u32>,
    /// The part of the script that ran, as in `in request()`.
    pub during: String,
    /// The message.
    pub message: String,
}

impl Error for ScriptError {}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        write!(f, ", {}: {}", self.during, self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_where_and_when_it_was_raised() {
        let mut error = ScriptError {
            file: PathBuf::from("a.lua"),
            line: Some(3),
            during: "in request()".to_owned(),
            message: "no".to_owned(),
        };
        assert_eq!(error.to_string(), "a.lua, line 3, in request(): no");
        error.line = None;
        assert_eq!(error.to_string(), "a.lua, in request(): no");
        assert_eq!(LoadError::new(error.clone()).to_string(), error.to_string());
    }
}
