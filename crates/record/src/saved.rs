//! The saved run: a file of JSON Lines that is written while the run lasts.
//!
//! The first line is a *header*, followed by an *interval* line for every second, and at last a
//! *summary*. A killed run lacks the summary and perhaps the end of its last line, and is readable
//! all the same. Several runs in one file, a *series*, follow one another, each with a header that
//! contains its [`Role`]. After the trials of a search a *search* line contains its outcome;
//! notes that are written after the end are a *notes* line. The
//! format is documented in `docs/guide/saved-run.md`.

mod differences;
mod encoding;
mod error_responses;
mod follow;
mod header;
mod line;
mod merge;
mod metrics;
mod reader;
mod role;
mod search;
mod series;
mod thinner;
mod traced;
mod within_report;
mod writer;

#[cfg(test)]
mod tests;

pub use follow::FollowedRun;
pub use header::{Header, LONGEST_KEPT_BODY, LongBody};
pub use line::Annotations;
pub use reader::RunFile;
pub use role::{Role, RoleKind};
pub use search::{SavedOutcome, Searched};
pub use thinner::{MOST_RUN_BYTES, run_element_within};
pub use within_report::run_element;
pub use writer::{RunWriter, append_changes, append_declared, append_notes, append_search};
