//! Conducts load tests: one run, a series of runs, a search for the highest rate.
//!
//! [`conduct`] makes one run: a [`Workload`] begins it, [`Observer`]s are told what happens,
//! [`Commands`] end it early, and a [`RunResult`](loadline_verdict::RunResult) is what comes of it.
//! [`conduct_series`] makes several, one behind the other, [`search::conduct_search`] as many as a
//! search asks for, and [`measure_floor`] those that show what the machine does at best.
//!
//! Knows no flags, no command line and no exit codes.
//!
//! # The way of a run
//!
//! 1. The command resolves flags and plan file into a plan. Nothing has been started yet.
//! 2. The engine resolves each endpoint, writes every request, reads certificates and raises the
//!    limit of open files. If that fails, the run is refused with one sentence.
//! 3. Each worker opens a connection for each of its users, 64 at a time, and gives up if the first
//!    8 fail. If no connection comes up, the run ends with one sentence. The user of a single
//!    failed connection tries again.
//! 4. All workers are told the same instant, 2 ms ahead, at which the load begins.
//! 5. Once a second each worker hands over a snapshot. Those of one interval are merged, and
//!    observers are told: the saved run, the log, the line on the terminal, and what ends the
//!    run early (`--abort-on`, `--until`).
//! 6. At the end the result is judged once, and every report reads it.

mod commands;
mod early_end;
mod error;
mod floor;
mod locustfile;
mod observer;
pub mod preflight;
mod request_log;
mod run;
mod saved_run;
pub mod search;
mod series;
mod source;
mod steering;
mod watching;
mod workload;

#[cfg(test)]
mod samples;

pub use commands::{Command, Commands, Control, Phase};
pub use early_end::STOP_PATIENCE;
pub use error::{ObserverError, RunError, Trouble};
pub use floor::{FloorError, Serve, measure_floor};
pub use locustfile::{Locustfile, LocustfileError};
pub use observer::{End, Interval, Observed, Observer, Wants};
pub use request_log::{LogError, RequestLog};
pub use run::{Conducted, Setup, conduct};
pub use saved_run::{Judge, SavedRun};
pub use series::{Common, Planned, SeriesResult, conduct_series, has_measured, repeats};
pub use source::Source;
pub use steering::{ChangeProblem, Step};
pub use watching::{Watch, WatchError, Watching};
pub use workload::{Job, OnError, Prints, WORKER_WORD, Workload, start_counting, workload};
