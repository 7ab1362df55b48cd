//! k6: its commands, from their words to their exit codes.
//!
//! They are kept to the letter of version 1.8.1: what they print, what they refuse and in which
//! words, the REST API that a running test serves, and the archives that carry a test to another
//! machine. What runs a script is in `script-js`, what becomes of its options in `k6-options`, what
//! is made of its values in `k6-metrics`.
//!
//! # The way of a run
//!
//! 1. `command` reads the words, `origin` finds the script, `test` loads it and its options.
//! 2. `conduct` makes three runs of the engine of the `plan`: `setup()`, the load, `teardown()`.
//!    `stop` ends them early.
//! 3. The `listener` hears what users recorded, judges thresholds and tells `progress`, which shows
//!    it.
//! 4. The `report` prints the summary and writes files.
//!
//! Every refusal here ends the command with [`FAILED`], unless it says otherwise.

pub mod archive;
mod client_keys;
pub mod clients;
mod command;
mod conduct;
mod console;
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
