//! A response's body in the form that the HTTP library sends.

use crate::alarm::{Alarm, Sleep};
use crate::content::{Content, Dripper, piece_size};
use crate::line::Line;
use crate::reply::Reply;
use h2::Reason;
use hyper::HeaderMap;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::header::{HeaderName, HeaderValue};
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

/// Provides the content piece by piece, and notifies the line after the last piece.
#[derive(Debug)]
pub(crate) struct AnswerBody {
    content: Content,
    given: u64,
    piece_size: u64,
    /// True if the length is withheld from the library, which then sends chunks.
    is_chunked: bool,
    dripper: Option<Dripper>,
    line: Line,
    is_over: bool,
    /// True if a trailer follows, which the library sends only over HTTP/2.
    has_trailer: bool,
    /// The reset of the stream after half of the body.
    reset: Option<StreamReset>,
}

/// A reset that is to come. The library drops unsent data when it resets a stream, so the reset
/// waits until the connection has had time to send.
#[derive(Debug)]
struct StreamReset {
    reason: Reason,
    alarm: Alarm,
    pause: Option<Sleep>,
}

/// The time between half of a body and the reset after it.
const PAUSE: Duration = Duration::from_millis(10);

impl StreamReset {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Reason> {
        let alarm = &self.alarm;
        let pause = self
            .pause
            .get_or_insert_with(|| alarm.sleep_until(Instant::now() + PAUSE));
        ready!(Pin::new(pause).poll(cx));
        Poll::Ready(self.reason)
    }
}

impl AnswerBody {
    pub(crate) fn new(reply: Reply, line: Line, alarm: &Alarm) -> Self {
        let is_chunked = reply.answer.chunked;
        let mut body = Self {
            piece_size: piece_size(&reply.answer),
            is_chunked,
            dripper: reply
                .answer
                .drip
                .map(|drip| Dripper::new(drip, alarm.clone())),
            given: 0,
            is_over: false,
            has_trailer: false,
            reset: None,
            line,
            content: reply.content.clone(),
        };
        // The library will not poll for bytes that must not be sent, nor for an empty body.
        if !reply.has_body() || (body.left() == 0 && !is_chunked) {
            body.end();
        }
        body
    }

    /// Creates the body of a response on a stream of HTTP/2, which is reset in the middle if
    /// `reset` is given.
    pub(crate) fn on_stream(
        reply: Reply,
        line: Line,
        alarm: &Alarm,
        reset: Option<Reason>,
    ) -> Self {
        let (has_body, has_trailer) = (reply.has_body(), reply.answer.trailers);
        let mut body = Self::new(reply, line, alarm);
        if !has_body {
            // The library polls even a body that is not sent.
            body.given = body.content.size();
            body.is_chunked = false;
            return body;
        }
        body.has_trailer = has_trailer;
        body.is_chunked |= has_trailer;
        if let Some(reason) = reset {
            body.reset = Some(StreamReset {
                reason,
                alarm: alarm.clone(),
                pause: None,
            });
            body.piece_size = body.piece_size.min((body.content.size() / 2).max(1));
        }
        body
    }

    fn left(&self) -> u64 {
        self.content.size() - self.given
    }

    fn end(&mut self) {
        self.is_over = true;
        self.line.answer_written();
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = h2::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, h2::Error>>> {
        let body = self.get_mut();
        if let Some(reset) = &mut body.reset
            && body.given >= body.content.size() / 2
        {
            let reason = ready!(reset.poll(cx));
            body.line.request_closed();
            return Poll::Ready(Some(Err(reason.into())));
        }
        if body.left() == 0 {
            if mem::take(&mut body.has_trailer) {
                body.end();
                let value = HeaderValue::from_static("end");
                let trailer = (HeaderName::from_static("x-trailer"), value);
                return Poll::Ready(Some(Ok(Frame::trailers(HeaderMap::from_iter([trailer])))));
            }
            if !body.is_over {
                body.end();
            }
            return Poll::Ready(None);
        }
        if let Some(dripper) = &mut body.dripper {
            ready!(dripper.poll_due(cx));
        }
        let piece = body.content.piece(body.given, body.piece_size);
        body.given += piece.len() as u64;
        if body.left() == 0 && !body.is_chunked {
            body.end();
        }
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    /// The end of a chunked body has to be polled: even an empty one has a last chunk.
    fn is_end_stream(&self) -> bool {
        self.left() == 0 && !self.is_chunked
    }

    fn size_hint(&self) -> SizeHint {
        if self.is_chunked {
            SizeHint::default()
        } else {
            SizeHint::with_exact(self.left())
        }
    }
}
