//! Why a server did not start.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// A server that could not be started. Nothing of it runs then.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The server's own certificate could not be made.
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
    /// A limit below which nothing is served.
    #[error("A limit needs a rate above zero requests per second, and at least one counter.")]
    Limit,
    /// The address can't be listened on.
    #[error(
        "The server can't listen on {address}: {source}. Choose another, or port 0 for a free one."
    )]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// No thread to serve.
    #[error("A server needs at least one thread.")]
    NoThreads,
    /// An even schedule without arrivals.
    #[error("An even schedule needs a rate above zero requests per second.")]
    Rate,
    /// A thread or its event loop could not be started.
    #[error("The server could not start a thread: {0}.")]
    Thread(#[source] io::Error),
    /// The Unix socket can't be listened on.
    #[error("The server can't listen on the Unix socket {}: {source}. Choose another \
             path.", path.display())]
    UnixSocket {
        /// The socket's path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}
