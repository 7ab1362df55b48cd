//! The live page: a run that is watched and steered in a browser while it lasts.
//!
//! ```text
//!  run ── News ──▶ Watch (thread "live page") ── State, one Event a second ──▶ server ──▶ browsers
//!   ▲                                                                            │
//!   └───────────────────── Commands: pause, level, stop, … ◀──── POST ───────────┘
//! ```
//!
//! - A [`LivePage`] is opened before the run. Its [feed](LivePage::feed) is one more observer.
//! - A thread of its own takes the news, makes of them what the page shows (the same as the HTML
//!   report: [`RunPage`](loadline_page::RunPage)), and the difference to the second before. The
//!   difference is made once, whatever the number of viewers.
//! - A [`StartPage`] shows runs that are started from it, one after another, by a [`Starter`].
//! - The server answers with the page, with the [`State`] as a whole, with a stream of [`Event`]s,
//!   and passes commands on to what steers the run: the same `Commands` that keys on the terminal
//!   reach, or a tool's own.
//!
//! ## To change
//!
//! - a route or a command: `routes.rs`; the types of both `api.rs`, `openapi.rs`
//! - what the page shows of a run: `state.rs`, the difference of two seconds `patch.rs`
//! - the log of scripts: `log.rs`; what a tool finds of its test: `results.rs`
//! - a search: `searching.rs`, `crates/loadline/src/commands/capacity.rs`
//! - the agents of a run: `agents.rs`
//! - the slowest requests: `slow.rs`, kept by `crates/engine/src/slowest.rs`
//! - the comparison with a baseline: `baseline.rs`, `crates/verdict/src/comparison/looks.rs`
//! - when it is made: `watch.rs`; the page itself `document.rs`, and `web/src/live/`
//! - the address, and how long it is served: `address.rs`, `served.rs`
//! - the page from which runs are started: `start.rs`, `seat.rs`, its routes `routes/starting.rs`;
//!   a field of its form `api.rs`, then `crates/loadline/src/web/words.rs` and
//!   `web/src/live/start.tsx`
//! - the page of another tool: `crates/tools/host/src/page.rs`, then the tool
//! - the files of an ended run: `files.rs`; the types for the page: `typescript.rs`; made-up
//!   seconds for tests: `samples.rs`
//!
//! `docs/guide/live-page.md` describes it for users, `docs/guide/schema/openapi.json` for programs.

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod address;
mod agents;
mod api;
mod baseline;
mod document;
mod files;
mod log;
mod openapi;
mod patch;
mod results;
mod routes;
#[cfg(test)]
mod samples;
mod searching;
mod seat;
mod served;
mod slow;
mod start;
mod state;
#[cfg(test)]
mod typescript;
mod watch;

pub use address::{ADDRESS, ListenAddress, ListenError};
pub use api::{
    AgentSoFar, Band, Cause, CheckSoFar, Compared, Composed, CpuShare, EarlierRun, Event, Figures,
    FileKind, LevelNow, LevelUnit, Load, NameCourse, NewBaseline, NewCheck, NewEnd, NewLevel,
    NewNote, NewRun, Offer, OfferedFile, PercentileSoFar, Phase, Problem, SlowRow, SlowRows, Span,
    Standing, State, Steered,
};
pub use baseline::Baseline;
pub use files::Finished;
pub use log::PageLog;
pub use openapi::openapi;
pub use patch::Patch;
pub use results::Results;
pub use searching::Searching;
pub use seat::{Seat, Starter};
pub use served::{Credentials, LivePage, OpenError, Protection};
pub use start::StartPage;

/// The certificate of a page that is served by TLS.
pub use loadline_web::{Certificate, CertificateError};
