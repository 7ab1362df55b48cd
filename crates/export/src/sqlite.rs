//! SQLite databases: the *log*, with one row per request, and the *report*, with the figures of one
//! or several runs. `docs/guide/sqlite.md` explains the tables, `sqlite/schema.rs` declares them.
//!
//! A log is written into its file while the run lasts, so that other programs can read what is
//! there. A report is made in memory and handed over as bytes, so that its file is replaced as that
//! of any other report is.
//!
//! Only a database that Loadline wrote is replaced ([`check_replaceable`]): `.db` is the ending of
//! many files that somebody wants to keep.

mod connection;
mod log;
mod replacing;
mod report;
mod row;
mod schema;

pub use connection::{DatabaseError, open};
pub use log::SqliteLog;
pub use replacing::{check_replaceable, is_database_name};
pub use report::report;
