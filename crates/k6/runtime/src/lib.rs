//! Scripts in JavaScript for k6, run by QuickJS: one runtime for each virtual user, or one for all
//! users of a worker (`shared`). Each user has a stack of its own.
//!
//! A [`Program`] is a loaded script: initialised once, with its options and its exports. [`launch`]
//! makes the engine's users run its functions. Each user runs in a fiber, so that `http.get()` and
//! `sleep()` block the script and not its worker, wherever they are called. Measurements of the
//! users go to a recorder of k6's metrics in each worker, and as exchanges into the engine's own
//! records.
//!
//! # An iteration, step by step
//!
//! 1. A start is due for a user of the engine. Its `scenario` gives the virtual user a job.
//! 2. The fiber is resumed: `iteration` calls the function of the script. A native function of
//!    `api` that waits suspends the fiber, and the worker continues with others.
//! 3. When the function has returned, the `event_loop` runs the rest: continuations of promises,
//!    timers, pending requests.
//! 4. The iteration is recorded. The fiber waits for the next job.
//!
//! # Limits of a script
//!
//! A script can't end the process: a panic of a native function ends the iteration, and recursion
//! ends in an exception. It can't block its worker: after a millisecond of computing, others get
//! their turn. It can't continue after its end: an error that ends an iteration can't be caught.
//!
//! ## To change
//!
//! - a function of a module of k6 that needs a virtual user: `api/k6.rs`, `api/execution.rs`,
//!   `api/metrics.rs`, `api/timers.rs`, `api/console.rs`; `k6/http` is `http.rs`; the errors that
//!   they throw `errors.rs`
//! - a function of a module that sends nothing: in the crate `k6-modules`; `api/offline.rs` gives
//!   it files, secrets and shared data
//! - a new module, or one that is not supported: its name in `api.rs`; a global `api/globals.rs`
//! - what a script sees of a response: `NAMES` and `read` in `http/response.rs`; properties made
//!   when they are read `http/lazy.rs`
//! - what is sent for a request: `http/script_request.rs`, `http/target.rs`, `http/fields.rs`,
//!   `http/body.rs`, compressed with Brotli `http/brotli.rs`; its redirects `http/send.rs`; what a
//!   user keeps of it `http/state.rs`
//! - k6's code and text for an error kind: `http/errors.rs`
//! - what is recorded of a request: `http/hop.rs`, `http/record.rs`, `samples.rs`; Loadline's own
//!   outputs `outputs.rs`
//! - the modules and files that a script finds: `modules/resolve.rs`, `modules/loader.rs`,
//!   `modules/translate.rs`, `modules/store.rs`; modules of users that share a runtime
//!   `modules/factory.rs`, `modules/linking.rs`
//! - what a virtual user does, and how it waits: `iteration.rs`, `event_loop.rs`, `operations.rs`,
//!   `fiber.rs`; as a user of the engine `scenario.rs`; the first initialisation `loading.rs`
//! - what a process reports of its part of a test: `part.rs`; what processes count together, and
//!   the numbers of users and iterations: `counts.rs`
//! - users that share a runtime: `shared.rs`, `shared/runtime.rs`, `shared/jobs.rs`, `vu_mode.rs`;
//!   the limit of memory `memory.rs`
//! - a script: its modules `modules.rs`, loaded `program.rs`, its summary `summary.rs`; an
//!   exception as text `exception.rs`
//! - a runtime of QuickJS: `realm.rs`; functions that scripts call: `native.rs`
//! - the state of a virtual user: `vu.rs`; of a run: `run.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod api;
mod counts;
mod errors;
mod event_loop;
mod exception;
mod fiber;
mod http;
mod iteration;
mod loading;
mod memory;
mod modules;
mod native;
mod operations;
mod outputs;
mod part;
mod program;
mod realm;
mod run;
mod samples;
mod scenario;
mod shared;
mod summary;
mod vu;
mod vu_mode;

pub use counts::TestCounts;
pub use loadline_k6_modules::Secrets;
pub use modules::store::Sources;
pub use outputs::add_outside;
pub use part::{Outbox, Part};
pub use program::{Failure, LoadSetup, Program, SummaryFiles};
pub use run::{
    Abort, Entry, Execution, HttpOptions, Level, Log, RunState, Scenario, SetupData, Stage,
    StageKind, Summary, UserOptions,
};
pub use samples::Measured;
pub use scenario::{launch, unbegun};
pub use vu_mode::VuMode;
