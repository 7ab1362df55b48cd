//! k6's options: from scripts, environment, files and the command line to one set.
//!
//! An option comes from several sources with different precedence: each is a [`Tier`], a JSON
//! object whose values are checked and in canonical form. [`consolidate`] merges them and makes
//! [scenarios](Scenario) of those that define the load. This crate reads no files and no variables:
//! they are passed to it as texts.
//!
//! Error messages have the wording of k6 1.8.1.
//!
//! ## To change
//!
//! - an option: `keys.rs`, its value `values.rs`, what else must hold for it `meaning.rs`; the
//!   option in a set `settings.rs`
//! - a flag of a command: `cli/flags.rs`; the words of a command line `cli/words.rs`
//! - a variable of the environment: `environment.rs`
//! - which source has precedence: `tier.rs`, `consolidate.rs`
//! - an executor: `scenario.rs`, as it is written `scenario/raw.rs`, its problems
//!   `scenario/checks.rs`; its description `describe.rs`
//! - execution segments, local addresses, durations: `segment.rs`, `local_ips.rs`, `time.rs`
//! - a command line: `cli.rs`; how fields may be spelled: `spelling.rs`; errors: `error.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

pub mod cli;
mod consolidate;
mod describe;
mod environment;
mod error;
mod keys;
mod local_ips;
mod meaning;
mod scenario;
mod segment;
mod settings;
mod spelling;
mod tier;
mod time;
mod values;

pub use consolidate::{Consolidated, Named, consolidate};
pub use describe::{Needs, describe, needs};
pub use environment::from_environment;
pub use error::OptionsError;
pub use local_ips::LocalIps;
pub use scenario::{Executor, Scenario, Stage};
pub use segment::Segment;
pub use settings::{Dns, Settings, TlsAuth};
pub use tier::Tier;
pub use time::{GoDuration, InvalidDuration};
