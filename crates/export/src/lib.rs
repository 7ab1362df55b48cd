//! The results of Loadline in the formats of other programs.
//!
//! Each format has its own module. Its data comes from the events of a run's observers, or from the
//! run's result as reports print it; this crate judges nothing.
//!
//! - [`sqlite`]: SQLite databases, one of the requests of a run and one of its figures.
//! - [`history`]: the figures of the runs of a test, one after the other, and its baselines.

pub mod history;
pub mod sqlite;
