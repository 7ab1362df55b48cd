//! The live view: a run while it lasts, as a screen of a terminal.
//!
//! Three parts, none of which touches a terminal:
//!
//! - the [`State`] is what is shown, as plain data. It is told what the observers of a run are told
//!   ([`begun`](State::begun), [`interval`](State::interval), [`ended`](State::ended)), and takes
//!   the same memory however long the run lasts;
//! - [`draw()`] puts it on a frame of any size. It is a pure function of the state and the time;
//!   each panel has a file in `panels/`;
//! - [`Keys`] says what a key means. There are several maps of keys, as the view is shown by
//!   commands that speak different dialects.
//!
//! The words and figures are those of the reports (`loadline-report`). Terms: a *panel* is a part
//! of the screen with a heading; the *time scale* is the unit of the plots over time.

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
pub use state::{Look, State};
pub use time_scale::TimeScale;
pub use timeline::{Point, Timeline};
