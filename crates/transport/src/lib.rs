//! Connections for HTTP: names, dialling, TLS, Unix sockets.
//!
//! An [`Endpoint`] is the destination of the requests of one URL origin. It is resolved once,
//! before the run or when a request first goes there. A worker's [`Dialler`] opens [`Connection`]s
//! to its addresses in turn.

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
