//! Conducts load tests: one run, a series of runs, a search for the highest rate.
//!
//! [`conduct`] makes one run: a [`Workload`] begins it, [`Observer`]s are told what happens,
//! [`Commands`] end it early, and a [`RunResult`](loadline_verdict::RunResult) is what comes of it.
//! [`conduct_series`] makes several, one behind the other, [`search::conduct_search`] as many as a
//! search asks for, and [`measure_floor`] those that show what the machine does at best.
//!
//! Knows no flags, no command line and no exit codes.

mod commands;
mod error;
mod floor;
mod observer;
pub mod preflight;
mod request_log;
mod run;
mod saved_run;
pub mod search;
mod series;
mod source;
mod watching;
mod workload;

#[cfg(test)]
mod samples;

pub use commands::{Command, Commands, Control, Phase};
pub use error::{ObserverError, RunError, Trouble};
pub use floor::{FloorError, Serve, measure_floor};
pub use observer::{End, Interval, Observed, Observer, Wants};
pub use request_log::{LogError, RequestLog};
pub use run::{Conducted, Setup, conduct};
pub use saved_run::{Judgement, SavedRun};
pub use series::{Common, Planned, SeriesResult, conduct_series, has_measured, repeats};
pub use source::Source;
pub use watching::{Watch, WatchError, Watching};
pub use workload::{Prints, Workload, start_script, workload};
