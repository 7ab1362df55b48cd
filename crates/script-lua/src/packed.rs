//! A script on its way to other processes: with its options, and with the files that it has read.

use crate::error::Error;
use crate::files::Files;
use crate::options::Options;
use crate::script::Script;
use base64::prelude::{BASE64_STANDARD, Engine};
use loadline_script::Prints;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

/// Loads a script that another process has [packed](Script::pack), for these workers of its run.
///
/// # Errors
/// The sentence about what is no packed script, or can't be loaded here.
pub fn unpack(packed: &str, workers: Range<u32>) -> Result<Script, String> {
    let packed: Packed = serde_json::from_str(packed).map_err(|error| error.to_string())?;
    packed.load(workers).map_err(|error| error.to_string())
}

/// A script for another process.
#[derive(Serialize, Deserialize)]
pub(crate) struct Packed {
    path: PathBuf,
    options: Options,
    /// The files, the script among them, in Base64.
    files: BTreeMap<String, String>,
    settled: Settled,
}

/// What the process that loads a script first settles for all others.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Settled {
    /// The number of requests in a text.
    pub(crate) depth: u32,
    /// True if requests have names.
    pub(crate) names_requests: bool,
}

impl Packed {
    /// Packs a script with the files that it has read.
    ///
    /// # Errors
    /// The sentence about files that are too large.
    pub(crate) fn new(
        path: PathBuf,
        options: Options,
        files: &Files,
        settled: Settled,
    ) -> Result<Packed, String> {
        let files = files.contents()?.into_iter();
        Ok(Packed {
            path,
            options,
            files: files
                .map(|(name, bytes)| (name, BASE64_STANDARD.encode(bytes)))
                .collect(),
            settled,
        })
    }

    /// Loads the script for these workers of its run.
    fn load(self, workers: Range<u32>) -> Result<Script, Error> {
        let wrong = |error: std::io::Error| Error::Read {
            path: self.path.clone(),
            error,
        };
        let decode = |(name, text): (&String, &String)| {
            let bytes = BASE64_STANDARD.decode(text);
            let bytes = bytes.map_err(std::io::Error::other)?;
            Ok((name.clone(), bytes))
        };
        let contents = self.files.iter().map(decode).collect::<Result<_, _>>();
        let files = contents.and_then(Files::received).map_err(wrong)?;
        let options = Options {
            // Standard output leads to the process that reports.
            prints: Prints::Stderr,
            may_exit: false,
            ..self.options.clone()
        };
        Script::load_part(&self.path, &options, files, workers, self.settled)
    }
}
