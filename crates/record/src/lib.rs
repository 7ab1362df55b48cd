//! The record of a run: exchange outcomes, histograms, snapshots, lossless merge, the saved run.
//!
//! A worker owns a [`Recorder`], reports every [`Exchange`] to it and takes a [`Snapshot`] from it
//! per interval. Snapshots of several workers are merged into one; those of successive intervals
//! make the [`Summary`] that reports print, and the lines that a [`RunWriter`] saves for a
//! [`RunFile`] to read back. A [`LogWriter`] writes single exchanges on request. The processes and
//! hosts that were [`watched`] during the run are in both.
//!
//! # Accounting
//!
//! `sent = answered + failed + in flight` holds exactly, at the end of a run and in each interval.
//! It holds by construction: [`Recorder::begin`] increments *sent* and *in flight*;
//! [`Recorder::end`] decrements *in flight* and increments *answered* or *failed*; an exchange has
//! no third way to end. In an open load `planned = sent + unsent` holds, too. *Planned* is counted
//! from the whole schedule, however many arrivals the workers took from it; requests that an
//! iteration sends after its first one are planned when they are sent. In a closed load planned is
//! sent.
//!
//! Responses of any status count as answered and are in the response times. Timeouts are failures,
//! and are in the times with the time that they waited. Other failures have no time
//! (docs/design/004).
//!
//! # Memory
//!
//! No data is stored per request: without a log no exchange is kept after the recorder's call. A
//! distribution has no histogram before its first value and grows with the largest. The summary
//! stores one set of distributions, a small row per interval, and the times of at most 64 parts of
//! the run. With a log, exchanges are passed on in batches; the channel has no bound, so it grows
//! if a disk is slower than the load.
//!
//! ## To change
//!
//! - an error kind: `ErrorKind` in `exchange.rs`, with `ALL` and `BEFORE_SENDING`; wrk's groups
//!   `socket_errors.rs`
//! - a time of an exchange: `Exchange` in `exchange.rs`, `Times` in `snapshot.rs`, `Recorder` in
//!   `recorder.rs`
//! - a count: `Counts` in `snapshot.rs`
//! - a column of the log: `COLUMNS` in `log.rs`
//! - the saved run: its lines `saved/line.rs`, `saved/header.rs`; merging `saved/merge.rs`;
//!   within a report `saved/within_report.rs`, of a long run `saved/thinner.rs`; a new key has
//!   `#[serde(default)]`, and `FORMAT_VERSION` in `format.rs` rises only where a meaning changes
//! - what processes and machines send each other: `carried.rs`, the counts of its distributions
//!   `carried/counts.rs`, their bits `carried/bits.rs`
//! - the requests of one name: `named.rs`, the busiest over time `name_history.rs`; metrics of
//!   scripts `saved/metrics.rs`
//! - the slowest requests with their traces: `traced.rs`, `saved/traced.rs`
//! - responses that report errors: `error_response.rs`, `saved/error_responses.rs`
//! - exceptions of scripts: `exception.rs`
//! - the beginning that figures leave out: `transient.rs`, `interval_archive.rs`
//! - what is recorded of the generator and its machine: `worker_times.rs`, `arrivals.rs`,
//!   `host_counters.rs`, `environment.rs`, `floor.rs`
//! - what is watched: `watched.rs`, `watched/history.rs`
//! - requests without a response: `unfinished.rs`, the estimate with them `censored.rs`
//! - the file of a saved run: `saved.rs`; its errors: `error.rs`
//! - the whole run: `summary.rs`; its bounded history `halving.rs`, its busiest stretch
//!   `busiest.rs`, its stretches `blocks.rs`; the times of its parts `part_times.rs`
//! - distributions of times: `distribution.rs`, their buckets `buckets.rs`, those with few values
//!   `sparse_distribution.rs`
//! - what is kept of single events: slow requests `slow_request.rs`, changes of the load
//!   `load_change.rs`, notes `note.rs`, conditions of a script `declared.rs`, agents
//!   `agent_begin.rs`, `odd_agent.rs`
//! - made-up records for tests: `samples.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod agent_begin;
mod arrivals;
mod blocks;
mod buckets;
mod busiest;
mod carried;
mod censored;
mod declared;
mod distribution;
mod environment;
mod error;
mod error_response;
mod exception;
mod exchange;
mod floor;
mod format;
mod halving;
mod host_counters;
mod interval_archive;
mod load_change;
mod log;
mod name_history;
mod named;
mod note;
mod odd_agent;
mod part_times;
mod recorder;
mod saved;
mod slow_request;
mod snapshot;
mod socket_errors;
mod sparse_distribution;
mod summary;
mod traced;
mod transient;
mod unfinished;
pub mod watched;
mod worker_times;

#[cfg(test)]
mod samples;

pub use agent_begin::AgentBegin;
pub use arrivals::{Arrivals, Pattern, WINDOW_NS};
pub use blocks::Blocks;
pub use busiest::{Busiest, Stretch};
pub use carried::{
    CarriedDistribution, CarriedNames, CarriedSnapshot, CarriedUnfinished, CarryError, KnownNames,
    SentNames,
};
pub use censored::{Bounded, Censored, Step};
pub use declared::DeclaredCheck;
pub use distribution::{DIGITS, Distribution, LONGEST_NS};
pub use environment::{Environment, TcpSettings};
pub use error::{DecodeError, Error, LineError};
pub use error_response::{ErrorResponse, ErrorResponses, MOST_ERROR_RESPONSES};
pub use exception::{Exception, Exceptions, Innermost, MOST_EXCEPTIONS};
pub use exchange::{ErrorKind, Exchange, Outcome, Split};
pub use floor::Floor;
pub use format::{FORMAT_VERSION, counts_alike};
pub use halving::{Halving, Segment};
pub use host_counters::HostCounters;
pub use interval_archive::IntervalArchive;
pub use load_change::LoadChange;
pub use log::{COLUMNS, LogWriter};
pub use name_history::{BUSIEST_NAMES, Moment, NameHistory};
pub use note::Note;
pub use odd_agent::OddAgent;
pub use part_times::{
    COMPARED_PERCENTILES, CarriedPartTimes, PartStretch, PartTimes, TimesOfParts,
};
pub use recorder::{Dial, Model, Recorder, SharedMetrics};
pub use saved::{
    Annotations, FollowedRun, Header, LONGEST_KEPT_BODY, LongBody, MOST_RUN_BYTES, Role, RoleKind,
    RunFile, RunWriter, SavedOutcome, Searched, append_changes, append_declared, append_notes,
    append_search, run_element, run_element_within,
};
pub use slow_request::SlowRequest;
pub use snapshot::{Counts, Failures, Snapshot, Times};
pub use socket_errors::SocketErrors;
pub use sparse_distribution::SparseDistribution;
pub use summary::{Ended, Quantiles, Row, Summary};
pub use traced::{SLOWEST, Trace, Traced, TracedRequest};
pub use transient::{Transient, Uncut};
pub use unfinished::{Ages, Unfinished};
pub use worker_times::{STALL_NS, WorkerTimes, Workers};
