//! A part of a locustfile's test on an agent: a process of Python that has some of its users, in a
//! folder of its own for the files that the coordinator sends.

use crate::commands::locust::interpreter;
use anyhow::{Context, Result};
use loadline_cluster::{Line, Remote, start_child};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::OnceLock;
use tempfile::TempDir;

/// The tool of such parts, as offers name it.
pub(super) const TOOL: &str = "locust";

/// The module of the package that has a part.
const MODULE: &str = "loadline.part";

/// The interpreter of all parts: the first one that was found.
static INTERPRETER: OnceLock<PathBuf> = OnceLock::new();

/// Starts the process of a part for the agent of this name.
///
/// # Errors
/// The reason why it can't be started.
pub(super) fn start(agent: &str) -> Result<Line, String> {
    let program = match INTERPRETER.get() {
        Some(program) => program,
        None => {
            let found = interpreter::find()?;
            INTERPRETER.get_or_init(|| found)
        }
    };
    let folder = private_folder().map_err(|error| format!("{error:#}"))?;
    let mut command = interpreter::command(program, MODULE);
    command.arg(agent).current_dir(folder.path());
    let line = start_child(agent.to_owned(), command);
    let line = line.map_err(|error| format!("{} can't be run: {error}", program.display()))?;
    Ok(Line {
        remote: Box::new(InFolder {
            process: line.remote,
            _folder: folder,
        }),
        ..line
    })
}

/// Creates a folder that nobody else may read.
fn private_folder() -> Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.permissions(Permissions::from_mode(0o700));
    let folder = builder.prefix("loadline-part-").tempdir();
    folder.context("there is no place for the files of its part")
}

/// A process whose folder is removed after its end.
struct InFolder {
    // The process ends before its folder is removed: fields are dropped in this order.
    process: Box<dyn Remote>,
    _folder: TempDir,
}

impl Remote for InFolder {
    fn kill(&mut self) {
        self.process.kill();
    }

    fn ending(&mut self) -> Option<String> {
        self.process.ending()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_a_folder_for_itself_alone_until_it_is_over() {
        let folder = private_folder().expect("a folder");
        let path = folder.path().to_owned();
        let mode = path.metadata().expect("a folder").permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let line = start_child(String::new(), std::process::Command::new("cat"));
        let mut remote = InFolder {
            process: line.expect("cat").remote,
            _folder: folder,
        };
        remote.kill();
        drop(remote);
        assert!(!path.exists());
    }
}
