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
//! - The server answers with the page, with the [`State`] as a whole, with a stream of [`Event`]s,
//!   and passes commands on to the same `Commands` that keys on the terminal reach.
//!
//! ## To change
//!
//! - a route or a command: `routes.rs`; the types of both `api.rs`, `openapi.rs`
//! - what the page shows of a run: `state.rs`, the difference of two seconds `patch.rs`
//! - when it is made: `watch.rs`; the page itself `document.rs`, and `web/src/live/`
//! - the address, and how long it is served: `address.rs`, `served.rs`
//!
//! `docs/guide/live-page.md` describes it for users, `docs/guide/schema/openapi.json` for programs.

mod address;
mod api;
mod document;
mod openapi;
mod patch;
mod routes;
mod served;
mod state;
#[cfg(test)]
mod typescript;
mod watch;

pub use address::{ADDRESS, Place, PlaceError};
pub use api::{
    CheckSoFar, Event, Figures, Load, NewLevel, Phase, Problem, Standing, State, Steered,
};
pub use openapi::openapi;
pub use patch::Patch;
pub use served::{Credentials, Finished, LivePage, OpenError};
