//! The confidence of measured numbers: intervals, dependence, early stopping, steady state,
//! comparison, change points, capacity.
//!
//! Numbers in, numbers out: nothing here reads a clock or a file, and the same input gives the same
//! output on every machine, for what is drawn at random comes from a seed. Each function names the
//! source of its formula.
//!
//! - *How sure is a percentile?* [`SampleSize`] turns a number of samples into the [`Ranks`] of an
//!   interval, and [`dependence`] says how many independent samples the dependent ones are worth.
//! - *Is the bound kept?* [`slo`]: early stopping; [`clusters`] says how
//!   slow answers come together.
//! - *When does a run settle?* [`steady`].
//! - *Is B slower than A?* [`compare`].
//! - *Since when is it slower?* [`change_points`].
//! - *Did the arrivals have the promised shape?* [`arrivals`].
//! - *How much does it carry?* [`search`].
//!
//! Vocabulary: a *quantile* is a share of one (0.99), an *interval* has a confidence (0.95), a
//! *block* is a stretch of a run (a second, say) whose samples belong together, and a *run* is
//! measured by itself, best on a target that was restarted.
//!
//! ## To change
//!
//! - the confidence interval of a percentile: `interval.rs`; dependence of samples `dependence.rs`
//! - when a run has enough samples: `slo.rs`, slow requests that come together `clusters.rs`
//! - the end of the transient: `steady.rs`
//! - whether two samples differ at all: `samples_differ.rs`; whether all the time: `lasting.rs`
//! - the comparison of two measurements: `compare.rs`, `compare/pieces.rs`, `compare/noise.rs`
//! - the history of a figure: `change_points.rs`
//! - the search for a capacity: `search.rs`, `search/class.rs`, `search/threshold.rs`
//! - distributions: `binomial.rs`, `normal.rs`
//! - the pattern of arrivals: `arrivals.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

pub mod arrivals;
mod binomial;
pub mod change_points;
pub mod clusters;
pub mod compare;
pub mod dependence;
mod interval;
mod lasting;
mod normal;
mod samples_differ;
pub mod search;
pub mod slo;
pub mod steady;

pub use interval::{Ranks, SampleSize, least_samples};
pub use lasting::lasts;
pub use normal::normal_quantile;
pub use samples_differ::{Difference, compare_samples};
