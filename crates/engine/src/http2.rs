//! Connections of HTTP/2 as users see them: streams that begin and end, and the pools in which
//! connections wait for more of them.
//!
//! What sends and receives on them is a protocol of `exchange`.

mod connection;
mod negotiation;
mod pool;
mod received;

pub(crate) use connection::{
    EndedStream, Http2Connection, KeptResponses, NEVER, State, Stream, StreamEnd, StreamEvents,
};
pub(crate) use negotiation::{Gate, Negotiation};
pub(crate) use pool::{Http2Pool, Member, SharedDial, http2_config};
