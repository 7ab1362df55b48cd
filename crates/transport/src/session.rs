//! The TLS of one connection.
//!
//! [`Session::absorb`] takes ciphertext and returns its plaintext at once, in the worker's
//! [`Scratch`]: a session stores no plaintext, so that idle connections need little memory. The one
//! exception is plaintext that a server sends within the handshake, before any request; it is kept
//! for the first receive.

use crate::connection::Scratch;
use crate::failure::TlsFailure;
use crate::tls::ALPN_HTTP2;
use crate::traffic::Traffic;
use loadline_reactor::{Received, Socket};
use rustls::{ClientConnection, ProtocolVersion};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::future::poll_fn;
use std::io::{self, IoSlice, Read, Write};
use std::rc::Rc;
use std::task::{Context, Poll, ready};

/// The length of the longest record: a header and its fragment (RFC 5246, section 6.2.3; records of
/// TLS 1.3 are shorter).
pub(crate) const RECORD_BYTES: usize = 5 + 16 * 1024 + 2048;
/// The length up to which several records are sent to the socket in one piece.
const GATHERED_BYTES: usize = 4096;

/// The TLS of one connection.
#[derive(Debug)]
pub(crate) struct Session {
    tls: ClientConnection,
    /// The reason why nothing more can be received.
    end: Option<SessionEnd>,
    /// Plaintext that arrived with the end of the handshake: that of one receive, so it fits in
    /// one.
    early: Vec<u8>,
    /// The counter of the connection's bytes on the socket.
    traffic: Rc<Traffic>,
}

/// What a TLS handshake agreed on. The names are those of the registries of TLS, as the library
/// writes them: `TLSv1_3`, `TLS13_AES_256_GCM_SHA384`, `X25519`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agreed {
    /// The version of TLS.
    pub version: String,
    /// The cipher suite.
    pub suite: String,
    /// The group of the key exchange.
    pub group: String,
    /// The server's own certificate, in DER; empty if it sent none.
    pub certificate: Vec<u8>,
}

#[derive(Debug)]
enum SessionEnd {
    /// The server sent its closing alert.
    Closed,
    /// The connection ended without the server's closing alert.
    Cut,
    Failed(TlsFailure),
}

impl Session {
    /// Creates a session before its handshake. It is boxed because it is large, and most futures
    /// that wait for a dial never have one.
    pub(crate) fn new(tls: ClientConnection) -> Box<Self> {
        Box::new(Session {
            tls,
            end: None,
            early: Vec::new(),
            traffic: Rc::default(),
        })
    }

    /// Counts the session's bytes in `traffic` from now on, including those so far.
    pub(crate) fn count_in(&mut self, traffic: &Rc<Traffic>) {
        traffic.take_over(&self.traffic);
        self.traffic = Rc::clone(traffic);
    }

    /// Returns the result of the handshake.
    pub(crate) fn agreed(&self) -> Agreed {
        let tls = &self.tls;
        let version = tls.protocol_version();
        let suite = tls.negotiated_cipher_suite();
        let group = tls.negotiated_key_exchange_group();
        let chain = tls.peer_certificates().unwrap_or_default();
        Agreed {
            version: version.map_or_else(String::new, |version| format!("{version:?}")),
            suite: suite.map_or_else(String::new, |suite| format!("{:?}", suite.suite())),
            group: group.map_or_else(String::new, |group| format!("{:?}", group.name())),
            certificate: chain.first().map_or_else(Vec::new, |first| first.to_vec()),
        }
    }

    /// True if the server selected HTTP/2 by ALPN.
    pub(crate) fn chose_http2(&self) -> bool {
        self.tls.alpn_protocol() == Some(ALPN_HTTP2)
    }

    /// Makes the handshake.
    pub(crate) async fn shake_hands(
        &mut self,
        socket: &impl Socket,
        scratch: &RefCell<Scratch>,
    ) -> io::Result<()> {
        loop {
            poll_fn(|cx| self.poll_flush(socket, cx)).await?;
            if !self.tls.is_handshaking() {
                return Ok(());
            }
            poll_fn(|cx| self.poll_greet(socket, cx, &mut scratch.borrow_mut())).await?;
        }
    }

    /// Waits for the server's first message after a handshake of TLS 1.3: a ticket, data, or the
    /// reason why it refuses the client.
    pub(crate) async fn heed(
        &mut self,
        socket: &impl Socket,
        scratch: &RefCell<Scratch>,
    ) -> io::Result<()> {
        let spoke = !self.early.is_empty() || self.end.is_some();
        if spoke || self.tls.protocol_version() != Some(ProtocolVersion::TLSv1_3) {
            return Ok(());
        }
        let greeted = poll_fn(|cx| self.poll_greet(socket, cx, &mut scratch.borrow_mut())).await;
        match greeted {
            Err(error) if error.kind() == io::ErrorKind::TimedOut => Ok(()),
            greeted => greeted,
        }
    }

    /// Reads the next part of the server's handshake, or what follows it.
    fn poll_greet(
        &mut self,
        socket: &impl Socket,
        cx: &mut Context<'_>,
        scratch: &mut Scratch,
    ) -> Poll<io::Result<()>> {
        let (plain, cipher) = scratch.halves();
        let received = ready!(socket.poll_recv(cx, cipher))?;
        if received.bytes == 0 {
            return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
        }
        self.traffic.received(received.bytes);
        let bytes = self.absorb(&cipher[..received.bytes], plain);
        self.early.extend_from_slice(&plain[..bytes]);
        let Some(SessionEnd::Failed(failure)) = &self.end else {
            return Poll::Ready(Ok(()));
        };
        let error = failure.clone().into();
        // Sends the alert about the failure, if the server still receives.
        let _ = self.poll_flush(socket, cx);
        Poll::Ready(Err(error))
    }

