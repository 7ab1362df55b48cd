//! oha: arguments in, its reports out.
//!
//! The way of the data: `arguments` declares the words and `options` makes of them what is to be
//! done; `urls`, `form` and `signature` say what is sent, `message` writes it, `plan` says how
//! often. A `behaviour` of its own sends the messages and adds every result to the `tally` of its
//! worker, so that memory does not grow with the requests; only where each request is listed are
//! they written to a `spool` on disk. `conduct` runs it all and prints one of the reports.
//!
//! Words of oha: a *success* is a whole response, whatever its status; the *first byte* is that of
//! the body.

mod arguments;
mod behaviour;
mod conduct;
mod database;
mod debug;
mod distribution;
mod form;
mod message;
mod options;
mod outcome;
mod plan;
mod redirect;
mod report;
mod signature;
mod spool;
mod tally;
mod urls;
mod windows;

pub use conduct::{Place, Surroundings, request, run};
pub(crate) use conduct::{TOOL, launch};
