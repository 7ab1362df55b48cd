//! `metadata.json`: the description of a test in an archive.

use super::{Archive, ArchiveError, names};
use crate::{go_json, go_words, version};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use url::Url;

/// The placeholder that is replaced by the options, which are JSON already.
const OPTIONS: &str = "\"options\":null";

/// The metadata, in the order of k6.
#[derive(Serialize)]
pub(super) struct Metadata<'a> {
    r#type: &'static str,
    options: Option<()>,
    filename: String,
    pwd: String,
    env: Option<&'a BTreeMap<String, String>>,
    #[serde(rename = "compatibilityMode")]
    compatibility_mode: &'a str,
    k6version: &'static str,
    goos: &'static str,
    dependencies: BTreeMap<&'static str, &'static str>,
}

impl<'a> Metadata<'a> {
    /// Creates the metadata of an archive.
    pub(super) fn of(archive: &'a Archive) -> Self {
        Metadata {
            r#type: "js",
            options: None,
            filename: names::anonymous_url(&archive.script).into(),
            pwd: names::anonymous_url(&archive.directory).into(),
            env: archive.env.as_ref(),
            compatibility_mode: &archive.compatibility_mode,
            k6version: version::K6,
            goos: version::system(),
            dependencies: BTreeMap::from([("k6", "*")]),
        }
    }

    /// Returns the text of the file, with these options.
    pub(super) fn text(&self, options_json: &str) -> String {
        let options = format!("\"options\":{options_json}");
        let whole = plain_json(self).replacen(OPTIONS, &options, 1);
        go_json::indented(&whole) + "\n"
    }
}

/// The metadata as read; other versions have more or fewer members.
#[derive(Deserialize)]
struct Read {
    r#type: String,
    #[serde(default)]
    options: Value,
    filename: String,
    pwd: String,
    #[serde(default)]
    env: Option<BTreeMap<String, String>>,
    #[serde(rename = "compatibilityMode", default)]
    compatibility_mode: String,
}

impl Metadata<'_> {
    /// Reads the metadata of an archive; the result has no files yet.
    ///
    /// # Errors
    /// If the text is not valid metadata.
    pub(super) fn read(text: &[u8]) -> Result<Archive, ArchiveError> {
        let read: Read = serde_json::from_slice(text).map_err(|error| {
            ArchiveError::Metadata(match error.is_data() {
                true => error.to_string(),
                false => go_words::json(text, &error),
            })
        })?;
        if read.r#type != "js" {
            let problem = format!(
                "the type {:?} is unknown; only \"js\" can be run",
                read.r#type
            );
            return Err(ArchiveError::Metadata(problem));
        }
        Ok(Archive {
            options_json: plain_json(&read.options),
            script: url(&read.filename)?,
            directory: url(&read.pwd)?,
            env: read.env,
            compatibility_mode: read.compatibility_mode,
            files: BTreeMap::new(),
        })
    }
}

/// Serialises a value without HTML escapes: k6 uses none here.
fn plain_json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("our types have strings for keys")
}

fn url(text: &str) -> Result<Url, ArchiveError> {
    Url::parse(text).map_err(|error| ArchiveError::Metadata(format!("{text:?}: {error}")))
}