    /// Sends as much of `bytes` as possible, and removes it from them; ready when all has gone to
    /// the socket.
    pub(crate) fn poll_send_all(
        &mut self,
        socket: &impl Socket,
        cx: &mut Context<'_>,
        bytes: &mut &[u8],
    ) -> Poll<io::Result<()>> {
        loop {
            if bytes.is_empty() {
                return self.poll_flush(socket, cx);
            }
            // Ciphertext of an earlier part may be left.
            ready!(self.poll_flush(socket, cx))?;
            let taken = self.tls.writer().write(bytes).map_err(TlsFailure::within)?;
            *bytes = &bytes[taken..];
        }
    }

    /// Receives plaintext into `scratch`; zero bytes mean that the server sends nothing more.
    pub(crate) fn poll_recv(
        &mut self,
        socket: &impl Socket,
        cx: &mut Context<'_>,
        scratch: &mut Scratch,
    ) -> Poll<io::Result<Received>> {
        let (plain, cipher) = scratch.halves();
        if !self.early.is_empty() {
            return Poll::Ready(Ok(self.hand_over_early(plain)));
        }
        loop {
            if let Some(end) = &self.end {
                return Poll::Ready(end.received());
            }
            let received = ready!(socket.poll_recv(cx, cipher))?;
            if received.bytes == 0 {
                self.end = Some(SessionEnd::Cut);
                return Poll::Ready(Ok(received));
            }
            self.traffic.received(received.bytes);
            let bytes = self.absorb(&cipher[..received.bytes], plain);
            // There may be an alert to send. If it does not fit now it is sent with the next
            // request, and if the socket is broken the next operation fails: the received data
            // still counts.
            let _ = self.poll_flush(socket, cx);
            if bytes > 0 {
                return Poll::Ready(Ok(Received { bytes, ..received }));
            }
        }
    }

    /// True if the connection ended without the server's closing alert: a third party may have cut
    /// it (RFC 8446, section 6.1).
    pub(crate) fn is_cut(&self) -> bool {
        matches!(self.end, Some(SessionEnd::Cut))
    }

    /// True if the server sent its closing alert.
    pub(crate) fn is_closed(&self) -> bool {
        matches!(self.end, Some(SessionEnd::Closed))
    }

    fn hand_over_early(&mut self, plain: &mut [u8]) -> Received {
        let early = std::mem::take(&mut self.early);
        plain[..early.len()].copy_from_slice(&early);
        Received {
            bytes: early.len(),
            at_ns: None,
        }
    }

    /// Decrypts ciphertext into `plain`, and returns the length of the plaintext.
    ///
    /// All complete records are decrypted now, so the plaintext is that of `cipher` and of one
    /// record that an earlier part began: [`RECORD_BYTES`] more than `cipher` are always enough.
    fn absorb(&mut self, mut cipher: &[u8], plain: &mut [u8]) -> usize {
        let mut filled = 0;
        // Data after the end is ignored (RFC 8446, section 6.1).
        while !cipher.is_empty() && self.end.is_none() {
            self.end = self.process(&mut cipher);
            // Read at once: TLS refuses more ciphertext while it holds too much plaintext. An error
            // only means that there is no plaintext.
            filled += self.tls.reader().read(&mut plain[filled..]).unwrap_or(0);
        }
        filled
    }

    fn process(&mut self, cipher: &mut &[u8]) -> Option<SessionEnd> {
        if let Err(error) = self.tls.read_tls(cipher) {
            let error = rustls::Error::General(error.to_string());
            return Some(SessionEnd::Failed(TlsFailure(error)));
        }
        match self.tls.process_new_packets() {
            Ok(state) => state.peer_has_closed().then_some(SessionEnd::Closed),
            Err(error) => Some(SessionEnd::Failed(TlsFailure(error))),
        }
    }

    fn poll_flush(&mut self, socket: &impl Socket, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let traffic = &*self.traffic;
        let mut outlet = Outlet {
            socket,
            cx,
            traffic,
        };
        while self.tls.wants_write() {
            match self.tls.write_tls(&mut outlet) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Poll::Pending,
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl SessionEnd {
    fn received(&self) -> io::Result<Received> {
        match self {
            SessionEnd::Closed | SessionEnd::Cut => Ok(Received {
                bytes: 0,
                at_ns: None,
            }),
            SessionEnd::Failed(failure) => Err(failure.clone().into()),
        }
    }
}

/// Lets TLS write to a socket; a socket that is not ready returns an error of kind `WouldBlock`.
struct Outlet<'a, 'b, S> {
    socket: &'a S,
    cx: &'a mut Context<'b>,
    traffic: &'a Traffic,
}

impl<S: Socket> Write for Outlet<'_, '_, S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.socket.poll_send(self.cx, bytes) {
            Poll::Ready(result) => result.inspect(|bytes| self.traffic.sent(*bytes)),
            Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    /// Joins short records, which TLS passes separately. Those of a handshake then leave together:
    /// one call and one packet instead of three.
    fn write_vectored(&mut self, records: &[IoSlice<'_>]) -> io::Result<usize> {
        let first: &[u8] = records.first().map_or(&[], |record| record);
        if records.len() < 2 || first.len() > GATHERED_BYTES {
            return self.write(first);
        }
        let mut gathered = [0; GATHERED_BYTES];
        let mut end = 0;
        for record in records {
            let Some(room) = gathered.get_mut(end..end + record.len()) else {
                break;
            };
            room.copy_from_slice(record);
            end += record.len();
        }
        self.write(&gathered[..end])
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
