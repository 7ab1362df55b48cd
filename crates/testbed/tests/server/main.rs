//! The test server, tested from the other end of the connection.
//!
//! The clients here are bare sockets, so that a fault is observed as the system reports it: an end,
//! a reset, or silence.

mod arrivals; // deviations and gaps of arrivals over the wire
mod client; // a bare HTTP client, and servers to talk to
mod connections; // keep-alive, closing, pipelines, uploads, counts
mod echoes; // what /echo says
mod faults; // each fault on the bare socket
mod freezes; // the whole server standing still
mod http2; // responses and faults over HTTP/2
mod options; // each option by query and by header
mod places; // TLS, Unix sockets, threads, starting and stopping
mod timing; // delays and drips
