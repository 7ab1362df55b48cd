//! Who is told what comes on a connection.

use super::error::{ErrorCode, StreamError};

/// Is told what comes, stream by stream. Each stream has the key that it began with.
///
/// The two constants decide at compile time what is shown, so that a connection which shows
/// nothing has no code for showing.
pub trait Sink {
    /// Whether [`field`](Sink::field) is called.
    const WANTS_FIELDS: bool;
    /// Whether [`body`](Sink::body) is called. If not, DATA may be dropped unseen: see
    /// [`Connection::discardable`](super::Connection::discardable).
    const WANTS_BODY: bool;

    /// The final head of a response is whole; before its fields.
    fn head(&mut self, key: usize, status: u16) {
        let _ = (key, status);
    }

    /// One field of the head, or after the body one of the trailers, in the order they came.
    fn field(&mut self, key: usize, name: &[u8], value: &[u8]) {
        let _ = (key, name, value);
    }

    /// The next bytes of the body, never empty. Where the parts are cut means nothing.
    fn body(&mut self, key: usize, part: &[u8]) {
        let _ = (key, part);
    }

    /// The stream is over. Its key is not used again.
    fn end(&mut self, key: usize, ended: Ended);
}

/// How a stream ended, and what had come by then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// How it ended.
    pub outcome: Outcome,
    /// The status of the final head; 0 if none came.
    pub status: u16,
    /// Whether the whole request was handed to the output.
    pub is_sent: bool,
    /// Bytes of header blocks and of the heads of all frames.
    pub head_len: u64,
    /// Bytes of the body, shown or dropped, without padding.
    pub body_len: u64,
    /// How many interim (1xx) responses were passed over.
    pub interim: u32,
}

/// How a stream ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The response is whole.
    Whole,
    /// The server reset the stream.
    Reset(ErrorCode),
    /// The server gives the connection up and says that it didn't look at the request, which may
    /// be sent again.
    GoneAway(ErrorCode),
    /// The response can't be read; the stream was reset.
    Malformed(StreamError),
    /// The connection is over.
    ConnectionLost,
}

impl Ended {
    /// Whether the server says that it didn't look at the request, so that it may be sent again
    /// whatever its method (RFC 9113, section 8.7). A server that has begun to respond has looked
    /// at it, whatever it says then.
    pub fn is_unprocessed(&self) -> bool {
        let says_so = matches!(
            self.outcome,
            Outcome::GoneAway(_) | Outcome::Reset(ErrorCode::REFUSED_STREAM)
        );
        says_so && self.is_unanswered()
    }

    /// Whether nothing of a response has come.
    pub fn is_unanswered(&self) -> bool {
        self.status == 0 && self.interim == 0
    }
}
