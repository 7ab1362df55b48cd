//! Sending what need not fit into the socket's buffer, while its response may come already.
//!
//! A server may answer before it has read the whole request, mostly to refuse it, and then close
//! the connection or read no more. So answers are read while the request is sent (RFC 9112, section
//! 9.5). Behind a response that refuses, nothing more is sent and the connection is given up;
//! behind any other the rest is sent, as the server waits for it on a connection that goes on.

use super::reading::Reading;
use crate::behaviour::Observer;
use crate::exchange::failure::{Broken, broken_connection};
use loadline_reactor::Host;
use loadline_record::{ErrorKind, Outcome};
use loadline_transport::Connection;
use std::future::poll_fn;
use std::io;
use std::task::{Context, Poll, ready};

/// What is left to send of a batch.
pub(super) struct Sending<'a> {
    rest: &'a [u8],
    /// What comes behind that.
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

    /// How many bytes were not sent.
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

    /// Sends and reads until all responses are whole; says whether the connection can serve another
    /// batch.
    pub(super) async fn send_and_read<H: Host, O: Observer>(
        &mut self,
        reading: &mut Reading<'_, '_, H, O>,
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
        let sent = poll_fn(|cx| self.poll_send::<H>(cx, connection)).await;
        reading.in_flight.ended_ns = reading.worker.host.now_ns();
        Ok(sent.is_ok())
    }

    fn poll<H: Host, O: Observer>(
        &mut self,
        cx: &mut Context<'_>,
        reading: &mut Reading<'_, '_, H, O>,
    ) -> Poll<Result<bool, Broken>> {
        if matches!(self.state, State::UnderWay) {
            let sent = self.poll_send::<H>(cx, &mut reading.open.connection);
            self.state = match sent {
                Poll::Pending => State::UnderWay,
                Poll::Ready(Ok(())) => {
                    if O::WANTS_SENT {
                        reading.in_flight.sent_ns = reading.worker.host.now_ns();
                    }
                    State::Sent
                }
                // The time is over for the response as well, and who reads takes note of that.
                Poll::Ready(Err(error)) if reading.waits_longer(&error) => State::UnderWay,
                Poll::Ready(Err(error)) => State::Broken(error),
            };
        }
        let read = reading.poll(cx);
        match &self.state {
            // What came before the connection broke counts; but for that, it could not be sent.
            State::Broken(error) if !matches!(read, Poll::Ready(Ok(_))) => {
                let answering = reading.open.parser.started();
                match read {
                    Poll::Ready(Err(broken)) if answering => Poll::Ready(Err(broken)),
                    _ => {
                        let kind = ErrorKind::Write;
                        let broken = broken_connection(reading.open, answering, kind, error);
                        Poll::Ready(Err(broken))
                    }
                }
            }
            _ => read,
        }
    }
}
