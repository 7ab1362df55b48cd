//! The judgement of results: checks, validity, and the comparison of two results.
//!
//! A [check](loadline_plan::Check) is a condition the user set on the result (`p99<50ms`);
//! [`evaluate`] compares it with the records and returns a [`CheckResult`]: the outcome, and the
//! [`Quantity`] that decided it. The same function serves the checks on the whole run and the
//! conditions that end a run early.
//!
//! A [`RunResult`] is a run with its whole judgement: checks, validity, warnings, confidence
//! intervals, and what of a figure is not the target's. [`SoFar`] is the judgement of a run that
//! still goes on. Nothing above this crate judges a run anew.
//!
//! [`machine_problems`] judges a machine before a run.
//!
//! A [`Comparison`] decides which of two saved runs, or two sets of them, is slower, and
//! [`spreads`] are the differences among the repeats of one.
//!
//! ## To change
//!
//! - a condition of a finding: `validity.rs`; the effect of our own delay on a figure `effect.rs`;
//!   warnings `warnings.rs`
//! - a check: `check.rs`; open decisions `check/rule.rs`; metrics of scripts `check/custom.rs`; the
//!   part after a transient `check/uncut.rs`
//! - a statistic of a check: its value `check/rule.rs`, without our own delay `effect.rs`; when it
//!   is known well enough `until.rs`
//! - when a run has gone on for long enough: `until.rs`
//! - where the transient ends: `transient.rs`
//! - a comparison: `comparison.rs`, which runs `comparison/fit.rs`, what else differs
//!   `comparison/conditions.rs`, tolerances `comparison/tolerance.rs`; by name
//!   `comparison/names.rs`, `comparison/rule_figures.rs`; with a run that goes on
//!   `comparison/looks.rs`
//! - what differs from run to run, and the history of a figure: `spread.rs`, `trend.rs`
//! - the judgement of a run that goes on: `so_far.rs`; its percentiles, for who watches it
//!   `bands.rs`
//! - what is wrong with a machine: `machine.rs`; agents that differ from the others `odd_agent.rs`,
//!   that do not begin with them `agent_begin.rs`
//! - the result of a run: `result.rs`, of several `series.rs`; the interval of a percentile:
//!   `confidence.rs`; numbers with their unit: `quantity.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod agent_begin;
mod bands;
mod check;
mod comparison;
mod confidence;
mod effect;
mod machine;
mod odd_agent;
mod quantity;
mod result;
mod series;
#[cfg(test)]
mod simulated;
mod so_far;
mod spread;
mod transient;
mod trend;
mod until;
mod validity;
mod warnings;

pub use agent_begin::begins_off;
pub use bands::{Band, Bands, PercentileSoFar};
pub use check::{
    CheckOutcome, CheckResult, Observed, WhyUndecided, evaluate, evaluate_all, evaluate_observed,
    evaluate_together,
};
pub use comparison::{
    Against, COMPARED_PERCENTILES, CONFIDENCE, ComparedFigure, ComparedMetrics, ComparedName,
    ComparedNames, Comparison, ComparisonError, Figure, Looks, MachineProperty, Mismatch,
    NoTolerance, SavedRun, SideMetrics, Standing, Tolerance, ToleranceResult, VisibleChange,
    bounds_in, check_baseline, mismatches, parse_figure, visible_changes,
};
pub use confidence::{ConfidenceInterval, samples_needed};
pub use effect::{AFFECTED_NS, AFFECTED_PART, is_limited_by_plan};
pub use loadline_findings::{Cause, Effect, Finding, Findings, Grade, MachineProblem, Section};
pub use machine::machine_problems;
pub use odd_agent::odd_agents;
pub use quantity::Quantity;
pub use result::RunResult;
pub use series::{Side, checks_together, sides, whole_runs};
pub use so_far::SoFar;
pub use spread::{Spread, is_whole, runs_still_needed, spreads};
pub use transient::transient;
pub use trend::{Trend, TrendChange};
pub use until::{Goal, Impossible, Proofs, precision, sure_precision};
pub use validity::LATE_NS;

pub use loadline_stats::compare::VISIBLE_IN;

use check::evaluate_run;
use confidence::confidence_interval;
use effect::{own_delay, plan_wait};
