//! Loadline's own outputs in addition to k6's reports: the saved run, the HTML report, the verdict.
//!
//! The functions that create them are passed in, so that this module does not depend on Loadline's
//! pages and files.

use loadline_runner::{End, Observer};
use serde_json::Value;
use std::path::PathBuf;

/// The functions that create Loadline's own outputs of a run.
#[derive(Clone, Copy, Debug)]
pub struct Natives {
    /// Saves the run in a file.
    pub save: fn(PathBuf) -> Box<dyn Observer>,
    /// Writes the HTML report of the run to a file.
    pub page: fn(PathBuf) -> PageOutput,
    /// Writes k6's thresholds and the validity of the run to a file, as JUnit XML.
    pub junit: fn(PathBuf) -> PageOutput,
    /// Says whether the result can be believed, and why not.
    pub judge: fn(&End<'_>) -> Vec<VerdictSentence>,
}

/// The HTML report of a run, or its JUnit XML: written when its load ends, and again with k6's own
/// results.
pub struct PageOutput {
    /// The observer that writes it at the end of the load.
    pub observer: Box<dyn Observer>,
    /// The function that writes it again.
    pub conclude: Conclude,
}

/// Adds tables to a page that was written, as JSON in the form of `loadline report --tables`. An
/// error is the reason why it can't.
pub type Conclude = Box<dyn FnOnce(&Value) -> Result<(), String>>;

/// A sentence of a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerdictSentence {
    /// True if it is a warning.
    pub is_warning: bool,
    /// The sentence.
    pub text: String,
}
