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
mod part;
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
pub use part::{Outbox, Part};
pub use program::{Failure, LoadSetup, Program, SummaryFiles};
pub use run::{
    Abort, Entry, Execution, HttpOptions, Level, Log, RunState, Scenario, SetupData, Stage,
    StageKind, Summary, UserOptions,
};
pub use samples::Measured;
pub use scenario::{launch, unbegun};
pub use shared::VuMode;
