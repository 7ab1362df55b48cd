//! What happened: exchange outcomes, histograms, snapshots, lossless merge, the saved run.
//!
//! A worker owns a [`Recorder`], tells it of every [`Exchange`] and hands over a [`Snapshot`] per
//! interval. Snapshots of several workers merge into one; those of successive intervals make the
//! [`Summary`] that reports print, and the lines that a [`RunWriter`] saves for a [`RunFile`] to
//! read back. A [`LogWriter`] keeps single exchanges for who wants them. What was [`watched`]
//! beside the run stands in both.

mod arrivals;
mod blocks;
mod busiest;
mod censored;
mod distribution;
mod environment;
mod error;
mod exchange;
mod floor;
mod halving;
mod host_counters;
mod log;
mod recorder;
mod saved;
mod snapshot;
mod sparse;
mod summary;
mod transient;
mod unfinished;
pub mod watched;
mod worker_times;

#[cfg(test)]
mod samples;

pub use arrivals::{Arrivals, Pattern, WINDOW_NS};
pub use blocks::Blocks;
pub use busiest::{Busiest, Stretch};
pub use censored::{Bounded, Censored, Step};
pub use distribution::{DIGITS, Distribution, LONGEST_NS};
pub use environment::Environment;
pub use error::{DecodeError, Error, LineError};
pub use exchange::{ErrorKind, Exchange, Outcome, Split};
pub use floor::Floor;
pub use halving::{Halving, Segment};
pub use host_counters::HostCounters;
pub use log::{COLUMNS, LogWriter};
pub use recorder::{Dial, Model, Recorder};
pub use saved::{
    FORMAT_VERSION, Header, LONGEST_KEPT_BODY, LongBody, Role, RoleKind, RunFile, RunWriter,
    append_search,
};
pub use snapshot::{Counts, Failures, Snapshot, Times};
pub use summary::{Ended, Quantiles, Row, Summary};
pub use transient::{IntervalArchive, Transient, Uncut};
pub use unfinished::{Ages, Unfinished};
pub use worker_times::{STILL_NS, WorkerTimes, Workers};
