//! Receivers of the events of a connection.

use super::error::{ErrorCode, StreamError};

/// Receives the events of a connection, stream by stream. Each stream is identified by the key with
/// which it began.
///
/// The two constants decide at compile time which events are reported, so that a connection that
/// reports nothing has no code for it.
pub trait Sink {
    /// True if [`field`](Sink::field) is called.
    const NEEDS_FIELDS: bool;
    /// True if [`body`](Sink::body) is called. If false, DATA may be dropped unread: see
    /// [`Connection::discardable`](super::Connection::discardable).
    const NEEDS_BODY: bool;

    /// Receives the status of a complete final head, before its fields.
    fn head(&mut self, key: usize, status: u16) {
        let _ = (key, status);
    }

    /// Receives one field of the head, or after the body one of the trailers, in the order of
    /// arrival.
    fn field(&mut self, key: usize, name: &[u8], value: &[u8]) {
        let _ = (key, name, value);
    }

    /// Receives the next bytes of the body, never empty. The boundaries of the parts have no
    /// meaning.
    fn body(&mut self, key: usize, part: &[u8]) {
        let _ = (key, part);
    }

    /// Receives the end of a stream. Its key is not used again.
    fn end(&mut self, key: usize, ended: Ended);
}

/// The end of a stream, and what had arrived by then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The way in which it ended.
    pub outcome: Outcome,
    /// The status of the final head; 0 if there was no final head.
    pub status: u16,
    /// True if the whole request was written to the output.
    pub is_sent: bool,
    /// The length of header blocks and of the heads of all frames, in bytes.
    pub head_len: u64,
    /// The length of the body, reported or dropped, in bytes without padding.
    pub body_len: u64,
    /// The number of interim (1xx) responses that were skipped.
    pub interim: u32,
}

/// The way in which a stream ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The response is complete.
    Whole,
    /// The server reset the stream.
    Reset(ErrorCode),
    /// The server ends the connection and reports that it did not process the request, which may be
    /// sent again.
    GoneAway(ErrorCode),
    /// The response can't be read; the stream was reset.
    Malformed(StreamError),
    /// The connection has ended.
    ConnectionLost,
}

impl Ended {
    /// True if the server reported that it did not process the request, which may then be sent
    /// again whatever its method (RFC 9113, section 8.7). False if a response had begun: the server
    /// then has processed the request, whatever it reports.
    pub fn is_unprocessed(&self) -> bool {
        let is_reported = matches!(
            self.outcome,
            Outcome::GoneAway(_) | Outcome::Reset(ErrorCode::REFUSED_STREAM)
        );
        is_reported && self.is_unanswered()
    }

    /// True if no part of a response has arrived.
    pub fn is_unanswered(&self) -> bool {
        self.status == 0 && self.interim == 0
    }
}
