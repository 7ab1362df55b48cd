//! SQLite databases: the *log*, with one row per request, and the *report*, with the figures of one
//! or several runs. `docs/guide/sqlite.md` explains the tables, `sqlite/schema.rs` declares them.
//!
//! A log is written to its file during the run, so that other programs can read it meanwhile. A
//! report is made in memory and returned as bytes, so that its file is replaced in the same way as
//! that of any other report.
//!
//! Only a database that Loadline wrote is replaced ([`check_replaceable`]): `.db` is the extension
//! of many files that users keep for other purposes.

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
