//! The common parts of other tools' commands: the [`Host`] that runs them, `--processes` and
//! threads.
//!
//! A *dialect* turns an argument list into a plan, and the measurements into the text that the
//! other tool would have printed. The interface is identical; the original's defects are not
//! reproduced. `docs/dialects.md` lists every flag, and the differences with their reasons.
//!
//! Each tool has a crate of its own beside this one; k6's is `crates/k6/command`. Its entry is a
//! function `run` from the words after the tool's name and a host to an exit code.
//!
//! ## To change
//!
//! - what a tool receives of its environment: `Host` in `host.rs`
//! - `--processes` before a tool's own words: `processes.rs`
//! - the live page of a tool's run: `page.rs`
//! - signals while a tool runs: `signals.rs`
//! - the threads of a command line that gives none: `threads.rs`
//! - a new tool: a crate beside this one, whose tests try arbitrary words; `docs/dialects.md`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod host;
mod page;
pub mod processes;
mod signals;
mod threads;

pub use host::{Host, LiveView, Stream, Terminals};
pub use page::{LivePages, OwnPage, PageRequest, ShowResults, ShownPage};
pub use signals::{Signal, Signals};
pub use threads::threads;
