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

pub mod archive;
mod client_keys;
pub mod clients;
mod command;
mod conduct;
mod console;
mod exports;
mod fetch;
mod go_json;
mod go_words;
mod listener;
pub mod modules_cache;
mod natives;
pub mod new;
mod origin;
mod page_tables;
mod plan;
mod progress;
mod refused;
mod report;
pub mod rest;
mod running;
mod sample_files;
mod screen;
mod secret_sources;
mod stop;
mod test;
pub mod version;

pub use command::{Surroundings, Terminals, run};
pub use natives::{Conclude, Natives, PageOutput, Said};
pub use origin::Place;
pub use refused::{CANNOT_SERVE, FAILED, INTERRUPTED};
pub use screen::{Screen, Stream};
pub use stop::Interrupt;

use refused::{
    ABORTED, INVALID_CONFIG, MARKED_FAILED, Refused, SCRIPT_EXCEPTION, SETUP_TIMEOUT, STOPPED,
    TEARDOWN_TIMEOUT, THRESHOLDS_CROSSED,
};
