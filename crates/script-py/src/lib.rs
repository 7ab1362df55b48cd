//! The engine for Python: `loadline._native`.
//!
//! Locust's users are greenlets on one thread, whose loop is gevent's hub. The engine runs on the
//! same thread, inside that loop: a worker that is driven by turns
//! ([`DrivenWorker`](loadline_engine::DrivenWorker)), behind one descriptor that the hub watches. A
//! request is a task of the worker's loop. The greenlet that sent it sleeps meanwhile, and is
//! switched to from within the turn in which the response became complete. No data crosses a
//! thread, and the response is the only Python object that is created for a request.
//!
//! # Rules for all modules
//!
//! - *Nothing is borrowed over a switch.* A waiting greenlet leaves its frames on the stack, and
//!   the next greenlet runs through the same code: classes are frozen, and borrows of their cells
//!   end before any Python code is called.
//! - *Each wait has a place of its own* (`waiting`) with a new number. A result for a wait that is
//!   over is discarded.
//! - *No thread attaches to Python while the interpreter ends*: one that may is joined before
//!   (`lag`).
//! - *The engine belongs to a thread and a process* (`engine`). Calls from other threads are
//!   refused before anything is sent; a child process forgets the engine that it inherited.
//!
//! ## To change
//!
//! - a class that Python calls: `client.rs`, `connections.rs`, `response.rs`, `stats.rs`,
//!   `recording.rs`, `telemetry.rs`, registered in `lib.rs`
//! - the arguments and URLs that need no Python: `call.rs`, `plain_url.rs`
//! - what is sent, and how it is counted: `sending.rs`, `fetch.rs`, `hop.rs`; an error kind as an
//!   exception `failure.rs`
//! - the difference between Locust's two clients: `flavour.rs`
//! - the statistics of Locust: `figures.rs`, `entry.rs`, `stats.rs`; what leaves the process with
//!   an interval `tally.rs`
//! - how a greenlet waits: `engine.rs`, `waiting.rs`, `hub.rs`, `lag.rs`
//! - the record of a test: `recording.rs`, the saved run `saving.rs`
//! - processes of a test: `parts.rs`, `parent.rs`; those on agents `agents.rs`,
//!   this process as one `worker.rs`
//! - a call: its settings `style.rs`, the encoded request `template.rs`, its outcome `fetched.rs`,
//!   the decoded body `body.rs`, cookies `cookies.rs`
//! - the user of the load: `guest.rs`; its pauses: `pause.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod agents;
mod body;
mod call;
mod client;
mod connections;
mod cookies;
mod engine;
mod entry;
mod failure;
mod fetch;
mod fetched;
mod figures;
mod flavour;
mod guest;
mod hop;
mod hub;
mod lag;
mod parent;
mod parts;
mod pause;
mod plain_url;
mod recording;
mod response;
mod saving;
mod sending;
mod stats;
mod style;
mod tally;
mod telemetry;
mod template;
mod waiting;
mod worker;

use pyo3::prelude::*;

#[pymodule]
#[pyo3(name = "_native")]
fn native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<connections::Connections>()?;
    module.add_class::<client::Client>()?;
    module.add_class::<response::Response>()?;
    module.add_class::<stats::Stats>()?;
    module.add_class::<entry::Entry>()?;
    module.add_class::<recording::Recording>()?;
    module.add_class::<parts::ReportLine>()?;
    module.add_class::<parts::PartsRecording>()?;
    module.add_class::<agents::Agents>()?;
    module.add_class::<agents::FarPart>()?;
    module.add_class::<agents::PartSeat>()?;
    module.add_class::<telemetry::Durations>()?;
    module.add_class::<telemetry::Telemetry>()?;
    module.add("NativeError", py.get_type::<failure::NativeError>())?;
    module.add_function(wrap_pyfunction!(pause::sleep, module)?)?;
    module.add_function(wrap_pyfunction!(response::on_request, module)?)?;
    module.add_function(wrap_pyfunction!(lag::hub_lag, module)?)?;
    module.add_function(wrap_pyfunction!(engine::in_flight_since_ns, module)?)?;
    module.add_function(wrap_pyfunction!(parent::end_with_parent, module)?)?;
    module.add_function(wrap_pyfunction!(recording::ensure_check, module)?)?;
    module.add_function(wrap_pyfunction!(recording::append_changes, module)?)?;
    module.add_function(wrap_pyfunction!(recording::append_notes, module)?)?;
    module.add_function(wrap_pyfunction!(recording::append_exit_code, module)?)?;
    engine::forget_in_children(module)
}
