//! Conducts load tests: one run, a series of runs, a search for the highest rate.
//!
//! [`conduct`] makes one run: a [`Workload`] begins it, [`Observer`]s receive its events,
//! [`Commands`] end it early, and it returns a [`RunResult`](loadline_verdict::RunResult).
//! [`conduct_series`] makes several, one after the other, [`search::conduct_search`] as many as a
//! search needs, and [`measure_floor`] those that show the best results of the machine.
//!
//! This crate contains no flags, no command line and no exit codes.
//!
//! # The course of a run
//!
//! 1. The command resolves flags and plan file into a plan. Nothing has been started yet.
//! 2. The engine resolves each endpoint, writes every request, reads certificates and raises the
//!    limit of open files. If that fails, the run is refused with one sentence.
//! 3. Each worker opens a connection for each of its users, 64 at a time, and gives up if the first
//!    8 fail. If no connection comes up, the run ends with one sentence. The user of a single
//!    failed connection tries again.
//! 4. All workers receive the same instant, 2 ms ahead, at which the load begins.
//! 5. Once a second each worker reports a snapshot. The snapshots of one interval are merged, and
//!    observers are notified: the saved run, the log, the line on the terminal, and the rules that
//!    end the run early (`--abort-on`, `--until`).
//! 6. At the end the result is judged once, and every report reads it.
//!
//! ## To change
//!
//! - the course of a run: `run.rs`; where its events come from `source.rs`; what its users do
//!   `workload.rs`
//! - the clock of response times where the kernel has none: `clock.rs`
//! - what observes a run (an exporter, say): an `Observer` as in `observer.rs`; `saved_run.rs` and
//!   `request_log.rs` are examples
//! - the commands to a run: `commands.rs`; changes of the load `steering.rs`, by a page `steer.rs`
//! - early ends (`--abort-on`, `--until`): `early_end.rs`
//! - several runs, the floor: `series.rs`, `floor.rs`
//! - a trial of a search: by the engine `search/trials.rs`, of a locustfile's users
//!   `locustfile.rs`, `locustfile/`; its evaluation `search/evaluation.rs`, `search/limits.rs`; its
//!   storage `search/saved.rs`, `search/replay.rs`
//! - the files of a run, and how one is replaced: `preflight.rs`, `preflight/destination.rs`,
//!   `preflight/reserved.rs`
//! - watching during a run: `watching.rs`; processes on other machines `lookout.rs`
//! - the processes of a run, here or on other machines: `fleet.rs`; its notes about them
//!   `agent_notes.rs`
//! - a language of scripts: the list in `workload.rs`; scripts in other processes `script_job.rs`
//! - a run handed on to other threads: `feed.rs`; a search: `search.rs`; errors: `error.rs`; plans
//!   for tests: `samples.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod agent_notes;
mod clock;
mod commands;
mod early_end;
mod error;
mod feed;
mod fleet;
mod floor;
mod locustfile;
mod lookout;
mod observer;
pub mod preflight;
mod request_log;
mod run;
mod saved_run;
mod script_job;
pub mod search;
mod series;
mod source;
mod steer;
mod steering;
mod watching;
mod workload;

#[cfg(test)]
mod samples;

pub use commands::{Command, Commands, Control, MOST_NOTES, NoteProblem, Phase};
pub use early_end::STOP_TIMEOUT;
pub use error::{ObserverError, RunError, Trouble};
pub use feed::{AgentRecord, Feed, Inbox, News, QUEUE, RunEnd, Stretch, feed};
pub use fleet::{Fleet, WORKER_WORD, has_fleet, hire, is_elastic, runs_elsewhere, worker_command};
pub use floor::{FloorError, Serve, measure_floor, measure_floor_of_machine};
pub use locustfile::{Locustfile, LocustfileError};
pub use lookout::{Lookout, Sight, post};
pub use observer::{End, Interests, Interval, Observed, Observer};
pub use request_log::{LogError, RequestLog};
pub use run::{Conducted, MeasuredRun, Setup, conduct, measure};
pub use saved_run::{Judge, SavedRun};
pub use script_job::{SCRIPT_TOOL, script_launches};
pub use series::{Common, Planned, SeriesResult, conduct_series, has_measured, repeats};
pub use source::Source;
pub use steer::{Changed, Levels, Means, OnlyEnds, Spawning, Steer, SteerProblem};
pub use steering::{ChangeProblem, Step};
pub use watching::{Watch, WatchError, Watching};
pub use workload::{
    Job, OnError, Prints, Workload, may_be_joined, no_joins, refusal_of_joins, start_counting,
    start_scenarios, workload,
};
