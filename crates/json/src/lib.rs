//! The JSON that Loadline prints, as types.
//!
//! A document is one of [`Run`], [`Series`], [`Comparison`], [`Search`], [`Watched`] or [`Doctor`].
//! A printer fills these types and a reader (a study, for example) deserializes into them, so that
//! each key is written down once. Their doc comments are the descriptions of the JSON schemas,
//! which [`schema`] generates from the types and which `docs/guide/schema` holds;
//! `docs/guide/json.md` explains them.
//!
//! Times are microseconds as decimals down to the nanosecond; a figure without a sample is `null`.
//! The order of the fields is the order of the keys.
//!
//! ## To change
//!
//! - a key of a run: `run.rs`, `summary.rs`, `named.rs`, `traced.rs`; of its judgement
//!   `validity.rs`, `check.rs`; of the generator `generator.rs`
//! - a percentile or another statistic of times: `distribution.rs`
//! - a key of another document: `series.rs`, `comparison.rs`, `search.rs`, `watch.rs`, `doctor.rs`
//! - the name of a finding: `FINDINGS` in `validity.rs`
//! - the schemas and the TypeScript types: `schema.rs`, `typescript.rs`; generated anew by
//!   `LOADLINE_WRITE_SCHEMAS=1 cargo test -p loadline-json`
//! - what a run lists: changes of its load `load_change.rs`, notes `note.rs`, error responses
//!   `error_response.rs`, exceptions `exception.rs`, metrics of a script `metric.rs`; numbers and
//!   their units `number.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod check;
mod comparison;
mod distribution;
mod doctor;
mod error_response;
mod exception;
mod generator;
mod load_change;
mod metric;
mod named;
mod note;
mod number;
mod run;
mod schema;
mod search;
mod series;
mod summary;
mod traced;
#[cfg(test)]
mod typescript;
mod validity;
mod watch;

pub use check::{Check, CheckOutcome, Unit};
pub use comparison::{
    ComparedFigure, ComparedFile, ComparedMetric, ComparedName, ComparedNames, Comparison,
    Difference, RatioInterval, Side, Standing, ToleranceResult,
};
pub use distribution::{
    ConfidenceInterval, ConfidenceIntervals, Distribution, End, Percentiles, Quantiles, Statistic,
};
pub use doctor::{Doctor, MachineChange};
pub use error_response::ErrorResponse;
pub use exception::Exception;
pub use generator::{Arrivals, Band, Generator, HostCounters, InFlight, Worker};
pub use load_change::{LoadChange, LoadLevel};
pub use metric::{CustomMetric, MetricKind};
pub use named::{Named, NamedTimes};
pub use note::Note;
pub use number::{Number, PerSecond, Seconds, Share, Us};
pub use run::{Counts, Interval, NameCourse, NamesOverTime, Run};
pub use schema::{Document, schema};
pub use search::{
    Goal, Measured, OwnLimit, Recovery, Rung, Search, SearchAnswer, Searched, TooShort, Trial,
    TrialCheck, WhyNoMore,
};
pub use series::{FigureSpread, MedianInterval, Series, SeriesRun, Spread};
pub use summary::{
    Affected, AffectedBy, ClosedLoop, Ended, Failures, Hides, KernelTimestamps, Overstated,
    OwnDelay, Phases, Summary, Unfinished, Warning,
};
pub use traced::TracedRequest;
pub use validity::{Finding, Grade, JudgedIntervals, Judgement, Validity};
pub use watch::{
    Host, HostUsage, MeanAndMax, Tree, TreeEvent, TreeSample, TreeUsage, UsageSample, Watch,
    Watched, WatchedHost, WatchedTree,
};

/// The version of the schema of runs, series and comparisons. It rises when a program written for
/// the older version would misread the newer one; a new key alone does not raise it.
pub const SCHEMA: u64 = 3;

/// The version of the schema of searches. It rises by the same rule as [`SCHEMA`].
pub const SEARCH_SCHEMA: u64 = 3;

/// The version of the schema of `loadline doctor`. It rises by the same rule as [`SCHEMA`].
pub const DOCTOR_SCHEMA: u64 = 1;
