//! The page of a run that goes on.

use serde::Serialize;

/// The page of a run that goes on. It asks its server for the rest: a [`RunPage`](crate::RunPage)
/// with what it shows so far, and once a second what changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LivePage {
    /// The version of the program that serves it.
    pub version: String,
}
