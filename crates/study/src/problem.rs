//! The possible mistakes in a study, with their position in its file.

use std::path::PathBuf;

/// The reason why a study file cannot be used, with its position.
#[derive(Debug, thiserror::Error)]
#[error("{}, line {line}{key}: {problem}", path.display())]
pub struct FileError {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1.
    pub line: usize,
    /// The key with a comma before it; empty if the mistake concerns no key.
    pub(crate) key: String,
    /// The mistake.
    pub problem: Box<Problem>,
}

/// A mistake in a study file.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "each sentence says what it is")]
pub enum Problem {
    #[error("`{0}` is not a set of cores. Write their numbers, such as 0 or 1-3,8.")]
    Cores(String),
    #[error("this command failed: {0}.")]
    CommandFailed(String),
    #[error("there is no command {0} on this machine; install it, or write where it is.")]
    CommandNotFound(String),
    #[error("a round takes at least 8s: what is shorter does not show whether it settled.")]
    ShortRound,
    #[error(
        "{method} {path} has not the same response from {one} and {other}: {difference}. What does \
         not do the same work can't be compared."
    )]
    NotAlike {
        method: String,
        path: String,
        one: String,
        other: String,
        difference: String,
    },
    #[error("{target} has no response to {method} {path}: {why}.")]
    NoResponse {
        target: String,
        method: String,
        path: String,
        why: String,
    },
    #[error("{0} can't be warmed up: {1}.")]
    NotWarmed(String, String),
    #[error("it must be at least 1.")]
    Nothing,
    #[error("no run belongs to the quick part; leave out quick = false in some [[runs]] or row.")]
    NothingQuick,
    #[error("core {0} is not available to this program; name others.")]
    CoreNotHere(usize),
    #[error("an axis needs at least one value.")]
    EmptyAxis,
    #[error("a command needs at least the name of a program.")]
    EmptyCommand,
    #[error("{key} is missing; {advice}")]
    Missing {
        key: &'static str,
        advice: &'static str,
    },
    #[error(
        "the target {name} does not respond at {url} within {timeout}; see that it starts, or \
         give it more patience."
    )]
    NoAnswer {
        name: String,
        url: String,
        timeout: String,
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
    #[error("this is not text: its bytes are not UTF-8.")]
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
        "the target ended before it served{0}. Correct its start command: it must serve until it \
         is stopped."
    )]
    TargetEnded(String),
    #[error("the name {0} is given twice.")]
    Twice(String),
    #[error("{0}")]
    Value(String),
    /// Up to this row there is an unreasonable number of runs.
    #[error("up to here the study has more than {0} runs; give it fewer repeats or shorter axes.")]
    TooManyRuns(usize),
    #[error("{0} does not take this: {1}")]
    OwnMistake(String, String),
    #[error("{0}")]
    Unsupported(#[from] crate::peer::Unsupported),
}
