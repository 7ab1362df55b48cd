//! Lua scripts with the interface of wrk and wrk2 as a behaviour.
//!
//! A script defines `setup(thread)`, `init(args)`, `request()`, `response(status, headers, body)`,
//! `delay()` and `done(summary, latency, requests)`, all of them optional, and shapes its requests
//! by the table `wrk`. The crate runs it in LuaJIT states, one for itself (the *main state*) and
//! one for each worker, and calls it as often and in the same order as wrk does.
//!
//! ```text
//! let script = Script::load(path, &Options { threads, args, ..Options::new(url_as_typed) })?;
//! let mut run = Run::start_scenario(plan, Detail::default(), script.scenarios())?;
//! script.on_error(Arc::new(|error| …));    // ends the run when the script raises an error
//! …                                        // the run's events, to its end
//! if let Some(error) = script.failure() {} // the error
//! script.flush();                          // its prints so far, before the report
//! …                                        // the report
//! script.done(&Figures { duration_us, requests, bytes, errors, latency, rates })?;
//! ```
//!
//! - [`Options`] have the interface ([`Flavour`]), the URL as typed, the method, headers and body
//!   with which `wrk` begins, the other arguments, the number of workers (the plan's `threads`),
//!   the output for prints, and the treatment of a file that can't be loaded: an error or, as in
//!   wrk, a warning ([`Broken`], [`Script::complaints`]).
//! - [`Script::load`] runs everything before the first request of the load: the file in every
//!   state, `wrk.resolve`, `setup`, `init`, and `request` once, whose text determines
//!   [`Script::depth`]. Its [`Error`] distinguishes a script that raised an error (file, line,
//!   message, and Lua's own text) from a name without address, a host that does not accept
//!   connections, and a text that is not a request, so that a dialect can print its own message for
//!   each.
//! - The plan must have the threads of the options, and one request, whose URL has the target. The
//!   script alone decides what is sent: `plan.connection.pipeline` and the request's own method,
//!   headers and body have no effect.
//! - A script that has none of the functions of the load calls nothing during the run, and is as
//!   fast as a plain request.
//! - [`Figures::of`] makes the figures of a summary; for others, fill in the fields.
//!   [`Samples::counted`] takes whole microseconds, or whole responses per second.
//!
//! ## To change
//!
//! - what a script may call: `prelude.lua`; parts in Rust `state.rs`, `cell.rs`
//! - the functions that a script has, and their order: `script.rs`, `scenario.rs`, `language.rs`
//! - requests and responses: `request.rs`, `answer.rs`
//! - names and metrics of a script: `names.rs`, `metrics.rs`
//! - the arguments of `done`: `samples.rs`
//! - errors: `error.rs`, `failure.rs`
//! - scripts in other processes: `packed.rs`, their files `files.rs`, their errors `error_tally.rs`
//! - the input of a script: `options.rs`; its functions `wrk.lookup`, `wrk.connect` `addresses.rs`,
//!   `thread:get`, `thread:set` `transfer.rs`, `debug.getinfo` `debug_info.rs`; the parts of its
//!   URL `url_text.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod addresses;
mod answer;
mod cell;
mod debug_info;
mod error;
mod error_tally;
mod failure;
mod files;
mod language;
mod metrics;
mod names;
mod options;
mod packed;
mod request;
mod samples;
mod scenario;
mod script;
mod state;
mod transfer;
mod url_text;

#[cfg(test)]
mod tests;

pub use addresses::LookupError;
pub use error::{During, Error, ScriptError};
pub use language::Lua;
pub use loadline_script::Prints;
pub use options::{Broken, Flavour, Options};
pub use packed::unpack;
pub use request::{Flaw, RequestProblem};
pub use samples::{Figures, Samples};
pub use scenario::{ScriptUser, Scripted};
pub use script::Script;
