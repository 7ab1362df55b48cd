//! k6: its commands, from their words to their exit codes.
//!
//! They follow version 1.8.1 exactly: its output, its refusals with their messages, the REST API of
//! a running test, and the archives that carry a test to another machine. Scripts are run by
//! `script-js`, options are processed by `k6-options`, and values by `k6-metrics`.
//!
//! # The flow of a run
//!
//! 1. `command` reads the words, `origin` finds the script, `test` loads it and its options.
//! 2. `conduct` makes three runs of the engine: `setup()`, the load of the `plan`, `teardown()`.
//!    `stop` ends them early.
//! 3. The `listener` receives the records of users, judges thresholds and notifies `progress`,
//!    which shows the state.
//! 4. The `report` prints the summary and writes files.
//!
//! Every refusal here ends the command with [`FAILED`], unless its documentation names another
//! code.
//!
//! ## To change
//!
//! - a command, from its words to its exit code: `command.rs`, `refused.rs`; `new.rs`,
//!   `archive.rs`, `version.rs`
//! - a loaded test, its options from all sources: `test.rs`
//! - the course of a test: `conduct.rs`, what ends it early `stop.rs`; executors as plans of the
//!   engine `plan.rs`
//! - where scripts, modules, secrets and keys come from: `origin.rs`, `modules_cache.rs`,
//!   `secret_sources.rs`, `client_keys.rs`
//! - what a run prints: progress `progress.rs`, log `console.rs`, summary `report.rs`
//! - an output of `--out`: `output/json.rs`, `output/csv.rs`; Loadline's own outputs
//!   `output/loadline.rs`, metrics sent while a run lasts `output/exports.rs`, k6's tables on their
//!   page `page_tables.rs`; what chooses them `report.rs`
//! - thresholds while a run lasts: `listener.rs`
//! - the users of a load in other processes, and what they need of a test: `job.rs`
//! - a route of the REST API: `rest/routes.rs`, its documents `rest/documents.rs`,
//!   `rest/figures.rs`; what it shows and changes of a test `running.rs`, `rest/control.rs`; the
//!   commands that use it `clients.rs`
//! - Go's sentences and JSON: `go_words.rs`, `go_json.rs`
//! - the files of `--out`: `output.rs`; identifiers of groups and checks in them `identifiers.rs`;
//!   the REST API: `rest.rs`
//! - a command under way: `session.rs`; what it prints from several threads `screen.rs`; a request
//!   of its own `fetch.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

pub mod archive;
mod client_keys;
pub mod clients;
mod command;
mod conduct;
mod console;
mod fetch;
mod go_json;
mod go_words;
mod identifiers;
mod job;
mod listener;
pub mod modules_cache;
pub mod new;
mod origin;
mod output;
mod page_tables;
mod plan;
mod progress;
mod refused;
mod report;
pub mod rest;
mod running;
mod screen;
mod secret_sources;
mod session;
mod stop;
mod test;
pub mod version;

pub use command::run;
pub use job::{TOOL, launches};
pub use refused::{FAILED, INTERRUPTED};

use refused::{
    ABORTED, CANNOT_SERVE, INVALID_CONFIG, MARKED_FAILED, Refused, SCRIPT_EXCEPTION, SETUP_TIMEOUT,
    STOPPED, TEARDOWN_TIMEOUT, THRESHOLDS_CROSSED,
};
