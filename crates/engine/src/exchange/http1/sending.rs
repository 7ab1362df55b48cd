//! Sends more than surely fits into the socket's buffer, while the response may already arrive.
//!
//! A server may respond before it has read the whole request, mostly to refuse it, and then close
//! the connection or read no more. Therefore responses are read while the request is sent (RFC
//! 9112, section 9.5). After a response that refuses, nothing more is sent and the connection is
//! closed; after any other response the rest is sent, because the server waits for it on a
//! connection that continues.

use super::reading::Reading;
use crate::account::Account;
use crate::failure::{Broken, broken_connection};
use crate::observer::Observer;
use loadline_reactor::Host;
use loadline_record::{ErrorKind, Outcome};
use loadline_transport::Connection;
use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll, ready};

/// The unsent bytes of a batch.
pub(super) struct Sending<'a> {
    rest: &'a [u8],
    /// The bytes that follow.
    tail: &'a [u8],
    state: State,
}

enum State {
    UnderWay,
    Sent,
    Broken(io::Error),
}

impl<'a> Sending<'a> {
    pub(super) fn new(rest: &'a [u8], tail: &'a [u8]) -> Self {
        Sending {
            rest,
            tail,
            state: State::UnderWay,
        }
    }

    /// Returns the number of unsent bytes.
    pub(super) fn unsent(&self) -> u64 {
        (self.rest.len() + self.tail.len()) as u64
    }

    fn poll_send<H: Host>(
        &mut self,
        cx: &mut Context<'_>,
        connection: &mut Connection<H::Socket>,
    ) -> Poll<io::Result<()>> {
        loop {
            ready!(connection.poll_send_all(cx, &mut self.rest))?;
            if self.tail.is_empty() {
                return Poll::Ready(Ok(()));
            }
            self.rest = std::mem::take(&mut self.tail);
        }
    }

    /// Sends and reads until all responses are complete. Returns true if the connection can serve
    /// another batch.
    pub(super) async fn send_and_read<A: Account, O: Observer>(
        &mut self,
        reading: &mut Reading<'_, '_, A, O>,
    ) -> Result<bool, Broken> {
        let answered = poll_fn(|cx| self.poll(cx, reading)).await;
        if answered.is_err() && !matches!(self.state, State::Sent) {
            reading.in_flight.sendings -= 1;
        }
        let reusable = answered?;
        if matches!(self.state, State::Sent) {
            return Ok(reusable);
        }
        let refused = matches!(reading.in_flight.last, Outcome::Answered { status: 400.. });
        if !reusable || refused || matches!(self.state, State::Broken(_)) {
            return Ok(false);
        }
        let connection = &mut reading.open.connection;
        let sent = poll_fn(|cx| self.poll_send::<A::Host>(cx, connection)).await;
        reading.in_flight.ended_ns = reading.network.host.now_ns();
        Ok(sent.is_ok())
    }

    fn poll<A: Account, O: Observer>(
        &mut self,
        cx: &mut Context<'_>,
        reading: &mut Reading<'_, '_, A, O>,
    ) -> Poll<Result<bool, Broken>> {
        if matches!(self.state, State::UnderWay) {
            let sent = self.poll_send::<A::Host>(cx, &mut reading.open.connection);
            self.state = match sent {
                Poll::Pending => State::UnderWay,
                Poll::Ready(Ok(())) => {
                    if O::NEEDS_SENT {
                        reading.in_flight.progress.sent_ns = reading.network.host.now_ns();
                    }
                    State::Sent
                }
                // The response's time is over as well, and the reader handles that.
                Poll::Ready(Err(error)) if reading.waits_longer(&error) => State::UnderWay,
                Poll::Ready(Err(error)) => State::Broken(error),
            };
        }
        let read = reading.poll(cx);
        let State::Broken(error) = &self.state else {
            return read;
        };
        // A response that arrived before the connection broke counts; otherwise the send failed.
        let answering = reading.open.parser.started();
        match read {
            Poll::Ready(Ok(_)) => read,
            Poll::Ready(Err(broken)) if answering => Poll::Ready(Err(broken)),
            Poll::Ready(Err(_)) | Poll::Pending => {
                let kind = ErrorKind::Write;
                let broken = broken_connection(reading.open, answering, kind, error);
                Poll::Ready(Err(broken))
            }
        }
    }
}
