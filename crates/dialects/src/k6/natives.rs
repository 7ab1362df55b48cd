//! What Loadline makes of a run beside k6's reports: its saved run, its page, its verdict.
//!
//! What makes them is handed in, so that nothing here knows of pages and files of ours.

use loadline_runner::{End, Observer};
use std::path::PathBuf;

/// What makes Loadline's own reports of a run.
#[derive(Clone, Copy, Debug)]
pub struct Natives {
    /// Saves the run in a file.
    pub save: fn(PathBuf) -> Box<dyn Observer>,
    /// Writes the HTML report of the run to a file.
    pub page: fn(PathBuf) -> Box<dyn Observer>,
    /// Says whether the result can be believed, and why not.
    pub judge: fn(&End<'_>) -> Vec<Said>,
}

/// A sentence of a verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Whether it is a warning.
    pub is_warning: bool,
    /// The sentence.
    pub text: String,
}
