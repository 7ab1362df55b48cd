//! What Loadline makes of a run beside k6's reports: its saved run, its page, its verdict.
//!
//! What makes them is handed in, so that nothing here knows of pages and files of ours.

use loadline_runner::{End, Observer};
use serde_json::Value;
use std::path::PathBuf;

/// What makes Loadline's own reports of a run.
#[derive(Clone, Copy, Debug)]
pub struct Natives {
    /// Saves the run in a file.
    pub save: fn(PathBuf) -> Box<dyn Observer>,
    /// Writes the HTML report of the run to a file.
    pub page: fn(PathBuf) -> PageOutput,
    /// Says whether the result can be believed, and why not.
    pub judge: fn(&End<'_>) -> Vec<Said>,
}

/// The HTML report of a run: written when its load ends, and again with k6's own results.
pub struct PageOutput {
    /// What writes it at the end of the load.
    pub observer: Box<dyn Observer>,
    /// What writes it again.
    pub conclude: Conclude,
}

/// Adds tables to a page that was written, as JSON in the form of `loadline report --tables`. An
/// error says why it can't be.
pub type Conclude = Box<dyn FnOnce(&Value) -> Result<(), String>>;

/// A sentence of a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Whether it is a warning.
    pub is_warning: bool,
    /// The sentence.
    pub text: String,
}
