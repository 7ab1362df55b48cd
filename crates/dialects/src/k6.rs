//! k6: what surrounds its scripts.
//!
//! k6's commands are kept to the letter of version 1.8.1: what they print, what they refuse and in
//! which words, the REST API that a running test serves, and the archives that carry a test to
//! another machine. What runs the scripts is elsewhere; it meets this module at small interfaces:
//! [`rest::Control`] is a running test, an [`archive::Archive`] is plain data.
//!
//! Every refusal here ends the command with [`FAILED`], unless it says otherwise.

pub mod archive;
pub mod clients;
mod fetch;
mod go_json;
mod go_words;
pub mod modules_cache;
pub mod new;
pub mod rest;
pub mod version;

/// The exit code of a command that was refused, as k6 has it.
pub const FAILED: u8 = 255;

/// The exit code of a run whose REST API can't be served, where `--address` asked for it.
pub const CANNOT_SERVE: u8 = 106;
