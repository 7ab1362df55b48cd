//! ApacheBench (`ab`): from its arguments to its report.
//!
//! The flow of data: `arguments` reads the words into `Options`, `plan` converts them to a plan,
//! and `request` writes the bytes that ab would send. A `behaviour` of its own sends them and
//! records every request in a `ledger`; `conduct` counts in a `tally` as ab does, and prints the
//! `report`, the `html` or the `files`.
//!
//! Terms of ab: an *aborted* run is one that ab ends without a report; the *document* is the body
//! of the response; a *progress* line prints the number of completed requests.
//!
//! ## To change
//!
//! - a flag: `arguments.rs`, `options.rs`; its effect `plan.rs`, `request.rs`, `behaviour.rs`; its
//!   row in `docs/dialects.md`
//! - the reports and files: `report.rs`, `html.rs`, `files.rs`; connection times `times.rs`
//! - what is counted for them: `tally.rs`, `ledger.rs`; the group of an error kind `tally.rs`
//! - the course of a command: `conduct.rs`; its refusals `usage.rs`
//! - words as ab reads them: `getopt.rs`, numbers `number.rs`, the URL `target.rs`, names of TLS
//!   `names.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod arguments;
mod behaviour;
mod conduct;
mod files;
mod getopt;
mod html;
mod ledger;
mod names;
mod number;
mod options;
mod plan;
mod report;
mod request;
mod tally;
mod target;
mod times;
mod usage;

pub use conduct::{TOOL, launch, request, run};
