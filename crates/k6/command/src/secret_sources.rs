//! The sources of `k6/secrets`: files and values given on the command line.
//!
//! Secrets that a script has requested are removed from the log, and from the URLs in the
//! measurements.

use super::origin::CommandContext;
use super::{FAILED, Refused, go_words};
use loadline_k6_options::cli::Invocation;
use loadline_script_js::Secrets;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::{Arc, Mutex, PoisonError};

/// The replacement of a secret in the log.
const REDACTED: &str = "***SECRET_REDACTED***";
/// The name of a source without a name.
const UNNAMED: &str = "default";

/// All sources of a test. Another process gets their values, and masks those that it reveals.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct SecretSources {
    by_name: BTreeMap<String, BTreeMap<String, String>>,
    /// The source for requests that name none.
    default: Option<String>,
    #[serde(skip)]
    revealed: Arc<Revealed>,
}

/// The secrets that a script has requested.
#[derive(Debug, Default)]
pub(super) struct Revealed(Mutex<BTreeSet<String>>);

impl Revealed {
    /// Returns a text without these secrets.
    pub(super) fn redacted(&self, text: &str) -> String {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let secrets = known.iter().rev();
        secrets.fold(text.to_owned(), |text, secret| {
            text.replace(secret.as_str(), REDACTED)
        })
    }

    fn add(&self, secret: &str) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !secret.is_empty() {
            known.insert(in_url(secret));
            known.insert(secret.to_owned());
        }
    }
}

/// Encodes a secret as `encodeURIComponent` does for URLs.
fn in_url(secret: &str) -> String {
    let mut text = String::new();
    for byte in secret.bytes() {
        match byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte) {
            true => text.push(char::from(byte)),
            false => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

impl SecretSources {
    /// Creates the sources of a command line; requested secrets are added to `revealed`.
    ///
    /// # Errors
    /// If a source is invalid, or its file can't be read.
    pub(super) fn of(
        invocation: &Invocation,
        place: &CommandContext,
        revealed: &Arc<Revealed>,
    ) -> Result<SecretSources, Refused> {
        let mut sources = SecretSources {
            revealed: Arc::clone(revealed),
            ..SecretSources::default()
        };
        let given = invocation.all("secret-source");
        let variable = place.environment.get("K6_SECRET_SOURCE");
        let variable = variable.filter(|text| given.is_empty() && !text.is_empty());
        for text in given.iter().chain(variable) {
            sources.add(text, place)?;
        }
        Ok(sources)
    }

    fn add(&mut self, text: &str, place: &CommandContext) -> Result<(), Refused> {
        let (kind, arguments) = text.split_once('=').unwrap_or((text, ""));
        let mut described = Described::of(arguments);
        let values = match kind {
            "mock" => std::mem::take(&mut described.others),
            "file" => described.read(place)?,
            _ => {
                let text =
                    format!("no secret source for type \"{kind}\" for configuration \"{text}\"");
                return Err(Refused::new(FAILED, text));
            }
        };
        let name = described.name.unwrap_or_else(|| UNNAMED.to_owned());
        if self.by_name.contains_key(&name) {
            let text = format!(
                "secret source for name \"{name}\" already exists before configuration \"{text}\""
            );
            return Err(Refused::new(FAILED, text));
        }
        if described.is_default || self.default.is_none() {
            self.default = Some(name.clone());
        }
        self.by_name.insert(name, values);
        Ok(())
    }
}

/// The configuration of a source.
#[derive(Default)]
struct Described {
    name: Option<String>,
    is_default: bool,
    file: Option<String>,
    others: BTreeMap<String, String>,
}

impl Described {
    fn of(arguments: &str) -> Self {
        let mut described = Described::default();
        for part in arguments.split(',').filter(|part| !part.is_empty()) {
            match part.split_once('=') {
                None if part == "default" => described.is_default = true,
                None => described.file = Some(part.to_owned()),
                Some(("name", name)) => described.name = Some(name.to_owned()),
                Some(("filename", file)) => described.file = Some(file.to_owned()),
                Some((name, value)) => {
                    described.others.insert(name.to_owned(), value.to_owned());
                }
            }
        }
        described
    }

    /// Reads the lines of the file, each `name=value`.
    fn read(&self, place: &CommandContext) -> Result<BTreeMap<String, String>, Refused> {
        let file = self.file.clone().unwrap_or_default();
        let text = fs::read_to_string(place.directory.join(&file)).map_err(|error| {
            let problem = go_words::system(&error);
            Refused::new(FAILED, format!("open {file}: {problem}"))
        })?;
        let lines = text.lines().filter_map(|line| line.split_once('='));
        Ok(lines
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect())
    }
}

impl Secrets for SecretSources {
    fn value(&self, source: Option<&str>, name: &str) -> Result<String, String> {
        if self.by_name.is_empty() {
            return Err("no secret sources are configured".to_owned());
        }
        let source = source.or(self.default.as_deref()).unwrap_or(UNNAMED);
        let values = self.by_name.get(source);
        let values = values
            .ok_or_else(|| format!("no secret source with name \"{source}\" is configured"))?;
        let value = values.get(name).ok_or("no value")?;
        self.revealed.add(value);
        Ok(value.clone())
    }

    fn redacted(&self, text: &str) -> Option<String> {
        Some(self.revealed.redacted(text)).filter(|redacted| redacted != text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_come_from_the_source_that_is_meant_and_stay_out_of_the_log() {
        let place = CommandContext {
            directory: "/".into(),
            environment: BTreeMap::new(),
        };
        let mut sources = SecretSources::default();
        sources.add("mock=a=one,b=two", &place).expect("a source");
        sources
            .add("mock=name=x,default,a=three", &place)
            .expect("another one");
        assert_eq!(sources.value(None, "a"), Ok("three".to_owned()));
        assert_eq!(sources.value(Some("default"), "b"), Ok("two".to_owned()));
        assert_eq!(sources.value(None, "b"), Err("no value".to_owned()));
        let other = sources.value(Some("y"), "b").unwrap_err();
        assert_eq!(other, "no secret source with name \"y\" is configured");
        assert_eq!(
            sources.revealed.redacted("one two three"),
            format!("one {REDACTED} {REDACTED}")
        );
        assert_eq!(Secrets::redacted(&sources, "http://a/?b"), None);
        sources
            .add("mock=name=y,k=a b/c", &place)
            .expect("a third one");
        assert_eq!(sources.value(Some("y"), "k"), Ok("a b/c".to_owned()));
        assert_eq!(
            Secrets::redacted(&sources, "http://a/?key=a%20b%2Fc"),
            Some(format!("http://a/?key={REDACTED}"))
        );
        assert!(sources.add("nope", &place).is_err());
        assert!(
            sources.add("mock=a=b", &place).is_err(),
            "the name is taken"
        );
    }
}
