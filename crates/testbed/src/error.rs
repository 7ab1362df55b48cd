//! Reasons why a server did not start.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// A reason why a server could not be started. No part of it runs then.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The server's own certificate could not be created.
    #[error("The server could not make a certificate for itself: {0}.")]
    Certificate(String),
    /// The certificate authorities for clients can't be used.
    #[error(
        "The certificate authorities for clients can't be used: {0}. Give certificates in PEM, \
         and use TLS."
    )]
    ClientAuthorities(String),
    /// A freeze that never ends.
    #[error(
        "The freeze would never end. Make it shorter than the time between two, such as 1s/10s."
    )]
    FreezeWithoutThaw,
    /// A limit of no requests.
    #[error("A limit needs a rate above zero requests per second, and at least one counter.")]
    Limit,
    /// Listening on the address failed.
    #[error(
        "The server can't listen on {address}: {source}. Choose another, or port 0 for a free one."
    )]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: io::Error,
    },
    /// A server without threads.
    #[error("A server needs at least one thread.")]
    NoThreads,
    /// An even schedule without arrivals.
    #[error("An even schedule needs a rate above zero requests per second.")]
    Rate,
    /// A thread or its event loop could not be started.
    #[error("The server could not start a thread: {0}.")]
    Thread(#[source] io::Error),
    /// Listening on the Unix socket failed.
    #[error("The server can't listen on the Unix socket {}: {source}. Choose another \
             path.", path.display())]
    UnixSocket {
        /// The socket's path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}
