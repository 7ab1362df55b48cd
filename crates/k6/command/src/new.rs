//! `k6 new`: a first script, from a template.
//!
//! A user's template may contain `{{ .ScriptName }}` and `{{ .ProjectID }}`. Other actions of Go's
//! templates are refused, since a script that contains them unexpanded would be broken.

use super::go_words;
use loadline_runner::preflight::write_whole;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// The default name of a script.
pub const NAME: &str = "script.js";

/// The default template.
pub const TEMPLATE: &str = "minimal";

const MINIMAL: &str = include_str!("new/minimal.js");
const PROTOCOL: &str = include_str!("new/protocol.js");

/// The placeholder for the settings of a project in Loadline's templates.
const CLOUD: &str = "{{ CLOUD }}";

/// The arguments of `k6 new`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct New {
    /// The path of the script, relative to `directory`.
    pub file: String,
    /// True if an existing file may be overwritten.
    pub is_forced: bool,
    /// The template: `minimal`, `protocol`, or a path.
    pub template: String,
    /// The project in Grafana's cloud; empty for no project.
    pub project_id: String,
    /// The working directory.
    pub directory: PathBuf,
}

/// The reason why no script is created. Each ends the command with [`FAILED`](super::FAILED).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NewError {
    /// The file exists.
    #[error("{0} already exists. Use the `--force` flag to overwrite it")]
    Exists(String),
    /// No template has this name.
    #[error("error retrieving template: invalid template type \"{0}\"")]
    Unknown(String),
    /// No template has this name, but a file does.
    #[error("error retrieving template: invalid template type \"{0}\", did you mean ./{0}?")]
    Nearly(String),
    /// The template needs a browser, which Loadline does not have.
    #[error(
        "error retrieving template: Loadline has no browser; use the template minimal or protocol"
    )]
    Browser,
    /// The template can't be read.
    #[error(
        "error retrieving template: failed to read template file {template}: open {path}: {problem}"
    )]
    Unreadable {
        /// The template as given on the command line.
        template: String,
        /// The path of the file.
        path: String,
        /// The system's message.
        problem: String,
    },
    /// The template has an unknown action.
    #[error(
        "failed to execute template {template}: {action} is unknown; use {{{{ .ScriptName }}}} or \
         {{{{ .ProjectID }}}}"
    )]
    Action {
        /// The template.
        template: String,
        /// The action, with its braces.
        action: String,
    },
    /// The script can't be written.
    #[error("open {path}: {problem}")]
    Unwritable {
        /// The path of the script.
        path: String,
        /// The system's message.
        problem: String,
    },
}

impl New {
    /// Writes the script, and returns the line to print.
    ///
    /// # Errors
    /// If the file exists, the template is unknown or invalid, or the file can't be written.
    pub fn create(&self) -> Result<String, NewError> {
        let path = self.directory.join(&self.file);
        if !self.is_forced && !self.file.is_empty() && path.exists() {
            return Err(NewError::Exists(self.file.clone()));
        }
        let script = self.script()?;
        self.write(&path, &script)?;
        let (file, template) = (&self.file, &self.template);
        Ok(format!(
            "New script created: {file} ({template} template).\n"
        ))
    }

    fn script(&self) -> Result<String, NewError> {
        match self.template.as_str() {
            "minimal" => Ok(self.ours(MINIMAL)),
            "protocol" => Ok(self.ours(PROTOCOL)),
            "browser" => Err(NewError::Browser),
            path if path.contains('/') => self.theirs(path),
            name if self.directory.join(name).exists() => Err(NewError::Nearly(name.to_owned())),
            name => Err(NewError::Unknown(name.to_owned())),
        }
    }

    fn ours(&self, template: &str) -> String {
        let cloud = match self.project_id.as_str() {
            "" => String::new(),
            id => format!(
                "  cloud: {{\n    projectID: {id},\n    name: {:?},\n  }},\n",
                self.file
            ),
        };
        template.replace(CLOUD, &cloud)
    }

    fn theirs(&self, template: &str) -> Result<String, NewError> {
        let path = self.directory.join(template);
        let path: PathBuf = path.components().collect();
        let mut text = String::new();
        let read = File::open(&path).and_then(|mut file| file.read_to_string(&mut text));
        read.map_err(|error| NewError::Unreadable {
            template: template.to_owned(),
            path: path.display().to_string(),
            problem: go_words::system(&error),
        })?;
        self.fill(template, &text)
    }

    /// Fills in the actions of a template.
    fn fill(&self, template: &str, text: &str) -> Result<String, NewError> {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, behind)) = rest.split_once("{{") {
            filled.push_str(before);
            let (action, after) = behind.split_once("}}").unwrap_or((behind, ""));
            filled.push_str(match action.trim() {
                ".ScriptName" => &self.file,
                ".ProjectID" => &self.project_id,
                _ => {
                    return Err(NewError::Action {
                        template: template.to_owned(),
                        action: format!("{{{{{action}}}}}"),
                    });
                }
            });
            rest = after;
        }
        filled.push_str(rest);
        Ok(filled)
    }

    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "the library has dozens, and may add more"
    )]
    fn write(&self, path: &Path, script: &str) -> Result<(), NewError> {
        let written = match (self.file.is_empty(), self.is_forced) {
            (true, _) => Err(ErrorKind::NotFound.into()),
            (false, true) => write_whole(path, script.as_bytes()),
            // A file that was created in the meantime is not overwritten either.
            (false, false) => {
                File::create_new(path).and_then(|mut file| file.write_all(script.as_bytes()))
            }
        };
        written.map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => NewError::Exists(self.file.clone()),
            ErrorKind::NotFound => self.unwritable("no such file or directory".to_owned()),
            _ => self.unwritable(go_words::system(&error)),
        })
    }

    fn unwritable(&self, problem: String) -> NewError {
        NewError::Unwritable {
            path: self.file.clone(),
            problem,
        }
    }
}

#[cfg(test)]
mod tests;
