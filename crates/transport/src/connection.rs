//! A connection that carries the wire, with or without TLS.

use loadline_reactor::{Received, Socket};
use rustls::ClientConnection;
use std::cell::RefCell;
use std::future::poll_fn;
use std::io::{self, Read, Write};
use std::task::{Context, Poll, ready};

/// The most that is read from a socket at once.
const RECEIVE_BYTES: usize = 64 * 1024;
/// The most ciphertext that is read at once. With what TLS may still hold of an unfinished record
/// (16 KiB and a little) its plaintext fits into [`RECEIVE_BYTES`].
const CIPHER_BYTES: usize = 40 * 1024;

/// Buffers that all connections of a worker share: between two operations they hold nothing.
#[derive(Debug)]
pub struct Scratch {
    plain: Vec<u8>,
    cipher: Vec<u8>,
}

impl Scratch {
    /// New buffers; the one for ciphertext is made when TLS first needs it.
    pub fn new() -> Self {
        Scratch {
            plain: vec![0; RECEIVE_BYTES],
            cipher: Vec::new(),
        }
    }

    /// The first `bytes` of what the last receive brought.
    pub fn received(&self, bytes: usize) -> &[u8] {
        &self.plain[..bytes]
    }

    fn cipher(&mut self) -> &mut [u8] {
        if self.cipher.is_empty() {
            self.cipher.resize(CIPHER_BYTES, 0);
        }
        &mut self.cipher
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Scratch::new()
    }
}

/// A connection that carries the wire.
#[derive(Debug)]
pub struct Connection<S> {
    socket: S,
    tls: Option<Box<ClientConnection>>,
}

impl<S: Socket> Connection<S> {
    /// A connection without TLS.
    pub fn plain(socket: S) -> Self {
        Connection { socket, tls: None }
    }

    /// A connection with TLS whose handshake is still to be made.
    pub(crate) fn over_tls(socket: S, session: ClientConnection) -> Self {
        Connection {
            socket,
            tls: Some(Box::new(session)),
        }
    }

    /// Operations that are not done at this instant end with [`io::ErrorKind::TimedOut`].
    #[inline]
    pub fn set_deadline(&self, deadline_ns: u64) {
        self.socket.set_deadline(Some(deadline_ns));
    }

    /// Whether the peer is known to have closed the connection.
    #[inline]
    pub fn peer_closed(&self) -> bool {
        self.socket.peer_closed()
    }

    /// Waits until the peer has closed its side, or for the deadline.
    pub async fn closed_by_peer(&self) {
        poll_fn(|cx| self.socket.poll_closed(cx)).await;
    }

