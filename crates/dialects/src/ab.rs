//! ApacheBench (`ab`): arguments in, its report out.
//!
//! The way of the data: `arguments` reads the words into `Options`, `plan`
//! makes a plan of them and `request` the bytes that ab would send. A `behaviour` of its own
//! sends those and records every request in a `ledger`; `conduct` counts in a `tally` as ab
//! counts, and prints the `report`, the `html` or the `files`.
//!
//! Words of ab: an *aborted* run is one that ab gives up without a report; the *document* is the
//! body of the response; a *progress* line says how many requests are completed.

mod arguments;
mod behaviour;
mod conduct;
mod files;
mod getopt;
mod html;
mod ledger;
mod names;
mod number;
mod options;
mod plan;
mod report;
mod request;
mod tally;
mod target;
mod times;
mod usage;

pub use conduct::{Surroundings, request, run};
pub(crate) use conduct::{TOOL, launch};
