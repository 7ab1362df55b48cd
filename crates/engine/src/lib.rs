//! Workers, users, pacing, timeouts, shutdown: runs a plan and hands over snapshots.
//!
//! [`Run::start`] resolves the targets, starts a thread per worker and hands out [`Event`]s: a
//! merged snapshot per interval, the log if one is wanted, the end. A *worker* is one event loop
//! whose *users* all run the same loop: take the next start from the schedule, run one iteration
//! of the *behaviour*, record. What a user sends is up to its [`Behaviour`]; requests from a plan
//! are one ([`Replay`]), scripts are others.

mod backoff;
mod behaviour;
mod control;
mod ease;
mod error;
mod event;
mod exchange;
mod lap;
mod linger;
mod lost;
mod pacer;
mod prepare;
mod replay;
mod run;
mod sampling;
mod ticker;
mod user;
mod worker;

pub use behaviour::{Answer, Batch, Behaviour, Observer, Part, Scenario};
pub use control::Handle;
pub use error::StartError;
pub use event::{Detail, EndReason, Event, Tick};
pub use loadline_transport::Agreed;
pub use lost::WorkerFailure;
pub use prepare::OTHER_FILES;
pub use replay::Replay;
pub use run::Run;
pub use user::User;

#[cfg(test)]
mod simulated;
