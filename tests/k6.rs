//! k6's commands as spoken here, beside the real k6 where it is installed. The scripts themselves
//! are in `specs`.

pub(crate) mod certificates;
mod commands;
mod exceptions;
mod load;
mod outputs;
#[cfg(feature = "html")]
mod page;
mod processes;
mod refusals;
mod requests;
mod rest;
mod summaries;
mod values;

use crate::rig::{CommandOutput, beside_others, command};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Scripts, and where they are.
pub(crate) struct Scripts(TempDir);

impl Scripts {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        for (name, content) in files {
            fs::write(folder.path().join(name), content).unwrap();
        }
        Scripts(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// What the command with these words says, started where the scripts are.
    pub(crate) fn run(&self, words: &[&str]) -> CommandOutput {
        let _beside_others = beside_others();
        self.output_of(command(&[&["k6"], words].concat()))
    }

    fn output_of(&self, mut command: Command) -> CommandOutput {
        let home = self.path();
        let output = command
            .current_dir(home)
            .env("HOME", home)
            .env_remove("XDG_CONFIG_HOME")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        CommandOutput {
            code: output.status.code(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }

    /// What the real k6 says, if it is there.
    pub(crate) fn real(&self, words: &[&str]) -> Option<CommandOutput> {
        let mut command = Command::new(real_k6()?);
        command.env("K6_NO_USAGE_REPORT", "true");
        command.args(words).args(["--address", ""]);
        Some(self.output_of(command))
    }
}

/// The real k6, if it is there; it is told if not.
#[expect(clippy::print_stderr, reason = "a comparison that is left out is told")]
pub(crate) fn real_k6() -> Option<String> {
    let name = std::env::var("K6").unwrap_or_else(|_| "k6".to_owned());
    match Command::new(&name).arg("version").output() {
        Ok(_) => Some(name),
        Err(error) => {
            eprintln!("not compared with the real k6, which can't be started: {error}");
            None
        }
    }
}

/// A script of one function.
pub(crate) fn default(body: &str) -> String {
    format!("export default function () {{ {body} }}")
}
