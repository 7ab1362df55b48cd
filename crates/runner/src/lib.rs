//! Conducts load tests: one run, a series of runs, a search for the highest rate.
//!
//! Knows no flags, no file names of a command line and no exit codes.

pub mod preflight;
pub mod search;
mod watching;

#[cfg(test)]
mod samples;

pub use watching::{Watch, WatchError, Watching};
