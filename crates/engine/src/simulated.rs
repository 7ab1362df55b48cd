//! The engine on the simulated loop, where time is virtual: every arrival and every count is exact.
//!
//! A [`World`](world::World) runs a plan's workers against a scripted [`Server`](server::Server)
//! and returns the result, [`Ran`](ran::Ran); in addition to a test's own assertions, the
//! invariants of all runs are checked for each run.

pub(crate) mod at_once;
mod in_groups;
mod in_parts;
mod mix;
pub(crate) mod plans;
mod ran;
mod server;
mod world;

mod balance;
mod changes;
mod closed;
mod composed;
mod conversations;
mod counting;
mod drain;
mod dropped;
mod ending;
mod faults;
mod framing;
mod growth;
mod guests;
mod http2;
mod http2_faults;
pub(crate) mod http2_server;
mod interrupted;
mod joined_workers;
mod late;
mod open;
mod order;
mod parallel;
mod retries;
mod scenarios;
mod sessions;
mod stall;
mod steps;
mod taken_over;
mod traces;
mod users_taken_over;
mod warmup;
mod watching;
