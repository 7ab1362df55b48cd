//! JavaScript in k6's words: a runtime of QuickJS for each virtual user, or one for all users of a
//! worker (`shared`); and a stack for each.
//!
//! A [`Program`] is a script that is loaded: initialised once, with its options and what it
//! exports. [`launch`] makes users of the engine of its functions: each has a runtime, in a fiber,
//! so that `http.get()` and `sleep()` block the script and not its worker, wherever they are
//! called. What users measure goes to a recorder of k6's metrics for each worker, and as exchanges
//! to the engine's own records.
//!
//! # The way of an iteration
//!
//! 1. The engine's user has a start. Its `scenario` gives its virtual user a job.
//! 2. The fiber goes on: `iteration` calls the function of the script. What waits below it, in a
//!    native function of `api`, suspends the fiber, and the worker goes on with others.
//! 3. When the function has returned, the `event_loop` runs what it led to: continuations of
//!    promises, timers, requests that go on.
//! 4. The iteration is recorded. The fiber waits for the next job.
//!
//! # What a script can't do
//!
//! End the process: a panic of a native function ends its iteration, recursion ends in an
//! exception. Hold up its worker: a script that computes for more than a millisecond lets others
//! have their turn. Go on behind its end: what ends an iteration can't be caught.

mod api;
mod event_loop;
mod exception;
mod fiber;
mod http;
mod iteration;
mod memory;
mod modules;
mod native;
mod outputs;
mod program;
mod realm;
mod run;
mod samples;
mod scenario;
mod shared;
mod summary;
mod vu;

pub use loadline_k6_modules::Secrets;
pub use modules::store::Sources;
pub use program::{Failure, LoadSetup, Program, SummaryFiles};
pub use run::{
    Abort, Entry, Execution, HttpOptions, Level, Log, RunState, Scenario, SetupData, Stage,
    StageKind, Summary, UserOptions,
};
pub use samples::Measured;
pub use scenario::{launch, unbegun};
pub use shared::VuMode;
