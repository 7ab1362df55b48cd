//! A connection that carries the wire, with or without TLS.

use crate::session::{Agreed, RECORD_BYTES, Session};
use crate::traffic::Traffic;
use loadline_reactor::{Received, Socket};
use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

/// The most bytes that are read from a socket at once.
pub(crate) const RECEIVE_BYTES: usize = 64 * 1024;
/// The most bytes of ciphertext that are read at once.
pub(crate) const CIPHER_BYTES: usize = 40 * 1024;

const _: () = assert!(
    CIPHER_BYTES + RECORD_BYTES <= RECEIVE_BYTES,
    "the plaintext of one receive must fit"
);

/// Buffers that all connections of a worker share. Between two operations they hold no data.
#[derive(Debug)]
pub struct Scratch {
    plain: Vec<u8>,
    cipher: Vec<u8>,
}

impl Scratch {
    /// Creates the buffers; the one for ciphertext is allocated when TLS first needs it.
    pub fn new() -> Self {
        Scratch {
            plain: vec![0; RECEIVE_BYTES],
            cipher: Vec::new(),
        }
    }

    /// Returns the first `bytes` of the last receive's data.
    pub fn received(&self, bytes: usize) -> &[u8] {
        &self.plain[..bytes]
    }

    /// Returns the buffers for plaintext and for ciphertext.
    pub(crate) fn halves(&mut self) -> (&mut [u8], &mut [u8]) {
        if self.cipher.is_empty() {
            self.cipher.resize(CIPHER_BYTES, 0);
        }
        (&mut self.plain, &mut self.cipher)
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Scratch::new()
    }
}

/// A connection for HTTP, with or without TLS.
#[derive(Debug)]
pub struct Connection<S> {
    socket: S,
    session: Option<Box<Session>>,
    peer: Option<SocketAddr>,
}

impl<S: Socket> Connection<S> {
    /// Creates a connection without TLS.
    pub fn plain(socket: S) -> Self {
        Connection {
            socket,
            session: None,
            peer: None,
        }
    }

    /// Makes the TLS handshake, and returns the connection over it.
    pub(crate) async fn secured(
        socket: S,
        mut session: Box<Session>,
        scratch: &RefCell<Scratch>,
    ) -> io::Result<Self> {
        session.shake_hands(&socket, scratch).await?;
        Ok(Connection {
            socket,
            session: Some(session),
            peer: None,
        })
    }

    /// Waits for the server's first message after a handshake of TLS 1.3, or for the deadline. In
    /// older versions the handshake itself ends with the server's consent.
    pub(crate) async fn heed(&mut self, scratch: &RefCell<Scratch>) -> io::Result<()> {
        match &mut self.session {
            None => Ok(()),
            Some(session) => session.heed(&self.socket, scratch).await,
        }
    }

    /// Returns the socket of a connection without TLS.
    pub(crate) fn into_socket(self) -> S {
        debug_assert!(self.session.is_none(), "TLS keeps its socket");
        self.socket
    }

    /// Returns the same connection with the address that was dialled.
    pub(crate) fn with_peer(self, peer: Option<SocketAddr>) -> Self {
        Connection { peer, ..self }
    }

    /// Returns the address that was dialled: the proxy's if there is one; `None` for a Unix socket.
    pub fn peer(&self) -> Option<SocketAddr> {
        self.peer
    }

    /// Returns the result of the TLS handshake; `None` without TLS.
    pub fn agreed(&self) -> Option<Agreed> {
        self.session.as_ref().map(|session| session.agreed())
    }

    /// Counts the bytes on the socket of a TLS connection in `traffic` from now on, including those
    /// so far. Has no effect without TLS.
    pub fn count_encrypted_in(&mut self, traffic: &Rc<Traffic>) {
        if let Some(session) = &mut self.session {
            session.count_in(traffic);
        }
    }

    /// True if the server selected HTTP/2 by ALPN; false without TLS.
    pub fn chose_http2(&self) -> bool {
        self.session
            .as_ref()
            .is_some_and(|session| session.chose_http2())
    }

