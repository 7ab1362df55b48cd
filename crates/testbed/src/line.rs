//! A connection as the server uses it, beneath the HTTP library.
//!
//! The library reads and writes through a [`Line`], which adds what a test server needs:
//!
//! - it timestamps every read, so that an arrival is timed before anything is parsed;
//! - it gathers the small responses of one turn of the event loop (a pipeline's, for example) and
//!   passes them to the kernel in one write, before the turn ends;
//! - it detects when a response's last byte has been handed over, so that responses are counted
//!   when they are sent, not when they are planned;
//! - it can be taken back from the library in the middle, for data that the library would not send.
//!
//! Clones are the same line. All belong to one task; the lock is never waited for.

use crate::capture::Capture;
use crate::socket::Socket;
use crate::state::State;
use hyper::body::Bytes;
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The size up to which writes are gathered; longer ones go straight to the socket. One TLS record.
const GATHERED_BYTES: usize = 16 * 1024;

/// One connection.
#[derive(Clone, Debug)]
pub(crate) struct Line(Arc<Mutex<Ends>>);

#[derive(Debug)]
struct Ends {
    socket: Socket,
    state: Arc<State>,
    /// Bytes that the library had read and returned; they are read again before the socket is.
    given_back: Bytes,
    capture: Capture,
    last_read: Instant,
    /// Responses, or parts of them, that wait for the end of the turn.
    outbox: Vec<u8>,
    /// The number of bytes of the outbox that have gone to the socket.
    outbox_sent: usize,
    /// True if the socket may hold bytes back, as TLS does.
    is_unflushed: bool,
    /// The number of requests that have arrived and whose responses have not been written.
    open_requests: u64,
    /// The number of responses whose last byte the library has, and will pass on when it next
    /// flushes.
    written: u64,
    /// The number of responses whose last byte is in the outbox or the socket.
    handed_over: u64,
    /// The task that waits for the library's next complete flush.
    flush_awaited: Option<Waker>,
}

impl Line {
    pub(crate) fn new(socket: Socket, state: Arc<State>) -> Self {
        Self(Arc::new(Mutex::new(Ends {
            socket,
            state,
            given_back: Bytes::new(),
            capture: Capture::default(),
            last_read: Instant::now(),
            outbox: Vec::new(),
            outbox_sent: 0,
            is_unflushed: false,
            open_requests: 0,
            written: 0,
            handed_over: 0,
            flush_awaited: None,
        })))
    }

    /// Opens a request whose head has just been read, and returns the time of the read that
    /// completed it. The library reads no further before it has passed a head on.
    pub(crate) fn request_arrived(&self) -> Instant {
        let mut ends = self.ends();
        ends.open_requests += 1;
        ends.last_read
    }

    /// Returns the time at which the latest bytes arrived: those that completed a request, once it
    /// is complete.
    pub(crate) fn last_read(&self) -> Instant {
        self.ends().last_read
    }

    /// Removes and returns the head of the request that has just arrived, as received; `None` if
    /// too many bytes arrived before it.
    pub(crate) fn take_head(&self, request_line: &str) -> Option<Vec<u8>> {
        self.ends().capture.take_head(request_line)
    }

    /// Records that the library has received the last byte of a response, which is counted when it
    /// is sent.
    pub(crate) fn answer_written(&self) {
        let mut ends = self.ends();
        ends.written += 1;
        ends.request_closed();
    }

    /// Records that a request was answered by a raw response.
    pub(crate) fn request_closed(&self) {
        self.ends().request_closed();
    }

