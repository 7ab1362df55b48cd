//! Servers on threads, with the blocking sockets of the standard library.

use super::TEST_TIMEOUT;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};

pub(super) type TlsStream = StreamOwned<ServerConnection, TcpStream>;

/// A server and the results of its connections.
pub(super) struct Server<T> {
    pub(super) address: SocketAddr,
    thread: JoinHandle<Vec<T>>,
}

impl<T> Server<T> {
    /// Returns the result of each connection, once all of them are done.
    pub(super) fn finish(self) -> Vec<T> {
        self.thread.join().expect("a server that does not panic")
    }

    /// Returns the result of the only connection.
    pub(super) fn found(self) -> T {
        self.finish().pop().expect("a connection")
    }
}

/// Returns a listener on a free port.
pub(super) fn listener() -> TcpListener {
    listener_at(Ipv4Addr::LOCALHOST.into())
}

pub(super) fn listener_at(ip: IpAddr) -> TcpListener {
    TcpListener::bind((ip, 0)).expect("a free port")
}

/// Returns an address without a listener.
pub(super) fn nobody() -> SocketAddr {
    listener().local_addr().expect("an address")
}

/// Serves `connections`, one after the other.
pub(super) fn serve<T: Send + 'static>(
    connections: usize,
    serve: impl FnMut(TcpStream) -> T + Send + 'static,
) -> Server<T> {
    serve_on(listener(), connections, serve)
}

pub(super) fn serve_on<T: Send + 'static>(
    listener: TcpListener,
    connections: usize,
    mut serve: impl FnMut(TcpStream) -> T + Send + 'static,
) -> Server<T> {
    let address = listener.local_addr().expect("an address");
    let thread = thread::spawn(move || {
        let accepted = listener.incoming().take(connections);
        accepted
            .map(|stream| serve(patient(stream.expect("a connection"))))
            .collect()
    });
    Server { address, thread }
}

/// Serves `connections` over TLS, one after the other. The handshake is made with the first read or
/// write.
pub(super) fn serve_tls<T: Send + 'static>(
    config: ServerConfig,
    connections: usize,
    mut serve_one: impl FnMut(&mut TlsStream) -> T + Send + 'static,
) -> Server<T> {
    let config = Arc::new(config);
    serve(connections, move |stream| {
        let tls = ServerConnection::new(Arc::clone(&config)).expect("a session");
        serve_one(&mut StreamOwned::new(tls, stream))
    })
}

pub(super) fn patient(stream: TcpStream) -> TcpStream {
    stream.set_nodelay(true).expect("an open socket");
    stream
        .set_read_timeout(Some(TEST_TIMEOUT))
        .expect("a timeout");
    stream
        .set_write_timeout(Some(TEST_TIMEOUT))
        .expect("a timeout");
    stream
}

/// Returns the whole pending output of TLS, to be sent in one piece so that it arrives in one.
pub(super) fn tls_output(stream: &mut TlsStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    while stream.conn.wants_write() {
        stream.conn.write_tls(&mut bytes).expect("room in memory");
    }
    bytes
}

/// Echoes each byte, until the client closes.
pub(super) fn echo_bytes(stream: &mut (impl Read + Write)) {
    let mut byte = [0];
    while stream.read_exact(&mut byte).is_ok() {
        stream.write_all(&byte).expect("a client");
    }
}