    /// Sets the deadline: operations that are not complete by then end with
    /// [`io::ErrorKind::TimedOut`].
    #[inline]
    pub fn set_deadline(&self, deadline_ns: u64) {
        self.socket.set_deadline(Some(deadline_ns));
    }

    /// True if the peer is known to have closed its side of the socket, or to have reset it. The
    /// end of TLS alone does not count: the peer still has to close the socket.
    #[inline]
    pub fn peer_closed(&self) -> bool {
        self.socket.peer_closed()
    }

    /// True if the loop has noticed arrivals that may not have been read.
    #[inline]
    pub fn may_receive(&self) -> bool {
        self.socket.may_receive()
    }

    /// Wakes the reader only when at least this many bytes (at least 1) have arrived, from now on.
    /// Has no effect with TLS, whose byte counts are not known before reading.
    pub fn set_receive_low_water(&self, bytes: u32) {
        if self.session.is_none() {
            self.socket.set_receive_low_water(bytes);
        }
    }

    /// Requests a kernel timestamp of the next send, for [`Connection::sent_at_ns`].
    pub fn stamp_next_send(&self) {
        self.socket.stamp_next_send();
    }

    /// Returns the time at which the last byte of the timestamped send left this host, if the
    /// kernel reported it.
    pub fn sent_at_ns(&self) -> Option<u64> {
        self.socket.sent_at_ns()
    }

    /// Returns the number of bytes that the socket has accepted so far, modulo 2^32; with TLS these
    /// are bytes of ciphertext.
    #[inline]
    pub fn taken(&self) -> u32 {
        self.socket.taken()
    }

    /// True if the server had ended the connection before it received any of the bytes that the
    /// socket accepted after the first `from` ([`Socket::came_behind_end`]). To be called after the
    /// connection has ended. With TLS, the server's closing alert counts as such an end.
    pub fn came_behind_end(&self, from: u32) -> bool {
        let session = self.session.as_ref();
        let has_ended = session.is_some_and(|session| session.is_closed());
        self.socket.came_behind_end(from, has_ended)
    }

    /// Waits until the peer has closed its side, or for the deadline.
    pub async fn closed_by_peer(&self) {
        poll_fn(|cx| self.socket.poll_closed(cx)).await;
    }

    /// Sends all of `bytes`.
    pub async fn send_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        poll_fn(|cx| self.poll_send_all(cx, &mut bytes)).await
    }

    /// Sends as much of `bytes` as possible, and removes it from them; ready when all is sent.
    #[inline(always)]
    pub fn poll_send_all(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &mut &[u8],
    ) -> Poll<io::Result<()>> {
        if let Some(session) = &mut self.session {
            return session.poll_send_all(&self.socket, cx, bytes);
        }
        while !bytes.is_empty() {
            let sent = ready!(self.socket.poll_send(cx, bytes))?;
            *bytes = &bytes[sent..];
        }
        Poll::Ready(Ok(()))
    }

    /// Receives into `scratch`; zero bytes mean that the peer sends nothing more.
    #[inline]
    pub fn poll_recv(
        &mut self,
        cx: &mut Context<'_>,
        scratch: &mut Scratch,
    ) -> Poll<io::Result<Received>> {
        match &mut self.session {
            None => self.socket.poll_recv(cx, &mut scratch.plain),
            Some(session) => session.poll_recv(&self.socket, cx, scratch),
        }
    }

    /// True if the end of the connection may not be the server's: TLS ended without its closing
    /// alert (RFC 9112, section 9.8).
    pub fn is_cut(&self) -> bool {
        self.session
            .as_ref()
            .is_some_and(|session| session.is_cut())
    }

    /// True if bytes can be dropped unread with [`Connection::poll_discard`].
    #[inline]
    pub fn can_discard(&self) -> bool {
        self.session.is_none()
    }

    /// Drops up to `most` bytes unread; only if [`Connection::can_discard`].
    #[inline]
    pub fn poll_discard(
        &mut self,
        cx: &mut Context<'_>,
        most: usize,
    ) -> Poll<io::Result<Received>> {
        debug_assert!(self.can_discard(), "TLS must see every byte");
        self.socket.poll_discard(cx, most)
    }
}
