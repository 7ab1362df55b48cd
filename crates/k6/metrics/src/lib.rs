//! k6's metrics: the measurements of scripts and their users, and the summaries of these.
//!
//! A [`Registry`] contains the metrics by name. The users of a worker add values to its
//! [`Recorder`], which returns them in [`Portion`]s. [`Totals`] merges the portions of all workers;
//! [`Thresholds`] judge the totals, and `summary` prints them in k6's form. Nothing here reads a
//! clock, a file or a socket: callers provide instants and writers.
//!
//! ## To change
//!
//! - a built-in metric, or the kinds of metrics: `registry.rs`, `sink.rs`; the distribution of a
//!   trend is that of the crate `metrics`
//! - thresholds: `threshold.rs`, `threshold/`; submetrics `submetric.rs`
//! - what a worker records and hands over: `recorder.rs`, `tally.rs`; the totals of all workers
//!   `totals.rs`
//! - the summary: as text `summary/text.rs`, `summary/legacy.rs`; as JSON `summary/data.rs`,
//!   `summary/machine.rs`; numbers `summary/format.rs`
//! - a value with its tags, for outputs: `sample.rs`
//! - the summary at the end: `summary.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod recorder;
mod registry;
mod sample;
mod sink;
mod submetric;
pub mod summary;
mod tally;
mod threshold;
mod totals;

pub use loadline_metrics::Trend;
pub use recorder::{HttpTimes, Recorder, RecorderSetup};
pub use registry::{
    Contains, Metric, MetricId, MetricType, RegisterError, Registry, Renumbering, builtin,
};
pub use sample::{Sample, SampleTags, Tags};
pub use sink::{Counter, Gauge, Rate, Sink, average};
pub use submetric::{Submetric, SubmetricError, SubmetricSet};
pub use tally::{Cell, CheckCount, Portion, Sinks, Tally};
pub use threshold::{Outcome, ThresholdError, ThresholdSource, Thresholds, aborting, crossed};
pub use totals::{Observed, Totals};
