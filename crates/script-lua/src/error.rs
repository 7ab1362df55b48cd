//! The reasons why a script can't be run, or did not run to its end.

use crate::addresses::LookupError;
use crate::request::RequestProblem;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// The text by which one of Loadline's refusals is recognised among the errors of scripts: a script
/// that catches one may raise it again with other text around it.
pub(crate) const REFUSAL: &str = "is not supported by Loadline";

/// The error of a script that can't be run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No address of the URL's host accepts connections.
    #[error("nothing answers at {host}:{service} ({reason}); start the server or correct the URL.")]
    Connect {
        /// The URL's host.
        host: String,
        /// The URL's port, or its scheme.
        service: String,
        /// The result of the last attempt.
        reason: String,
    },
    /// A name has no address.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// The file can't be read.
    #[error("the script {} can't be read: {error}.", path.display())]
    Read {
        /// The path.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// The first request is malformed.
    #[error("the script's request is malformed: {0}.")]
    Request(#[from] RequestProblem),
    /// The script raised an error.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// The URL has no scheme or no host.
    #[error("`{0}` is not a URL. Write one such as http://127.0.0.1:8080/.")]
    Url(String),
}

/// An error that a script raised, or a use of a function that is not supported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptError {
    /// The file that Lua names; the script if there is none.
    pub file: PathBuf,
    /// The line, from 1, if Lua names one.
    pub line: Option<u32>,
    /// Lua's message, without the place and the stack.
    pub message: String,
    /// The part of the script that ran.
    pub during: During,
    /// Lua's whole message, with the place before it: `script.lua:3: attempt to …`.
    pub lua_message: String,
}

/// The part of a script that ran when an error was raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum During {
    /// The file itself.
    Load,
    /// `wrk.resolve`.
    Resolve,
    /// `setup`, or `wrk.setup`.
    Setup,
    /// `init`, or `wrk.init`.
    Init,
    /// `request`, or `wrk.request`.
    Request,
    /// `response`.
    Response,
    /// `delay`.
    Delay,
    /// `done`.
    Done,
}

impl During {
    const ALL: [During; 8] = [
        During::Load,
        During::Resolve,
        During::Setup,
        During::Init,
        During::Request,
        During::Response,
        During::Delay,
        During::Done,
    ];

    fn name(self) -> &'static str {
        match self {
            During::Load => "while it was loaded",
            During::Resolve => "in wrk.resolve()",
            During::Setup => "in setup()",
            During::Init => "in init()",
            During::Request => "in request()",
            During::Response => "in response()",
            During::Delay => "in delay()",
            During::Done => "in done()",
        }
    }
}

impl std::error::Error for ScriptError {}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        loadline_script::ScriptError::from(self.clone()).fmt(f)
    }
}

impl From<ScriptError> for loadline_script::ScriptError {
    fn from(error: ScriptError) -> Self {
        loadline_script::ScriptError {
            file: error.file,
            line: error.line,
            during: error.during.name().to_owned(),
            message: error.message,
        }
    }
}

impl From<loadline_script::ScriptError> for ScriptError {
    /// Converts an error that came from another process in the words of all languages.
    fn from(error: loadline_script::ScriptError) -> Self {
        let during = During::ALL
            .into_iter()
            .find(|one| one.name() == error.during);
        let place = error
            .line
            .map(|line| format!("{}:{line}: ", error.file.display()));
        ScriptError {
            lua_message: format!("{}{}", place.unwrap_or_default(), error.message),
            file: error.file,
            line: error.line,
            message: error.message,
            during: during.unwrap_or(During::Load),
        }
    }
}

impl ScriptError {
    /// True if the script uses a function that Loadline does not support.
    pub fn is_refusal(&self) -> bool {
        self.message.contains(REFUSAL)
    }

