//! What a study is: plain data, as its file says it.

use crate::peer::ToolKind;
use crate::problem::{FileError, Problem};
use crate::settings::Axis;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Many runs, described by one file.
#[derive(Clone, Debug, PartialEq)]
pub struct Study {
    /// Its name; results of another study are never mixed with its own.
    pub name: String,
    /// The file that says it, for messages.
    pub path: PathBuf,
    /// How often each run is made.
    pub repeats: u32,
    /// In which order runs are made.
    pub order: Order,
    /// How long nothing happens between two runs.
    pub pause: Duration,
    /// How long a run may take before it is ended; `None` allows what its settings suggest.
    pub time_limit: Option<Duration>,
    /// Which cores each side gets.
    pub pin: Pin,
    /// What the runs are made with, where it is not a known tool under its own name.
    pub tools: Vec<Tool>,
    /// What the runs are made against; never empty.
    pub targets: Vec<Target>,
    /// The runs, before expansion; never empty.
    pub rows: Vec<Row>,
    /// What is different in a quick study.
    pub quick: Quick,
}

/// In which order runs are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As the file lists them, all of them before any is repeated.
    Listed,
    /// Shuffled, repeats among each other, by this seed.
    Random(u64),
}

/// Which cores each side gets; `None` leaves it to the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pin {
    /// The tools' cores.
    pub tools: Option<Cores>,
    /// The targets' cores.
    pub targets: Option<Cores>,
    /// The line of the file that says so.
    pub line: usize,
}

/// Some of the machine's cores, by number and in rising order; never empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cores(pub(crate) Vec<usize>);

/// A load tester as the file names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// What the rows call it.
    pub name: String,
    /// Whose arguments it takes and whose report it prints.
    pub kind: ToolKind,
    /// The words that start it, before any argument.
    pub words: Vec<String>,
}

/// A server under load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// What the rows call it.
    pub name: String,
    /// The line of the file where it stands.
    pub line: usize,
    /// Where requests go. `{port}` in it is a free port of this host.
    pub url: String,
    /// Starts it and stays with it; without one it runs already.
    pub start: Option<Command>,
    /// Succeeds once it serves; without one it serves once it can be connected to.
    pub check: Option<Command>,
    /// Stops it; without one its processes are asked to end.
    pub stop: Option<Command>,
    /// Runs between two runs.
    pub reset: Option<Command>,
    /// How long it may take to serve.
    pub patience: Duration,
    /// Files that are written into its folder before it starts: name and text.
    pub files: Vec<(String, String)>,
}

/// A command of the user's. In its words `{port}`, `{folder}` and `{url}` stand for the target's
/// port, the folder of its files, and its URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The line of the file where it stands.
    pub line: usize,
    /// What is run.
    pub what: What,
}

/// What a command runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum What {
    /// A program with its arguments; never empty.
    Words(Vec<String>),
    /// A line for `sh -c`.
    Shell(String),
}

/// Some runs of the file: the product of all axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The line of the file where it stands.
    pub line: usize,
    /// Whether it belongs to a quick study.
    pub quick: bool,
    /// What is set, each with one value or several; the last one changes fastest.
    pub axes: Vec<Axis>,
}

/// What is different in a quick study.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quick {
    /// How often each run is made, if not as often as else.
    pub repeats: Option<u32>,
    /// How long nothing happens between two runs, if not as long as else.
    pub pause: Option<Duration>,
    /// What takes the place of axes of the same name.
    pub axes: Vec<Axis>,
}

impl Study {
    /// The target of this name.
    pub(crate) fn target(&self, name: &str) -> Option<&Target> {
        self.targets.iter().find(|target| target.name == name)
    }

    /// The tool of this name: one that the file names, or a known one under its own name.
    pub(crate) fn tool(&self, name: &str) -> Option<Tool> {
        let named = self.tools.iter().find(|tool| tool.name == name).cloned();
        named.or_else(|| {
            let kind = ToolKind::named(name)?;
            Some(Tool {
                name: name.to_owned(),
                kind,
                words: kind.words(),
            })
        })
    }

    pub(crate) fn knows_tool(&self, name: &str) -> bool {
        self.tool(name).is_some()
    }

    /// A path of the file, which begins at the file's folder.
    pub(crate) fn resolve_path(&self, path: &Path) -> PathBuf {
        self.folder().join(path)
    }

    /// The folder of the file.
    pub(crate) fn folder(&self) -> PathBuf {
        match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        }
    }

    /// What is wrong, with the line of the file where it stands.
    pub(crate) fn refuse(&self, line: usize, problem: Problem) -> FileError {
        FileError {
            path: self.path.clone(),
            line,
            key: String::new(),
            problem: Box::new(problem),
        }
    }
}

impl Pin {
    /// The first core of either side that is not among these.
    pub(crate) fn beyond(&self, usable: impl Fn(usize) -> bool) -> Option<usize> {
        let sides = self.tools.iter().chain(&self.targets);
        let mut cores = sides.flat_map(|Cores(cores)| cores.iter().copied());
        cores.find(|core| !usable(*core))
    }
}

impl Cores {
    /// Reads `0`, `0,2` or `1-3,8`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Cores> {
        /// The most that the kernel's set of cores holds by default (sched_setaffinity(2)).
        const MOST: usize = 1024;
        let mut cores = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last): (usize, usize) =
                (first.trim().parse().ok()?, last.trim().parse().ok()?);
            if first > last || last >= MOST {
                return None;
            }
            cores.extend(first..=last);
        }
        cores.sort_unstable();
        cores.dedup();
        Some(Cores(cores))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_numbers_and_ranges() {
        for (text, cores) in [
            ("0", vec![0]),
            ("3,1", vec![1, 3]),
            ("0-2,2, 5", vec![0, 1, 2, 5]),
        ] {
            assert_eq!(Cores::parse(text), Some(Cores(cores)), "{text}");
        }
        for text in ["", "a", "2-1", "1,", "-1", "1024"] {
            assert_eq!(Cores::parse(text), None, "{text}");
        }
    }
}
