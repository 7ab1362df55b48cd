//! Parts of a run on other machines: agents, and lines to them over NATS.
//!
//! An *agent* waits on a *bus*, which is a NATS server, until a coordinator offers it a part of a
//! run. It then starts the worker process that `--processes` starts as well, and passes frames on
//! between that process and the bus. For the coordinator it is one more
//! [`Line`](loadline_cluster::Line): messages, reports, losses and merging are those of the crate
//! `cluster`.
//!
//! The subjects and messages are in `protocol.rs`. The bus does not promise that a message arrives,
//! so those of a line are numbered and sent again where they are missing. Either end gives a part
//! up after three seconds of silence, and then its process is ended.
//!
//! The client of the bus is our own: it needs six verbs of a protocol of text, and has a thread
//! that reads and one that writes.
//!
//! ## To change
//!
//! - the messages of agents and coordinators: `protocol.rs`; the numbering of frames `parcel.rs`,
//!   `line_end.rs`
//! - an agent: `agent.rs`; what it does in a run with very many others `duties.rs`: it sends its
//!   reports to one of them `reporting.rs`, or joins theirs `merging.rs`
//! - an agent: `agent.rs`; the bundles that it has `store.rs`, those that it requests `intake.rs`
//! - the coordinator's side: the search for agents `search.rs`, the offers `hosts.rs`, the offset
//!   of clocks `clock.rs`, a line `far_line.rs`, the signs of life of all lines `heartbeats.rs`;
//!   the number and the labels of agents `selector.rs`
//! - agents that watch processes of their machine: `look.rs`; what their machines can do at best
//!   `floor.rs`
//! - agents that a process in Python gathers: `hire.rs`
//! - the bus: its URL and its users `address.rs`, their keys `nkey.rs`, its protocol `nats.rs`,
//!   the connection to it `connection.rs`, TLS `stream.rs`
//! - errors: `error.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod address;
mod agent;
mod clock;
mod connection;
mod duties;
mod error;
mod far_line;
mod floor;
mod heartbeats;
mod hire;
mod hosts;
mod intake;
mod line_end;
mod look;
mod merging;
mod nats;
mod nkey;
mod parcel;
mod protocol;
mod reporting;
mod search;
mod selector;
mod store;
mod stream;

pub use address::BusAddress;
pub use agent::serve;
pub use clock::{Offset, measure_clock};
pub use connection::Bus;
pub use error::{BusError, GatherError};
pub use floor::{MeasureFloor, floors};
pub use hire::{AGENTS_VARIABLE, Hire};
pub use hosts::{Host, Invitation, command, gather};
pub use look::{Eye, View, serve_looks};
pub use protocol::{Card, Task, Versions};
pub use search::{MOST_AGENTS, agents, find, find_watchers, free};
pub use selector::{Labels, Selector, parse_label};
