//! Connections for HTTP: names, dialling, TLS, Unix sockets.
//!
//! An [`Endpoint`] is the destination of the requests of one URL origin. It is resolved once,
//! before the run or when a request first goes there. A worker's [`Dialler`] opens [`Connection`]s
//! to its addresses in turn.
//!
//! ## To change
//!
//! - TLS: `TlsSetup` in `tls.rs`; trusted certificates `tls/trust.rs`, a client's own
//!   `tls/identities.rs`; its failures in sentences `failure.rs`
//! - how names and addresses are chosen: `endpoint.rs`, during a run `routes.rs`; blocked ones
//!   `blocked.rs`
//! - how a connection is opened: `dial.rs`; through a proxy `tunnel.rs`
//! - how bytes are sent and received: `connection.rs`, over TLS `session.rs`, `traffic.rs`

#![cfg_attr(not(test), warn(clippy::wildcard_enum_match_arm))]

mod blocked;
mod connection;
mod dial;
mod endpoint;
mod failure;
mod routes;
mod session;
mod tls;
mod traffic;
mod tunnel;

#[cfg(test)]
mod tests;

pub use blocked::Blocked;
pub use connection::{Connection, Scratch};
pub use dial::{Dial, DialError, DialOptions, DialPhase, Dialler};
pub use endpoint::{Endpoint, ResolveError};
pub use failure::{Complaint, complaint, is_tls_error};
pub use session::Agreed;
pub use tls::{TlsSetup, TlsSetupError};
pub use traffic::Traffic;
pub use tunnel::Tunnel;
