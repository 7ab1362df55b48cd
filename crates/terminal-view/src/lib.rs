//! The live view: a running load test on a terminal's screen.
//!
//! It has three parts, and none of them accesses a terminal:
//!
//! - the [`State`] is the content of the view, as plain data. It receives the events of a run's
//!   observers ([`begun`](State::begun), [`interval`](State::interval), [`ended`](State::ended)),
//!   and its memory does not grow with the length of the run;
//! - [`draw()`] draws it on a frame of any size. It is a pure function of the state and the time;
//!   each panel has a file in `panels/`;
//! - [`Keys`] maps keys to actions. There are several maps, because commands of several dialects
//!   show the view.
//!
//! The words and figures are those of the reports (`loadline-report`). Terms: a *panel* is a part
//! of the screen with a heading; the *time scale* is the unit of the plots over time.
//!
//! ## To change
//!
//! - a panel: a file in `panels/`, its place `draw.rs`
//! - a key: `keys.rs`; its effect `act` in `state.rs`
//! - the points and the time scale of the plots: `timeline.rs`, `time_scale.rs`
//! - colours, and screens without them: `plain.rs`
//! - what the view receives of a run: `state.rs`
//! - artificial runs for tests: `samples.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod draw;
mod keys;
mod panels;
mod plain;
mod state;
mod time_scale;
mod timeline;

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;

pub use draw::{MIN_HEIGHT, MIN_WIDTH, draw};
pub use keys::{Action, Keys};
pub use state::{State, ViewStyle};
pub use time_scale::TimeScale;
pub use timeline::{Point, Timeline};
