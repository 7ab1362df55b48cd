//! Capacity of a target: the search for its load line, and its behaviour around it.
//!
//! [`find`] drives anything that can [`Measure`] a level of load for a while: an engine, or a
//! simulated queue. Levels are rates, or numbers of users in a closed loop. The steps are:
//!
//! 1. Warm-up at the first level, which does not count.
//! 2. The search of RFC 9971 ([`loadline_stats::search`]) for the highest level at which all checks
//!    pass and the target keeps up. Every trial counts for every check, so the search also shows
//!    which of them failed first.
//! 3. Confirmation: the level found is measured in one run of five trial lengths. If that fails, or
//!    the checks fail on all responses at the level together, the search continues below, with long
//!    runs only.
//! 4. The ladder: idle, 10, 50 and 90 % of the load line, then 110 % and immediately back to 90 %,
//!    which shows whether the target recovers, and how long that takes.
//!
//! A level at which the generator reached its own limit ([`OwnLimit`]) is not the target's
//! capacity: the conclusion is then [`Conclusion::AtLeast`].
//!
//! Vocabulary: a *level* is a rate or a number of users, a *trial* measures one level once, the
//! *load line* is the highest level that holds. A trial *passes* if all checks do and the target
//! *keeps up*: at the end of the trial no more requests are outstanding than are always under way.
//! In a closed loop whose users wait between their requests, they must also keep their pace.
//!
//! ## To change
//!
//! - the steps of a search, and their order: `driver.rs`; the conclusions from its trials
//!   `driver/concluding.rs`
//! - the interface to an engine or a simulation, and what a trial observes: `Measure` and `Trial`
//!   in `measure.rs`
//! - limits of the generator that end a search: `OwnLimit` in `measure.rs`; its sentences are in
//!   the crate `findings`
//! - the test whether a target keeps up: `keeping_up.rs`; whether users keep their pace `pace.rs`
//! - the runs around a load line, and the recovery after 110 %: `ladder.rs`
//! - a setting of a search, or its default: `settings.rs`
//! - the result of a search: `conclusion.rs`
//! - the simulated queue on which searches are tested: `simulated.rs`, `simulated/`; their accuracy
//!   over many seeds `driver/study.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod conclusion;
mod driver;
mod keeping_up;
mod ladder;
mod measure;
mod pace;
mod settings;

pub use conclusion::{Breaking, Conclusion, Inconclusive, LoadLine, Why};
pub use driver::{SearchEnd, SearchOutcome, find};
pub use keeping_up::TooShort;
pub use ladder::{Ladder, Recovery, Rung};
pub use measure::{Descent, Measure, Observation, OwnLimit, Part, Purpose, Trial};
pub use settings::Settings;

#[cfg(test)]
mod simulated;
