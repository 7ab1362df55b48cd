//! The user's commands, with their placeholders filled in.

use crate::peer::OURSELVES;
use crate::problem::{FileError, Problem};
use crate::process::find;
use crate::study::{Command, Study, What};
use std::path::{Path, PathBuf};

/// A program that was found, and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Words {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
}

/// The location of a backend, for the commands of targets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BackendLocation {
    pub(crate) name: String,
    pub(crate) port: u16,
    pub(crate) folder: PathBuf,
}

/// The values of the placeholders in a command.
#[derive(Clone, Debug)]
pub(crate) struct Blanks<'a> {
    pub(crate) port: u16,
    pub(crate) folder: &'a Path,
    pub(crate) url: &'a str,
    /// The locations of the backends.
    pub(crate) backends: &'a [BackendLocation],
}

impl Blanks<'_> {
    /// Returns the text with its placeholders filled in.
    pub(crate) fn fill(&self, text: &str) -> String {
        let own = text
            .replace("{port}", &self.port.to_string())
            .replace("{folder}", &self.folder.display().to_string())
            .replace("{url}", self.url);
        self.backends.iter().fold(own, |text, backend| {
            let name = &backend.name;
            let folder = backend.folder.display().to_string();
            text.replace(&format!("{{{name}.port}}"), &backend.port.to_string())
                .replace(&format!("{{{name}.folder}}"), &folder)
        })
    }
}

/// Finds the program that a command begins with; `None` if it is not installed.
pub(crate) fn resolve(words: &[String], folder: &Path) -> Option<Words> {
    let (first, arguments) = words.split_first()?;
    let ourselves = || std::env::current_exe().ok();
    let program = match first.as_str() {
        OURSELVES => ourselves().or_else(|| find(first, folder)),
        other => find(other, folder),
    };
    Some(Words {
        program: program?,
        arguments: arguments.to_vec(),
    })
}

impl Study {
    /// Returns the program and the arguments of a command. A shell line is run by `sh -c`.
    pub(crate) fn command(
        &self,
        command: &Command,
        blanks: &Blanks<'_>,
    ) -> Result<Words, FileError> {
        let words = match &command.what {
            What::Words(words) => words.iter().map(|word| blanks.fill(word)).collect(),
            What::Shell(line) => vec!["sh".to_owned(), "-c".to_owned(), blanks.fill(line)],
        };
        resolve(&words, &self.folder()).ok_or_else(|| {
            let name = words.first().cloned().unwrap_or_default();
            self.refuse(command.line, Problem::CommandNotFound(name))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_are_filled_in() {
        let blanks = Blanks {
            port: 8_081,
            folder: Path::new("/tmp/a"),
            url: "http://127.0.0.1:8081/",
            backends: &[BackendLocation {
                name: "db".to_owned(),
                port: 5_432,
                folder: "/tmp/b".into(),
            }],
        };
        let filled = blanks.fill("-c {folder}/nginx.conf -p {port} {url}{port} {other}");
        let expected = "-c /tmp/a/nginx.conf -p 8081 http://127.0.0.1:8081/8081 {other}";
        assert_eq!(filled, expected);
        let filled = blanks.fill("{db.port} {db.folder}/sock {other.port}");
        let expected = "5432 /tmp/b/sock {other.port}";
        assert_eq!(filled, expected);
    }

    #[test]
    fn programs_are_found_as_a_shell_finds_them() {
        let words = ["sh".to_owned(), "-c".to_owned()];
        let found = resolve(&words, Path::new("/")).unwrap();
        assert!(found.program.is_absolute(), "{found:?}");
        assert_eq!(found.arguments, ["-c"]);
        let here = ["./sh".to_owned()];
        let folder = found.program.parent().unwrap();
        assert_eq!(resolve(&here, folder).unwrap().program, folder.join("sh"));
        assert_eq!(resolve(&["no-such-program".to_owned()], folder), None);
        assert_eq!(resolve(&[], folder), None);
    }
}
