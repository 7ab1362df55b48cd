//! A study as plain data, as its file describes it.

use crate::peer::ToolKind;
use crate::problem::{FileError, Problem};
use crate::settings::Axis;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Many runs, described by one file.
#[derive(Clone, Debug, PartialEq)]
pub struct Study {
    /// The name; results of different studies are never mixed.
    pub name: String,
    /// The path of the file, for messages.
    pub path: PathBuf,
    /// The purpose of the study, in a sentence or two; may be empty.
    pub description: String,
    /// The number of times that each run is made.
    pub repeats: u32,
    /// The order of the runs.
    pub order: Order,
    /// The pause between two runs.
    pub pause: Duration,
    /// The time after which a run is ended; `None` derives it from the run's settings.
    pub time_limit: Option<Duration>,
    /// The cores of each side.
    pub pin: Pin,
    /// The tools of the file, in addition to the known ones under their own names.
    pub tools: Vec<Tool>,
    /// The backends that the targets need while they run, such as a database, in the order in which
    /// they start.
    pub backends: Vec<Target>,
    /// The targets of the runs; never empty.
    pub targets: Vec<Target>,
    /// Requests to which all targets respond alike.
    pub alike: Vec<Alike>,
    /// The warm-up of a target after its start.
    pub warm_up: Option<WarmUp>,
    /// The runs, before expansion; never empty.
    pub rows: Vec<Row>,
    /// The plots of its page, besides those that every study has.
    pub plots: Vec<Plot>,
    /// The differences of a quick study.
    pub quick: Quick,
}

/// A plot of two columns of the results against each other, a series for each target, or for each
/// tool where it is of one target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plot {
    /// The name of its files.
    pub name: String,
    /// Its heading.
    pub title: String,
    /// The name of the column from left to right.
    pub x: String,
    /// The name of the column from bottom to top.
    pub y: String,
    /// True if the axis from bottom to top is logarithmic.
    pub is_log: bool,
    /// The tool whose runs are drawn; without one, those of all are.
    pub tool: Option<String>,
    /// The target whose runs are drawn, a series for each tool; without one, those of all are.
    pub target: Option<String>,
    /// True if the drawn runs keep connections; without it, all runs are drawn.
    pub keep_alive: Option<bool>,
}

/// In which order runs are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The order of the file: all runs once, before any is repeated.
    Listed,
    /// Shuffled by this seed, including the repeats.
    Random(u64),
    /// Shuffled by this seed, the runs of a target and repeat staying together: a target that has
    /// to be warmed up is started once for all of them.
    ByTarget(u64),
}

/// The cores of each side; `None` leaves the choice to the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pin {
    /// The tools' cores.
    pub tools: Option<Cores>,
    /// The targets' cores.
    pub targets: Option<Cores>,
    /// The line of the file that sets them.
    pub line: usize,
}

/// Some of the machine's cores, by number and in rising order; never empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cores(pub(crate) Vec<usize>);

/// A load tester as defined by the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tool {
    /// The name in the rows.
    pub name: String,
    /// The line of the file where it stands; 0 for a known tool under its own name.
    pub line: usize,
    /// The kind of the tool: whose arguments it takes and whose report it prints.
    pub kind: ToolKind,
    /// Runs once before anything is started: it builds the tool.
    pub prepare: Option<Command>,
    /// The words that start it, before any argument.
    pub words: Vec<String>,
}

/// A server under load, or a *backend*: a service that such servers use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The name in the rows.
    pub name: String,
    /// The line in the file.
    pub line: usize,
    /// The URL of the requests. `{port}` in it is a free port of this host.
    pub url: String,
    /// Runs once before anything is started, on all cores: it builds what is to be served.
    pub prepare: Option<Command>,
    /// Starts it and stays with it; without one it runs already.
    pub start: Option<Command>,
    /// The command that succeeds once the target serves; without one it serves once a connection
    /// can be opened.
    pub check: Option<Command>,
    /// The command that stops the target; without one its processes are ended.
    pub stop: Option<Command>,
    /// The command between two runs.
    pub reset: Option<Command>,
    /// The time that the target may take to serve, and that each of its commands may take.
    pub start_timeout: Duration,
    /// Its cores, if they are not those of all targets.
    pub cores: Option<Cores>,
    /// Files that are written into its folder before it starts: name and text.
    pub files: Vec<(String, String)>,
}