    /// Sends all of `bytes`.
    pub async fn send_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        if self.tls.is_some() {
            return self.send_all_encrypted(bytes).await;
        }
        while !bytes.is_empty() {
            let sent = poll_fn(|cx| self.socket.poll_send(cx, bytes)).await?;
            bytes = &bytes[sent..];
        }
        Ok(())
    }

    async fn send_all_encrypted(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            if let Some(session) = &mut self.tls {
                let taken = session.writer().write(bytes)?;
                bytes = &bytes[taken..];
            }
            poll_fn(|cx| self.poll_flush(cx)).await?;
        }
        Ok(())
    }

    /// Receives into `scratch`; zero bytes mean that the peer has closed its side.
    #[inline]
    pub fn poll_recv(
        &mut self,
        cx: &mut Context<'_>,
        scratch: &mut Scratch,
    ) -> Poll<io::Result<Received>> {
        match &self.tls {
            None => self.socket.poll_recv(cx, &mut scratch.plain),
            Some(_) => self.poll_recv_encrypted(cx, scratch),
        }
    }

    /// Whether bytes can be dropped unseen with [`Connection::poll_discard`].
    #[inline]
    pub fn can_discard(&self) -> bool {
        self.tls.is_none()
    }

    /// Drops up to `most` bytes unseen; only where [`Connection::can_discard`].
    #[inline]
    pub fn poll_discard(
        &mut self,
        cx: &mut Context<'_>,
        most: usize,
    ) -> Poll<io::Result<Received>> {
        self.socket.poll_discard(cx, most)
    }

    /// Makes the TLS handshake, if there is one to make.
    pub(crate) async fn shake_hands(&mut self, scratch: &RefCell<Scratch>) -> io::Result<()> {
        loop {
            poll_fn(|cx| self.poll_flush(cx)).await?;
            if !self
                .tls
                .as_ref()
                .is_some_and(|session| session.is_handshaking())
            {
                return Ok(());
            }
            match poll_fn(|cx| self.poll_fill(cx, &mut scratch.borrow_mut())).await {
                Ok(filled) if filled.ended => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(_) => {}
                Err(error) => {
                    // What is wrong is told to the peer, if it still listens.
                    let _ = poll_fn(|cx| self.poll_flush(cx)).await;
                    return Err(error);
                }
            }
        }
    }

    fn poll_recv_encrypted(
        &mut self,
        cx: &mut Context<'_>,
        scratch: &mut Scratch,
    ) -> Poll<io::Result<Received>> {
        loop {
            let filled = ready!(self.poll_fill(cx, scratch))?;
            if filled.plain > 0 || filled.ended {
                let (bytes, at_ns) = (filled.plain, filled.at_ns);
                return Poll::Ready(Ok(Received { bytes, at_ns }));
            }
        }
    }

    /// Receives ciphertext once and leaves its plaintext in `scratch`.
    fn poll_fill(
        &mut self,
        cx: &mut Context<'_>,
        scratch: &mut Scratch,
    ) -> Poll<io::Result<Filled>> {
        let received = ready!(self.socket.poll_recv(cx, scratch.cipher()))?;
        let Scratch { plain, cipher } = scratch;
        let mut filled = Filled {
            plain: 0,
            ended: received.bytes == 0,
            at_ns: received.at_ns,
        };
        let Some(session) = &mut self.tls else {
            return Poll::Ready(Ok(filled));
        };
        let mut cipher = &cipher[..received.bytes];
        while !cipher.is_empty() {
            session.read_tls(&mut cipher)?;
            session.process_new_packets().map_err(io::Error::other)?;
            // Taken at once: TLS refuses more ciphertext while it holds too much plaintext.
            filled.plain += read_plain(session, &mut plain[filled.plain..])?;
        }
        if session.wants_write() && !session.is_handshaking() {
            // A key update or an alert: if it does not fit now it goes with the next request.
            let _ = self.poll_flush(cx)?;
        }
        Poll::Ready(Ok(filled))
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some(session) = &mut self.tls else {
            return Poll::Ready(Ok(()));
        };
        while session.wants_write() {
            let mut outlet = Outlet {
                socket: &self.socket,
                cx,
            };
            match session.write_tls(&mut outlet) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Poll::Pending,
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        Poll::Ready(Ok(()))
    }
}

/// What one receive of ciphertext brought.
struct Filled {
    /// Bytes of plaintext.
    plain: usize,
    /// The peer has closed its side.
    ended: bool,
    at_ns: Option<u64>,
}

/// Takes all plaintext that TLS holds.
fn read_plain(session: &mut ClientConnection, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match session.reader().read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(bytes) => filled += bytes,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Whether an operation failed in TLS rather than in the socket below it.
pub fn is_tls_error(error: &io::Error) -> bool {
    error
        .get_ref()
        .is_some_and(|inner| inner.is::<rustls::Error>())
}

/// Lets TLS write to a socket; a socket that is not ready would block.
struct Outlet<'a, 'b, S> {
    socket: &'a S,
    cx: &'a mut Context<'b>,
}

impl<S: Socket> Write for Outlet<'_, '_, S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.socket.poll_send(self.cx, bytes) {
            Poll::Ready(result) => result,
            Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
