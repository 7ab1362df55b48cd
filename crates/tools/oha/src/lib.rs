//! oha: from its arguments to its reports.
//!
//! The flow of data: `arguments` declares the words, and `options` turns them into the options of a
//! run; `urls`, `form` and `signature` define the requests, `message` writes them, `plan` sets
//! their number and rate. A `behaviour` of its own sends the messages and adds every result to the
//! `tally` of its worker, so that memory does not grow with the requests; only if each request is
//! listed are they written to a `spool` on disk. `conduct` runs all of it and prints one of the
//! reports.
//!
//! Terms of oha: a *success* is a whole response, whatever its status; the *first byte* is the
//! first one of the body.
//!
//! ## To change
//!
//! - a flag: `arguments.rs`, `options.rs`; its effect `plan.rs`, `behaviour.rs`; its row in
//!   `docs/dialects.md`
//! - what is sent: `urls.rs`, `form.rs`, `message.rs`, `signature.rs`; redirects `redirect.rs`
//! - the reports: `report/text.rs`, `report/json.rs`, `report/csv.rs`; the database `database.rs`
//! - what is counted for them: `tally.rs`, `distribution.rs`, `windows.rs`; single results
//!   `spool.rs`
//! - oha's text for an error kind: `behaviour.rs`
//! - the course of a command: `conduct.rs`, what it prints in place of a run `outcome.rs`,
//!   `debug.rs`
//! - a report: `report.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod arguments;
mod behaviour;
mod conduct;
mod database;
mod debug;
mod distribution;
mod form;
mod message;
mod options;
mod outcome;
mod plan;
mod redirect;
mod report;
mod signature;
mod spool;
mod tally;
mod urls;
mod windows;

pub use conduct::{TOOL, launch, request, run};
