//! k6's metrics: what scripts and their users measure.
//!
//! A [`Registry`] knows the metrics by name. The users of a worker add values to its [`Recorder`],
//! which hands them over in [`Portion`]s, one by one and without their tags.

mod recorder;
mod registry;

pub use recorder::{Portion, Recorder, RecorderSetup, Tags};
pub use registry::{Contains, MetricId, MetricType, RegisterError, Registry, builtin};
