//! JSON for programs: runs, series, comparisons, searches and samples of a watch.
//!
//! The types of the documents, with their keys, are those of [`loadline_json`]; here they are
//! filled. `docs/guide/json.md` explains them.

mod comparison;
mod distribution;
mod error_responses;
mod exceptions;
mod generator;
mod judgement;
mod metrics;
mod names;
mod run;
mod search;
mod series;
mod summary;
mod traced;
mod watch;

pub use judgement::judgement;

#[cfg(test)]
mod documents;
#[cfg(test)]
mod tests;

use crate::{CapacityReport, ComparedFiles};
use loadline_json::Us;
use loadline_plan::Plan;
use loadline_record::watched::Watched;
use loadline_units::rounding;
use loadline_verdict::{Comparison, RunResult};
use serde::Serialize;
use serde_json::Value;

/// A run as a [`loadline_json::Run`].
pub fn json(run: &RunResult) -> Value {
    value(&document(run))
}

/// Returns the document that [`json`] prints, for programs that print it in another way.
pub fn document(run: &RunResult) -> loadline_json::Run {
    run::run(run)
}

/// Several runs as a [`loadline_json::Series`]: each with its role; repeats with their spread, and
/// sides that took turns with their comparison.
pub fn series_json(runs: &[RunResult]) -> Value {
    value(&series::series(runs))
}

/// A comparison as a [`loadline_json::Comparison`]. The plans are those of the first run of A and
/// of B.
pub fn comparison_json(comparison: &Comparison, base: &Plan, with: &Plan) -> Value {
    value(&comparison::comparison(comparison, base, with))
}

/// The comparison of saved runs as a [`loadline_json::Comparison`].
pub fn comparison_of_files_json(compared: &ComparedFiles<'_>) -> Value {
    value(&comparison::of_files(compared))
}

/// A search as a [`loadline_json::Search`].
pub fn capacity_json(report: &CapacityReport<'_>) -> Value {
    value(&search::search(report))
}

/// A look of `loadline watch` that ends at `time_s`, as a [`loadline_json::Watched`]: one object on
/// one line.
pub fn watch_json(watched: &Watched, time_s: f64) -> Value {
    value(&watch::watched(watched, time_s))
}

pub(crate) fn value(document: &impl Serialize) -> Value {
    serde_json::to_value(document).expect("keys are text or whole numbers")
}

fn us(ns: f64) -> Us {
    Us(rounding::us(ns))
}
