//! Values of a study file, each read with its position.

use crate::problem::{FileError, Problem};
use loadline_plan::{parse_count, parse_duration, parse_small_count};
use std::ops::Range;
use std::path::Path;
use std::time::Duration;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// The similarity (Jaro) from which a known key is suggested for an unknown one.
const ALIKE: f64 = 0.8;

/// Reads values and keeps their positions.
pub(super) struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
}

/// A key with its value, or one value of several.
pub(super) struct Entry<'a> {
    /// The key, with dashes for underscores.
    pub(super) key: String,
    /// The key as typed.
    pub(super) typed: &'a str,
    pub(super) line: usize,
    pub(super) value: &'a DeValue<'a>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(path: &'a Path, text: &'a str) -> Self {
        Reader { path, text }
    }

    /// Parses the whole file.
    pub(super) fn table(&self) -> Result<Spanned<DeTable<'a>>, FileError> {
        DeTable::parse(self.text).map_err(|error| {
            let problem = Problem::Syntax(error.message().replace('\n', ", "));
            let line = self.line(&error.span().unwrap_or_default());
            self.error(line, None, problem)
        })
    }

    /// Returns the keys of a table, in the order of the file.
    pub(super) fn entries<'t>(&self, table: &'t DeTable<'t>) -> Vec<Entry<'t>> {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        let entry = |(key, value): (&'t Spanned<DeString<'t>>, &'t Spanned<DeValue<'t>>)| Entry {
            key: normal(key.get_ref()),
            typed: key.get_ref(),
            line: self.line(&key.span()),
            value: value.get_ref(),
        };
        entries.into_iter().map(entry).collect()
    }

    /// Returns the values of a list, each with the key of the list; a single value is a list of
    /// one.
    pub(super) fn values<'t>(&self, entry: &Entry<'t>) -> Result<Vec<Entry<'t>>, FileError> {
        let Some(values) = entry.value.as_array() else {
            return Ok(vec![Entry {
                key: entry.key.clone(),
                ..*entry
            }]);
        };
        if values.is_empty() {
            return Err(self.refuse(entry, Problem::EmptyAxis));
        }
        let one = |value: &'t Spanned<DeValue<'t>>| Entry {
            key: entry.key.clone(),
            typed: entry.typed,
            line: self.line(&value.span()),
            value: value.get_ref(),
        };
        Ok(values.iter().map(one).collect())
    }

    /// Returns the keys of an inline table or a section.
    pub(super) fn section<'t>(&self, entry: &Entry<'t>) -> Result<Vec<Entry<'t>>, FileError> {
        let table = entry.value.as_table();
        let table = table.ok_or_else(|| self.refuse(entry, Problem::NoTable))?;
        Ok(self.entries(table))
    }

    /// Returns the sections of a list, each with its line and its keys.
    pub(super) fn sections<'t>(
        &self,
        entry: &Entry<'t>,
        name: &'static str,
    ) -> Result<Vec<(usize, Vec<Entry<'t>>)>, FileError> {
        let refused = || self.refuse(entry, Problem::NoTables(name));
        let tables = entry.value.as_array().ok_or_else(refused)?;
        let section = |table: &'t Spanned<DeValue<'t>>| {
            let entries = self.entries(table.get_ref().as_table().ok_or_else(refused)?);
            Ok((self.line(&table.span()), entries))
        };
        tables.iter().map(section).collect()
    }

    /// Reads a text that is not empty.
    pub(super) fn text(&self, entry: &Entry<'_>) -> Result<String, FileError> {
        let text = entry.value.as_str().filter(|text| !text.is_empty());
        text.map(str::to_owned)
            .ok_or_else(|| self.refuse(entry, Problem::NoText))
    }

    /// Reads a text that can be part of a file name.
    pub(super) fn name(&self, entry: &Entry<'_>) -> Result<String, FileError> {
        let name = self.text(entry)?;
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.+".contains(&byte);
        if name.starts_with('.') || !name.bytes().all(is_plain) {
            let sentence = format!(
                "`{name}` is not a name: use letters, digits and - _ . +, and begin with no dot."
            );
            return Err(self.refuse(entry, Problem::Value(sentence)));
        }
        Ok(name)
    }

    /// Reads a text, or a number as it would be typed.
    #[allow(
        clippy::wildcard_enum_match_arm,
        reason = "the library's values: the others are no single value"
    )]
    pub(super) fn scalar(&self, entry: &Entry<'_>) -> Result<String, FileError> {
        match entry.value {
            DeValue::String(text) => Ok(text.to_string()),
            DeValue::Integer(number) => Ok(number.to_string()),
            DeValue::Float(number) => Ok(number.as_str().to_owned()),
            _ => Err(self.refuse(entry, Problem::NoValue)),
        }
    }

    pub(super) fn boolean(&self, entry: &Entry<'_>) -> Result<bool, FileError> {
        let value = entry.value.as_bool();
        value.ok_or_else(|| self.refuse(entry, Problem::NoFlag))
    }

    /// Reads a number of one or more.
    pub(super) fn count(&self, entry: &Entry<'_>) -> Result<u64, FileError> {
        match self.parsed(entry, parse_count)? {
            0 => Err(self.refuse(entry, Problem::Nothing)),
            count => Ok(count),
        }
    }

    /// Reads a number of one or more that fits into 32 bits.
    pub(super) fn small_count(&self, entry: &Entry<'_>) -> Result<u32, FileError> {
        match self.parsed(entry, parse_small_count)? {
            0 => Err(self.refuse(entry, Problem::Nothing)),
            count => Ok(count),
        }
    }

    pub(super) fn duration(&self, entry: &Entry<'_>) -> Result<Duration, FileError> {
        self.parsed(entry, parse_duration)
    }

    /// Reads a value in the notation of the command line.
    pub(super) fn parsed<T, E: ToString>(
        &self,
        entry: &Entry<'_>,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<T, FileError> {
        let text = self.scalar(entry)?;
        parse(&text).map_err(|error| self.refuse(entry, Problem::Value(error.to_string())))
    }

    /// Reads a list of texts.
    pub(super) fn words(&self, entry: &Entry<'_>) -> Result<Vec<String>, FileError> {
        let refused = || self.refuse(entry, Problem::NoWords);
        let values = entry.value.as_array().ok_or_else(refused)?;
        let word = |value: &Spanned<DeValue<'_>>| value.get_ref().as_str().map(str::to_owned);
        let words: Option<Vec<String>> = values.iter().map(word).collect();
        let words = words.ok_or_else(refused)?;
        if words.first().is_none_or(String::is_empty) {
            return Err(self.refuse(entry, Problem::EmptyCommand));
        }
        Ok(words)
    }

    /// Returns the error of a key.
    pub(super) fn refuse(&self, entry: &Entry<'_>, problem: Problem) -> FileError {
        self.error(entry.line, Some(&entry.key), problem)
    }

    pub(super) fn error(&self, line: usize, key: Option<&str>, problem: Problem) -> FileError {
        FileError {
            path: self.path.to_owned(),
            line,
            key: key.map(|key| format!(", {key}")).unwrap_or_default(),
            problem: Box::new(problem),
        }
    }

    /// Returns the error of a missing key.
    pub(super) fn missing(&self, key: &'static str, advice: &'static str) -> FileError {
        self.error(1, None, Problem::Missing { key, advice })
    }

    /// Returns the error of an unknown key: it names the most similar key, or all known ones.
    pub(super) fn unknown(&self, entry: &Entry<'_>, known: &[&str]) -> FileError {
        let alike = |name: &&&str| strsim::jaro(name, &entry.key) >= ALIKE;
        let problem = match known.iter().find(alike) {
            Some(near) => Problem::UnknownButNear((*near).to_owned()),
            None => Problem::Unknown(known.join(", ")),
        };
        self.refuse(entry, problem)
    }

    pub(super) fn not_one_of(&self, entry: &Entry<'_>, text: &str, known: &[&str]) -> FileError {
        let problem = Problem::NotOneOf(text.to_owned(), known.join(", "));
        self.refuse(entry, problem)
    }

    fn line(&self, span: &Range<usize>) -> usize {
        let before = &self.text.as_bytes()[..span.start.min(self.text.len())];
        before.iter().filter(|&&byte| byte == b'\n').count() + 1
    }
}

/// Normalizes a key: underscores become dashes, except in flags, which keep their own spelling.
fn normal(key: &str) -> String {
    match key.starts_with('-') {
        true => key.to_owned(),
        false => key.replace('_', "-"),
    }
}
