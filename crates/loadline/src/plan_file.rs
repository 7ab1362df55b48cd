//! Plan files: TOML whose keys are the long flags of a run, with dashes or underscores, and `url`.
//!
//! Each key is turned into the words that the command line would have for it and read by the very
//! same declarations, so a value means the same in both places and is refused in the same words,
//! here with file, line and key. `${NAME}` in a text is the value of a variable of the environment.

mod scenario;
mod variables;

use self::scenario::ScenarioTable;
use self::variables::Variables;
use crate::flags;
use crate::flags::Planned;
use crate::flags::run::request::TargetWord;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction};
use std::ffi::OsString;
use std::marker::PhantomData;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Keys that answer the same question: one of them on the command line replaces all in the file.
const ALTERNATIVES: [&[&str]; 5] = [
    &["url", "urls", "urls_inline"],
    &["body", "form"],
    &["rate", "burst"],
    &["ipv4", "ipv6"],
    &["short", "full"],
];

/// The contents of a plan file, for these flags.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PlanFile<F> {
    entries: Vec<Entry>,
    scenarios: Vec<ScenarioTable>,
    /// Values of variables that are kept out of what is written of a run.
    secrets: Vec<String>,
    flags: PhantomData<F>,
}

/// One key, as the command line would have it.
#[derive(Debug, PartialEq, Eq)]
struct Entry {
    id: String,
    words: Vec<OsString>,
}

/// The reason why a plan file can't be read, with its position.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}, line {line}{key}: {problem}", path.display())]
pub(crate) struct PlanFileError {
    path: PathBuf,
    line: usize,
    /// The key with a comma before it, or nothing where there is none.
    key: String,
    problem: Problem,
}

/// A mistake in a plan file.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum Problem {
    #[error("it takes true or false.")]
    NoFlag,
    #[error("it takes one value, not several.")]
    NoList,
    #[error("it takes a text or a number.")]
    NoValue,
    #[error("a plan file has no sections but [[scenario]]; write the keys one after the other.")]
    Section,
    #[error("this is not TOML: {0}.")]
    Syntax(String),
    #[error("two scenarios have the name {0}; rename one of them.")]
    NameTwice(String),
    #[error("it belongs to the whole run; write it above the first [[scenario]].")]
    OfWholeRun,
    #[error("a scenario needs a name; add name = \"…\" below [[scenario]].")]
    NoName,
    #[error("write each scenario below a line [[scenario]].")]
    NoScenarios,
    #[error("its tags are a table of texts, such as tags = {{ team = \"search\" }}.")]
    NoTags,
    #[error("`${{` begins a variable, such as ${{TOKEN}}; write $${{ for the two characters.")]
    NoVariable,
    #[error(
        "the environment has no variable {0}; set it, or write $${{{0}}} if no variable is meant."
    )]
    Unset(String),
    #[error("there is no such key.")]
    Unknown,
    #[error("there is no such key; did you mean {0}?")]
    UnknownButNear(String),
    #[error("{0}")]
    Value(String),
}

impl<F: Planned> PlanFile<F> {
    /// Reads the whole text of the file at `path`.
    pub(crate) fn parse(path: &Path, text: &str) -> Result<Self, PlanFileError> {
        let reader: Reader<'_, F> = Reader {
            path,
            text,
            command: flags::planned_command::<F>(),
            variables: Variables::default(),
            flags: PhantomData,
        };
        let table = DeTable::parse(text).map_err(|error| {
            let problem = Problem::Syntax(error.message().replace('\n', ", "));
            reader.error(error.span().unwrap_or_default(), None, problem)
        })?;
        let mut keys: Vec<_> = table.get_ref().iter().collect();
        keys.sort_by_key(|(key, _)| key.span().start);
        let (scenarios, keys): (Vec<_>, Vec<_>) = keys
            .into_iter()
            .partition(|(key, _)| key.get_ref() == "scenario");
        let entries = keys.into_iter().map(|(key, value)| {
            let entry = reader.entry(key.get_ref(), value.get_ref());
            entry.map_err(|problem| reader.error(key.span(), Some(key.get_ref()), problem))
        });
        let entries = entries.collect::<Result<_, _>>()?;
        let scenarios = match scenarios.first() {
            Some((key, value)) => reader.scenarios(key.span(), value.get_ref())?,
            None => Vec::new(),
        };
        Ok(Self {
            entries,
            scenarios,
            secrets: reader.variables.secrets(),
            flags: PhantomData,
        })
    }

    /// Returns the flags of the command line, completed by those of the file.
    pub(crate) fn under(&self, mut flags: F) -> Result<F, clap::Error> {
        let run = flags.run();
        let matches = flags::planned_command::<F>().try_get_matches_from(&run.typed)?;
        let has_url = run
            .request
            .places
            .iter()
            .any(|place| matches!(place, TargetWord::Url(_)));
        let is_given = |id: &str| match id {
            "url" => has_url,
            id => matches.value_source(id) == Some(ValueSource::CommandLine),
        };
        let kept = self
            .entries
            .iter()
            .filter(|entry| !alternatives(&entry.id).any(is_given));
        let words = kept.flat_map(|entry| &entry.words).chain(&run.typed);
        let mut flags: F = flags::parse_planned(words.cloned())?;
        let scenarios = self.scenarios.iter().map(ScenarioTable::flags);
        flags.run().scenarios = scenarios.collect::<Result<_, _>>()?;
        flags.run().secrets = self.secrets.clone();
        Ok(flags)
    }
}

