//! The saved run: a file of JSON Lines that is written while the run goes on.
//!
//! A *header* comes first, then an *interval* line for every second, at last a *summary*. A killed
//! run lacks the summary and perhaps the end of its last line, and is readable all the same.
//! Several runs in one file, a *series*, stand one behind the other, each with a header that says
//! its [`Role`]. Behind the trials of a search a *search* line holds its outcome. The format is
//! documented in `docs/guide/saved-run.md`.

mod carried;
mod differences;
mod encoding;
mod follow;
mod header;
mod line;
mod merge;
mod metrics;
mod reader;
mod role;
mod search;
mod series;
mod writer;

#[cfg(test)]
mod tests;

pub use follow::FollowedRun;
pub use header::{Header, LONGEST_KEPT_BODY, LongBody};
pub use reader::RunFile;
pub use role::{Role, RoleKind};
pub use search::{SavedOutcome, Searched};
pub use writer::{RunWriter, append_search};