    /// Lets the library take its turn, then sends what it has written.
    ///
    /// # Errors
    /// Those of the socket: nothing more can be sent.
    pub(crate) fn poll_turn<T>(
        &self,
        cx: &mut Context<'_>,
        turn: impl FnOnce(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<io::Result<T>> {
        let outcome = turn(cx);
        match (outcome, self.ends().poll_send(cx)) {
            (Poll::Ready(outcome), _) => Poll::Ready(Ok(outcome)),
            (Poll::Pending, Poll::Ready(Err(error))) => Poll::Ready(Err(error)),
            (Poll::Pending, _) => Poll::Pending,
        }
    }

    /// Waits until the library has handed over all that it wrote before.
    pub(crate) async fn flushed(&self) {
        let mut is_registered = false;
        poll_fn(|cx| {
            let mut ends = self.ends();
            if mem::replace(&mut is_registered, true) && ends.flush_awaited.is_none() {
                return Poll::Ready(());
            }
            ends.flush_awaited = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Takes the line back from the library, with the bytes that it had read in excess.
    pub(crate) fn take_back(&self, too_many: Bytes) {
        self.ends().given_back = too_many;
    }

    /// Reads until it is known whether the client's first bytes are `prefix`. The bytes are read
    /// again later.
    pub(crate) async fn begins_with(&self, prefix: &[u8]) -> bool {
        let mut begun = Vec::new();
        let outcome = poll_fn(|cx| self.ends().poll_begins_with(cx, prefix, &mut begun)).await;
        self.take_back(begun.into());
        outcome
    }

    /// Sends `bytes` past the library, after all earlier writes.
    pub(crate) async fn send(&self, bytes: &[u8]) -> io::Result<()> {
        self.ends().outbox.extend_from_slice(bytes);
        poll_fn(|cx| self.ends().poll_send(cx)).await
    }

    /// Ends the server's direction.
    pub(crate) async fn finish(&self) -> io::Result<()> {
        poll_fn(|cx| Pin::new(&mut *self.ends()).poll_shutdown(cx)).await
    }

    /// Makes the end of the line a reset.
    pub(crate) fn reset_on_close(&self) -> io::Result<()> {
        self.ends().socket.reset_on_close()
    }

    /// Reads and drops data, until the client ends its direction or breaks the connection.
    pub(crate) async fn swallow(&self) {
        let mut bytes = [0; 4096];
        poll_fn(|cx| self.ends().poll_swallow(cx, &mut bytes)).await;
    }

    fn ends(&self) -> MutexGuard<'_, Ends> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ends {
    fn request_closed(&mut self) {
        self.open_requests -= 1;
        if self.open_requests == 0 {
            self.capture.all_answered();
        }
    }

    /// Sends all gathered data; the responses that end in it then count as sent.
    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.outbox_sent < self.outbox.len() {
            let rest = &self.outbox[self.outbox_sent..];
            match ready!(Pin::new(&mut self.socket).poll_write(cx, rest))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                sent => self.outbox_sent += sent,
            }
            self.is_unflushed = true;
        }
        self.outbox.clear();
        self.outbox_sent = 0;
        if self.is_unflushed {
            ready!(Pin::new(&mut self.socket).poll_flush(cx))?;
            self.is_unflushed = false;
        }
        if self.handed_over > 0 {
            self.state
                .tally
                .answers
                .add(mem::take(&mut self.handed_over));
        }
        Poll::Ready(Ok(()))
    }

    fn poll_begins_with(
        &mut self,
        cx: &mut Context<'_>,
        prefix: &[u8],
        begun: &mut Vec<u8>,
    ) -> Poll<bool> {
        loop {
            let compared = begun.len().min(prefix.len());
            if begun[..compared] != prefix[..compared] || compared == prefix.len() {
                return Poll::Ready(begun.starts_with(prefix));
            }
            let mut bytes = [0; 8 * 1024];
            let mut buffer = ReadBuf::new(&mut bytes);
            match ready!(Pin::new(&mut *self).poll_read(cx, &mut buffer)) {
                Ok(()) if !buffer.filled().is_empty() => begun.extend_from_slice(buffer.filled()),
                Ok(()) | Err(_) => return Poll::Ready(false),
            }
        }
    }

    fn poll_swallow(&mut self, cx: &mut Context<'_>, bytes: &mut [u8]) -> Poll<()> {
        loop {
            let mut buffer = ReadBuf::new(bytes);
            match ready!(Pin::new(&mut self.socket).poll_read(cx, &mut buffer)) {
                Ok(()) if !buffer.filled().is_empty() => (),
                Ok(()) | Err(_) => return Poll::Ready(()),
            }
        }
    }

    fn has_room(&self, size: usize) -> bool {
        self.outbox.len() + size <= GATHERED_BYTES
    }

    fn gather(&mut self, parts: &[IoSlice<'_>]) {
        for part in parts {
            self.outbox.extend_from_slice(part);
        }
    }
}

impl AsyncRead for Ends {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let ends = self.get_mut();
        if !ends.given_back.is_empty() {
            let size = ends.given_back.len().min(buffer.remaining());
            buffer.put_slice(&ends.given_back.split_to(size));
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut ends.socket).poll_read(cx, buffer))?;
        ends.last_read = Instant::now();
        ends.capture.note(&buffer.filled()[before..]);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Ends {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(bytes)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let ends = self.get_mut();
        let size = parts.iter().map(|part| part.len()).sum();
        if !ends.has_room(size) {
            ready!(ends.poll_send(cx))?;
        }
        if ends.has_room(size) {
            ends.gather(parts);
            return Poll::Ready(Ok(size));
        }
        ends.is_unflushed = true;
        Pin::new(&mut ends.socket).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// Records that the library has handed over everything; it goes to the socket when the turn
    /// ends.
    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let ends = self.get_mut();
        ends.handed_over += mem::take(&mut ends.written);
        if let Some(waker) = ends.flush_awaited.take() {
            waker.wake();
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let ends = self.get_mut();
        ready!(ends.poll_send(cx))?;
        Pin::new(&mut ends.socket).poll_shutdown(cx)
    }
}

impl AsyncRead for Line {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.ends()).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Line {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.ends()).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.ends()).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.ends()).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.ends()).poll_shutdown(cx)
    }
}
