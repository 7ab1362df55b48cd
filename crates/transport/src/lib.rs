//! Connections that carry the wire: names, dialling, TLS, Unix sockets.
//!
//! An [`Endpoint`] is where requests of one URL origin go. It is resolved once, before the run or
//! when a request first goes there. A worker's [`Dialler`] opens [`Connection`]s to it, taking its
//! addresses in turn.

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
pub use dial::{Dial, DialError, DialPhase, Dialler, Wish};
pub use endpoint::{Endpoint, ResolveError};
pub use failure::{Complaint, complaint, is_tls_error};
pub use session::Agreed;
pub use tls::{TlsSetup, TlsSetupError};
pub use traffic::Traffic;
pub use tunnel::Tunnel;
