//! What Loadline measured, in the formats of other programs.
//!
//! A format is a room of its own. Each is made of what a run tells its observers, or of its result
//! as the reports print it; nothing is judged here.
//!
//! - [`sqlite`]: SQLite databases, one of the requests of a run and one of its figures.

pub mod sqlite;
