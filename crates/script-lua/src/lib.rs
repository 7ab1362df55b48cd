//! Lua scripts in wrk's and wrk2's words as a behaviour.
//!
//! A script defines `setup(thread)`, `init(args)`, `request()`, `response(status, headers, body)`,
//! `delay()` and `done(summary, latency, requests)`, all of them optional, and shapes its requests
//! by the table `wrk`. The crate runs it in LuaJIT states, one for itself (the *main state*) and
//! one for each worker, and calls it as often and in the same order as wrk does.
//!
//! ```text
//! let script = Script::load(path, &Options { threads, args, ..Options::new(url_as_typed) })?;
//! let mut run = Run::start_scenario(plan, Detail::default(), script.scenarios())?;
//! script.on_error(Arc::new(|error| …));    // ends the run when the script throws
//! …                                        // the run's events, to its end
//! if let Some(error) = script.failure() {} // what it threw
//! script.flush();                          // its prints so far, before the report
//! …                                        // the report
//! script.done(&Figures { duration_us, requests, bytes, errors, latency, rates })?;
//! ```
//!
//! - [`Options`] say whose words ([`Flavour`]), the URL as typed, method, headers and body that
//!   `wrk` begins with, the other arguments, the number of workers (the plan's `threads`), where
//!   prints go, and whether a file that can't be loaded is an error or, as in wrk, a complaint
//!   ([`Broken`], [`Script::complaints`]).
//! - [`Script::load`] runs everything that comes before the first request of the load: the file in
//!   every state, `wrk.resolve`, `setup`, `init`, and `request` once, whose text gives
//!   [`Script::depth`]. Its [`Error`] tells a script that threw (file, line, message, and Lua's
//!   own text) from a name without address, a host that does not answer and a text that is no
//!   request, so that each can be told in the words of a dialect.
//! - The plan must have the threads of the options, and one request, whose URL says where to. What
//!   is sent is the script's alone: `plan.connection.pipeline` and the request's own method,
//!   headers and body are not looked at.
//! - [`Script::is_static`]: nothing is called while the run lasts, and it runs as fast as a plain
//!   request.
//! - [`Figures::of`] makes the figures of a summary; who has others fills in the fields.
//!   [`Samples::counted`] takes whole microseconds, or whole responses a second.

mod addresses;
mod answer;
mod cell;
mod debug_info;
mod error;
mod failure;
mod language;
mod metrics;
mod names;
mod options;
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
pub use request::{Flaw, RequestProblem};
pub use samples::{Figures, Samples};
pub use scenario::{ScriptUser, Scripted};
pub use script::Script;
