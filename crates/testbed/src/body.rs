//! A response's body as the HTTP library takes it.

use crate::alarm::Alarm;
use crate::content::{Content, Dripper, piece_size};
use crate::line::Line;
use crate::reply::Reply;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Gives the content piece by piece, and tells the line when it has given the last.
#[derive(Debug)]
pub(crate) struct AnswerBody {
    content: Content,
    given: u64,
    piece_size: u64,
    /// Whether the length is kept from the library, which then sends chunks.
    is_chunked: bool,
    dripper: Option<Dripper>,
    line: Line,
    is_over: bool,
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
            line,
            content: reply.content.clone(),
        };
        // The library will not ask for bytes that must not be sent, nor for none.
        if !reply.has_body() || (body.left() == 0 && !is_chunked) {
            body.end();
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
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let body = self.get_mut();
        if body.left() == 0 {
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

    /// The end of a chunked body has to be asked for: an empty one still has a last chunk.
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
