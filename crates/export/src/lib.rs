//! The results of Loadline in the formats of other programs.
//!
//! Each format has its own module. Its data comes from the events of a run's observers, or from the
//! run's result as reports print it; this crate judges nothing.
//!
//! - [`sqlite`]: SQLite databases, one of the requests of a run and one of its figures.
//! - [`history`]: the figures of the runs of a test, one after the other, and its baselines.
//!
//! ## To change
//!
//! - a table or column of the SQLite report: its declaration `sqlite/schema.rs`; its content
//!   `sqlite/report/`
//! - a column of the log as a database: `sqlite/schema.rs`, `insert_one` in
//!   `sqlite/log/inserter.rs`
//! - an error kind or a statistic in a database: `sqlite/report/counted.rs`,
//!   `sqlite/report/times.rs`
//! - the files that a database may replace: `sqlite/replacing.rs`; errors as sentences
//!   `sqlite/connection.rs`
//! - the history of a test, the figures in it, its baselines: `history.rs`; its tables
//!   `history/schema.rs`
//! - a format of another program: a module of its own beside `sqlite.rs`; during a run an
//!   `Observer` of the crate `runner`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

pub mod history;
pub mod sqlite;