/// All keys that answer the same question as this one.
fn alternatives(id: &str) -> impl Iterator<Item = &str> {
    let group = ALTERNATIVES
        .into_iter()
        .find(|group| group.contains(&id))
        .unwrap_or_default();
    std::iter::once(id).chain(group.iter().copied())
}

/// Turns keys into words, and knows where they stand.
struct Reader<'a, F> {
    path: &'a Path,
    text: &'a str,
    command: clap::Command,
    variables: Variables,
    flags: PhantomData<F>,
}

impl<F: Planned> Reader<'_, F> {
    fn error(&self, span: Range<usize>, key: Option<&str>, problem: Problem) -> PlanFileError {
        let before = &self.text.as_bytes()[..span.start.min(self.text.len())];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let key = key.map(|key| format!(", {key}")).unwrap_or_default();
        PlanFileError {
            path: self.path.to_owned(),
            line,
            key,
            problem,
        }
    }

    fn entry(&self, key: &str, value: &DeValue<'_>) -> Result<Entry, Problem> {
        if value.is_table() {
            return Err(Problem::Section);
        }
        let id = key.replace('-', "_");
        let arguments = self.command.get_arguments();
        let argument = arguments
            .into_iter()
            .find(|argument| argument.get_id() == &id);
        let argument = argument.ok_or_else(|| unknown_key::<F>(&id))?;
        let words = words(argument, value, &self.variables).and_then(|words| {
            words.iter().try_for_each(refuse_bad_value::<F>)?;
            Ok(words)
        });
        let words = self.variables.end_key(&id, words)?;
        Ok(Entry { id, words })
    }
}

/// The words that the command line would have for a key.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the library's values: the others are read by the flag"
)]
fn words(
    argument: &Arg,
    value: &DeValue<'_>,
    variables: &Variables,
) -> Result<Vec<OsString>, Problem> {
    if !argument.get_action().takes_values() {
        let is_set = value.as_bool().ok_or(Problem::NoFlag)?;
        return Ok(if is_set {
            vec![word(argument, None)]
        } else {
            vec![]
        });
    }
    let is_place = argument.get_long().is_none();
    let one = |value: &DeValue<'_>| match value {
        // A number would be taken for an address.
        DeValue::Integer(_) | DeValue::Float(_) if is_place => {
            Err(Problem::Value("it takes a text: a URL.".to_owned()))
        }
        value => {
            let value = scalar(value, variables)?;
            if is_place {
                let place: Result<TargetWord, _> = value.parse();
                place.map_err(|problem| Problem::Value(problem.to_string()))?;
            }
            Ok(word(argument, Some(value)))
        }
    };
    match value.as_array() {
        None => Ok(vec![one(value)?]),
        Some(values) if matches!(argument.get_action(), ArgAction::Append) => {
            values.iter().map(Spanned::get_ref).map(one).collect()
        }
        Some(_) => Err(Problem::NoList),
    }
}

fn word(argument: &Arg, value: Option<String>) -> OsString {
    match (argument.get_long(), value) {
        (Some(long), Some(value)) => format!("--{long}={value}").into(),
        (Some(long), None) => format!("--{long}").into(),
        // A scheme keeps a value that begins with a dash from being taken for a flag.
        (None, Some(value)) if value.starts_with('-') => format!("http://{value}").into(),
        (None, value) => value.unwrap_or_default().into(),
    }
}

/// A value as it would be typed.
#[allow(
    clippy::wildcard_enum_match_arm,
    reason = "the library's values: the others are no single value"
)]
fn scalar(value: &DeValue<'_>, variables: &Variables) -> Result<String, Problem> {
    match value {
        DeValue::String(text) => variables.expand(text),
        DeValue::Integer(number) => Ok(number.to_string()),
        DeValue::Float(number) => Ok(number.as_str().to_owned()),
        _ => Err(Problem::NoValue),
    }
}

/// Reads the words of one key alone, so that an error is reported with its place.
fn refuse_bad_value<F: Planned>(word: &OsString) -> Result<(), Problem> {
    let mut flags = flags::parse_planned::<F>([word.clone()]).map_err(|error| {
        Problem::Value(flags::value_problem(&error).unwrap_or_else(|| flags::sentence(&error)))
    })?;
    match flags.run().request.places.first() {
        Some(TargetWord::Plan(_)) => Err(Problem::Value(
            "a plan file can't name another; write a URL.".to_owned(),
        )),
        _ => Ok(()),
    }
}

/// Names the key that is nearest, as the command line would suggest it.
fn unknown_key<F: Planned>(id: &str) -> Problem {
    let flag = format!("--{}", id.replace('_', "-"));
    let error = flags::parse_planned::<F>([flag.into()]).err();
    match error.as_ref().and_then(flags::suggestion) {
        Some(known) => Problem::UnknownButNear(known.trim_start_matches('-').to_owned()),
        None => Problem::Unknown,
    }
}

#[cfg(test)]
mod tests;
