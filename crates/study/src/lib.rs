//! Studies: many runs of many load testers from one file, watched, and put into one table.
//!
//! A [`Study`] is read from a file ([`Study::parse`]) and expanded into [`Run`]s ([`Study::runs`]);
//! neither accesses anything else. [`Conductor`] makes the runs one after the other: it starts and
//! stops the *target*, the server under load; it starts the *tool*, a load tester in a process of
//! its own; it samples both each second, reads the tool's report and saves its result. A run that
//! is saved is not made again, so that an interrupted study continues where it stopped. [`table`]
//! and [`csv`] print the saved results.
//!
//! This crate ends only processes that it started.
//!
//! ## To change
//!
//! - a key of a study file: `file/`; its meaning `study.rs`, `settings.rs`; its mistakes
//!   `problem.rs`
//! - another load tester: its file in `peer/` and its place in `peer.rs`; a report that it printed
//!   goes into `../fixtures/`
//! - the course of a study: `conductor.rs`, `conductor/stage.rs`; one run `conductor/attempt.rs`
//! - targets, and what they need: `target.rs`, `backends.rs`, `warming.rs`; whether they do the
//!   same work `alike.rs`
//! - when a saved run is used again: `identity.rs`, `saved.rs`
//! - a column of the results: `csv.rs`, `table.rs`, `markdown.rs`, `page/columns.rs`; its source
//!   `figures.rs`, `meter.rs`
//! - a study's processes and their output: `process.rs`, `output.rs`, `command.rs`
//! - rows to runs: `expand.rs`; the folder of results: `folder.rs`; what a study waits for:
//!   `events.rs`; its progress: `progress.rs`; its page: `page.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod alike;
mod backends;
mod command;
mod conductor;
mod csv;
mod events;
mod expand;
mod figures;
mod file;
mod folder;
mod identity;
mod markdown;
mod meter;
mod output;
mod page;
mod peer;
mod problem;
mod process;
mod progress;
mod saved;
mod settings;
mod study;
mod table;
mod target;
mod warming;

pub use conductor::{Conductor, Error, Screen, StudyEnd};
pub use csv::csv;
pub use events::{Events, Interrupter};
pub use expand::Run;
pub use figures::{Figures, LoadLine, Moment, Percentiles};
pub use folder::{Folder, FolderError};
pub use identity::{Identity, PinIdentity, TargetIdentity};
pub use markdown::markdown;
pub use meter::{Averages, Mean, Second, Used};
pub use page::study_page;
pub use peer::{ToolKind, Unreadable, Unsupported};
pub use problem::{FileError, Problem};
pub use progress::Progress;
pub use saved::{Header, Outcome, SavedError, SavedRun, Warmed};
pub use settings::{Axis, Flag, Setting, Settings};
pub use study::{
    Alike, Command, Cores, Order, Pin, Plot, Quick, Row, Study, Target, Tool, WarmUp, What,
};
pub use table::table;
