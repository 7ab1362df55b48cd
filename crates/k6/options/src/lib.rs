//! k6's options: from scripts, environment, files and the command line to one set.
//!
//! An option comes from several sources with different precedence: each is a [`Tier`], a JSON
//! object whose values are checked and in canonical form. [`consolidate`] merges them and makes
//! [scenarios](Scenario) of those that define the load. This crate reads no files and no variables:
//! they are passed to it as texts.
//!
//! Error messages have the wording of k6 1.8.1.

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
