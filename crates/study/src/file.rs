//! The study file: TOML, read with the place of each key.
//!
//! ```toml
//! name = "two-servers"          # of the file, if it says none
//! seed = 7                      # of the order; order = "listed" keeps that of the file
//! repeats = 3
//! pause = "2s"
//! pin = { tools = "1", targets = "0" }
//!
//! [[target]]
//! name = "nginx"
//! url = "http://127.0.0.1:{port}/"
//! start = ["nginx", "-c", "{folder}/nginx.conf"]
//! files = { "nginx.conf" = "…" }
//!
//! [[runs]]
//! tool = ["loadline", "wrk"]    # a list is an axis
//! duration = "10s"
//! rows = [{ connections = 10 }, { connections = [100, 200], threads = 2 }]
//! ```
//!
//! Everything that is wrong is one sentence with file and line. Reading opens nothing but the file.

mod reader;
mod runs;
pub(crate) use runs::replace;
mod sections;

use crate::study::{Order, Pin, Quick, Study};
use reader::{Entry, Reader};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why a study file can't be used, and where.
#[derive(Debug, thiserror::Error)]
#[error("{}, line {line}{key}: {problem}", path.display())]
pub struct FileError {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The key with a comma before it, or nothing where there is none.
    pub(crate) key: String,
    /// What is wrong.
    pub problem: Box<Problem>,
}

/// What is wrong with a study file.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "each sentence says what it is")]
pub enum Problem {
    #[error("`{0}` is no set of cores. Write their numbers, such as 0 or 1-3,8.")]
    Cores(String),
    #[error("this command failed: {0}.")]
    CommandFailed(String),
    #[error("there is no command {0} on this machine; install it, or write where it is.")]
    CommandNotFound(String),
    #[error("it takes one or more, and 0 is none.")]
    Nothing,
    #[error("no run belongs to the quick part; leave out quick = false in some [[runs]] or row.")]
    NothingQuick,
    #[error("core {0} is none that this program may use here; name others.")]
    CoreNotHere(usize),
    #[error("an axis needs at least one value.")]
    EmptyAxis,
    #[error("a command needs at least the name of a program.")]
    EmptyCommand,
    #[error("{key} is missing; {remedy}")]
    Missing {
        key: &'static str,
        remedy: &'static str,
    },
    #[error(
        "the target {name} does not answer at {url} within {patience}; see that it starts, or give \
         it more patience."
    )]
    NoAnswer {
        name: String,
        url: String,
        patience: String,
    },
    #[error("it takes true or false.")]
    NoFlag,
    #[error("it takes a table, such as {{ key = \"value\" }}.")]
    NoTable,
    #[error("it takes a list of tables, each begun with [[{0}]].")]
    NoTables(&'static str),
    #[error("it takes a text.")]
    NoText,
    #[error("it takes a text or a number.")]
    NoValue,
    #[error("it takes a list of words, a program and its arguments, or one text for a shell.")]
    NoWords,
    #[error("`{0}` is not one of {1}.")]
    NotOneOf(String, String),
    #[error("this is not TOML: {0}.")]
    Syntax(String),
    #[error("this is not text: its bytes are no UTF-8.")]
    NotText,
    #[error("there is no such key. Known here are {0}.")]
    Unknown(String),
    #[error("there is no such key; did you mean {0}?")]
    UnknownButNear(String),
    #[error("there is no target {0}; write a [[target]] of that name.")]
    UnknownTarget(String),
    #[error("there is no tool {0}. Known are {1}, and what a [[tool]] names.")]
    UnknownTool(String, String),
    #[error(
        "the target ended before it served{0}. Mend its start; by hand it should serve until it is stopped."
    )]
    TargetEnded(String),
    #[error("the name {0} is given twice.")]
    Twice(String),
    #[error("{0}")]
    Value(String),
    /// There are more runs, up to this row, than anybody waits for.
    #[error("up to here the study has more than {0} runs; give it fewer repeats or shorter axes.")]
    TooManyRuns(usize),
    #[error("{0} does not take this: {1}")]
    OwnMistake(String, String),
    #[error("{0}")]
    Unfit(#[from] crate::peer::Unfit),
}

impl Study {
    /// Reads the whole text of the file at `path`.
    ///
    /// # Errors
    /// If anything in it is not as it should be.
    pub fn parse(path: &Path, text: &str) -> Result<Study, FileError> {
        let reader = Reader::new(path, text);
        let table = reader.table()?;
        let mut study = Study::empty(path);
        let mut runs = None;
        for entry in reader.entries(table.get_ref()) {
            match entry.key.as_str() {
                "runs" => runs = Some(entry),
                _ => study.read(&reader, &entry)?,
            }
        }
        if study.targets.is_empty() {
            return Err(reader.missing("[[target]]", "say what the load goes to."));
        }
        let no_runs = || reader.missing("[[runs]]", "say what is to be run.");
        study.rows = runs::rows(&reader, &runs.ok_or_else(no_runs)?, &study)?;
        runs::check_axes(&reader, &study.quick.axes, &study)?;
        Ok(study)
    }

    fn empty(path: &Path) -> Study {
        let stem = path.file_stem().unwrap_or_default();
        Study {
            name: stem.to_string_lossy().into_owned(),
            path: path.to_owned(),
            repeats: 1,
            order: Order::Random(1),
            pause: Duration::from_secs(1),
            time_limit: None,
            pin: Pin::default(),
            tools: Vec::new(),
            targets: Vec::new(),
            rows: Vec::new(),
            quick: Quick::default(),
        }
    }

    /// Reads one key, but for the runs, which need all others.
    fn read(&mut self, reader: &Reader<'_>, entry: &Entry<'_>) -> Result<(), FileError> {
        match entry.key.as_str() {
            "name" => self.name = reader.name(entry)?,
            "repeats" => self.repeats = reader.small_count(entry)?,
            "seed" => self.seed(reader.count(entry)?),
            "order" => self.order(reader, entry)?,
            "pause" => self.pause = reader.duration(entry)?,
            "time-limit" => self.time_limit = Some(reader.duration(entry)?),
            "pin" => self.pin = sections::pin(reader, entry)?,
            "tool" => self.tools = sections::tools(reader, entry)?,
            "target" => self.targets = sections::targets(reader, entry)?,
            "quick" => self.quick = runs::quick(reader, entry)?,
            _ => return Err(reader.unknown(entry, &KEYS)),
        }
        Ok(())
    }

    /// A seed says nothing to an order that is listed.
    fn seed(&mut self, seed: u64) {
        if let Order::Random(known) = &mut self.order {
            *known = seed;
        }
    }

    fn order(&mut self, reader: &Reader<'_>, entry: &Entry<'_>) -> Result<(), FileError> {
        match reader.text(entry)?.as_str() {
            "listed" => self.order = Order::Listed,
            "random" => {}
            other => return Err(reader.not_one_of(entry, other, &["random", "listed"])),
        }
        Ok(())
    }
}

/// The keys of the file itself.
const KEYS: [&str; 11] = [
    "name",
    "seed",
    "order",
    "repeats",
    "pause",
    "time-limit",
    "pin",
    "tool",
    "target",
    "quick",
    "runs",
];

#[cfg(test)]
mod tests;