    /// Creates an error of the script that does not come from Lua.
    pub(crate) fn new(script: &Path, during: During, message: impl Into<String>) -> Self {
        let message = message.into();
        ScriptError {
            file: script.to_owned(),
            line: None,
            lua_message: message.clone(),
            message,
            during,
        }
    }

    /// Converts an error of Lua.
    pub(crate) fn of_lua(script: &Path, during: During, error: &mlua::Error) -> Self {
        let text = text_of(error);
        let Some((file, line, message)) = place_of(&text) else {
            return ScriptError::new(script, during, text);
        };
        ScriptError {
            file: whole_path(file, script),
            line: Some(line),
            message: message.to_owned(),
            during,
            lua_message: text.clone(),
        }
    }
}

impl Error {
    /// True if the script uses a function that Loadline does not support, although the original
    /// tool would.
    pub fn is_refusal(&self) -> bool {
        matches!(self, Error::Script(error) if error.is_refusal())
    }

    /// Converts the error of a call into the script.
    pub(crate) fn of_lua(script: &Path, during: During, error: &mlua::Error) -> Self {
        match lookup_of(error) {
            Some(lookup) => Error::Lookup(lookup.clone()),
            None => Error::Script(ScriptError::of_lua(script, during, error)),
        }
    }
}

/// Returns the failed lookup that caused an error.
fn lookup_of(error: &mlua::Error) -> Option<&LookupError> {
    error.chain().find_map(|cause| cause.downcast_ref())
}

/// Returns the message alone, without the stack after it.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the library's errors: the others have their own text"
)]
fn text_of(error: &mlua::Error) -> String {
    let text = match error {
        mlua::Error::CallbackError { cause, .. } => return text_of(cause),
        mlua::Error::RuntimeError(text) => text,
        mlua::Error::SyntaxError { message, .. } => message,
        other => return other.to_string(),
    };
    let end = text.find("\nstack traceback:").unwrap_or(text.len());
    text[..end].to_owned()
}

/// Splits a message that begins with its place, `file:line: rest`, into file, line and rest.
fn place_of(text: &str) -> Option<(&str, u32, &str)> {
    text.match_indices(':').find_map(|(colon, _)| {
        let (line, rest) = text[colon + 1..].split_once(": ")?;
        Some((&text[..colon], line.parse().ok()?, rest))
    })
}

/// Restores the path of the script where Lua cut off the beginning of a long name.
fn whole_path(file: &str, script: &Path) -> PathBuf {
    let is_script = |tail: &str| script.to_string_lossy().ends_with(tail);
    match file.strip_prefix("...") {
        Some(tail) if is_script(tail) => script.to_owned(),
        _ => PathBuf::from(file),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(text: &str) -> ScriptError {
        let error = mlua::Error::RuntimeError(text.to_owned());
        ScriptError::of_lua(
            Path::new("/a/long/path/script.lua"),
            During::Request,
            &error,
        )
    }

    #[test]
    fn the_place_is_taken_out_of_the_message() {
        let error = error_of("b.lua:12: a: 3: b\nstack traceback:\n\t[C]: in function 'error'");
        assert_eq!((error.file.to_str(), error.line), (Some("b.lua"), Some(12)));
        assert_eq!(error.message, "a: 3: b");
        assert_eq!(error.lua_message, "b.lua:12: a: 3: b");
        assert_eq!(error.to_string(), "b.lua, line 12, in request(): a: 3: b");
    }

    #[test]
    fn an_error_without_a_place_is_the_scripts() {
        let error = error_of("no place: at all");
        assert_eq!(error.line, None);
        let text = "/a/long/path/script.lua, in request(): no place: at all";
        assert_eq!(error.to_string(), text);
    }

    #[test]
    fn a_name_that_lua_cut_is_made_whole() {
        assert_eq!(
            error_of("...path/script.lua:1: x").file.to_str(),
            Some("/a/long/path/script.lua")
        );
        assert_eq!(
            error_of("...path/other.lua:1: x").file.to_str(),
            Some("...path/other.lua")
        );
    }
}