/// A request to which all targets must give the same response, before anything is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alike {
    /// The line of the file where it stands.
    pub line: usize,
    /// Its method.
    pub method: String,
    /// Its path, which takes the place of that of a target's URL.
    pub path: String,
    /// The request's body, as JSON.
    pub body: Option<String>,
}

/// The settings of a warm-up: this program loads a target in rounds, until a round has settled and
/// rounds no longer become faster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarmUp {
    /// The duration of a round.
    pub round: Duration,
    /// The longest duration of all rounds together.
    pub most: Duration,
    /// The number of connections of the load.
    pub connections: u32,
    /// The script of the requests, if they are not for the target's URL.
    pub script: Option<PathBuf>,
}

/// A command of the user's. In its words `{port}`, `{folder}` and `{url}` stand for the target's
/// port, the folder of its files, and its URL; `{NAME.port}` and the like for those of a backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The line in the file.
    pub line: usize,
    /// The command itself.
    pub what: What,
}

/// The program or shell line of a command.
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
    /// The line in the file.
    pub line: usize,
    /// True if the row belongs to a quick study.
    pub quick: bool,
    /// The axes, each with one or several values; the last one changes fastest.
    pub axes: Vec<Axis>,
}

/// The differences of a quick study.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quick {
    /// The number of times that each run is made; `None` as in the full study.
    pub repeats: Option<u32>,
    /// The pause between two runs; `None` as in the full study.
    pub pause: Option<Duration>,
    /// The warm-up of a target, if it differs.
    pub warm_up: Option<WarmUp>,
    /// The axes that replace those of the same name.
    pub axes: Vec<Axis>,
}

impl Target {
    /// Returns a target that represents a tool while it is prepared.
    pub(crate) fn of_tool(tool: &Tool) -> Target {
        Target {
            name: tool.name.clone(),
            line: tool.line,
            url: String::new(),
            prepare: tool.prepare.clone(),
            start: None,
            check: None,
            stop: None,
            reset: None,
            start_timeout: Duration::ZERO,
            cores: None,
            files: Vec::new(),
        }
    }
}

impl Study {
    /// Takes what is different in a quick study, but for what [`Study::runs`] takes.
    #[must_use]
    pub fn for_quick(mut self) -> Study {
        self.pause = self.quick.pause.unwrap_or(self.pause);
        self.warm_up = self.quick.warm_up.clone().or(self.warm_up);
        self
    }

    /// The target of this name.
    pub(crate) fn target(&self, name: &str) -> Option<&Target> {
        self.targets.iter().find(|target| target.name == name)
    }

    /// Returns the tool of this name: one of the file, or a known one under its own name.
    pub(crate) fn tool(&self, name: &str) -> Option<Tool> {
        let named = self.tools.iter().find(|tool| tool.name == name).cloned();
        named.or_else(|| {
            let kind = ToolKind::named(name)?;
            Some(Tool {
                name: name.to_owned(),
                line: 0,
                prepare: None,
                kind,
                words: kind.words(),
            })
        })
    }

    pub(crate) fn knows_tool(&self, name: &str) -> bool {
        self.tool(name).is_some()
    }

    /// Returns a path of the file, which is relative to the file's folder.
    pub(crate) fn resolve_path(&self, path: &Path) -> PathBuf {
        self.folder().join(path)
    }

    /// Returns the folder of the file.
    pub(crate) fn folder(&self) -> PathBuf {
        match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        }
    }

    /// Returns the error of a line in the file.
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
    /// Returns the first core of either side that is not usable.
    pub(crate) fn beyond(&self, usable: impl Fn(usize) -> bool) -> Option<usize> {
        let mut sides = self.tools.iter().chain(&self.targets);
        sides.find_map(|cores| cores.beyond(&usable))
    }
}

impl Cores {
    /// The first of them that is not among these.
    pub(crate) fn beyond(&self, usable: impl Fn(usize) -> bool) -> Option<usize> {
        self.0.iter().copied().find(|core| !usable(*core))
    }

    /// Reads `0`, `0,2` or `1-3,8`; `None` for anything else.
    pub fn parse(text: &str) -> Option<Cores> {
        /// The size of the kernel's default set of cores (sched_setaffinity(2)).
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
