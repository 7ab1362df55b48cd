//! What happened: exchange outcomes, histograms, snapshots, lossless merge, the saved run.
//!
//! A worker owns a [`Recorder`], tells it of every [`Exchange`] and hands over a [`Snapshot`] per
//! interval. Snapshots of several workers merge into one, those of successive intervals append to
//! the total of the run.

mod distribution;
mod exchange;
mod recorder;
mod snapshot;

pub use distribution::{DIGITS, Distribution, LONGEST_NS};
pub use exchange::{ErrorKind, Exchange, Outcome};
pub use recorder::{Dial, Model, Recorder};
pub use snapshot::{Counts, Failures, Snapshot, Times};
